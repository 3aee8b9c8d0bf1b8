#include "capture/sources/perfetto/write/event_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/perfetto/read/wire.h"
#include "capture/sources/perfetto/write/gpu_events.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr int kDeepest = 64;                  // of values within values; tools write a few
constexpr std::size_t kMostRest = 16U << 20;  // of one event; few bytes of a file may name a long text many times

[[nodiscard]] Argument named_number(Argument argument, Argument::Kind kind, std::uint64_t bits) {
  argument.kind = kind;
  argument.bits = bits;
  return argument;
}

// The old form of nested values.
void append_nested(std::string& out, std::string_view message, int depth) {
  enum : std::uint64_t { kDictionary = 1, kArray = 2 };
  std::uint64_t type = 0;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;
  Argument scalar;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1:
        type = fields.whole();
        break;
      case 2:
        keys.push_back(fields.bytes());
        break;
      case 3:
      case 4:
        values.push_back(fields.bytes());
        break;
      case 5:
        scalar = named_number({}, Argument::Kind::integer, fields.whole());
        break;
      case 6:
        scalar = named_number({}, Argument::Kind::real, std::bit_cast<std::uint64_t>(fields.real()));
        break;
      case 7:
        scalar = named_number({}, Argument::Kind::boolean, fields.whole() != 0 ? 1 : 0);
        break;
      case 8:
        scalar.kind = Argument::Kind::text;
        scalar.text = fields.bytes();
        break;
      default:
        break;
    }
  }
  if (type != kDictionary && type != kArray) return append_json_value(out, scalar);
  out += type == kDictionary ? '{' : '[';
  for (std::size_t i = 0; i < values.size() && depth < kDeepest; ++i) {
    if (type == kDictionary && i >= keys.size()) break;
    if (i > 0) out += ',';
    if (type == kDictionary) {
      append_json_quoted(out, keys[i]);
      out += ':';
    }
    append_nested(out, values[i], depth + 1);
  }
  out += type == kDictionary ? '}' : ']';
}

struct ReadAnnotation {
  Argument argument;
  std::vector<std::string_view> entries;  // of a dictionary
  std::vector<std::string_view> items;    // of an array
  std::string_view old_nested;
  bool has_old_nested = false;
};

// What a field of the two messages for arguments is; their numbers are not the same.
enum class ArgumentPart : std::uint8_t {
  unknown,
  name_iid,
  name,
  boolean,
  whole,
  integer,
  real,
  text,
  text_iid,
  old_nested,
  json,  // as the program wrote it
  entry,
  item,
};
using ArgumentParts = std::array<ArgumentPart, 18>;  // by number

constexpr ArgumentParts kDebugAnnotation = [] {
  using enum ArgumentPart;
  return ArgumentParts{unknown,    name_iid, boolean, whole, integer, real,    text,    whole,  // a pointer
                       old_nested, json,     name,    entry, item,    unknown, unknown, unknown, unknown, text_iid};
}();
constexpr ArgumentParts kComputeArgument = [] {
  using enum ArgumentPart;
  return ArgumentParts{unknown, name_iid, name, integer, whole, real, text, text_iid};
}();

[[nodiscard]] ReadAnnotation read_fields(std::string_view message, const ArgumentParts& parts,
                                         InternTable<InternedText>& names, SequenceState& state) {
  ReadAnnotation read;
  Argument& argument = read.argument;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.number() < parts.size() ? parts[fields.number()] : ArgumentPart::unknown) {
      case ArgumentPart::name_iid:
        argument.entry = names.find(fields.whole());
        if (argument.entry != nullptr) argument.name = argument.entry->text;
        break;
      case ArgumentPart::name:
        argument.name = fields.bytes();
        break;
      case ArgumentPart::boolean:
        argument = named_number(argument, Argument::Kind::boolean, fields.flag() ? 1 : 0);
        break;
      case ArgumentPart::whole:
        argument = named_number(argument, Argument::Kind::whole, fields.whole());
        break;
      case ArgumentPart::integer:
        argument = named_number(argument, Argument::Kind::integer, fields.whole());
        break;
      case ArgumentPart::real:
        argument = named_number(argument, Argument::Kind::real, std::bit_cast<std::uint64_t>(fields.real()));
        break;
      case ArgumentPart::text:
        argument.kind = Argument::Kind::text;
        argument.text = fields.bytes();
        break;
      case ArgumentPart::text_iid:
        argument.value_entry = state.annotation_values.find(fields.whole());
        argument.kind = Argument::Kind::text;
        argument.text =
            argument.value_entry == nullptr ? std::string_view{} : std::string_view(argument.value_entry->text);
        break;
      case ArgumentPart::old_nested:
        read.old_nested = fields.bytes();
        read.has_old_nested = true;
        break;
      case ArgumentPart::json:
        argument.kind = Argument::Kind::nested;
        argument.text = fields.bytes();
        break;
      case ArgumentPart::entry:
        read.entries.push_back(fields.bytes());
        break;
      case ArgumentPart::item:
        read.items.push_back(fields.bytes());
        break;
      case ArgumentPart::unknown:
        break;
    }
  }
  return read;
}

