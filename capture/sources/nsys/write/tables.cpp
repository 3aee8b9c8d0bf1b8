#include "capture/sources/nsys/write/tables.h"

#include <array>
#include <iterator>
#include <optional>

#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sources::nsys {
namespace {

using namespace columns;
using tracks::GpuTable;

constexpr ColumnSpec kNsysCorrelation = {
    "correlation", kInt, "", kIds, "", "Joins a runtime call and what it started, within one process."};
constexpr ColumnSpec kNsysDevice = {"device", kInt, "", kIds, "", "What the process calls the device."};
constexpr ColumnSpec kNsysContext = {"context", kInt, "", kIds, "", "The driver's context."};
constexpr ColumnSpec kNsysStream = {"stream", kInt, "", kIds, "", "The stream."};
constexpr ColumnSpec kGreenContext = {"greenContextId", kInt, "", kIds, "", "The part of the context."};
constexpr ColumnSpec kGraphNode = {"graphNodeId", kInt, "", kIds, "", "The node of a CUDA graph that it is."};
constexpr ColumnSpec kEventOf = {"eventId", kInt, "", kIds, "", "The event that it is about."};
constexpr ColumnSpec kEventSync = {"eventSyncId", kInt, "", kIds, "", "Joins an event's record and who waits for it."};
constexpr ColumnSpec kReturnValue = {"returnValue", kInt, "", kOperation, "", "What the function returned."};
constexpr ColumnSpec kStackOf = {"stack", kString, "", kSource, "", "Where it was called from.", Role::stack};

constexpr ColumnSpec kKernelOwn[] = {
    {"launchType", kString, "", kLaunch, "", "Whether its blocks run together."},
    {"cluster", kString, "", kLaunch, "", "Blocks of a cluster in x, y and z."},
};
constexpr ColumnSpec kKernelFurther[] = {
    {"shortName", kString, "", kOperation, "", "The function's name alone."},
    kGreenContext,
    kGraphNode,
    {"graphId", kInt, "", kIds, "", "The CUDA graph that launched it."},
    {"gridId", kInt, "", kIds, "", "The driver's number of the launch."},
    {"staticSharedMemory", kInt, "B", kLaunch, "", "Shared memory that the kernel's code takes."},
    {"dynamicSharedMemory", kInt, "B", kLaunch, "", "Shared memory that the launch asked for."},
    {"sharedMemoryExecuted", kInt, "B", kLaunch, "", "Shared memory that the driver set aside."},
    {"localMemoryPerThread", kInt, "B", kLaunch, "", "Local memory of a thread."},
    {"localMemoryTotal", kInt, "B", kLaunch, "", "Local memory of the launch."},
    {"cacheConfig", kInt, "", kLaunch, "", "How cache and shared memory were to be divided."},
    {"sharedMemoryLimitConfig", kInt, "", kLaunch, "", "Which limit of shared memory applies."},
    {"sharedMemoryRequestedPercentage", kInt, "%", kLaunch, "", "Share of the shared memory that was asked for."},
    {"clusterSchedulingPolicy", kInt, "", kLaunch, "", "How clusters are placed."},
    {"maxPotentialClusterSize", kInt, "", kLaunch, "", "The largest cluster that could run."},
    {"maxActiveClusters", kInt, "", kLaunch, "", "Clusters that can run at once."},
    {"qmdBulkReleaseDone", kInt, "", kTiming, "", "When the next kernel might begin."},
    {"qmdPreexitDone", kInt, "", kTiming, "", "When the kernel let its successor begin."},
    {"qmdLastCtaDone", kInt, "", kTiming, "", "When the last block ended."},
};
constexpr ColumnSpec kCopyOwn[] = {
    {"migrationCause", kString, "", kOperation, "", "Why unified memory moved."},
};
constexpr ColumnSpec kCopyFurther[] = {
    kGreenContext,
    kGraphNode,
    {"srcDeviceId", kInt, "", kTransfer, "", "The device that is read."},
    {"srcContextId", kInt, "", kTransfer, "", "The context that is read."},
    {"dstDeviceId", kInt, "", kTransfer, "", "The device that is written."},
    {"dstContextId", kInt, "", kTransfer, "", "The context that is written."},
    {"virtualAddress", kUnsigned, "", kTransfer, "", "The first page that moves."},
    {"copyCount", kInt, "", kTransfer, "", "Copies that the driver put together in this one."},
};
constexpr ColumnSpec kSetFurther[] = {
    kGreenContext,
    kGraphNode,
    {"value", kInt, "", kOperation, "", "What the bytes are set to."},
};
constexpr ColumnSpec kSyncFurther[] = {
    kGreenContext,
    kEventOf,
    kEventSync,
    {"syncType", kInt, "", kOperation, "",
     "The kind of wait as the file numbers it, which older versions do otherwise."},
};
constexpr ColumnSpec kSyncOwn[] = {
    {"wait_on_stream", kInt, "", kIds, "", "The stream on which the event was recorded that another one waits for."},
    {"wait_on_cuda_event_record_corr_id", kInt, "", kIds, "", "The correlation of the call that recorded it."},
};
constexpr ColumnSpec kRuntimeOwn[] = {kStackOf};
constexpr ColumnSpec kRuntimeFurther[] = {kReturnValue};
constexpr ColumnSpec kNvtxOwn[] = {
    {"message", kText, "", kOperation, "Message", "The whole text, where the name is only its beginning."},
    {"message bytes", kInt, "B", kTransfer, "", "Size of the message that a library for collectives was to send."},
};
constexpr ColumnSpec kNvtxFurther[] = {
    {"rangeId", kInt, "", kIds, "", "Joins the begin and the end of a range that is not nested."},
    {"domainId", kInt, "", kIds, "", "Number of the domain."},
};
constexpr ColumnSpec kGraphCommon[] = {kNsysCorrelation, kNsysDevice, kNsysContext, kNsysStream};
constexpr ColumnSpec kGraphFurther[] = {
    {"graphId", kInt, "", kIds, "", "The CUDA graph."},
    {"graphExecId", kInt, "", kIds, "", "The graph made ready for launches."},
    kGreenContext,
};
constexpr ColumnSpec kEventFurther[] = {kEventOf, kEventSync, kGreenContext};
constexpr ColumnSpec kMemoryCommon[] = {
    {"Bytes", kInt, "B", kMemory, "", "Allocated, or released if negative.", Role::allocation},
    {"Addr", kUnsigned, "", kMemory, "", "Where it lies.", Role::address},
    {"pool", kString, "", kMemory, "", "The memory that it lies in.", Role::pool},
    {"kind", kString, "", kMemory, "", "What kind of memory it is to the driver."},
    kNsysDevice,
    kNsysContext,
    kNsysCorrelation,
    {"variable", kString, "", kMemory, "", "The variable of a static allocation."},
};
constexpr ColumnSpec kMemoryFurther[] = {
    {"pc", kUnsigned, "", kSource, "", "The instruction that asked for it."},
    {"streamId", kInt, "", kIds, "", "The stream that it was ordered on."},
    {"localMemoryPoolAddress", kUnsigned, "", kMemory, "", "The driver's pool that it came from."},
    {"localMemoryPoolReleaseThreshold", kInt, "B", kMemory, "", "What the pool keeps when work has ended."},
    {"localMemoryPoolSize", kInt, "B", kMemory, "", "What the pool holds."},
    {"localMemoryPoolUtilizedSize", kInt, "B", kMemory, "", "What of the pool is in use."},
    {"importedMemoryPoolAddress", kUnsigned, "", kMemory, "", "The pool of another process."},
    {"importedMemoryPoolProcessId", kInt, "", kMemory, "", "The process that the pool is of."},
};
constexpr ColumnSpec kPoolCommon[] = {{"Addr", kUnsigned, "", kMemory, "", "The pool."}, kNsysDevice, kNsysCorrelation};
constexpr ColumnSpec kPoolFurther[] = {
    {"processId", kInt, "", kIds, "", "The process that the pool is of."},
    {"minBytesToKeep", kInt, "B", kMemory, "", "What a trim leaves."},
    {"localMemoryPoolReleaseThreshold", kInt, "B", kMemory, "", "What the pool keeps when work has ended."},
    {"localMemoryPoolSize", kInt, "B", kMemory, "", "What the pool holds."},
    {"localMemoryPoolUtilizedSize", kInt, "B", kMemory, "", "What of the pool is in use."},
};
constexpr ColumnSpec kFaultCommon[] = {
    {"address", kUnsigned, "", kMemory, "", "The address that was not there."},
    {"access", kString, "", kMemory, "", "What was done to it."},
    {"source", kString, "", kSource, "", "The line that did it.", Role::source_location},
};
constexpr ColumnSpec kFaultFurther[] = {
    {"numberOfPageFaults", kInt, "", kMemory, "", "Faults that this row stands for."},
    {"originalFaultPc", kUnsigned, "", kSource, "", "The instruction that did it."},
    {"module", kString, "", kSource, "", "The library that it is of."},
};
constexpr ColumnSpec kOsrtCommon[] = {
    {"kind", kString, "", kOperation, "", "What nsys calls the event."},
    kStackOf,
};
constexpr ColumnSpec kOsrtFurther[] = {
    kReturnValue,
    {"nestingLevel", kInt, "", kOperation, "", "Calls of such functions around it."},
};
constexpr ColumnSpec kStateCommon[] = {
    {"cpu", kInt, "", kOperation, "CPU", "The CPU that it ran on."},
    {"reason", kString, "", kOperation, "", "What the thread waited for."},
};
constexpr ColumnSpec kSampleCommon[] = {
    {"stack", kString, "", kSource, "", "The functions that the thread was in.", Role::stack},
    {"state", kString, "", kOperation, "", "What the thread did."},
};
constexpr ColumnSpec kSampleFurther[] = {
    {"cpu", kInt, "", kOperation, "CPU", "The CPU that it ran on."},
    {"cpuCycles", kInt, "", kOperation, "", "The counter that made the sample."},
    {"id", kInt, "", kIds, "", "The sample's number."},
};
constexpr ColumnSpec kOverheadCommon[] = {
    {"kind", kString, "", kOperation, "", "What took the time."},
};
constexpr ColumnSpec kOverheadFurther[] = {{"correlationId", kInt, "", kIds, "", "The call that it is of."},
                                           kReturnValue};
constexpr ColumnSpec kDiagnosticCommon[] = {
    {"severity", kString, "", kOperation, "", "How grave it is."},
    {"source", kString, "", kOperation, "", "The part of nsys that says it."},
    {"timestamp", kInt, "ns", kTiming, "", "When it was said; before the session began if negative."},
};

constexpr std::string_view kStatesWithoutCpu[] = {"Not running", "Interruptible", "Uninterruptible", "Stopped",
                                                  "Terminated",  "Unscheduled",   "Waiting",         "OS runtime"};
constexpr std::string_view kWaitingSystemCalls[] = {"pthread_cond_wait",
                                                    "pthread_cond_timedwait",
                                                    "pthread_cond_clockwait",
                                                    "pthread_join",
                                                    "pthread_timedjoin_np",
                                                    "pthread_barrier_wait",
                                                    "pthread_mutex_lock",
                                                    "pthread_mutex_timedlock",
                                                    "pthread_rwlock_rdlock",
                                                    "pthread_rwlock_wrlock",
                                                    "sem_wait",
                                                    "sem_timedwait",
                                                    "sem_clockwait",
                                                    "poll",
                                                    "ppoll",
                                                    "select",
                                                    "pselect",
                                                    "epoll_wait",
                                                    "epoll_pwait",
                                                    "epoll_pwait2",
                                                    "futex",
                                                    "nanosleep",
                                                    "clock_nanosleep",
                                                    "usleep",
                                                    "sleep",
                                                    "wait",
                                                    "wait3",
                                                    "wait4",
                                                    "waitid",
                                                    "waitpid",
                                                    "sigwait",
                                                    "sigwaitinfo",
                                                    "sigtimedwait",
                                                    "sigsuspend",
                                                    "pause"};

constexpr std::array<NsysTableRule, kNsysTableCount> kNsysRules = {{
    {NsysTable::kernel, {}, kKernelOwn, kKernelFurther},
    {NsysTable::memcpy, {}, kCopyOwn, kCopyFurther},
    {NsysTable::memset, {}, {}, kSetFurther},
    {NsysTable::cuda_sync, {}, kSyncOwn, kSyncFurther},
    {NsysTable::runtime_call, {}, kRuntimeOwn, kRuntimeFurther},
    {NsysTable::nvtx, {}, kNvtxOwn, kNvtxFurther},
    {NsysTable::cuda_graph,
     {"cuda_graph", EventKind::slice, "name", "The CUDA graph that ran, as one."},
     kGraphCommon,
     kGraphFurther},
    {NsysTable::cuda_event,
     {"cuda_event", EventKind::instant, "name", "The event that the device passed."},
     kGraphCommon,
     kEventFurther},
    {NsysTable::memory, {"memory", EventKind::memory, "name", "What happened."}, kMemoryCommon, kMemoryFurther},
    {NsysTable::memory_pool,
     {"memory_pool", EventKind::instant, "name", "What happened to a pool of the driver."},
     kPoolCommon,
     kPoolFurther},
    {NsysTable::page_fault,
     {"page_fault", EventKind::instant, "name", "Who missed a page of unified memory."},
     kFaultCommon,
     kFaultFurther},
    {NsysTable::osrt_call,
     {"osrt_call", EventKind::slice, "name", "The function of the system that was called.", kWaitingSystemCalls},
     kOsrtCommon,
     kOsrtFurther},
    {NsysTable::thread_state,
     {"thread_state", EventKind::slice, "state", "Whether the thread had a CPU.", kStatesWithoutCpu},
     kStateCommon,
     {}},
    {NsysTable::cpu_sample,
     {"cpu_sample", EventKind::instant, "function", "The function that the thread was in."},
     kSampleCommon,
     kSampleFurther},
    {NsysTable::overhead,
     {"overhead", EventKind::slice, "name", "What the profiler or the driver did."},
     kOverheadCommon,
     kOverheadFurther},
    {NsysTable::diagnostic,
     {"diagnostic", EventKind::instant, "text", "What the profiler says."},
     kDiagnosticCommon,
     {}},
}};

[[nodiscard]] std::optional<GpuTable> common_table(NsysTable table) noexcept {
  switch (table) {
    case NsysTable::kernel:
      return GpuTable::kernel;
    case NsysTable::memcpy:
      return GpuTable::memcpy;
    case NsysTable::memset:
      return GpuTable::memset;
    case NsysTable::cuda_sync:
      return GpuTable::cuda_sync;
    case NsysTable::runtime_call:
      return GpuTable::runtime_call;
    case NsysTable::nvtx:
      return GpuTable::nvtx;
    default:
      return std::nullopt;
  }
}

static_assert(KernelOwnColumns::launch_type == tracks::KernelColumns::count);
static_assert(TransferOwnColumns::cause == tracks::TransferColumns::count);
static_assert(SyncOwnColumns::wait_on_stream == tracks::SyncColumns::count);
static_assert(RuntimeOwnColumns::stack == tracks::RuntimeColumns::count);
static_assert(NvtxOwnColumns::message == tracks::NvtxColumns::count);

}  // namespace

const NsysTableRule& nsys_rule(NsysTable table) noexcept { return kNsysRules[static_cast<std::size_t>(table)]; }

std::size_t nsys_further_place(NsysTable table) noexcept {
  const auto common = common_table(table);
  return (common ? tracks::gpu_columns(*common).size() : 0) + nsys_rule(table).common.size();
}

std::string_view nsys_table_name(NsysTable table) noexcept {
  constexpr std::string_view kCommonNames[] = {"kernel", "memcpy", "memset", "cuda_sync", "runtime_call", "nvtx"};
  const auto place = static_cast<std::size_t>(table);
  return place < std::size(kCommonNames) ? kCommonNames[place] : nsys_rule(table).schema.name;
}

Schema nsys_schema(NsysTable table) {
  const NsysTableRule& rule = nsys_rule(table);
  const auto common = common_table(table);
  Schema schema = common ? tracks::make_gpu_schema(*common, rule.common) : make_schema(rule.schema, rule.common);
  append_columns(schema, rule.further);
  return schema;
}

}  // namespace accelscope::capture::sources::nsys
