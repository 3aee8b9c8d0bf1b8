#include "capture/sources/tt_metal/read/schemas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

#include "capture/sources/tt_metal/read/dictionary.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tt_metal {
namespace {

using namespace columns;

// In the order of LogField.
constexpr ColumnSpec kCommon[] = {
    {"pcie_slot", kInt, "", kOperation, "Chip", "Number of the chip: its PCIe slot."},
    {"core_x", kInt, "", kOperation, "Core x", "Column of the core on the chip's network."},
    {"core_y", kInt, "", kOperation, "Core y", "Row of the core on the chip's network."},
    {"risc", kString, "", kOperation, "RISC", "Processor of the core that ran the code."},
    {"timer_id", kUnsigned, "", kIds, "Timer",
     "The marker's number: 16 bits folded from its name, file and line, so two markers may share one."},
    {"run_host_id", kUnsigned, "", kIds, "Run host ID",
     "The host's number of the program's run: GLOBAL CALL COUNT of an operations report."},
    {"run_id", kUnsigned, "", kIds, "Run ID", "Number of the run or program, of older logs."},
    {"trace_id", kUnsigned, "", kIds, "Trace", "Number of the captured trace that was replayed."},
    {"trace_id_counter", kUnsigned, "", kIds, "Replay", "Which replay of the trace it was."},
    {"time_cycles", kInt, "cycles", kTiming, "Cycle",
     "The chip's cycle counter at the begin, exactly as the file has it."},
    {"source", kString, "", kLayerAndSource, "Source", "File and line of the marker in the kernel's code.",
     Role::source_location},
    {"meta_data", kString, "", kDetails, "Meta data", "What the tool added, as JSON."},
};
// What is a table's own, in the order of LogField too.
constexpr ColumnSpec kZone[] = {
    {"data", kUnsigned, "", kDetails, "Data", "The row's stat value: of the begin, else of the end."},
    {"cycles", kInt, "cycles", kTiming, "Cycles", "Length of the zone in cycles of the chip."},
    {"unfinished", kFlag, "", kTiming, "Unfinished",
     "The zone has no end in the log; it is drawn to where its parent ends or it begins anew."},
    {"end_meta_data", kString, "", kDetails, "Meta data at the end",
     "What the tool added to the zone's end, where it differs."},
};
constexpr ColumnSpec kZoneTotal[] = {
    {"cycles", kUnsigned, "cycles", kTiming, "Cycles", "Cycles summed up over all passes of the zone."},
    {"ns", kInt, "ns", kTiming, "Time", "The same by the chip's frequency."},
};
constexpr ColumnSpec kData[] = {
    {"data", kUnsigned, "", kDetails, "Data", "64 bits that the kernel or the network profiler recorded."},
};
constexpr ColumnSpec kEvent[] = {
    {"data", kUnsigned, "", kDetails, "Data", "The row's stat value."},
    {"type", kString, "", kOperation, "Type", "Type of the row in the file."},
    {"unmatched_end", kFlag, "", kTiming, "End alone", "The end of a zone whose begin is not in the log."},
};
constexpr ColumnSpec kCounter[] = {
    {"value", kUnsigned, "", kOperation, "Value", "What the counter had counted.", Role::value},
    {"ref_cnt", kUnsigned, "cycles", kOperation, "Reference count", "Cycles over which it counted."},
};

constexpr ColumnSpec kRunOnly[] = {
    {"cycles", kInt, "cycles", kTiming, "Cycles", "Length of the run in cycles."},
    {"cores", kInt, "", kOperation, "Cores", "Cores that took part in the run."},
};

// What kernels sum up while they wait at a circular buffer for data or for room.
constexpr std::array<std::string_view, 2> kTotalWaits = {"CB-COMPUTE-WAIT-FRONT", "CB-COMPUTE-RESERVE-BACK"};
constexpr std::string_view kMarkerName = "Name of the zone or marker; by its timer if it has none.";
struct LogTableSpec {
  SchemaSpec schema;
  std::span<const ColumnSpec> own;
};
constexpr std::array<LogTableSpec, kLogTableCount> kLogTables = {{
    {{"zone", EventKind::slice, "zone_name", kMarkerName}, kZone},
    {{"zone_total", EventKind::instant, "zone_name", kMarkerName, kTotalWaits}, kZoneTotal},
    {{"ts_data", EventKind::instant, "zone_name", kMarkerName}, kData},
    {{"ts_event", EventKind::instant, "zone_name", kMarkerName}, kEvent},
    {{"perf_counter", EventKind::counter, "counter_type", "Kind of the performance counter."}, kCounter},
}};

[[nodiscard]] const LogTableSpec& spec_of(LogTable table) noexcept {
  return kLogTables[static_cast<std::size_t>(table)];
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

void add_further_column(Schema& schema, std::string_view title, ColumnType type, std::string_view explanation) {
  std::string name = sql_name(title);
  while (schema.find(name)) name += "_2";
  schema.columns.push_back(make_column({name, type, "", kDetails, title, explanation}));
}

}  // namespace

LogColumns::LogColumns(LogTable table) noexcept : own_(spec_of(table).own.size()) {}

Schema run_schema() {
  Schema schema = make_schema({"run", EventKind::slice, "run",
                               "Run of a program on the chip, from the first to the last zone of any of its cores."});
  constexpr LogField kIdFields[LogContext::kIds] = {LogField::run_id, LogField::run_host_id, LogField::trace_id,
                                                    LogField::trace_id_counter};
  for (const LogField field : kIdFields) {
    schema.columns.push_back(make_column(kCommon[static_cast<std::size_t>(field) - kOwnLogFields]));
  }
  append_columns(schema, kRunOnly);
  return schema;
}

Schema device_log_schema(LogTable table, const LogTableColumns& more) {
  const LogTableSpec& spec = spec_of(table);
  Schema schema = make_schema(spec.schema, spec.own);
  append_columns(schema, kCommon);
  if (more.dispatch) {
    for (const DispatchKey& key : kDispatchKeys)
      add_further_column(schema, key.name, key.type, "Of a dispatch core: part of the meta data.");
  }
  for (const std::string& name : more.extras)
    add_further_column(schema, name, kString, "A column of the file that this version does not know.");
  return schema;
}

}  // namespace accelscope::capture::sources::tt_metal