[[nodiscard]] ReadAnnotation read_debug_annotation(std::string_view message, SequenceState& state) {
  return read_fields(message, kDebugAnnotation, state.annotation_names, state);
}

void append_value(std::string& out, const ReadAnnotation& read, SequenceState& state, int depth) {
  if (read.has_old_nested) return append_nested(out, read.old_nested, depth);
  if (read.entries.empty() && read.items.empty()) return append_json_value(out, read.argument);
  const bool dictionary = !read.entries.empty();
  out += dictionary ? '{' : '[';
  bool first = true;
  for (const std::string_view entry : dictionary ? read.entries : read.items) {
    if (depth >= kDeepest) break;
    const ReadAnnotation inner = read_debug_annotation(entry, state);
    if (!std::exchange(first, false)) out += ',';
    if (dictionary) {
      append_json_quoted(out, inner.argument.name);
      out += ':';
    }
    append_value(out, inner, state, depth + 1);
  }
  out += dictionary ? '}' : ']';
}

}  // namespace

Argument read_annotation(std::string_view message, SequenceState& state, std::string& scratch) {
  ReadAnnotation read = read_debug_annotation(message, state);
  if (!read.has_old_nested && read.entries.empty() && read.items.empty()) return read.argument;
  scratch.clear();
  append_value(scratch, read, state, 0);
  read.argument.kind = Argument::Kind::nested;
  read.argument.text = scratch;
  return read.argument;
}

Argument read_compute_argument(std::string_view message, SequenceState& state) {
  return read_fields(message, kComputeArgument, state.kernel_arguments, state).argument;
}

void append_json_value(std::string& out, const Argument& argument) {
  std::string scratch;
  json::append_json_value(out, json_field_of(argument, scratch));
}

json::JsonField json_field_of(const Argument& argument, std::string& scratch) {
  json::JsonField field{argument.name, {}, json::JsonKind::number};
  switch (argument.kind) {
    case Argument::Kind::none:
      field.kind = json::JsonKind::null;
      break;
    case Argument::Kind::boolean:
      field.kind = json::JsonKind::boolean;
      field.text = argument.bits != 0 ? "true" : "false";
      break;
    case Argument::Kind::integer:
      scratch = fmt::format("{}", static_cast<std::int64_t>(argument.bits));
      field.text = scratch;
      break;
    case Argument::Kind::whole:
      scratch = fmt::format("{}", argument.bits);
      field.text = scratch;
      break;
    case Argument::Kind::real: {
      const auto value = std::bit_cast<double>(argument.bits);
      scratch = fmt::format("{}", value);
      if (!std::isfinite(value)) field.kind = json::JsonKind::not_finite;
      field.text = scratch;
      break;
    }
    case Argument::Kind::text:
      field.kind = json::JsonKind::string;
      field.text = argument.text;
      break;
    case Argument::Kind::nested: {
      const std::size_t first = argument.text.find_first_not_of(" \t\r\n");
      const char begin = first == std::string_view::npos ? '"' : argument.text[first];
      field.kind = begin == '{'   ? json::JsonKind::object
                   : begin == '[' ? json::JsonKind::array
                                  : json::JsonKind::string;
      field.text = argument.text;
      break;
    }
  }
  return field;
}

