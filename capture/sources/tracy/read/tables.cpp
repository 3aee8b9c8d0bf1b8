#include "capture/sources/tracy/read/tables.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "core/base/format.h"

namespace accelscope::capture::sources::tracy {
namespace {

using namespace columns;

constexpr std::size_t kMessageNameChars = 60;

constexpr ColumnSpec kPlaceInSource = {
    "source", kString, "", kOperation, "Source", "Where in the source it is marked.", Role::source_location};
constexpr ColumnSpec kHostThread = {"thread", kInt, "", kIds, "Thread", "The host's thread."};
constexpr ColumnSpec kFunction = {"function", kString, "", kOperation, "Function", "The function that marks it."};
constexpr ColumnSpec kStackNumber = {
    "callstack", kInt, "", kIds, "Call stack", "Number of the call stack in the table tracy_callstack."};
constexpr ColumnSpec kGpuCorrelation = {"correlation", kInt,          "",
                                        kIds,          "Correlation", "Joins the host's call and what the device did."};

constexpr ColumnSpec kZone[] = {
    kPlaceInSource,
    kHostThread,
    {"zone_name", kText, "", kOperation, "Zone name", "What the program called this zone alone."},
    {"zone_text", kText, "", kOperation, "Text", "What the program said about this zone."},
    kFunction,
    kStackNumber,
};
constexpr ColumnSpec kGpuZone[] = {
    kPlaceInSource,
    {"thread", kInt, "", kIds, "Thread", "The thread that started it, or the part of the device that it ran on."},
    kFunction,
    kGpuCorrelation,
    {"cpu_begin", kInt, "ns", kTiming, "Begun by the host", "When the host told of its begin, in the trace's time."},
    {"cpu_end", kInt, "ns", kTiming, "Ended by the host", "When the host told of its end, in the trace's time."},
    {"query", kInt, "", kIds, "Query", "Number of the device's time stamp, which notes go by."},
    kStackNumber,
};
constexpr ColumnSpec kGpuCall[] = {kPlaceInSource, kHostThread, kGpuCorrelation};
constexpr ColumnSpec kGpuMarker[] = {
    kPlaceInSource,
    {"kind", kInt, "", kOperation, "Kind", "Number of the kind of marker."},
    {"meta", kText, "", kOperation, "Details", "What the device said with it."},
};
constexpr ColumnSpec kGpuNote[] = {
    {"context", kString, "", kIds, "Context", "The GPU context."},
    {"query", kInt, "", kIds, "Query", "Number of the time stamp of the zone that it tells of."},
    {"value", kReal, "", kOperation, "Value", "What was measured."},
};
constexpr ColumnSpec kMessage[] = {
    {"message", kText, "", kOperation, "Message", "What the program said."},
    kHostThread,
    {"severity", kString, "", kOperation, "Severity", "How grave the program calls it."},
    kStackNumber,
};
constexpr ColumnSpec kFrame[] = {{"frame", kInt, "", kIds, "Frame", "Its number among those of its name."}};
constexpr ColumnSpec kLock[] = {
    kPlaceInSource,
    {"thread", kInt, "", kIds, "Thread", "The thread that waits or holds."},
    {"lock", kInt, "", kIds, "Lock", "The lock's number."},
};
constexpr ColumnSpec kPlot[] = {{"value", kReal, "", kOperation, "Value", "A sample of the plot.", Role::value, true}};
constexpr ColumnSpec kMemoryEvent[] = {
    {"Bytes", kInt, "B", columns::kMemory, "", "Allocated, or released if negative.", Role::allocation},
    {"Addr", kUnsigned, "", columns::kMemory, "", "Where it lies.", Role::address},
    {"pool", kString, "", columns::kMemory, "Pool", "The memory it lies in.", Role::pool},
    kHostThread,
    kStackNumber,
};
constexpr ColumnSpec kSample[] = {
    kStackNumber,
    {"at_switch", kFlag, "", kOperation, "At a switch", "Taken because the thread was switched out or in."},
};
constexpr ColumnSpec kCallstack[] = {
    {"callstack", kInt, "", kIds, "Call stack", "Its number."},
    {"stack", kText, "", kOperation, "Stack", "Its frames, the innermost first.", Role::stack},
};
constexpr ColumnSpec kSwitch[] = {
    {"cpu", kInt, "", kIds, "CPU", "The processor that the thread ran on."},
    {"waited", kInt, "ns", kTiming, "Waited", "From when it could run to when it did.", Role::wait_ns},
    {"reason", kInt, "", kOperation, "Reason", "The system's number of why it stopped running."},
    {"state", kInt, "", kOperation, "State", "The system's number of what it did then."},
    {"wakeup_cpu", kInt, "", kIds, "Woken by CPU", "The processor that made it able to run."},
};
constexpr ColumnSpec kCpu[] = {{"thread", kInt, "", kIds, "Thread", "The thread that ran."}};

struct TableRow {
  SchemaSpec spec;
  std::span<const ColumnSpec> columns;
};

[[nodiscard]] const TableRow& row_of(TracyTableKind kind) {
  static const std::array<TableRow, kTracyTableKinds> rows = {{
      {{"tracy_zone", EventKind::slice, "name"}, kZone},
      {{"tracy_gpu_zone", EventKind::slice, "name"}, kGpuZone},
      {{"tracy_gpu_call", EventKind::slice, "name"}, kGpuCall},
      {{"tracy_gpu_marker", EventKind::instant, "name"}, kGpuMarker},
      {{"tracy_gpu_note", EventKind::table, "note"}, kGpuNote},
      {{"tracy_message", EventKind::instant, "MessageName", "The operation, or the beginning of the message."},
       kMessage},
      {{"tracy_frame", EventKind::slice, "name"}, kFrame},
      {{"tracy_section", EventKind::slice, "text"}, {}},
      {{"tracy_lock", EventKind::slice, "what"}, kLock},
      {{"tracy_plot", EventKind::counter}, kPlot},
      {{"memory", EventKind::memory, "pool_name"}, kMemoryEvent},
      {{"tracy_sample", EventKind::instant, "what"}, kSample},
      {{"tracy_callstack", EventKind::table, "function"}, kCallstack},
      {{"tracy_context_switch", EventKind::slice, "what"}, kSwitch},
      {{"tracy_cpu", EventKind::slice, "what"}, kCpu},
  }};
  return rows[static_cast<std::size_t>(kind)];
}

}  // namespace

Schema tracy_table(TracyTableKind kind) {
  const TableRow& row = row_of(kind);
  return make_schema(row.spec, row.columns);
}

Schema tracy_table_without_columns(TracyTableKind kind, std::string_view name_column) {
  SchemaSpec spec = row_of(kind).spec;
  spec.name_column = name_column;
  return make_schema(spec);
}

Column tracy_column(TracyTableKind kind, std::string_view name) {
  const std::span<const ColumnSpec> known = row_of(kind).columns;
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const ColumnSpec& spec) { return spec.name == name; });
  if (found != known.end()) return make_column(*found);
  return make_column({name, kText, "", kOperation, "", "As the file has it."});
}

std::string message_name(std::string_view text) {
  constexpr std::string_view kOperationMark = "TT_DNN_DEVICE_OP: \"";
  const std::string_view first = text.substr(0, std::min(text.find('\n'), text.size()));
  if (const std::size_t mark = first.find(kOperationMark); mark <= 1) {
    const std::size_t begin = mark + kOperationMark.size();
    const std::size_t end = first.find('"', begin);
    if (end != std::string_view::npos && end > begin) {
      return shorten_middle(first.substr(begin, end - begin), kMessageNameChars);
    }
  }
  return shorten_middle(first.substr(0, 4 * kMessageNameChars), kMessageNameChars);
}

}  // namespace accelscope::capture::sources::tracy
