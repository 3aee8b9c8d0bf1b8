// What ran on devices: kernels, copies, sets, graphs, waits, events.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "capture/sources/nsys/importer.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/kernel_work.h"
#include "core/base/capped.h"

namespace accelscope::capture::sources::nsys {
namespace {

using tracks::KernelColumns;
using tracks::SyncColumns;
using tracks::TransferColumns;

constexpr std::int64_t kWarpThreads = 32;
constexpr std::int64_t kNoNumber = 4294967295;  // of a stream or an event: there is none
constexpr std::int64_t kFirstUnifiedCopy = 11, kLastUnifiedCopy = 13;

// Where every such row begins.
enum WorkField : std::size_t {
  kWorkStart,
  kWorkEnd,
  kWorkDevice,
  kWorkContext,
  kWorkStream,
  kWorkCorrelation,
  kWorkProcess,
  kWorkFields
};
template <typename... Names>
[[nodiscard]] constexpr std::array<std::string_view, kWorkFields + sizeof...(Names)> work_fields(Names... names) {
  return {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", names...};
}

}  // namespace

// False: it has no time, which is counted.
bool NsysImporter::read_work(const Row& row, Work& work) {
  const auto start = row.number(kWorkStart);
  const auto end = row.number(kWorkEnd);
  if (!start || !end) {
    ++counts_.missing_times;
    return false;
  }
  if (*end <= 0 && *start <= 0) {
    ++counts_.not_collected;
    return false;
  }
  work.start = *start;
  work.duration = capped_difference(*end, *start);
  work.device = row.integer(kWorkDevice);
  work.context = row.integer(kWorkContext);
  work.stream = row.integer(kWorkStream);
  work.correlation = row.integer(kWorkCorrelation);
  work.process = process_key_of(row.integer(kWorkProcess));
  values_.clear();
  saw(*end);
  return true;
}

void NsysImporter::add_target(const Work& work, const tracks::WrittenEvent& event) {
  any_work_ = true;
  if (work.correlation == 0) return;
  const std::uint64_t key = launch_key(work.process, work.correlation);
  launched_.push_back(key);
  session_.add_flow(tracks::FlowSide::target, key, static_cast<std::uint64_t>(work.correlation), event);
}

// One launch in some sixteen of those that started nothing is kept all the same, and finds no partner.
void NsysImporter::remember_launched() {
  constexpr std::size_t kBitsOfKey = 16;
  may_launch_.assign(std::bit_ceil(launched_.size() * kBitsOfKey + 1), false);
  for (const std::uint64_t key : launched_) may_launch_[key & (may_launch_.size() - 1)] = true;
  launched_ = {};
}

StringId NsysImporter::dimensions(std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto [known, added] = interned_dimensions_.try_emplace({x, y, z}, 0);
  if (added) known->second = session_.intern(fmt::format("[{}, {}, {}]", x, y, z));
  return known->second;
}

bool NsysImporter::is_collective(std::int64_t name) {
  const auto [known, added] = collectives_.try_emplace(name, false);
  if (added) known->second = is_collective_kernel_name(strings_.text(name));
  return known->second;
}

// Without shapes of operators: what a kernel's own name and grid tell.
void NsysImporter::set_work(std::int64_t name, StringId grid, const std::array<std::int64_t, 3>& blocks) {
  const auto [known, is_new] = works_.try_emplace({name, grid});
  if (is_new) {
    const auto work =
        tracks::attention_of_grid(strings_.text(name), fmt::format("[{}, {}, {}]", blocks[0], blocks[1], blocks[2]));
    if (work) known->second = {work->flops, session_.intern(work->type), session_.intern(work->basis)};
  }
  if (!(known->second.flops > 0)) return;
  values_.real(KernelColumns::flops, known->second.flops);
  values_.string(KernelColumns::precision, known->second.precision);
  values_.string(KernelColumns::work_from, known->second.basis);
}

void NsysImporter::read_kernels() {
  enum : std::size_t {
    kDemangled = kWorkFields,
    kShort,
    kMangled,
    kRegisters,
    kGrid,
    kBlock = kGrid + 3,
    kStatic = kBlock + 3,
    kDynamic,
    kLaunch,
    kCluster,
    kCount = kCluster + 3
  };
  constexpr auto kFields = work_fields("demangledName", "shortName", "mangledName", "registersPerThread", "gridX",
                                       "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory",
                                       "dynamicSharedMemory", "launchType", "clusterX", "clusterY", "clusterZ");
  static_assert(kFields.size() == kCount);
  each_row("CUPTI_ACTIVITY_KIND_KERNEL", NsysTable::kernel, kFields, [&](const Row& row) {
    Work work;
    if (!read_work(row, work)) return;
    facts_.saw_context(work.process, work.context, work.device);
    const std::size_t name_field = row.has(kDemangled) ? kDemangled : row.has(kShort) ? kShort : kMangled;
    const StringId name = strings_.intern(row.integer(name_field));
    const bool collective = is_collective(row.integer(row.has(kShort) ? kShort : name_field));
    values_.integer(KernelColumns::correlation, work.correlation);
    values_.integer(KernelColumns::device, work.device);
    values_.integer(KernelColumns::context, work.context);
    values_.integer(KernelColumns::stream, work.stream);
    const std::int64_t blocks =
        capped_product(capped_product(row.integer(kGrid), row.integer(kGrid + 1)), row.integer(kGrid + 2));
    const std::int64_t threads =
        capped_product(capped_product(row.integer(kBlock), row.integer(kBlock + 1)), row.integer(kBlock + 2));
    const StringId grid = dimensions(row.integer(kGrid), row.integer(kGrid + 1), row.integer(kGrid + 2));
    values_.string(KernelColumns::grid, grid);
    set_work(row.integer(name_field), grid, {row.integer(kGrid), row.integer(kGrid + 1), row.integer(kGrid + 2)});
    values_.string(KernelColumns::block,
                   dimensions(row.integer(kBlock), row.integer(kBlock + 1), row.integer(kBlock + 2)));
    values_.integer(KernelColumns::shared_memory, capped_sum(row.integer(kStatic), row.integer(kDynamic)));
    set_number(KernelColumns::registers, row, kRegisters);
    const NsysGpu* gpu = facts_.find_gpu(facts_.gpu_of(work.process, work.device));
    if (gpu != nullptr && gpu->multiprocessors > 0 && blocks > 0) {
      const double each = static_cast<double>(blocks) / static_cast<double>(gpu->multiprocessors);
      values_.real(KernelColumns::blocks_per_sm, each);
      const std::int64_t warps =
          capped_sum(threads, kWarpThreads - 1) / kWarpThreads;  // of a block, the last one perhaps not full
      values_.real(KernelColumns::warps_per_sm, each * static_cast<double>(warps));
    }
    if (row.has(kLaunch)) set_word(KernelOwnColumns::launch_type, NsysEnum::launch_type, row.integer(kLaunch));
    if (row.integer(kCluster) > 0) {
      values_.string(KernelOwnColumns::cluster,
                     dimensions(row.integer(kCluster), row.integer(kCluster + 1), row.integer(kCluster + 2)));
    }
    set_further(NsysTable::kernel, row, kCount);
    const std::uint32_t to = rows_.stream(collective ? StreamRow::collectives : StreamRow::kernels, work.process,
                                          work.device, work.context, work.stream);
    add_target(work, session_.write(to, work.start, work.duration, name, values_));
  });
}

void NsysImporter::set_transfer(const Work& work, std::int64_t bytes) {
  values_.integer(TransferColumns::correlation, work.correlation);
  values_.integer(TransferColumns::device, work.device);
  values_.integer(TransferColumns::context, work.context);
  values_.integer(TransferColumns::stream, work.stream);
  values_.integer(TransferColumns::bytes, bytes);
  // Bytes of a ns are GB of a s.
  if (work.duration > 0)
    values_.real(TransferColumns::bandwidth, static_cast<double>(bytes) / static_cast<double>(work.duration));
}

void NsysImporter::read_copies() {
  enum : std::size_t { kBytes = kWorkFields, kKind, kFrom, kTo, kCause, kCount };
  constexpr auto kFields = work_fields("bytes", "copyKind", "srcKind", "dstKind", "migrationCause");
  static_assert(kFields.size() == kCount);
  each_row("CUPTI_ACTIVITY_KIND_MEMCPY", NsysTable::memcpy, kFields, [&](const Row& row) {
    Work work;
    if (!read_work(row, work)) return;
    const std::int64_t kind = row.integer(kKind);
    const bool unified = kind >= kFirstUnifiedCopy && kind <= kLastUnifiedCopy;
    if (!unified) facts_.saw_context(work.process, work.context, work.device);
    const std::int64_t ends = row.integer(kFrom) << 8 | row.integer(kTo);
    const auto [name, added] = copy_names_.try_emplace({kind, ends}, 0);
    if (added) {
      // As PyTorch's profiler calls them.
      const std::string_view from = words_.word(NsysEnum::memory_kind, row.integer(kFrom));
      const std::string_view to = words_.word(NsysEnum::memory_kind, row.integer(kTo));
      const std::string_view how = words_.word(NsysEnum::copy_kind, kind);
      const std::string what = how.empty() ? fmt::format("kind {}", kind) : std::string(how);
      name->second =
          session_.intern(unified || from.empty() || to.empty() ? fmt::format("Memcpy {}", what)
                                                                : fmt::format("Memcpy {} ({} -> {})", what, from, to));
    }
    set_transfer(work, row.integer(kBytes));
    set_word(TransferColumns::kind, NsysEnum::copy_kind, kind);
    if (row.has(kCause)) set_word(TransferOwnColumns::cause, NsysEnum::migration_cause, row.integer(kCause));
    set_further(NsysTable::memcpy, row, kCount);
    const std::uint32_t to = rows_.stream(StreamRow::copies, work.process, work.device, work.context, work.stream);
    add_target(work, session_.write(to, work.start, work.duration, name->second, values_));
  });
}

void NsysImporter::read_sets() {
  enum : std::size_t { kBytes = kWorkFields, kKind, kCount };
  constexpr auto kFields = work_fields("bytes", "memKind");
  static_assert(kFields.size() == kCount);
  each_row("CUPTI_ACTIVITY_KIND_MEMSET", NsysTable::memset, kFields, [&](const Row& row) {
    Work work;
    if (!read_work(row, work)) return;
    facts_.saw_context(work.process, work.context, work.device);
    set_transfer(work, row.integer(kBytes));
    const std::string_view kind = row.has(kKind) ? words_.word(NsysEnum::memory_kind, row.integer(kKind)) : "";
    if (row.has(kKind)) set_word(TransferColumns::kind, NsysEnum::memory_kind, row.integer(kKind));
    set_further(NsysTable::memset, row, kCount);
    const StringId name = session_.intern(kind.empty() ? "Memset" : fmt::format("Memset ({})", kind));
    const std::uint32_t to = rows_.stream(StreamRow::sets, work.process, work.device, work.context, work.stream);
    add_target(work, session_.write(to, work.start, work.duration, name, values_));
  });
}

// With one row for a whole graph, the kernels in it are in no table: the device would look idle.
void NsysImporter::read_graphs() {
  constexpr auto kFields = work_fields("graphId");
  each_row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", NsysTable::cuda_graph, kFields, [&](const Row& row) {
    Work work;
    if (!read_work(row, work)) return;
    facts_.saw_context(work.process, work.context, work.device);
    values_.integer(GraphColumns::correlation, work.correlation);
    values_.integer(GraphColumns::device, work.device);
    values_.integer(GraphColumns::context, work.context);
    values_.integer(GraphColumns::stream, work.stream);
    set_further(NsysTable::cuda_graph, row, kWorkFields + 1);
    const StringId name = session_.intern(fmt::format("CUDA graph {}", row.integer(kWorkFields)));
    const std::uint32_t to = rows_.stream(StreamRow::graphs, work.process, work.device, work.context, work.stream);
    add_target(work, session_.write(to, work.start, work.duration, name, values_));
  });
}