namespace {

[[nodiscard]] std::string merged_within(std::string_view earlier, std::string_view later, int depth) {
  const auto within = [](std::string_view text) { return text.substr(1, text.size() - 2); };
  const bool arrays = earlier.starts_with('[') && later.starts_with('[');
  const bool objects = earlier.starts_with('{') && later.starts_with('{');
  if (arrays || objects) {
    if (earlier.size() <= 2) return std::string(later);
    if (later.size() <= 2) return std::string(earlier);
  }
  if (arrays) return fmt::format("[{},{}]", within(earlier), within(later));
  if (!objects || depth >= kDeepest) return std::string(later);
  std::vector<std::pair<std::string, std::string>> members;
  std::unordered_map<std::string, std::size_t> places;
  const auto add = [&](const json::JsonField& field) {
    std::string value;
    json::append_json_value(value, field);
    const auto [place, is_new] = places.try_emplace(std::string(field.key), members.size());
    if (is_new) {
      members.emplace_back(field.key, std::move(value));
    } else {
      std::string& known = members[place->second].second;
      known = merged_within(known, value, depth + 1);
    }
    return true;
  };
  (void)json::each_member(earlier, add);
  (void)json::each_member(later, add);
  JsonWriter merged;
  merged.begin_object();
  for (const auto& [key, value] : members) merged.add(key, JsonValue::raw(value));
  return merged.done();
}

}  // namespace

std::string merged_json(std::string_view earlier, std::string_view later) { return merged_within(earlier, later, 0); }

namespace {

using namespace columns;

// As OwnColumn has them.
constexpr std::array<ColumnSpec, kOwnColumnCount> kOwnColumns = {{
    {"source_location", kString, "", kSource, "Source", "File and line.", Role::source_location},
    {"function_name", kString, "", kSource, "Function", "The function that it tells of."},
    {"unfinished", kFlag, "", kTiming, "Unfinished",
     "It had not ended when the trace did; it is drawn to the trace's end."},
    {"thread_ts", kInt, "ns", kTiming, "Thread time", "The thread's own time when it began."},
    {"thread_dur", kInt, "ns", kTiming, "Thread duration", "How much of the thread's own time it took."},
    {"thread_instruction_count", kInt, "", kTiming, "Instruction count", "Instructions of the thread when it began."},
    {"thread_instruction_delta", kInt, "", kTiming, "Instructions", "Instructions that the thread ran meanwhile."},
    {"Call stack", kString, "", kSource, "", "Where it was called from.", Role::stack},
    {"correlation_id", kUnsigned, "", kIds, "", "Joins slices of one operation, whatever their tracks."},
    {"correlation_id_text", kString, "", kIds, "", "Joins slices of one operation, whatever their tracks."},
    {"log_message", kString, "", kOperation, "Message", "What was logged."},
    {"gpu_api", kString, "", kOperation, "API", "Whose function was called."},
    {"phase", kString, "", kDetails, "Phase", "The letter of the event in the old JSON format."},
    {"kernel_name", kString, "", kLaunch, "Symbol", "The kernel's name as its program has it."},
    {"arch", kString, "", kLaunch, "Architecture", "What the kernel was compiled for."},
    {"grid_xyz", kString, "", kLaunch, "Grid", "Blocks in x, y and z."},
    {"block_xyz", kString, "", kLaunch, "Block", "Threads of a block in x, y and z."},
    {"hw_queue", kString, "", kOperation, "Queue", "The hardware queue it ran on."},
    {"stage", kString, "", kOperation, "Stage", "What kind of work it is."},
    {"description", kString, "", kOperation, "Description", "What the producer says of such work."},
    {"graphics_context", kUnsigned, "", kIds, "Graphics context", "The context of the graphics API that it is of."},
    {"submission_id", kInt, "", kIds, "Submission", "Joins what was submitted at once."},
    {"render_target", kUnsigned, "", kIds, "Render target", "What it renders to."},
    {"render_pass", kUnsigned, "", kIds, "Render pass", "The render pass that it is of."},
    {"command_buffer", kUnsigned, "", kIds, "Command buffer", "The command buffer that it is of."},
    {"event_id", kUnsigned, "", kIds, "Event id", "The producer's number of it."},
    {"pid", kInt, "", kIds, "Process", "The process it works for."},
    {"cat", kString, "", "", "", "The category in the file."},
    {"args", kText, "", "Arguments", "", "What came later than the first events' arguments, or is of another type."},
}};
constexpr std::array kAlways = {OwnColumn::unfinished, OwnColumn::category, OwnColumn::rest};

constexpr std::uint8_t kNotAsked = 0;
constexpr std::uint8_t kAbsent = 1;
constexpr std::uint8_t kFirstColumn = 2;
constexpr std::uint32_t kMostCached = 253;

[[nodiscard]] bool holds_column(const Schema& schema, std::string_view name) {
  return std::any_of(schema.columns.begin(), schema.columns.end(),
                     [&](const Column& column) { return lower_case(column.name) == lower_case(name); });
}

// Of allocations.
[[nodiscard]] bool is_own_name(std::string_view name) {
  return std::any_of(kOwnColumns.begin(), kOwnColumns.end(),
                     [&](const ColumnSpec& spec) { return lower_case(spec.name) == lower_case(name); });
}

}  // namespace

