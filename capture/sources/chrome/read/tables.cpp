#include "capture/sources/chrome/read/tables.h"

#include <algorithm>
#include <array>
#include <utility>

#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sources::chrome {
namespace {

using namespace columns;

constexpr std::array<ChromeTableRule, kChromeTableCount> kRules = {{
    {ChromeTable::event, "event", EventKind::slice, TablePlace::host_thread, "events", 0},
    {ChromeTable::kernel, "kernel", EventKind::slice, TablePlace::stream, "kernels", 0},
    {ChromeTable::memcpy, "memcpy", EventKind::slice, TablePlace::dma_queue, "memcpy", 0},
    {ChromeTable::memset, "memset", EventKind::slice, TablePlace::dma_queue, "memset", 1},
    {ChromeTable::runtime_call, "runtime_call", EventKind::slice, TablePlace::host_thread, "runtime", 4},
    {ChromeTable::cpu_op, "cpu_op", EventKind::slice, TablePlace::host_thread, "operators", 3},
    {ChromeTable::user_annotation, "user_annotation", EventKind::slice, TablePlace::host_thread, "annotations", 1},
    {ChromeTable::gpu_user_annotation, "gpu_user_annotation", EventKind::slice, TablePlace::annotation, "annotations",
     0},
    {ChromeTable::python_function, "python_function", EventKind::slice, TablePlace::host_thread, "python", 2},
    {ChromeTable::overhead, "overhead", EventKind::slice, TablePlace::host_thread, "overhead", 6},
    {ChromeTable::sync, "cuda_sync", EventKind::slice, TablePlace::barrier, "sync", 0},
    {ChromeTable::collective, "collective_comm", EventKind::slice, TablePlace::collective, "collectives", 0},
    {ChromeTable::mtia_event, "mtia_ccp_events", EventKind::slice, TablePlace::stream, "events", 1},
    {ChromeTable::hpu_op, "hpu_op", EventKind::slice, TablePlace::stream, "operators", 1},
    {ChromeTable::range, "cuda_profiler_range", EventKind::slice, TablePlace::annotation, "profiler ranges", 1},
    {ChromeTable::device_event, "device_event", EventKind::slice, TablePlace::stream, "events", 2},
    {ChromeTable::trace_span, "trace_span", EventKind::slice, TablePlace::host_thread, "spans", 0},
    {ChromeTable::instant, "instant", EventKind::instant, TablePlace::host_thread, "instants", 7},
    {ChromeTable::memory, "memory", EventKind::memory, TablePlace::memory, "memory", 0},
    {ChromeTable::thread_state, "thread_state", EventKind::slice, TablePlace::host_thread, "state", 5},
}};

struct CategoryRule {
  std::string_view category;
  ChromeTable table;
};
constexpr CategoryRule kCategories[] = {
    {"kernel", ChromeTable::kernel},
    {"cpu_op", ChromeTable::cpu_op},
    {"python_function", ChromeTable::python_function},
    {"cuda_runtime", ChromeTable::runtime_call},
    {"cuda_driver", ChromeTable::runtime_call},
    {"gpu_memcpy", ChromeTable::memcpy},
    {"gpu_memset", ChromeTable::memset},
    {"user_annotation", ChromeTable::user_annotation},
    {"gpu_user_annotation", ChromeTable::gpu_user_annotation},
    {"overhead", ChromeTable::overhead},
    {"cuda_sync", ChromeTable::sync},
    {"cuda_event", ChromeTable::sync},
    {"xpu_sync", ChromeTable::sync},
    {"mtia_runtime", ChromeTable::runtime_call},
    {"xpu_runtime", ChromeTable::runtime_call},
    {"xpu_driver", ChromeTable::runtime_call},
    {"glow_runtime", ChromeTable::runtime_call},
    {"privateuse1_runtime", ChromeTable::runtime_call},
    {"privateuse1_driver", ChromeTable::runtime_call},
    {"mtia_ccp_events", ChromeTable::mtia_event},
    {"hpu_op", ChromeTable::hpu_op},
    {"collective_comm", ChromeTable::collective},
    {"cuda_profiler_range", ChromeTable::range},
    {"xpu_scope_profiler", ChromeTable::range},
    {"Trace", ChromeTable::trace_span},
    // As the profiler of 2021 called them.
    {"Operator", ChromeTable::cpu_op},
    {"Runtime", ChromeTable::runtime_call},
    {"Kernel", ChromeTable::kernel},
    {"Memcpy", ChromeTable::memcpy},
    {"Memset", ChromeTable::memset},
};
// Kinds of these devices that are not in the list yet.
constexpr std::string_view kDevicePrefixes[] = {"mtia_", "hpu_", "xpu_", "privateuse1_"};
constexpr std::string_view kLaunchFlows[] = {"ac2g", "async", "async_cpu_to_gpu", "async_gpu", "cpu_to_cuda"};

constexpr ColumnSpec kExternalId = {"External id", kInt, "", kIds, "", "Joins the framework's operator and its work."};
constexpr ColumnSpec kCorrelation = {"correlation", kInt, "", kIds, "", "Joins a runtime call and what it started."};
constexpr ColumnSpec kStream = {"stream", kInt, "", kIds, "", "The stream it ran on."};
constexpr ColumnSpec kEventIndex = {"Ev Idx", kInt, "", kIds, "", "Place in the profiler's own list."};
constexpr ColumnSpec kRecordId = {"Record function id", kInt, "", kIds, "", "The profiler's id of the call."};
constexpr ColumnSpec kStack = {"Call stack", kString, "", kSource, "", "Where it was called from.", Role::stack};

constexpr ColumnSpec kOperatorColumns[] = {
    kExternalId,
    kRecordId,
    kEventIndex,
    {"Sequence number", kInt, "", kIds, "", "Joins an operator and its gradient."},
    {"Fwd thread id", kInt, "", kIds, "", "The thread of the forward pass."},
    {"Input Dims", kString, "", kOperation, "", "Shapes of the inputs."},
    {"Input type", kString, "", kOperation, "", "Types of the inputs."},
    {"Input Strides", kString, "", kOperation, "", "Strides of the inputs."},
    {"Concrete Inputs", kString, "", kOperation, "", "Values of scalar inputs."},
    {"finished", kFlag, "", kOperation, "", "It ended before the capture did."},
    kStack,
};
constexpr ColumnSpec kAnnotationColumns[] = {kExternalId, kRecordId, kEventIndex};
constexpr ColumnSpec kPythonColumns[] = {
    kEventIndex,
    {"Python id", kInt, "", kIds, "", "The profiler's id of the call."},
    {"Python parent id", kInt, "", kIds, "", "The call that made it."},
    {"Python module id", kInt, "", kIds, "", "The module object."},
    {"finished", kFlag, "", kOperation, "", "It ended before the capture did."},
};
constexpr ColumnSpec kDeviceEventColumns[] = {kCorrelation, kStream};
constexpr ColumnSpec kMemoryColumns[] = {
    {"Bytes", kInt, "B", kMemory, "", "Allocated, or released if negative.", Role::allocation},
    {"Addr", kUnsigned, "", kMemory, "", "Where it lies.", Role::address},
    {"Device Type", kInt, "", kMemory, "", "The framework's number of the kind of device; 0 is the host."},
    {"Device Id", kInt, "", kMemory, "", "Number of the device; -1 for the host."},
    {"Total Allocated", kInt, "B", kMemory, "", "In use on the device after this."},
    {"Total Reserved", kInt, "B", kMemory, "", "Held by the framework's allocator after this."},
    kEventIndex,
};

constexpr ColumnSpec kCollectiveColumns[] = {
    {"Collective name", kString, "", kTransfer, "", "What the ranks do together."},
    {"In msg nelems", kInt, "", kTransfer, "", "Elements that a rank brings in."},
    {"Out msg nelems", kInt, "", kTransfer, "", "Elements that a rank gets."},
    {"Group size", kInt, "", kTransfer, "", "Ranks that take part."},
    {"dtype", kString, "", kTransfer, "", "Type of the elements."},
    {"Process Group Ranks", kString, "", kTransfer, "", "The ranks that take part."},
};

constexpr std::string_view kWaitingStreams[] = {"event_wait"};

}  // namespace

