// Records as events of the tables.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "capture/kinds/cuda/process.h"
#include "capture/kinds/cuda/words.h"
#include "capture/probe/cuda/cupti_abi.h"
#include "capture/sources/nsys/read/words.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/kernel_work.h"

namespace accelscope::capture::kinds::cuda {
namespace {

using namespace probe::cuda;
using sources::nsys::FaultColumns;
using sources::nsys::GraphColumns;
using sources::nsys::KernelOwnColumns;
using sources::nsys::MemoryColumns;
using sources::nsys::NvtxOwnColumns;
using sources::nsys::OverheadColumns;
using sources::nsys::PoolColumns;
using sources::nsys::SyncOwnColumns;
using sources::nsys::TransferOwnColumns;
using sources::tracks::KernelColumns;
using sources::tracks::NvtxColumns;
using sources::tracks::RuntimeColumns;
using sources::tracks::SyncColumns;
using sources::tracks::TransferColumns;

constexpr std::uint32_t kStreamWait = 2;  // a type of synchronisation

// The kinds of what unified memory does.
enum UnifiedKind : std::uint32_t {
  kToDevice = 1,
  kToHost,
  kHostFault,
  kDeviceFault,
  kThrashing,
  kThrottling,
  kRemoteMap,
  kBetweenDevices
};

[[nodiscard]] std::int64_t length_of(std::uint64_t start, std::uint64_t end) noexcept {
  return std::max<std::int64_t>(0, bounded_ns(end) - bounded_ns(start));
}

}  // namespace

bool CudaProcess::has_times(std::uint64_t start, std::uint64_t end) {
  if (start != 0 && end != 0) return true;
  ++without_times_;
  return false;
}

void CudaProcess::set_external(Row& row, std::size_t column, std::uint32_t correlation) {
  if (correlation == 0) return;
  if (const std::uint64_t* id = external_ids_.find(correlation)) row.integer(column, static_cast<std::int64_t>(*id));
}

// From where the call was made that the correlation is of; null: that is not known.
const CudaProcess::Stack* CudaProcess::stack_of(std::uint32_t correlation) {
  const std::uint32_t* number = correlation == 0 ? nullptr : stack_numbers_.find(correlation);
  const auto known = number == nullptr ? stacks_.end() : stacks_.find(*number);
  if (known == stacks_.end()) return nullptr;
  if (!known->second.frames.empty()) name_frames(known->second);
  return &known->second;
}

void CudaProcess::set_stack(Row& row, const CudaTable& table, std::uint32_t correlation) {
  if (!table.stack()) return;
  const Stack* stack = stack_of(correlation);
  if (stack != nullptr && stack->text != 0) row.string(*table.stack(), stack->text);
}

// Without the profiler's own frames and the driver's, which each has.
void CudaProcess::name_frames(Stack& stack) {
  constexpr std::string_view kPlumbing[] = {"libaccelscope_cuda.so", "libcupti", "libcuda.so"};
  constexpr std::size_t kMostStackBytes = 64U << 10U;
  std::string text;
  for (const auto& [module, address] : std::exchange(stack.frames, {})) {
    const auto known = modules_.find(module);
    const std::string path = known == modules_.end() ? std::string() : known->second;
    const std::string file = path.substr(path.rfind('/') + 1);
    if (text.empty() && std::any_of(std::begin(kPlumbing), std::end(kPlumbing),
                                    [&](std::string_view name) { return file.starts_with(name); })) {
      continue;
    }
    const std::string& function = session_.symbols.function(path, address);
    const bool is_of_runtime = file.starts_with("libcudart") || function.starts_with("cuda");
    if (stack.caller == 0 && !function.empty() && !is_of_runtime) stack.caller = writer_.intern(short_name(function));
    if (text.size() + function.size() > std::min(kMostStackBytes, stack_bytes_left_)) {
      ++cut_stacks_;
      break;  // what lies further out is cut
    }
    if (!text.empty()) text += '\n';
    text += function.empty() ? fmt::format("{:#x}", address) : function;
    if (!file.empty()) text += " (" + file + ")";
  }
  stack_bytes_left_ -= std::min(stack_bytes_left_, text.size());
  stack.text = writer_.intern(text);
}

// Their first columns are the same.
void CudaProcess::set_work(Row& row, const Work& work) {
  static_assert(KernelColumns::correlation == TransferColumns::correlation &&
                KernelColumns::correlation == SyncColumns::correlation &&
                KernelColumns::external_id == TransferColumns::external_id &&
                KernelColumns::external_id == SyncColumns::external_id);
  static_assert(KernelColumns::stream == TransferColumns::stream && KernelColumns::stream == SyncColumns::stream);
  row.integer(KernelColumns::correlation, work.correlation);
  row.integer(KernelColumns::device, work.device);
  row.integer(KernelColumns::context, work.context);
  row.integer(KernelColumns::stream, work.stream);
  set_external(row, KernelColumns::external_id, work.correlation);
}

// Without shapes of operators: what a kernel's own name and grid tell.
void CudaProcess::set_operations(Row& row, std::uint32_t number, StringId grid, const std::int32_t (&blocks)[3]) {
  Name& name = names_[number];
  const auto [known, is_new] = name.operations.try_emplace(grid);
  if (is_new) {
    const auto work = sources::tracks::attention_of_grid(demangled(name.text),
                                                         fmt::format("[{}, {}, {}]", blocks[0], blocks[1], blocks[2]));
    if (work) known->second = {work->flops, writer_.intern(work->type), writer_.intern(work->basis)};
  }
  if (!(known->second.flops > 0)) return;
  row.real(KernelColumns::flops, known->second.flops);
  row.string(KernelColumns::precision, known->second.type);
  row.string(KernelColumns::work_from, known->second.basis);
}

void CudaProcess::write_kernel(const KernelRecord& record) {
  if (!has_times(record.start, record.end)) return;
  constexpr double kWarpThreads = 32;
  const Work work{record.device, record.context, record.stream, record.correlation, record.start, record.end};
  const Name& name = kernel_name(record.name);
  const TrackNumber track = stream_track(name.is_collective ? StreamRow::collectives : StreamRow::kernels, work);
  const StringId grid = session_.dimensions(record.grid[0], record.grid[1], record.grid[2]);
  const std::int64_t start_ns = to_ns(record.start);
  const KernelFurther& further = session_.tables.of_kernel;
  Row row = writer_.begin_event(track, start_ns, length_of(record.start, record.end), name.kernel);
  set_work(row, work);
  row.string(KernelColumns::grid, grid);
  row.string(KernelColumns::block, session_.dimensions(record.block[0], record.block[1], record.block[2]));
  row.integer(KernelColumns::shared_memory, std::int64_t{record.static_shared} + record.dynamic_shared);
  row.integer(KernelColumns::registers, record.registers);
  if (record.queued != 0) row.integer(KernelColumns::queued, to_ns(record.queued));
  const double blocks = static_cast<double>(record.grid[0]) * record.grid[1] * record.grid[2];
  const double threads = static_cast<double>(record.block[0]) * record.block[1] * record.block[2];
  if (const Gpu& gpu = session_.at(gpu_of(record.device)); gpu.multiprocessors > 0 && blocks > 0) {
    const double each = blocks / static_cast<double>(gpu.multiprocessors);
    row.real(KernelColumns::blocks_per_sm, each);
    row.real(KernelColumns::warps_per_sm, each * std::ceil(threads / kWarpThreads));  // the last one perhaps not full
  }
  set_operations(row, record.name, grid, record.grid);
  row.string(KernelOwnColumns::launch_type, writer_.intern(launch_word(record.launch_type)));
  if (record.cluster[0] > 0) {
    row.string(KernelOwnColumns::cluster, session_.dimensions(record.cluster[0], record.cluster[1], record.cluster[2]));
    row.integer(further.cluster_policy, record.cluster_policy);
    row.integer(further.largest_cluster, record.largest_cluster);
    row.integer(further.active_clusters, record.active_clusters);
  }
  row.string(further.short_name, name.short_name);
  if (is_green(record.context)) row.integer(further.green, record.context);
  if (record.graph_node != 0) row.integer(further.graph_node, static_cast<std::int64_t>(record.graph_node));
  if (record.graph != 0) row.integer(further.graph, record.graph);
  row.integer(further.grid_id, record.grid_id);
  row.integer(further.static_shared, record.static_shared);
  row.integer(further.dynamic_shared, record.dynamic_shared);
  row.integer(further.shared_executed, record.shared_executed);
  row.integer(further.local_per_thread, record.local_per_thread);
  row.integer(further.local_total, static_cast<std::int64_t>(record.local_total));
  row.integer(further.cache_config, record.cache_config);
  row.integer(further.shared_limit, record.shared_limit);
  if (record.carveout_requested != 0) row.integer(further.carveout, record.carveout);
  set_stack(row, session_.tables.kernel, record.correlation);
  launches_.ran(record.correlation, {row.id(), start_ns});
}

void CudaProcess::set_transfer(Row& row, const Work& work, std::uint64_t bytes) {
  set_work(row, work);
  row.integer(TransferColumns::bytes, static_cast<std::int64_t>(bytes));
  // Bytes of a ns are GB of a s.
  if (const std::int64_t length = length_of(work.start, work.end); length > 0) {
    row.real(TransferColumns::bandwidth, static_cast<double>(bytes) / static_cast<double>(length));
  }
}

void CudaProcess::write_copy(const CopyRecord& record) {
  if (!has_times(record.start, record.end)) return;
  const Work work{record.device, record.context, record.stream, record.correlation, record.start, record.end};
  const TrackNumber track = stream_track(StreamRow::copies, work);
  CudaTable& table = session_.tables.copy;
  const std::string_view how = copy_word(record.kind);
  const std::string name =
      fmt::format("Memcpy {} ({} -> {})", how.empty() ? fmt::format("kind {}", record.kind) : std::string(how),
                  memory_word(record.source_kind), memory_word(record.target_kind));
  const std::int64_t start_ns = to_ns(record.start);
  Row row = writer_.begin_event(track, start_ns, length_of(record.start, record.end), writer_.intern(name));
  set_transfer(row, work, record.bytes);
  row.string(TransferColumns::kind, writer_.intern(how));
  if (is_green(record.context)) row.integer(table.at("greenContextId"), record.context);
  if (record.graph_node != 0) row.integer(table.at("graphNodeId"), static_cast<std::int64_t>(record.graph_node));
  if (record.count != 0) row.integer(table.at("copyCount"), static_cast<std::int64_t>(record.count));
  if (record.is_peer != 0) {
    row.integer(table.at("srcDeviceId"), record.source_device);
    row.integer(table.at("srcContextId"), record.source_context);
    row.integer(table.at("dstDeviceId"), record.target_device);
    row.integer(table.at("dstContextId"), record.target_context);
  }
  set_stack(row, table, record.correlation);
  launches_.ran(record.correlation, {row.id(), start_ns});
}

void CudaProcess::write_set(const SetRecord& record) {
  if (!has_times(record.start, record.end)) return;
  const Work work{record.device, record.context, record.stream, record.correlation, record.start, record.end};
  const TrackNumber track = stream_track(StreamRow::sets, work);
  CudaTable& table = session_.tables.set;
  const std::string_view kind = memory_word(record.memory_kind);
  const std::int64_t start_ns = to_ns(record.start);
  Row row = writer_.begin_event(track, start_ns, length_of(record.start, record.end),
                                writer_.intern(fmt::format("Memset ({})", kind)));
  set_transfer(row, work, record.bytes);
  row.string(TransferColumns::kind, writer_.intern(kind));
  row.integer(table.at("value"), record.value);
  set_stack(row, table, record.correlation);
  if (is_green(record.context)) row.integer(table.at("greenContextId"), record.context);
  if (record.graph_node != 0) row.integer(table.at("graphNodeId"), static_cast<std::int64_t>(record.graph_node));
  launches_.ran(record.correlation, {row.id(), start_ns});
}

void CudaProcess::write_call(const CallRecord& record) {
  const auto known = calls_.find(record.head.value);
  const StringId name = known == calls_.end() ? writer_.intern("unnamed call") : known->second;
  const bool of_driver = record.head.value >> 16U == cupti::kDriverApi;
  const TrackNumber track = threads_.row(record.thread, "runtime", 2, session_.tables.call.number());
  const std::int64_t start_ns = to_ns(record.start);
  Row row = writer_.begin_event(track, start_ns, length_of(record.start, record.end), name);
  set_external(row, RuntimeColumns::external_id, record.correlation);
  row.integer(RuntimeColumns::correlation, record.correlation);
  row.string(RuntimeColumns::kind, writer_.intern(of_driver ? "CUDA driver" : "CUDA runtime"));
  row.integer(session_.tables.call.at("cbid"), record.head.value & 0xFFFFU);
  row.integer(session_.tables.call.at("returnValue"), record.result);
  set_stack(row, session_.tables.call, record.correlation);
  launches_.called(record.correlation, {row.id(), start_ns});
}

// The event is what its stream was given by the last call that recorded it before the wait was asked for: calls are
// numbered in their order.
void CudaProcess::set_waited_event(Row& row, const SynchronizationRecord& record) {
  EventRecord found;
  if (const auto numbered = numbered_recordings_.find(record.event_sync);
      record.event_sync != 0 && numbered != numbered_recordings_.end()) {
    found = numbered->second;
  } else if (const auto known = recordings_.find(record.event); known != recordings_.end()) {
    for (const EventRecord& each : known->second) {
      if (each.correlation < record.correlation && each.correlation >= found.correlation) found = each;
    }
  }
  if (found.correlation == 0 || found.stream == record.stream) return;
  row.integer(SyncOwnColumns::wait_on_stream, found.stream);
  row.integer(SyncOwnColumns::record_call, found.correlation);
}

void CudaProcess::write_synchronization(const SynchronizationRecord& record) {
  if (!has_times(record.start, record.end)) return;
  const Work work{device_of(record.context), record.context, record.stream,
                  record.correlation,        record.start,   record.end};
  const TrackNumber track = stream_track(StreamRow::waits, work);
  CudaTable& table = session_.tables.sync;
  const std::string_view word = sync_word(record.type);
  const StringId name = writer_.intern(word.empty() ? fmt::format("Sync of type {}", record.type) : std::string(word));
  Row row = writer_.begin_event(track, to_ns(record.start), length_of(record.start, record.end), name);
  set_work(row, work);
  row.string(SyncColumns::kind, name);
  row.integer(table.at("syncType"), record.type);
  if (record.event != cupti::kNone) row.integer(table.at("eventId"), record.event);
  if (record.event_sync != 0) row.integer(table.at("eventSyncId"), static_cast<std::int64_t>(record.event_sync));
  if (is_green(record.context)) row.integer(table.at("greenContextId"), record.context);
  if (record.type == kStreamWait) set_waited_event(row, record);
}

void CudaProcess::write_graph(const GraphRecord& record) {
  if (!has_times(record.start, record.end)) return;
  const Work work{record.device, record.context, record.stream, record.correlation, record.start, record.end};
  const TrackNumber track = stream_track(StreamRow::graphs, work);
  CudaTable& table = session_.tables.graph;
  const std::int64_t start_ns = to_ns(record.start);
  Row row = writer_.begin_event(track, start_ns, length_of(record.start, record.end),
                                writer_.intern(fmt::format("CUDA graph {}", record.graph)));
  row.integer(GraphColumns::correlation, record.correlation);
  row.integer(GraphColumns::device, record.device);
  row.integer(GraphColumns::context, record.context);
  row.integer(GraphColumns::stream, record.stream);
  row.integer(table.at("graphId"), record.graph);
  set_stack(row, table, record.correlation);
  launches_.ran(record.correlation, {row.id(), start_ns});
}

void CudaProcess::write_jit(const JitRecord& record) {
  CudaTable& table = session_.tables.build;
  const std::string_view operation = jit_operation_word(record.operation);
  const std::string_view entry = jit_entry_word(record.entry);
  const TrackNumber track = host_track(builds_, "compilation", table.number(), "build");
  const StringId path = name(record.path).id;
  Row row = writer_.begin_event(
      track, to_ns(record.start), length_of(record.start, record.end),
      writer_.intern(fmt::format("{}{}{}", operation.empty() ? "build" : operation, entry.empty() ? "" : ": ", entry)));
  row.string(table.at("step"), writer_.intern(operation));
  row.string(table.at("device"), writer_.intern(session_.at(gpu_of(record.device)).label));
  row.integer(table.at("correlation"), record.correlation);
  if (path != 0) row.string(table.at("cache"), path);
  if (record.cache_bytes != 0) row.integer(table.at("cache bytes"), static_cast<std::int64_t>(record.cache_bytes));
}

void CudaProcess::write_overhead(const OverheadRecord& record) {
  CudaTable& table = session_.tables.overhead;
  const auto [track, is_new] = overheads_.try_emplace(record.thread, kNone);
  if (is_new) {
    constexpr std::int64_t kLast = 2'000'000'000;
    const std::string whose = record.thread == 0 ? std::string() : ", " + threads_.name_of(record.thread);
    track->second = writer_.add_track({.name = fmt::format("overhead of {}{}", title_, whose),
                                       .kind = "host_thread",
                                       .host = "profiler",
                                       .schema = table.number(),
                                       .order = kLast});
  }
  const std::string_view word = overhead_word(record.kind);
  const StringId name = writer_.intern(word.empty() ? fmt::format("overhead {:#x}", record.kind) : std::string(word));
  Row row = writer_.begin_event(track->second, to_ns(record.start), length_of(record.start, record.end), name);
  row.string(OverheadColumns::kind, name);
  if (record.correlation != 0) row.integer(table.at("correlationId"), record.correlation);
}

void CudaProcess::write_fault(const UnifiedMemoryRecord& record, const std::string& name) {
  CudaTable& table = session_.tables.fault;
  const TrackNumber track = host_track(faults_, "page faults", table.number());
  Row row = writer_.begin_event(track, to_ns(record.start), 0, writer_.intern(name));
  row.unsigned_integer(FaultColumns::address, record.address);
  if (record.kind == kHostFault || record.kind == kDeviceFault) {
    row.string(FaultColumns::access, writer_.intern(access_word(record.flags)));
    row.integer(table.at("numberOfPageFaults"), static_cast<std::int64_t>(record.value));
  }
}

void CudaProcess::write_unified_memory(const UnifiedMemoryRecord& record) {
  const auto moves = [&](const char* how, std::uint32_t device) {
    if (!has_times(record.start, record.end)) return;
    const Work work{device, 0, record.stream, 0, record.start, record.end};
    const TrackNumber track = stream_track(StreamRow::copies, work);
    CudaTable& table = session_.tables.copy;
    Row row = writer_.begin_event(track, to_ns(record.start), length_of(record.start, record.end),
                                  writer_.intern(fmt::format("Memcpy Unified {}", how)));
    set_transfer(row, work, record.value);
    row.string(TransferColumns::kind, writer_.intern(fmt::format("Unified {}", how)));
    row.string(TransferOwnColumns::cause, writer_.intern(migration_word(record.flags)));
    row.unsigned_integer(table.at("virtualAddress"), record.address);
    row.integer(table.at("srcDeviceId"), record.source);
    row.integer(table.at("dstDeviceId"), record.target);
  };
  switch (record.kind) {
    case kToDevice:
      return moves("HtoD", record.target);
    case kToHost:
      return moves("DtoH", record.source);
    case kBetweenDevices:
      return moves("DtoD", record.target);
    case kHostFault:
      return write_fault(record, "CPU page fault");
    case kDeviceFault:
      return write_fault(record, fmt::format("{} page fault", session_.at(gpu_of(record.source)).label));
    case kThrashing:
      return write_fault(record, "Thrashing");
    case kThrottling:
      return write_fault(record, "Throttling");
    case kRemoteMap:
      return write_fault(record, "Remote map");
    default:
      ++not_read_;
  }
}

// Allocations of processes that share a device lie in pools of their own, as their addresses do.
std::string CudaProcess::pool_name(const MemoryRecord& record) const {
  if (is_of_host(record.kind)) return fmt::format("{} host memory, {}", memory_word(record.kind), title_);
  constexpr std::uint32_t kOfDevice = 3;
  const std::string name = record.kind == kOfDevice ? "memory" : fmt::format("{} memory", memory_word(record.kind));
  return process_index_ == 0 ? name : fmt::format("{}, {}", name, title_);
}

void CudaProcess::write_memory(const MemoryRecord& record) {
  constexpr std::uint32_t kAllocates = 1;
  const bool allocates = record.operation == kAllocates;
  std::int64_t bytes = bounded_bytes(record.bytes);
  std::int64_t& known = allocations_[record.address];
  if (allocates) {
    known = bytes;
  } else {
    if (bytes == 0) bytes = known;
    allocations_.erase(record.address);
  }
  CudaTable& table = session_.tables.memory;
  const bool of_host = is_of_host(record.kind) || record.device == cupti::kNone;
  Gpu* gpu = of_host ? nullptr : &session_.at(gpu_of(record.device));
  TrackNumber& track = of_host ? host_memory_ : gpu->memory;
  constexpr std::int64_t kAfterStreams = 100'000'000;
  if (track == kNone) {
    track = writer_.add_track({.name = "memory",
                               .kind = "memory",
                               .device = of_host ? "" : gpu->label,
                               .schema = table.number(),
                               .order = kAfterStreams});
  }
  // Called like whoever asked for it, where that is known, as in a memory snapshot of PyTorch.
  const Stack* stack = allocates ? stack_of(record.correlation) : nullptr;
  const StringId caller = stack == nullptr ? 0 : stack->caller;
  Row row = writer_.begin_event(track, to_ns(record.time), 0,
                                caller != 0 ? caller : writer_.intern(allocates ? "allocation" : "release"));
  row.integer(MemoryColumns::bytes, allocates ? bytes : -bytes);
  row.unsigned_integer(MemoryColumns::address, record.address);
  row.string(MemoryColumns::pool, writer_.intern(pool_name(record)));
  row.string(MemoryColumns::kind, writer_.intern(memory_word(record.kind)));
  row.integer(MemoryColumns::device, record.device);
  row.integer(MemoryColumns::context, record.context);
  row.integer(MemoryColumns::correlation, record.correlation);
  if (const StringId variable = name(record.name).id; variable != 0) row.string(MemoryColumns::caller, variable);
  set_stack(row, table, record.correlation);
  row.unsigned_integer(table.at("pc"), record.pc);
  row.integer(table.at("streamId"), record.stream);
  constexpr std::uint32_t kLocalPool = 1;
  if (record.pool_type == kLocalPool) {
    row.unsigned_integer(table.at("localMemoryPoolAddress"), record.pool_address);
    row.integer(table.at("localMemoryPoolReleaseThreshold"), static_cast<std::int64_t>(record.pool_threshold));
    row.integer(table.at("localMemoryPoolSize"), static_cast<std::int64_t>(record.pool_size));
    row.integer(table.at("localMemoryPoolUtilizedSize"), static_cast<std::int64_t>(record.pool_used));
  } else if (record.pool_type != 0) {
    row.unsigned_integer(table.at("importedMemoryPoolAddress"), record.pool_address);
    row.integer(table.at("importedMemoryPoolProcessId"), static_cast<std::int64_t>(record.pool_size));
  }
}

void CudaProcess::write_memory_pool(const MemoryPoolRecord& record) {
  CudaTable& table = session_.tables.pool;
  Gpu& gpu = session_.at(gpu_of(record.device));
  constexpr std::int64_t kAfterMemory = 100'000'001;
  if (gpu.pools == kNone) {
    gpu.pools = writer_.add_track({.name = "memory pools",
                                   .kind = "memory",
                                   .device = gpu.label,
                                   .schema = table.number(),
                                   .order = kAfterMemory});
  }
  const std::string_view word = pool_word(record.operation);
  Row row = writer_.begin_event(gpu.pools, to_ns(record.time), 0, writer_.intern(word.empty() ? "Unknown" : word));
  row.unsigned_integer(PoolColumns::address, record.address);
  row.integer(PoolColumns::device, record.device);
  row.integer(PoolColumns::correlation, record.correlation);
  row.integer(table.at("processId"), record.process);
  row.integer(table.at("minBytesToKeep"), static_cast<std::int64_t>(record.least_bytes));
  row.integer(table.at("localMemoryPoolReleaseThreshold"), static_cast<std::int64_t>(record.threshold));
  row.integer(table.at("localMemoryPoolSize"), static_cast<std::int64_t>(record.size));
  row.integer(table.at("localMemoryPoolUtilizedSize"), static_cast<std::int64_t>(record.used));
}

// A version before CUDA 12.8 tells no time: then only waits show what was recorded.
void CudaProcess::write_cuda_event(const CudaEventRecord& record) {
  if (record.device_time == 0) return;
  const std::uint32_t device = record.device == cupti::kNone ? device_of(record.context) : record.device;
  const Work work{device, record.context, record.stream, record.correlation, record.device_time, record.device_time};
  CudaTable& table = session_.tables.event;
  Row row = writer_.begin_event(stream_track(StreamRow::events, work), to_ns(record.device_time), 0,
                                writer_.intern(fmt::format("event {}", record.event)));
  row.integer(GraphColumns::correlation, record.correlation);
  row.integer(GraphColumns::device, device);
  row.integer(GraphColumns::context, record.context);
  row.integer(GraphColumns::stream, record.stream);
  row.integer(table.at("eventId"), record.event);
  if (record.sync != 0) row.integer(table.at("eventSyncId"), static_cast<std::int64_t>(record.sync));
}

void CudaProcess::write_environment(const EnvironmentRecord& record) {
  const std::uint32_t gpu = gpu_of(record.device);
  const std::int64_t ns = to_ns(record.time);
  switch (record.kind) {
    case cupti::environment::kSpeed:
      session_.sample(gpu, GpuFigure::sm_clock, ns, record.values[0]);
      return session_.sample(gpu, GpuFigure::memory_clock, ns, record.values[1]);
    case cupti::environment::kTemperature:
      return session_.sample(gpu, GpuFigure::temperature, ns, record.values[0]);
    case cupti::environment::kPower:  // in mW
      return session_.sample(gpu, GpuFigure::power, ns, record.values[0] / 1000.0);
    default:
      return;
  }
}

// Ranges of NVTX. A thread's nest within each domain; those of several domains may cross, so each has a lane of its
// own.

// What was described becomes text at once, since a program may describe it anew.
bool CudaProcess::read_data(std::span<const std::uint64_t> words, OpenRange& range) {
  if (range.record.payload_type != PayloadType::schemas) return true;
  ByteView data = std::as_bytes(words).subspan(sizeof range.record - sizeof range.record.head);
  if (range.record.payload > data.size()) return false;
  data = data.first(static_cast<std::size_t>(range.record.payload));
  while (!data.empty()) {
    std::uint64_t head[2];  // schema and bytes
    if (data.size() < sizeof head) return false;
    std::memcpy(head, data.data(), sizeof head);
    data = data.subspan(sizeof head);
    if (head[1] > data.size()) return false;
    const sources::nsys::NsysPayloads::LayoutKey key{range.record.domain, head[0]};
    const auto decoded = payloads_.decoded(key, data.first(static_cast<std::size_t>(head[1])));
    data = data.subspan(static_cast<std::size_t>(head[1]));
    if (!decoded) {
      ++not_described_;
      continue;
    }
    if (range.schema.empty()) range.schema = schema_names_[key];
    range.data.text += (range.data.text.empty() ? "" : ", ") + decoded->text;
    if (decoded->message_bytes) range.data.message_bytes = decoded->message_bytes;
  }
  return true;
}

void CudaProcess::begin_range(const probes::ProbeThread& thread, OpenRange range) {
  if (range.record.head.type == static_cast<std::uint16_t>(RecordType::range_start)) {
    while (started_lanes_.contains(range.lane)) ++range.lane;
    const std::uint32_t lane = range.lane;
    if (started_.try_emplace(range.record.range, std::move(range)).second) started_lanes_.insert(lane);
    return;
  }
  ThreadRanges& ranges = ranges_[thread.id];
  range.lane = ranges.lanes.empty() ? 0 : *ranges.lanes.rbegin() + 1;
  if (range.record.head.type == static_cast<std::uint16_t>(RecordType::mark)) {
    return write_range(ranges_track(thread.id), range, session_.to_session(bounded_ns(range.record.time)), "mark");
  }
  ranges.lanes.insert(range.lane);
  ranges.open[range.record.domain].push_back(std::move(range));
}

void CudaProcess::end_range(const probes::ProbeThread& thread, std::uint32_t domain, const RangeEndRecord& record) {
  const std::int64_t end_ns = session_.to_session(bounded_ns(record.time));
  if (record.head.type == static_cast<std::uint16_t>(RecordType::range_end)) {
    const auto started = started_.find(record.range);
    if (started == started_.end()) return;  // it began before the capture, or in a pause
    write_range(started_track(), started->second, end_ns, "start/end");
    started_lanes_.erase(started->second.lane);
    started_.erase(started);
    return;
  }
  ThreadRanges& ranges = ranges_[thread.id];
  std::vector<OpenRange>& open = ranges.open[domain];
  if (open.empty()) return;
  write_range(ranges_track(thread.id), open.back(), end_ns, "push/pop");
  ranges.lanes.erase(open.back().lane);
  open.pop_back();
}

void CudaProcess::write_range(TrackNumber track, const OpenRange& range, std::int64_t end_ns, std::string_view kind) {
  const RangeRecord& record = range.record;
  const std::int64_t start_ns = session_.to_session(bounded_ns(record.time));
  const std::string& given = name(record.head.value).text;
  const std::string& text = given.empty() ? range.schema : given;
  const std::string_view shown = sources::nsys::without_operator_id(text);
  Row row = writer_.begin_event_at(track, range.lane, start_ns, std::max<std::int64_t>(0, end_ns - start_ns),
                                   writer_.intern(shown));
  if (shown.size() < text.size()) row.text(NvtxOwnColumns::message, text);
  if (const auto domain = domains_.find(record.domain); domain != domains_.end()) {
    row.string(NvtxColumns::domain, writer_.intern(domain->second));
  }
  if (record.category != 0) {
    const auto known = categories_.find({record.domain, record.category});
    row.string(NvtxColumns::category,
               writer_.intern(known == categories_.end() ? std::to_string(record.category) : known->second));
  }
  if (record.payload_type == PayloadType::unsigned_integer) {
    row.text(NvtxColumns::payload, std::to_string(record.payload));
  } else if (record.payload_type == PayloadType::integer) {
    row.text(NvtxColumns::payload, std::to_string(static_cast<std::int64_t>(record.payload)));
  } else if (record.payload_type == PayloadType::real) {
    row.text(NvtxColumns::payload, fmt::format("{}", std::bit_cast<double>(record.payload)));
  } else if (!range.data.text.empty()) {
    row.text(NvtxColumns::payload, range.data.text);
    if (range.data.message_bytes) row.integer(NvtxOwnColumns::bytes, *range.data.message_bytes);
  }
  row.string(NvtxColumns::kind, writer_.intern(kind));
  if (record.color != 0) {
    row.string(session_.tables.nvtx.at("color"), writer_.intern(fmt::format("#{:06x}", record.color & 0xFFFFFFU)));
  }
  row.integer(session_.tables.nvtx.at("domainId"), record.domain);
  if (record.range != 0) row.integer(session_.tables.nvtx.at("rangeId"), static_cast<std::int64_t>(record.range));
}

}  // namespace accelscope::capture::kinds::cuda