void EventTables::learn(EventTableKind kind, const Argument& argument) {
  if (argument.name.empty()) return;
  json::JsonField field = json_field_of(argument, scratch_);
  if (argument.kind == Argument::Kind::real) field.text = "0.5";  // whatever its value, it is no whole number
  learnt_[index(kind)].found.add(argument.name, field);
}

const EventTable& EventTables::make(EventTableKind kind) {
  const Learnt& learnt = learnt_[index(kind)];
  const chrome::ChromeTableRule& rule = chrome::rule_of(kind);
  Schema schema =
      make_schema({rule.schema, rule.kind, "name", "", chrome::waiting_names(kind)}, chrome::known_columns(kind));
  if (!learnt.roles.empty()) {
    std::erase_if(schema.columns, [](const Column& column) { return column.role != Role::none; });
  }
  for (const auto& [role, name] : learnt.roles) {
    if (!schema.find(role) && !holds_column(schema, name))
      schema.columns.push_back(chrome::allocation_column(role, name));
  }
  auto made = std::make_unique<EventTable>();
  made->kind = kind;
  made->own.fill(EventTable::kNoColumn);
  for (const std::string& name : learnt.found.keys()) {
    const bool is_role =
        std::any_of(learnt.roles.begin(), learnt.roles.end(), [&](const auto& each) { return each.second == name; });
    if (is_role || holds_column(schema, name) || is_own_name(name)) continue;
    schema.columns.push_back(make_column({name, learnt.found.type(name), "", "Arguments"}));
  }
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    made->by_name.emplace(schema.columns[i].name, static_cast<std::uint32_t>(i));
    made->by_name.emplace(lower_case(schema.columns[i].name), static_cast<std::uint32_t>(i));
  }
  for (const auto& [role, name] : learnt.roles) {
    if (const auto column = schema.find(role)) made->by_name.emplace(name, static_cast<std::uint32_t>(*column));
  }
  for (std::size_t i = 0; i < kOwnColumnCount; ++i) {
    const auto own = static_cast<OwnColumn>(i);
    const bool wanted = learnt.own[i] || std::find(kAlways.begin(), kAlways.end(), own) != kAlways.end();
    // Arguments of such a name share the column.
    const bool named = std::find(learnt.found.keys().begin(), learnt.found.keys().end(), kOwnColumns[i].name) !=
                       learnt.found.keys().end();
    if (!wanted && !named) continue;
    if (holds_column(schema, kOwnColumns[i].name)) continue;
    made->own[i] = static_cast<std::uint32_t>(schema.columns.size());
    schema.columns.push_back(make_column(kOwnColumns[i]));
    if (named) made->by_name.emplace(kOwnColumns[i].name, made->own[i]);
  }
  made->number = session_.add_table(std::move(schema));
  made->schema = &session_.table(made->number);
  tables_[index(kind)] = std::move(made);
  return *tables_[index(kind)];
}

std::uint32_t EventTables::column_of(const EventTable& table, const Argument& argument) const {
  static_assert(kEventTableCount <= std::tuple_size_v<decltype(InternedText::columns)>);
  std::uint8_t* const cached = argument.entry == nullptr ? nullptr : &argument.entry->columns[index(table.kind)];
  if (cached != nullptr && *cached != kNotAsked) {
    return *cached == kAbsent ? EventTable::kNoColumn : std::uint32_t{*cached} - kFirstColumn;
  }
  const auto found = table.by_name.find(std::string(argument.name));
  const std::uint32_t column = found == table.by_name.end() ? EventTable::kNoColumn : found->second;
  if (cached != nullptr && (column == EventTable::kNoColumn || column < kMostCached)) {
    *cached = column == EventTable::kNoColumn ? kAbsent : static_cast<std::uint8_t>(column + kFirstColumn);
  }
  return column;
}