std::span<const std::string_view> waiting_names(ChromeTable table) noexcept {
  if (table == ChromeTable::runtime_call) return tracks::gpu_waiting_names(tracks::GpuTable::runtime_call);
  if (table == ChromeTable::sync) return tracks::gpu_waiting_names(tracks::GpuTable::cuda_sync);
  if (table == ChromeTable::mtia_event) return kWaitingStreams;
  return {};
}

const ChromeTableRule& rule_of(ChromeTable table) noexcept { return kRules[static_cast<std::size_t>(table)]; }

ChromeTable table_of_category(std::string_view category) noexcept {
  for (const CategoryRule& rule : kCategories) {
    if (rule.category == category) return rule.table;
  }
  // As a session calls its tables, of traces that were exported from one.
  for (const ChromeTableRule& rule : kRules) {
    if (rule.schema == category && rule.kind == EventKind::slice) return rule.table;
  }
  const bool device = std::any_of(std::begin(kDevicePrefixes), std::end(kDevicePrefixes),
                                  [&](std::string_view prefix) { return category.starts_with(prefix); });
  if (!device) return ChromeTable::event;
  return category.ends_with("_runtime") || category.ends_with("_driver") ? ChromeTable::runtime_call
                                                                         : ChromeTable::device_event;
}

ChromeTable table_of_args(std::string_view args) noexcept {
  for (const auto& [key, table] : {std::pair{"\"kernel_details\"", ChromeTable::kernel},
                                   {"\"memcpy_details\"", ChromeTable::memcpy},
                                   {"\"memset_details\"", ChromeTable::memset}}) {
    const std::size_t at = args.find(key);
    if (at == std::string_view::npos) continue;
    const std::size_t colon = args.find(':', at);
    const std::size_t quote = colon == std::string_view::npos ? colon : args.find_first_not_of(" \t\r\n", colon + 1);
    if (quote == std::string_view::npos || args[quote] != '"') continue;
    if (quote + 1 < args.size() && args[quote + 1] != '"') return table;
  }
  return ChromeTable::event;
}

