#include "capture/sources/tt_metal/device_log_schemas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

namespace accelscope::capture {
namespace {

constexpr std::string_view kTiming = "Timing";
constexpr std::string_view kOperation = "Operation";
constexpr std::string_view kIds = "IDs";
constexpr std::string_view kSource = "Layer & source";
constexpr std::string_view kDetails = "Details";

struct FieldText {
  LogField field;
  std::string_view name;
  ColumnType type;
  std::string_view unit;
  std::string_view group;
  std::string_view title;
  std::string_view explanation;
  Role role = Role::none;
};

constexpr auto kInt = ColumnType::int64;
constexpr auto kId = ColumnType::uint64;
constexpr auto kBool = ColumnType::boolean;
constexpr auto kString = ColumnType::string;

constexpr FieldText kCommon[] = {
    {LogField::pcie_slot, "pcie_slot", kInt, "", kOperation, "Chip", "Number of the chip: its PCIe slot."},
    {LogField::core_x, "core_x", kInt, "", kOperation, "Core x", "Column of the core on the chip's network."},
    {LogField::core_y, "core_y", kInt, "", kOperation, "Core y", "Row of the core on the chip's network."},
    {LogField::risc, "risc", kString, "", kOperation, "RISC", "Processor of the core that ran the code."},
    {LogField::timer_id, "timer_id", kId, "", kIds, "Timer",
     "The marker's number: 16 bits folded from its name, file and line, so two markers may share one."},
    {LogField::run_host_id, "run_host_id", kId, "", kIds, "Run host ID",
     "The host's number of the program's run: GLOBAL CALL COUNT of an operations report."},
    {LogField::run_id, "run_id", kId, "", kIds, "Run ID", "Number of the run or program, of older logs."},
    {LogField::trace_id, "trace_id", kId, "", kIds, "Trace", "Number of the captured trace that was replayed."},
    {LogField::trace_id_counter, "trace_id_counter", kId, "", kIds, "Replay", "Which replay of the trace it was."},
    {LogField::time_cycles, "time_cycles", kInt, "cycles", kTiming, "Cycle",
     "The chip's cycle counter at the begin, exactly as the file has it."},
    {LogField::source, "source", kString, "", kSource, "Source", "File and line of the marker in the kernel's code.",
     Role::source_location},
    {LogField::meta_data, "meta_data", kString, "", kDetails, "Meta data", "What the tool added, as JSON."},
};
constexpr FieldText kZone[] = {
    {LogField::value, "data", kId, "", kDetails, "Data", "The row's stat value: of the begin, else of the end."},
    {LogField::own, "cycles", kInt, "cycles", kTiming, "Cycles", "Length of the zone in cycles of the chip."},
    {LogField::unfinished, "unfinished", kBool, "", kTiming, "Unfinished",
     "The zone has no end in the log; it is drawn to where its parent ends or it begins anew."},
    {LogField::end_meta_data, "end_meta_data", kString, "", kDetails, "Meta data at the end",
     "What the tool added to the zone's end, where it differs."},
};
constexpr FieldText kZoneTotal[] = {
    {LogField::value, "cycles", kId, "cycles", kTiming, "Cycles", "Cycles summed up over all passes of the zone."},
    {LogField::own, "ns", kInt, "ns", kTiming, "Time", "The same by the chip's frequency."},
};
constexpr FieldText kData[] = {
    {LogField::value, "data", kId, "", kDetails, "Data", "64 bits that the kernel or the network profiler recorded."},
};
constexpr FieldText kEvent[] = {
    {LogField::value, "data", kId, "", kDetails, "Data", "The row's stat value."},
    {LogField::own, "type", kString, "", kOperation, "Type", "Type of the row in the file."},
    {LogField::unfinished, "unmatched_end", kBool, "", kTiming, "End alone",
     "The end of a zone whose begin is not in the log."},
};
constexpr FieldText kCounter[] = {
    {LogField::value, "value", kId, "", kOperation, "Value", "What the counter had counted.", Role::value},
    {LogField::own, "ref_cnt", kId, "cycles", kOperation, "Reference count", "Cycles over which it counted."},
};

struct TableText {
  std::string_view name;
  EventKind kind;
  std::span<const FieldText> own;
};
constexpr std::array<TableText, kLogTableCount> kTables = {{
    {"zone", EventKind::slice, kZone},
    {"zone_total", EventKind::instant, kZoneTotal},
    {"ts_data", EventKind::instant, kData},
    {"ts_event", EventKind::instant, kEvent},
    {"perf_counter", EventKind::counter, kCounter},
}};

[[nodiscard]] const TableText& text_of(LogTable table) noexcept { return kTables[static_cast<std::size_t>(table)]; }

[[nodiscard]] Column column_of(const FieldText& text) {
  Column column;
  column.name = text.name;
  column.type = text.type;
  column.unit = text.unit;
  column.group = text.group;
  column.title = text.title;
  column.explanation = text.explanation;
  column.role = text.role;
  return column;
}

// "Tensix Grid #" becomes tensix_grid, so that SQL needs no quotes.
[[nodiscard]] std::string sql_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!plain && !out.empty() && out.back() != '_') out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out.empty() ? "column" : out;
}

void add_further_column(Schema& schema, std::string_view name, ColumnType type, std::string_view explanation) {
  Column column;
  column.name = sql_name(name);
  while (schema.find(column.name)) column.name += "_2";
  column.type = type;
  column.group = kDetails;
  column.title = name;
  column.explanation = explanation;
  schema.columns.push_back(std::move(column));
}

}  // namespace

LogColumns::LogColumns(LogTable table) noexcept {
  for (const FieldText& field : text_of(table).own) places_[static_cast<std::size_t>(field.field)] = further_++;
  for (const FieldText& field : kCommon) places_[static_cast<std::size_t>(field.field)] = further_++;
}

Schema device_log_schema(LogTable table, const LogTableColumns& more) {
  const TableText& text = text_of(table);
  Schema schema;
  schema.name = text.name;
  schema.kind = text.kind;
  schema.name_column = table == LogTable::perf_counter ? "counter_type" : "zone_name";
  schema.name_explanation = table == LogTable::perf_counter
                                ? "Kind of the performance counter."
                                : "Name of the zone or marker; by its timer if it has none.";
  for (const FieldText& field : text.own) schema.columns.push_back(column_of(field));
  for (const FieldText& field : kCommon) schema.columns.push_back(column_of(field));
  if (more.dispatch) {
    for (const DispatchKey& key : kDispatchKeys)
      add_further_column(schema, key.name, key.type, "Of a dispatch core: part of the meta data.");
  }
  for (const std::string& name : more.extras)
    add_further_column(schema, name, kString, "A column of the file that this version does not know.");
  return schema;
}

}  // namespace accelscope::capture