bool EventTables::set(const EventTable& table, std::uint32_t column, const Argument& argument,
                      tracks::EventValues& values) {
  using Kind = Argument::Kind;
  const ColumnType type = table.schema->columns[column].type;
  const bool fits_signed =
      argument.kind == Kind::integer || (argument.kind == Kind::whole && static_cast<std::int64_t>(argument.bits) >= 0);
  if (type == ColumnType::int64 && fits_signed) {
    values.unsigned_integer(column, argument.bits);
    return true;
  }
  if (type == ColumnType::string && (argument.kind == Kind::text || argument.kind == Kind::nested)) {
    if (argument.value_entry != nullptr) {
      if (argument.value_entry->id == 0) argument.value_entry->id = session_.intern(argument.text);
      values.string(column, argument.value_entry->id);
    } else {
      const StringId id = session_.intern(argument.text);
      constexpr std::size_t kMostNested = 100'000;
      if (argument.kind == Kind::nested && nested_.size() < kMostNested) nested_.try_emplace(id, argument.text);
      values.string(column, id);
    }
    return true;
  }
  if ((type == ColumnType::float64 && argument.kind == Kind::real) ||
      (type == ColumnType::boolean && argument.kind == Kind::boolean) ||
      (type == ColumnType::uint64 && argument.kind == Kind::whole)) {
    values.unsigned_integer(column, argument.bits);
    return true;
  }
  const json::JsonField field = json_field_of(argument, scratch_);
  if (field.kind == json::JsonKind::null) return true;
  if (type == ColumnType::text || type == ColumnType::string) {
    if (type == ColumnType::string) {
      values.string(column, session_.intern(field.text));
    } else if (!field.text.empty()) {
      values.text(column, field.text);
    }
    return true;
  }
  if (field.kind == json::JsonKind::array || field.kind == json::JsonKind::object) return false;
  const std::optional<std::uint64_t> bits = to_bits(type, field);
  if (bits) values.unsigned_integer(column, *bits);
  return bits.has_value();
}

void EventTables::bind(const EventTable& table, const Argument& argument, tracks::EventValues& values,
                       std::string& rest) {
  const std::uint32_t column = column_of(table, argument);
  const auto taken = [&] {
    return std::any_of(values.values().begin(), values.values().end(),
                       [&](const tracks::BoundValue& value) { return value.column == column; });
  };
  if (column != EventTable::kNoColumn && !taken() && set(table, column, argument, values)) return;
  if (argument.kind == Argument::Kind::none) return;
  if (rest.size() > kMostRest) {
    ++arguments_left_out_;
    return;
  }
  rest += rest.empty() ? "{" : ",";
  json::append_json(rest, json_field_of(argument, scratch_));
}

void EventTables::set_text(const EventTable& table, OwnColumn column, std::string_view text,
                           tracks::EventValues& values, std::string& rest) {
  if (text.empty()) return;
  if (const std::uint32_t place = table.column(column); place != EventTable::kNoColumn) {
    return values.string(place, session_.intern(text));
  }
  rest += rest.empty() ? "{" : ",";
  json::append_json(rest, {kOwnColumns[static_cast<std::size_t>(column)].name, text, json::JsonKind::string});
}

void EventTables::set_number(const EventTable& table, OwnColumn column, std::int64_t number,
                             tracks::EventValues& values, std::string& rest) {
  if (const std::uint32_t place = table.column(column); place != EventTable::kNoColumn) {
    return values.integer(place, number);
  }
  rest += rest.empty() ? "{" : ",";
  const std::string text = kOwnColumns[static_cast<std::size_t>(column)].type == ColumnType::uint64
                               ? fmt::format("{}", static_cast<std::uint64_t>(number))
                               : fmt::format("{}", number);
  json::append_json(rest, {kOwnColumns[static_cast<std::size_t>(column)].name, text, json::JsonKind::number});
}

