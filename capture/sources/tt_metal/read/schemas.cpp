#include "capture/sources/tt_metal/read/schemas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

#include "capture/sources/tt_metal/read/dictionary.h"

namespace accelscope::capture::sources::tt_metal {
namespace {

constexpr std::string_view kLogTiming = "Timing";
constexpr std::string_view kLogOperation = "Operation";
constexpr std::string_view kLogIds = "IDs";
constexpr std::string_view kLogSource = "Layer & source";
constexpr std::string_view kLogDetails = "Details";

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

constexpr auto kLogInt = ColumnType::int64;
constexpr auto kLogId = ColumnType::uint64;
constexpr auto kLogBool = ColumnType::boolean;
constexpr auto kLogString = ColumnType::string;

constexpr FieldText kCommon[] = {
    {LogField::pcie_slot, "pcie_slot", kLogInt, "", kLogOperation, "Chip", "Number of the chip: its PCIe slot."},
    {LogField::core_x, "core_x", kLogInt, "", kLogOperation, "Core x", "Column of the core on the chip's network."},
    {LogField::core_y, "core_y", kLogInt, "", kLogOperation, "Core y", "Row of the core on the chip's network."},
    {LogField::risc, "risc", kLogString, "", kLogOperation, "RISC", "Processor of the core that ran the code."},
    {LogField::timer_id, "timer_id", kLogId, "", kLogIds, "Timer",
     "The marker's number: 16 bits folded from its name, file and line, so two markers may share one."},
    {LogField::run_host_id, "run_host_id", kLogId, "", kLogIds, "Run host ID",
     "The host's number of the program's run: GLOBAL CALL COUNT of an operations report."},
    {LogField::run_id, "run_id", kLogId, "", kLogIds, "Run ID", "Number of the run or program, of older logs."},
    {LogField::trace_id, "trace_id", kLogId, "", kLogIds, "Trace", "Number of the captured trace that was replayed."},
    {LogField::trace_id_counter, "trace_id_counter", kLogId, "", kLogIds, "Replay",
     "Which replay of the trace it was."},
    {LogField::time_cycles, "time_cycles", kLogInt, "cycles", kLogTiming, "Cycle",
     "The chip's cycle counter at the begin, exactly as the file has it."},
    {LogField::source, "source", kLogString, "", kLogSource, "Source",
     "File and line of the marker in the kernel's code.", Role::source_location},
    {LogField::meta_data, "meta_data", kLogString, "", kLogDetails, "Meta data", "What the tool added, as JSON."},
};
constexpr FieldText kZone[] = {
    {LogField::value, "data", kLogId, "", kLogDetails, "Data", "The row's stat value: of the begin, else of the end."},
    {LogField::own, "cycles", kLogInt, "cycles", kLogTiming, "Cycles", "Length of the zone in cycles of the chip."},
    {LogField::unfinished, "unfinished", kLogBool, "", kLogTiming, "Unfinished",
     "The zone has no end in the log; it is drawn to where its parent ends or it begins anew."},
    {LogField::end_meta_data, "end_meta_data", kLogString, "", kLogDetails, "Meta data at the end",
     "What the tool added to the zone's end, where it differs."},
};
constexpr FieldText kZoneTotal[] = {
    {LogField::value, "cycles", kLogId, "cycles", kLogTiming, "Cycles",
     "Cycles summed up over all passes of the zone."},
    {LogField::own, "ns", kLogInt, "ns", kLogTiming, "Time", "The same by the chip's frequency."},
};
constexpr FieldText kData[] = {
    {LogField::value, "data", kLogId, "", kLogDetails, "Data",
     "64 bits that the kernel or the network profiler recorded."},
};
constexpr FieldText kEvent[] = {
    {LogField::value, "data", kLogId, "", kLogDetails, "Data", "The row's stat value."},
    {LogField::own, "type", kLogString, "", kLogOperation, "Type", "Type of the row in the file."},
    {LogField::unfinished, "unmatched_end", kLogBool, "", kLogTiming, "End alone",
     "The end of a zone whose begin is not in the log."},
};
constexpr FieldText kCounter[] = {
    {LogField::value, "value", kLogId, "", kLogOperation, "Value", "What the counter had counted.", Role::value},
    {LogField::own, "ref_cnt", kLogId, "cycles", kLogOperation, "Reference count", "Cycles over which it counted."},
};

struct LogTableText {
  std::string_view name;
  EventKind kind;
  std::span<const FieldText> own;
};
constexpr std::array<LogTableText, kLogTableCount> kLogTables = {{
    {"zone", EventKind::slice, kZone},
    {"zone_total", EventKind::instant, kZoneTotal},
    {"ts_data", EventKind::instant, kData},
    {"ts_event", EventKind::instant, kEvent},
    {"perf_counter", EventKind::counter, kCounter},
}};

[[nodiscard]] const LogTableText& text_of(LogTable table) noexcept {
  return kLogTables[static_cast<std::size_t>(table)];
}

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
  column.group = kLogDetails;
  column.title = name;
  column.explanation = explanation;
  schema.columns.push_back(std::move(column));
}

}  // namespace

LogColumns::LogColumns(LogTable table) noexcept {
  for (const FieldText& field : text_of(table).own) places_[static_cast<std::size_t>(field.field)] = further_++;
  for (const FieldText& field : kCommon) places_[static_cast<std::size_t>(field.field)] = further_++;
}

Schema run_schema() {
  Schema schema;
  schema.name = "run";
  schema.kind = EventKind::slice;
  schema.name_column = "run";
  schema.name_explanation = "Run of a program on the chip, from the first to the last zone of any of its cores.";
  constexpr LogField kIdFields[LogContext::kIds] = {LogField::run_id, LogField::run_host_id, LogField::trace_id,
                                                    LogField::trace_id_counter};
  for (const LogField field : kIdFields) {
    for (const FieldText& text : kCommon) {
      if (text.field == field) schema.columns.push_back(column_of(text));
    }
  }
  schema.columns.push_back(
      column_of({LogField::own, "cycles", kLogInt, "cycles", kLogTiming, "Cycles", "Length of the run in cycles."}));
  schema.columns.push_back(
      column_of({LogField::value, "cores", kLogInt, "", kLogOperation, "Cores", "Cores that took part in the run."}));
  return schema;
}

Schema device_log_schema(LogTable table, const LogTableColumns& more) {
  const LogTableText& text = text_of(table);
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
    add_further_column(schema, name, kLogString, "A column of the file that this version does not know.");
  return schema;
}

}  // namespace accelscope::capture::sources::tt_metal
