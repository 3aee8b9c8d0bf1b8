#include "capture/sources/perfetto/write/event_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace accelscope::capture::sources::perfetto {
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

}  // namespace accelscope::capture::sources::perfetto