void EventTables::merge(const EventTable& table, const tracks::EventValues& later, tracks::EventValues& values) {
  if (later.values().empty()) return;
  tracks::EventValues merged;
  const auto add = [&](const tracks::EventValues& from, const tracks::BoundValue& value) {
    if (table.schema->columns[value.column].type == ColumnType::text) {
      merged.text(value.column, from.texts().substr(value.value, value.size));
    } else {
      merged.unsigned_integer(value.column, value.value);
    }
  };
  const auto in = [](const tracks::EventValues& all, std::uint32_t column) -> const tracks::BoundValue* {
    for (const tracks::BoundValue& value : all.values()) {
      if (value.column == column) return &value;
    }
    return nullptr;
  };
  for (const tracks::BoundValue& value : values.values()) {
    const tracks::BoundValue* const other = in(later, value.column);
    if (other == nullptr) {
      add(values, value);
      continue;
    }
    const auto first = nested_.find(static_cast<StringId>(value.value));
    const auto second = nested_.find(static_cast<StringId>(other->value));
    const bool strings = table.schema->columns[value.column].type == ColumnType::string;
    if (strings && first != nested_.end() && second != nested_.end()) {
      std::string text = merged_json(first->second, second->second);
      const StringId id = session_.intern(text);
      nested_.try_emplace(id, std::move(text));
      merged.string(value.column, id);
    } else {
      add(later, *other);
    }
  }
  for (const tracks::BoundValue& value : later.values()) {
    if (in(values, value.column) == nullptr) add(later, value);
  }
  values = std::move(merged);
}

void EventTables::set_rest(const EventTable& table, const std::string& rest, tracks::EventValues& values) {
  if (!rest.empty()) values.text(table.column(OwnColumn::rest), rest + "}");
}

namespace {

using chrome::ChromeTable;

constexpr std::array kDeviceNames = {
    DeviceName{"COMPUTE ", "QUEUE [", "stream", ChromeTable::kernel},
    DeviceName{"COPY to ", "", "dma_queue", ChromeTable::memcpy},
    DeviceName{"STREAM [", "", "stream", ChromeTable::kernel},
};

struct CategoryPlace {
  std::string_view category;
  ChromeTable table;
};
constexpr std::array kToolCategories = {
    CategoryPlace{"kernel_dispatch", ChromeTable::kernel},
    CategoryPlace{"memory_copy", ChromeTable::memcpy},
    CategoryPlace{"hip_api", ChromeTable::runtime_call},
    CategoryPlace{"hip_runtime_api", ChromeTable::runtime_call},
    CategoryPlace{"hip_compiler_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_core_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_amd_ext_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_image_ext_api", ChromeTable::runtime_call},
    CategoryPlace{"hsa_finalize_ext_api", ChromeTable::runtime_call},
    CategoryPlace{"rccl_api", ChromeTable::runtime_call},
    CategoryPlace{"rocdecode_api", ChromeTable::runtime_call},
    CategoryPlace{"rocjpeg_api", ChromeTable::runtime_call},
    CategoryPlace{"marker_api", ChromeTable::user_annotation},
};

}  // namespace

const DeviceName* device_of_track(std::string_view name) noexcept {
  const auto* const found = std::find_if(kDeviceNames.begin(), kDeviceNames.end(), [&](const DeviceName& each) {
    return name.starts_with(each.begin) && name.find(each.within) != std::string_view::npos;
  });
  return found == kDeviceNames.end() ? nullptr : found;
}

std::string device_label(std::string_view name) {
  if (name.starts_with("STREAM [")) return "GPU";
  const std::size_t open = name.find('[');
  const std::size_t close = name.find(']', open);
  const bool host = name.ends_with("(CPU)");
  if (open == std::string_view::npos || close == std::string_view::npos) return host ? "CPU" : "GPU";
  const std::string_view number = name.substr(open + 1, close - open - 1);
  return host ? fmt::format("CPU {}", number) : tracks::gpu_name(number);
}

ChromeTable table_of_tool_category(std::string_view category) noexcept {
  for (const CategoryPlace& place : kToolCategories) {
    if (place.category == category) return place.table;
  }
  return chrome::table_of_category(category);
}

}  // namespace accelscope::capture::sources::perfetto