void NsysImporter::read_device_events() {
  constexpr std::array<std::string_view, 8> kFields = {"timestamp",     "deviceId",  "contextId", "streamId",
                                                       "correlationId", "globalPid", "eventId",   "eventSyncId"};
  each_row("CUPTI_ACTIVITY_KIND_CUDA_EVENT", NsysTable::cuda_event, kFields, [&](const Row& row) {
    const std::uint64_t process = process_key_of(row.integer(5));
    const EventRecord recording{row.integer(4), row.integer(3)};
    recordings_[{process, row.integer(6)}].push_back(recording);
    if (row.has(7) && row.integer(7) != kNoNumber) numbered_recordings_[{process, row.integer(7)}] = recording;
    const auto time = row.number(0);
    if (!time || *time == 0) {
      ++counts_.not_collected;
      return;
    }
    values_.clear();
    values_.integer(GraphColumns::correlation, row.integer(4));
    values_.integer(GraphColumns::device, row.integer(1));
    values_.integer(GraphColumns::context, row.integer(2));
    values_.integer(GraphColumns::stream, row.integer(3));
    set_further(NsysTable::cuda_event, row, kFields.size());
    saw(*time);
    const std::int64_t device = facts_.device_of_context(process, row.integer(2)).value_or(row.integer(1));
    session_.write(rows_.stream(StreamRow::events, process, device, row.integer(2), row.integer(3)), *time, 0,
                   session_.intern(fmt::format("event {}", row.integer(6))), values_);
  });
  for (auto& [event, calls] : recordings_) std::sort(calls.begin(), calls.end());
}

