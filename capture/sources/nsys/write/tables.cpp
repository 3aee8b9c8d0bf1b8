#include "capture/sources/nsys/write/tables.h"

#include <fmt/format.h>

#include <algorithm>
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

namespace {

constexpr std::string_view kProfilerHostName = "profiler";  // such rows come last
constexpr std::int64_t kNoStream = 4294967295;
constexpr std::int64_t kMostMetrics = 4096;  // of a device; a broken file may hold any number

struct StreamRowRule {
  StreamRow row;
  NsysTable table;
  std::string_view kind;
  std::string_view before;  // "memcpy " of "memcpy stream 7"
};
constexpr std::array kStreamRows = {
    StreamRowRule{StreamRow::kernels, NsysTable::kernel, "stream", ""},
    StreamRowRule{StreamRow::graphs, NsysTable::cuda_graph, "stream", "graphs "},
    StreamRowRule{StreamRow::collectives, NsysTable::kernel, "collective", "NCCL, "},
    StreamRowRule{StreamRow::copies, NsysTable::memcpy, "dma_queue", "memcpy "},
    StreamRowRule{StreamRow::sets, NsysTable::memset, "dma_queue", "memset "},
    StreamRowRule{StreamRow::waits, NsysTable::cuda_sync, "barrier", "sync "},
    StreamRowRule{StreamRow::events, NsysTable::cuda_event, "barrier", "events "},
};

struct ThreadRowRule {
  ThreadRow row;
  NsysTable table;
  std::string_view label;  // the last word of the row's name: it tells what the row shows of the thread
};
constexpr std::array kThreadRows = {
    ThreadRowRule{ThreadRow::annotations, NsysTable::nvtx, "annotations"},
    ThreadRowRule{ThreadRow::library, NsysTable::nvtx, ""},
    ThreadRowRule{ThreadRow::runtime, NsysTable::runtime_call, "runtime"},
    ThreadRowRule{ThreadRow::system, NsysTable::osrt_call, "system"},
    ThreadRowRule{ThreadRow::states, NsysTable::thread_state, "state"},
    ThreadRowRule{ThreadRow::samples, NsysTable::cpu_sample, "samples"},
};

enum OtherRow : int { kRangesRow, kMemoryRow, kPoolsRow, kFaultsRow, kOverheadRow, kMessagesRow };

[[nodiscard]] std::size_t mixed(std::size_t hash, std::uint64_t value) noexcept {
  constexpr std::uint64_t kRowPrime = 0x9E3779B97F4A7C15U;
  return (hash ^ value) * kRowPrime;
}

}  // namespace

std::size_t NsysRows::StreamHash::operator()(const StreamKey& key) const noexcept {
  std::size_t hash = mixed(static_cast<std::size_t>(key.kind), key.process);
  hash = mixed(hash, static_cast<std::uint64_t>(key.device));
  hash = mixed(hash, static_cast<std::uint64_t>(key.context));
  hash = mixed(hash, static_cast<std::uint64_t>(key.stream));
  return hash ^ hash >> 32;
}

std::size_t NsysRows::ThreadHash::operator()(const ThreadKey& key) const noexcept {
  const std::size_t hash =
      mixed(static_cast<std::size_t>(key.kind) << 32 | key.table, static_cast<std::uint64_t>(key.thread));
  return hash ^ hash >> 32;
}

std::uint32_t NsysRows::table(NsysTable table) {
  std::uint32_t& number = tables_[static_cast<std::size_t>(table)];
  if (number == kNone) number = session_.add_table(nsys_schema(table));
  return number;
}

std::string NsysRows::device_label(std::int64_t device) const { return tracks::gpu_name(device); }

std::uint32_t NsysRows::stream(StreamRow kind, std::uint64_t process, std::int64_t device, std::int64_t context,
                               std::int64_t stream) {
  const StreamKey key{kind, process, device, context, stream};
  if (const auto known = streams_.find(key); known != streams_.end()) return known->second;
  const StreamRowRule& rule = kStreamRows[static_cast<std::size_t>(kind)];
  const std::uint32_t row =
      session_.add_track(table(rule.table), {.kind = std::string(rule.kind)}, {tracks::kDeviceRows, 0});
  devices_.insert(facts_.gpu_of(process, device));
  streams_.try_emplace(key, row);
  return row;
}

std::uint32_t NsysRows::thread(ThreadRow kind, std::int64_t thread, std::string_view library,
                               std::uint32_t library_table) {
  const ThreadKey key{kind, library.empty() ? 0 : library_table, thread};
  if (const auto known = thread_rows_.find(key); known != thread_rows_.end()) return known->second;
  const ThreadRowRule& rule = kThreadRows[static_cast<std::size_t>(kind)];
  const std::uint32_t row =
      session_.add_track(library.empty() ? table(rule.table) : library_table, {.kind = "host_thread"});
  threads_[thread].push_back({row, std::string(library.empty() ? rule.label : library), static_cast<int>(kind)});
  if (kind == ThreadRow::runtime) launching_.insert(thread);
  thread_rows_.try_emplace(key, row);
  return row;
}

std::uint32_t NsysRows::ranges(std::uint64_t process) {
  const auto [known, added] = others_.try_emplace({kRangesRow, static_cast<std::int64_t>(process)}, 0);
  if (added) {
    known->second = session_.add_track(
        table(NsysTable::nvtx), {.name = "NVTX ranges", .kind = "host_thread", .host = facts_.process_label(process)},
        {tracks::kMainThreadRows, -1});
  }
  return known->second;
}

