#include "capture/sources/chrome/read/row_reader.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace accelscope::capture::sources::chrome {
namespace {

constexpr std::string_view kCategoryColumn = "cat";
constexpr std::string_view kRestColumn = "args";
constexpr std::string_view kLocationColumn = "source_location";
constexpr std::string_view kPoolColumn = "pool";
constexpr std::array<std::string_view, 5> kFileKeys = {"file", "filename", "file_name", "src_file", "source_file"};
constexpr std::array<std::string_view, 5> kLineKeys = {"line", "lineno", "line_number", "src_line", "source_line"};

constexpr std::string_view kLayerColumn = "layer";
// Keys under which tools say which module of the model the work was for.
constexpr std::array<std::string_view, 6> kModuleKeys = {"module_fqn",  "Module Hierarchy", "module_path",
                                                         "module_name", "nn_module",        "tf_op"};
constexpr std::array<std::string_view, 3> kGridKeys = {"grid_x", "grid_y", "grid_z"};
constexpr std::array<std::string_view, 3> kBlockKeys = {"block_x", "block_y", "block_z"};

[[nodiscard]] bool is_one_of(std::span<const std::string_view> words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

[[nodiscard]] bool is_own(std::string_view key) {
  const std::string name = lower_case(key);
  return name == kCategoryColumn || name == kRestColumn || name == kLocationColumn || name == kPoolColumn;
}

[[nodiscard]] bool holds(const Schema& schema, std::string_view key) {
  return std::any_of(schema.columns.begin(), schema.columns.end(),
                     [&](const Column& column) { return lower_case(column.name) == lower_case(key); });
}

}  // namespace

void ArgsInference::add(const json::JsonField& field) {
  if (field.key == kLocationColumn) has_location_ = true;
  if (is_one_of(kModuleKeys, field.key)) has_module_ = true;
  if (!field.key.empty() && !is_own(field.key)) found_.add(field.key, field);
}

Schema ArgsInference::schema(ChromeTable table, const AllocationColumns& allocations) const {
  const ChromeTableRule& rule = rule_of(table);
  Schema schema = make_schema({rule.schema, rule.kind, "name", "", waiting_names(table)}, known_columns(table));
  append_columns(schema, collective_columns(table));
  const bool stated = table == ChromeTable::memory && !allocations.empty();
  if (stated) std::erase_if(schema.columns, [](const Column& column) { return column.role != Role::none; });
  for (const auto& [role, name] : allocations) {
    if (stated && !schema.find(role) && !holds(schema, name)) schema.columns.push_back(allocation_column(role, name));
  }
  bool has_file = false;
  bool has_line = false;
  for (const std::string& key : found_.keys()) {
    const bool is_role = stated && std::any_of(allocations.begin(), allocations.end(),
                                               [&](const auto& each) { return each.second == key; });
    if (is_role || holds(schema, key)) continue;
    has_file = has_file || is_one_of(kFileKeys, key);
    has_line = has_line || is_one_of(kLineKeys, key);
    const bool layer = key == kLayerColumn && found_.type(key) == ColumnType::string;
    schema.columns.push_back(make_column(
        {.name = key, .type = found_.type(key), .group = "Arguments", .role = layer ? Role::layer : Role::none}));
  }
  const auto append = [&](const ColumnSpec& own) { schema.columns.push_back(make_column(own)); };
  append({kCategoryColumn, ColumnType::string, "", "", "", "The category in the file."});
  const bool has_place = (has_file && has_line) || has_location_ || table == ChromeTable::python_function;
  if (has_place && !holds(schema, kLocationColumn)) {
    append({kLocationColumn, ColumnType::string, "", "Source", "", "File and line.", Role::source_location});
  }
  if (has_module_ && !holds(schema, kLayerColumn)) {
    append({kLayerColumn, ColumnType::string, "", columns::kLayerAndSource, "Layer", "The module of the model.",
            Role::layer});
  }
  if (table == ChromeTable::memory && !stated) {
    append({kPoolColumn, ColumnType::string, "", "Memory", "", "The device's memory.", Role::pool});
  }
  append({kRestColumn, ColumnType::text, "", "Arguments", "",
          "What came later than the first events' arguments, or is of another type."});
  return schema;
}

TableBinding::TableBinding(ChromeTable table, Schema schema, const AllocationColumns& allocations)
    : table_(table), schema_(std::move(schema)) {
  for (std::uint32_t i = 0; i < schema_.columns.size(); ++i) {
    const std::string& name = schema_.columns[i].name;
    if (name == kCategoryColumn) {
      category = i;
    } else if (name == kRestColumn) {
      rest = i;
    } else if (name == kLocationColumn) {
      location = i;
      by_key_.emplace(name, i);  // where the trace states it
    } else if (name == kPoolColumn) {
      pool = i;
      by_key_.emplace(name, i);
    } else {
      by_key_.emplace(name, i);
      by_key_.emplace(lower_case(name), i);  // "external id" in 2021
      if (is_one_of(kFileKeys, name) && file == kNoColumn) file = i;
      if (is_one_of(kLineKeys, name) && line == kNoColumn) line = i;
      if (name == "Device Type") device_type = i;
      if (is_one_of(kModuleKeys, name) && module == kNoColumn) module = i;
      if (name == kLayerColumn && schema_.columns[i].group != "Arguments") layer = i;
      if (name == "grid") grid = i;
      if (name == "External id") external_id = i;
      const auto facts = collective_columns(table);
      if (!facts.empty() && name == facts.front().name) collective = i;
      if (name == "block") block = i;
      if (name == "kernel_details") kernel_details = i;
      if (name == "memcpy_details" || name == "memset_details") transfer_details = i;
      for (std::size_t axis = 0; axis < grid_parts.size(); ++axis) {
        if (name == kGridKeys[axis]) grid_parts[axis] = i;
        if (name == kBlockKeys[axis]) block_parts[axis] = i;
      }
      if (name == "Device Id") device_id = i;
    }
  }
  for (const auto& [role, name] : allocations) {
    const auto column = table == ChromeTable::memory ? schema_.find(role) : std::nullopt;
    if (column) by_key_.emplace(name, static_cast<std::uint32_t>(*column));
    if (column) pool = kNoColumn;  // the trace states it, or there is none
  }
}

std::optional<std::uint32_t> TableBinding::column_of(std::string_view key) const noexcept {
  const auto found = by_key_.find(std::string(key));
  if (found == by_key_.end()) return std::nullopt;
  return found->second;
}

std::optional<CodePlace> parse_code_place(std::string_view text) noexcept {
  const std::size_t colon = text.find("): ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t open = text.rfind('(', colon);
  if (open == std::string_view::npos || open == 0 || open + 1 == colon) return std::nullopt;
  const std::string_view line = text.substr(open + 1, colon - open - 1);
  if (line.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  constexpr std::string_view kSeparator = "): ";
  return CodePlace{text.substr(0, open), line, text.substr(colon + kSeparator.size())};
}

std::string layer_path(std::string_view module) {
  if (module.find('/') != std::string_view::npos) return std::string(module);
  std::string path;
  while (!module.empty()) {
    // A part ends at a dot outside of its brackets.
    std::size_t end = 0;
    for (int open = 0; end < module.size() && (open > 0 || module[end] != '.'); ++end) {
      open += module[end] == '(' ? 1 : module[end] == ')' ? -1 : 0;
    }
    const std::string_view part = module.substr(0, std::min({end, module.find('('), module.find("::")}));
    const bool called = module.substr(0, end).find("::") != std::string_view::npos;
    module.remove_prefix(std::min(end + 1, module.size()));
    if (part.empty() || (called && part == "TOP")) continue;
    const bool number = part.find_first_not_of("0123456789") == std::string_view::npos;
    if (!path.empty()) path += number ? '.' : '/';
    path += part;
  }
  return path;
}

std::string stack_lines(std::string_view call_stack) {
  std::string lines;
  while (!call_stack.empty()) {
    const std::size_t end = call_stack.find(';');
    const std::string_view frame = call_stack.substr(0, end);
    call_stack.remove_prefix(end == std::string_view::npos ? call_stack.size() : end + 1);
    if (frame.empty()) continue;
    if (!lines.empty()) lines += '\n';
    if (const auto place = parse_code_place(frame)) {
      lines.append(place->function).append(" (").append(place->file).append(":").append(place->line).append(")");
    } else {
      lines += frame;
    }
  }
  return lines;
}

}  // namespace accelscope::capture::sources::chrome