// An event is what its stream was given until the last call that recorded it before the wait was asked for: calls are
// numbered in their order.
void NsysImporter::set_waited_event(const Work& wait, std::int64_t event, std::int64_t record) {
  const auto numbered = numbered_recordings_.find({wait.process, record});
  std::optional<EventRecord> found;
  if (numbered != numbered_recordings_.end()) {
    found = numbered->second;
  } else if (const auto known = recordings_.find({wait.process, event}); known != recordings_.end()) {
    const auto after = std::lower_bound(known->second.begin(), known->second.end(), EventRecord{wait.correlation, 0});
    if (after != known->second.begin()) found = *(after - 1);
  }
  if (!found || found->stream == wait.stream) return;
  values_.integer(SyncOwnColumns::wait_on_stream, found->stream);
  values_.integer(SyncOwnColumns::record_call, found->correlation);
}

// What is waited for shows in which of stream and event a row names. Its type says it too, but has had other numbers in
// some versions: exports of 2024 number a wait for a whole context 0 or 1, one of 2025 a wait for a stream 2.
void NsysImporter::read_waits() {
  constexpr auto kFields = work_fields("syncType", "deprecatedSyncType", "eventId", "eventSyncId");
  constexpr std::size_t kTypeField = kWorkFields, kOldTypeField = kWorkFields + 1, kEventField = kWorkFields + 2;
  constexpr std::size_t kRecordField = kWorkFields + 3;
  enum : std::int64_t { kEventSync = 1, kStreamWait = 2, kStreamSync = 3, kContextSync = 4 };
  each_row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", NsysTable::cuda_sync, kFields, [&](const Row& row) {
    Work work;
    if (!read_work(row, work)) return;
    values_.integer(SyncColumns::correlation, work.correlation);
    values_.integer(SyncColumns::device, work.device);
    values_.integer(SyncColumns::context, work.context);
    values_.integer(SyncColumns::stream, work.stream);
    std::int64_t type = row.integer(row.has(kTypeField) ? kTypeField : kOldTypeField);
    if (row.has(kEventField)) {
      const bool event = row.integer(kEventField) != kNoNumber;
      const bool stream = work.stream != kNoNumber;
      const std::int64_t named = event ? (stream ? kStreamWait : kEventSync) : (stream ? kStreamSync : kContextSync);
      counts_.renamed_waits += named == type ? 0 : 1;
      type = named;
      if (event && stream) set_waited_event(work, row.integer(kEventField), row.integer(kRecordField));
    }
    set_word(SyncColumns::kind, NsysEnum::sync_type, type);
    const std::string_view word = words_.word(NsysEnum::sync_type, type);
    set_further(NsysTable::cuda_sync, row, kFields.size());
    // These rows often name device 0 whatever the device; the context knows better.
    const std::int64_t device = facts_.device_of_context(work.process, work.context).value_or(work.device);
    const std::uint32_t to = rows_.stream(StreamRow::waits, work.process, device, work.context, work.stream);
    session_.write(to, work.start, work.duration,
                   session_.intern(word.empty() ? fmt::format("Sync of type {}", type) : std::string(word)), values_);
  });
}