std::uint32_t NsysRows::memory(std::int64_t device, bool pools) {
  const auto [known, added] = others_.try_emplace({pools ? kPoolsRow : kMemoryRow, device}, 0);
  if (added) {
    const NsysTable of = pools ? NsysTable::memory_pool : NsysTable::memory;
    known->second = session_.add_track(table(of),
                                       {.name = pools ? "memory pools" : "memory",
                                        .kind = "memory",
                                        .device = device < 0 ? std::string{} : device_label(device)},
                                       {tracks::kDeviceRows, 100});
  }
  return known->second;
}

std::uint32_t NsysRows::faults(std::uint64_t process) {
  const auto [known, added] = others_.try_emplace({kFaultsRow, static_cast<std::int64_t>(process)}, 0);
  if (added) {
    known->second = session_.add_track(
        table(NsysTable::page_fault),
        {.name = "page faults", .kind = "host_thread", .host = facts_.process_label(process)}, {tracks::kHostRows, 1});
  }
  return known->second;
}

std::uint32_t NsysRows::overhead(std::int64_t thread) {
  const auto [known, added] = others_.try_emplace({kOverheadRow, thread}, 0);
  if (added) {
    known->second =
        session_.add_track(table(NsysTable::overhead),
                           {.name = fmt::format("overhead of {}, {}", facts_.process_label(process_key_of(thread)),
                                                facts_.thread_title(thread)),
                            .kind = "host_thread",
                            .host = std::string(kProfilerHostName)},
                           {tracks::kProfilerRows, 1});
  }
  return known->second;
}

std::uint32_t NsysRows::messages() {
  const auto [known, added] = others_.try_emplace({kMessagesRow, 0}, 0);
  if (added) {
    known->second =
        session_.add_track(table(NsysTable::diagnostic),
                           {.name = "messages", .kind = "host_thread", .host = std::string(kProfilerHostName)},
                           {tracks::kProfilerRows, 0});
  }
  return known->second;
}

std::uint32_t NsysRows::metric(std::int64_t type, std::int64_t metric) {
  std::vector<std::uint32_t>& of_type = metrics_[type];
  const auto place = static_cast<std::size_t>(std::clamp<std::int64_t>(metric, 0, kMostMetrics));
  if (place >= of_type.size()) of_type.resize(place + 1, kNone);
  if (of_type[place] != kNone) return of_type[place];
  const NsysMetric* known = facts_.metric(type, metric);
  constexpr std::int64_t kDeviceOfType = 0xFF;
  Track track{.name = known == nullptr ? fmt::format("metric {}", metric) : known->name,
              .kind = "counter",
              .device = device_label(type & kDeviceOfType),
              .unit = known == nullptr ? std::string{} : known->unit};
  devices_.insert(type & kDeviceOfType);
  return of_type[place] = session_.add_track(session_.counter_table(), std::move(track), {tracks::kDeviceRows, 200});
}

void NsysRows::name_all() {
  name_streams();
  name_threads();
}

// Streams of one number on one device are told apart by their process, or else by their context.
void NsysRows::name_streams() {
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::uint64_t>> processes;  // by device and stream
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::pair<std::uint64_t, std::int64_t>>> contexts;
  for (const auto& [key, row] : streams_) {
    const std::pair place{facts_.gpu_of(key.process, key.device), key.stream};
    processes[place].insert(key.process);
    contexts[place].emplace(key.process, key.context);
  }
  for (const auto& [key, row] : streams_) {
    const std::int64_t gpu = facts_.gpu_of(key.process, key.device);
    const StreamRowRule& rule = kStreamRows[static_cast<std::size_t>(key.kind)];
    std::string name =
        key.stream == kNoStream ? fmt::format("context {}", key.context) : fmt::format("stream {}", key.stream);
    const std::size_t sharing = processes[{gpu, key.stream}].size();
    if (sharing > 1) name += ", " + facts_.process_label(key.process);
    if (contexts[{gpu, key.stream}].size() > sharing && key.stream != kNoStream) {
      name += fmt::format(", context {}", key.context);
    }
    Track& track = session_.row(row);
    track.device = device_label(gpu);
    track.name = fmt::format("{}{}", rule.before, name);
    session_.place(row).place = static_cast<std::int64_t>(key.kind);
  }
}

void NsysRows::name_threads() {
  for (const auto& [thread, entries] : threads_) {
    const bool own = facts_.is_of_profiler(thread);
    const std::string process = facts_.process_label(process_key_of(thread));
    const std::string host = own ? std::string(kProfilerHostName) : process;
    std::string title = facts_.thread_title(thread);
    const int rank = own                                ? tracks::kProfilerRows
                     : tid_of(thread) == pid_of(thread) ? tracks::kMainThreadRows
                     : launching_.contains(thread)      ? tracks::kLaunchingRows
                                                        : tracks::kHostRows;
    if (own) title = fmt::format("{} in {}", title, process);
    std::uint32_t group = kNone;
    if (entries.size() > 1) {
      group = session_.add_group({.name = title, .kind = "host_thread", .host = host}, {rank, tid_of(thread)});
    }
    for (const ThreadEntry& entry : entries) {
      Track& track = session_.row(entry.row);
      track.host = host;
      track.name = group == kNone ? title : fmt::format("{} {}", title, entry.label);
      session_.place(entry.row) = {rank, group == kNone ? tid_of(thread) : entry.order};
      session_.above(entry.row) = group;
    }
  }
}

}  // namespace accelscope::capture::sources::nsys