bool is_launch_flow(std::string_view category) noexcept {
  return std::find(std::begin(kLaunchFlows), std::end(kLaunchFlows), category) != std::end(kLaunchFlows);
}

Column allocation_column(Role role, const std::string& name) {
  const bool bytes = role == Role::allocation || role == Role::requested;
  const ColumnType type = bytes ? kInt : role == Role::address || role == Role::key ? kUnsigned : kString;
  return make_column({name, type, bytes ? "B" : "", kMemory, "", "", role});
}

std::span<const ColumnSpec> collective_columns(ChromeTable table) noexcept {
  const bool has = table == ChromeTable::kernel || table == ChromeTable::cpu_op;
  return has ? std::span<const ColumnSpec>(kCollectiveColumns) : std::span<const ColumnSpec>{};
}

std::span<const ColumnSpec> known_columns(ChromeTable table) noexcept {
  switch (table) {
    case ChromeTable::kernel:
      return tracks::gpu_columns(tracks::GpuTable::kernel);
    case ChromeTable::memcpy:
    case ChromeTable::memset:
      return tracks::gpu_columns(tracks::GpuTable::memcpy);
    case ChromeTable::runtime_call:
      return tracks::gpu_columns(tracks::GpuTable::runtime_call);
    case ChromeTable::cpu_op:
      return kOperatorColumns;
    case ChromeTable::user_annotation:
    case ChromeTable::gpu_user_annotation:
      return kAnnotationColumns;
    case ChromeTable::python_function:
      return kPythonColumns;
    case ChromeTable::sync:
      return tracks::gpu_columns(tracks::GpuTable::cuda_sync);
    case ChromeTable::collective:
    case ChromeTable::mtia_event:
    case ChromeTable::hpu_op:
    case ChromeTable::device_event:
      return kDeviceEventColumns;
    case ChromeTable::memory:
      return kMemoryColumns;
    case ChromeTable::event:
    case ChromeTable::overhead:
    case ChromeTable::range:
    case ChromeTable::trace_span:
    case ChromeTable::instant:
    case ChromeTable::thread_state:
      return {};
  }
  return {};
}

}  // namespace accelscope::capture::sources::chrome