// Memory of devices: allocations, the driver's pools, pages that were not there.

namespace {

enum MemoryField : std::size_t {
  kMemoryStart,
  kMemoryProcess,
  kMemoryDevice,
  kMemoryContext,
  kMemoryAddress,
  kMemoryBytes,
  kMemoryKind,
  kMemoryOperation,
  kMemoryName,
  kMemoryCorrelation,
  kMemoryFields
};
constexpr std::array<std::string_view, kMemoryFields> kMemoryFieldNames = {
    "start",   "globalPid",           "deviceId", "contextId",    "address", "bytes",
    "memKind", "memoryOperationType", "name",     "correlationId"};

constexpr std::int64_t kPageable = 0, kPinned = 1, kDeviceMemory = 2;
constexpr std::int64_t kAllocates = 0;

[[nodiscard]] bool is_of_host(std::int64_t kind) noexcept { return kind == kPageable || kind == kPinned; }

}  // namespace

// Allocations of processes and contexts that share a device lie in pools of their own, as their addresses do.
StringId NsysImporter::pool_name(const Row& row, std::int64_t gpu) {
  const std::int64_t kind = row.has(kMemoryKind) ? row.integer(kMemoryKind) : kDeviceMemory;
  const std::uint64_t process = process_key_of(row.integer(kMemoryProcess));
  std::string name = "memory";
  if (is_of_host(kind)) {
    name = fmt::format("{} host memory, {}", words_.word(NsysEnum::memory_kind, kind), facts_.process_label(process));
  } else if (kind != kDeviceMemory) {
    name = fmt::format("{} memory", words_.word(NsysEnum::memory_kind, kind));
  }
  const auto users = std::count_if(memory_users_.begin(), memory_users_.end(),
                                   [&](const auto& user) { return std::get<0>(user) == gpu; });
  if (!is_of_host(kind) && users > 1) {
    name += fmt::format(", {}, context {}", facts_.process_label(process), row.integer(kMemoryContext));
  }
  return session_.intern(name);
}

