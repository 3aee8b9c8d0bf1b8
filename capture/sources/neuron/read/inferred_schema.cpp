#include "capture/sources/neuron/read/inferred_schema.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "capture/sources/neuron/read/row_binding.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr std::array<std::string_view, 3> kStartKeys = {"timestamp", "start_ts", "start"};
constexpr std::array<std::string_view, 4> kLengthKeys = {"duration", "duration_ns", "end", "end_ts"};
constexpr std::array<std::string_view, 14> kNameKeys = {
    "name",           "node_name", "opcode",     "operation", "description",   "hlo_name",   "penguin_name",
    "framework_name", "neff_name", "field_name", "type",      "throttle_type", "table_name", "id"};

[[nodiscard]] bool inferred_is_one_of(std::span<const std::string_view> names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Usable as a table name in SQL without quotes, and apart from the product's own tables.
[[nodiscard]] std::string table_name(std::string_view table) {
  constexpr std::array<std::string_view, 13> kTaken = {"track",  "slice",       "counter",     "flow",        "memory",
                                                       "marker", "source_file", "meta",        "source_line", "quality",
                                                       "metric", "table",       "dma_transfer"};
  std::string name;
  for (const char c : table.substr(0, 80)) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (name.empty()) name = "rows";
  if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "t_");
  if (inferred_is_one_of(kTaken, name)) name += "_rows";
  return name;
}

}  // namespace

void SchemaInference::on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) {
  (void)place;
  for (const json::JsonField& field : fields) {
    const std::string_view key = is_object ? field.key : kValueKey;
    if (key != kExtraColumn) found_.add(key, field);
  }
}

void SchemaInference::on_bad_row(std::string_view text, const json::RowPlace& place) {
  (void)text;
  (void)place;
}

void SchemaInference::on_mended_row(const json::RowPlace& place) { (void)place; }

Schema SchemaInference::schema(std::string_view table) const {
  const auto has = [&](std::string_view key) { return found_.has(key); };
  const auto holds_numbers = [&](std::string_view key) {
    if (!has(key)) return false;
    const ColumnType type = found_.type(key);
    return type != ColumnType::text && type != ColumnType::boolean;
  };
  const bool timed = std::any_of(kStartKeys.begin(), kStartKeys.end(), holds_numbers);
  const bool has_length = std::any_of(kLengthKeys.begin(), kLengthKeys.end(), holds_numbers);
  Schema schema;
  schema.name = table_name(table);
  schema.kind = !timed ? EventKind::table : has_length ? EventKind::slice : EventKind::instant;
  const auto name_key = std::find_if(kNameKeys.begin(), kNameKeys.end(), has);
  schema.name_column = name_key == kNameKeys.end() ? "row" : std::string(*name_key);
  for (const std::string& key : found_.keys()) {
    const bool built_in = key == schema.name_column ||
                          (timed && (inferred_is_one_of(kStartKeys, key) || inferred_is_one_of(kLengthKeys, key)));
    if (built_in) continue;
    schema.columns.push_back(
        make_column({key, found_.type(key), "", "Details", "", "A field that this version knows by its name only."}));
  }
  add_extra_column(schema);
  return schema;
}

}  // namespace accelscope::capture::sources::neuron