void NsysImporter::read_memory() {
  constexpr std::string_view kTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";
  const auto gpu_of = [&](const auto& row) {
    return facts_.gpu_of(process_key_of(row.integer(kMemoryProcess)), row.integer(kMemoryDevice));
  };
  Result<sqlite::ForeignRows> users = file_.rows(kTable, kMemoryFieldNames);
  while (users && users->next()) {
    if (is_of_host(users->has(kMemoryKind) ? users->integer(kMemoryKind) : kDeviceMemory)) continue;
    memory_users_.emplace(gpu_of(*users), process_key_of(users->integer(kMemoryProcess)),
                          users->integer(kMemoryContext));
  }
  const StringId allocation = session_.intern("allocation");
  const StringId release = session_.intern("release");
  each_row(kTable, NsysTable::memory, kMemoryFieldNames, [&](const Row& row) {
    const auto start = row.number(kMemoryStart);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    const bool allocates = row.integer(kMemoryOperation) == kAllocates;
    const std::int64_t bytes = std::max<std::int64_t>(row.integer(kMemoryBytes), 0);
    const std::int64_t kind = row.has(kMemoryKind) ? row.integer(kMemoryKind) : kDeviceMemory;
    values_.integer(MemoryColumns::bytes, allocates ? bytes : -bytes);
    if (row.has(kMemoryAddress)) {
      values_.unsigned_integer(MemoryColumns::address, static_cast<std::uint64_t>(row.integer(kMemoryAddress)));
    }
    values_.string(MemoryColumns::pool, pool_name(row, gpu_of(row)));
    set_word(MemoryColumns::kind, NsysEnum::memory_kind, kind);
    set_number(MemoryColumns::device, row, kMemoryDevice);
    set_number(MemoryColumns::context, row, kMemoryContext);
    set_number(MemoryColumns::correlation, row, kMemoryCorrelation);
    if (row.has(kMemoryName)) {
      const auto number = row.number(kMemoryName);
      values_.string(MemoryColumns::caller, number ? strings_.intern(*number) : session_.intern(row.text(kMemoryName)));
    }
    set_further(NsysTable::memory, row, kMemoryFields);
    saw(*start);
    session_.write(rows_.memory(is_of_host(kind) ? -1 : gpu_of(row), false), *start, 0,
                   allocates ? allocation : release, values_);
  });
}

void NsysImporter::read_memory_pools() {
  constexpr std::array<std::string_view, 6> kFields = {"start",   "globalPid",     "deviceId",
                                                       "address", "operationType", "correlationId"};
  each_row("CUDA_GPU_MEMORY_POOL_EVENTS", NsysTable::memory_pool, kFields, [&](const Row& row) {
    const auto start = row.number(0);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    values_.unsigned_integer(PoolColumns::address, static_cast<std::uint64_t>(row.integer(3)));
    set_number(PoolColumns::device, row, 2);
    set_number(PoolColumns::correlation, row, 5);
    set_further(NsysTable::memory_pool, row, kFields.size());
    const std::string_view word = words_.word(NsysEnum::pool_operation, row.integer(4));
    saw(*start);
    session_.write(rows_.memory(facts_.gpu_of(process_key_of(row.integer(1)), row.integer(2)), true), *start, 0,
                   session_.intern(word.empty() ? "Unknown" : word), values_);
  });
}

void NsysImporter::read_page_faults() {
  const auto write = [&](const Row& row, std::string name) {
    const auto start = row.number(0);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    values_.unsigned_integer(FaultColumns::address, static_cast<std::uint64_t>(row.integer(2)));
    if (row.has(4)) set_word(FaultColumns::access, NsysEnum::access_type, row.integer(4));
    if (row.has(5) && row.has(6)) {
      const auto file = row.number(5);
      const std::string path(file ? strings_.text(*file) : row.text(5));
      if (!path.empty()) {
        values_.string(FaultColumns::source, session_.intern(fmt::format("{}:{}", path, row.integer(6))));
      }
    }
    set_further(NsysTable::page_fault, row, 7);
    saw(*start);
    session_.write(rows_.faults(process_key_of(row.integer(1))), *start, 0, session_.intern(name), values_);
  };
  constexpr std::array<std::string_view, 7> kOfCpu = {"start",           "globalPid",  "address",   "deviceId",
                                                      "faultAccessType", "sourceFile", "sourceLine"};
  each_row("CUDA_UM_CPU_PAGE_FAULT_EVENTS", NsysTable::page_fault, kOfCpu,
           [&](const Row& row) { write(row, "CPU page fault"); });
  each_row("CUDA_UM_GPU_PAGE_FAULT_EVENTS", NsysTable::page_fault, kOfCpu, [&](const Row& row) {
    write(row, fmt::format("{} page fault",
                           rows_.device_label(facts_.gpu_of(process_key_of(row.integer(1)), row.integer(3)))));
  });
}

}  // namespace accelscope::capture::sources::nsys
