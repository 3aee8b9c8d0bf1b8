// Buffers of CUPTI's records become records of the rings: field by field, since what a version has not is simply not
// there, and with names as numbers. What a buffer says of its records is not trusted.
#include <sys/types.h>

#include "capture/probe/cuda/collector.h"

namespace accelscope::probe::cuda {
namespace {

using cupti::Activity;
using cupti::RawRecord;

template <typename Record>
[[nodiscard]] Record begin_record(RecordType type, std::uint32_t value = 0) noexcept {
  static_assert(sizeof(Record) % 8 == 0);
  Record record{};
  record.head = {static_cast<std::uint16_t>(type), sizeof(Record) / 8, value};
  return record;
}

[[nodiscard]] KernelRecord read_kernel(const RawRecord& raw, Names& names) {
  namespace from = cupti::kernel;
  auto to = begin_record<KernelRecord>(RecordType::kernel);
  raw.read_all(from::start, to.start, from::end, to.end, from::queued, to.queued, from::submitted, to.submitted,
               from::device, to.device, from::context, to.context, from::stream, to.stream, from::correlation,
               to.correlation, from::grid_x, to.grid[0], from::grid_y, to.grid[1], from::grid_z, to.grid[2],
               from::block_x, to.block[0], from::block_y, to.block[1], from::block_z, to.block[2], from::static_shared,
               to.static_shared, from::dynamic_shared, to.dynamic_shared);
  to.local_total = raw.get(from::local_total);
  if (const std::uint64_t wide = raw.get(from::local_total_wide); wide != 0) to.local_total = wide;
  raw.read_all(from::grid_id, to.grid_id, from::graph_node, to.graph_node, from::graph, to.graph,
               from::local_per_thread, to.local_per_thread, from::shared_executed, to.shared_executed,
               from::shared_limit, to.shared_limit, from::cluster_x, to.cluster[0], from::cluster_y, to.cluster[1],
               from::cluster_z, to.cluster[2], from::cluster_policy, to.cluster_policy, from::largest_cluster,
               to.largest_cluster, from::active_clusters, to.active_clusters, from::registers, to.registers,
               from::launch_type, to.launch_type, from::cache_config, to.cache_config, from::carveout_requested,
               to.carveout_requested, from::carveout, to.carveout);
  to.name = names.number(raw.get(from::name));
  return to;
}

[[nodiscard]] CopyRecord read_copy(const RawRecord& raw, bool is_peer) {
  namespace from = cupti::copy;
  auto to = begin_record<CopyRecord>(RecordType::copy);
  raw.read_all(from::start, to.start, from::end, to.end, from::bytes, to.bytes, from::device, to.device, from::context,
               to.context, from::stream, to.stream, from::kind, to.kind, from::source_kind, to.source_kind,
               from::target_kind, to.target_kind);
  to.is_peer = is_peer ? 1 : 0;
  if (is_peer) {
    raw.read_all(cupti::peer_copy::source_device, to.source_device, cupti::peer_copy::source_context, to.source_context,
                 cupti::peer_copy::target_device, to.target_device, cupti::peer_copy::target_context, to.target_context,
                 cupti::peer_copy::correlation, to.correlation, cupti::peer_copy::graph_node, to.graph_node,
                 cupti::peer_copy::graph, to.graph);
  } else {
    raw.read_all(from::correlation, to.correlation, from::graph_node, to.graph_node, from::graph, to.graph, from::count,
                 to.count);
  }
  return to;
}

[[nodiscard]] SetRecord read_set(const RawRecord& raw) {
  namespace from = cupti::set;
  auto to = begin_record<SetRecord>(RecordType::set);
  raw.read_all(from::start, to.start, from::end, to.end, from::bytes, to.bytes, from::device, to.device, from::context,
               to.context, from::stream, to.stream, from::correlation, to.correlation, from::graph_node, to.graph_node,
               from::graph, to.graph, from::value, to.value, from::memory_kind, to.memory_kind);
  return to;
}

[[nodiscard]] CallRecord read_call(const RawRecord& raw, std::uint32_t domain) {
  namespace from = cupti::call;
  auto to = begin_record<CallRecord>(RecordType::call, domain << 16U | (raw.get(from::id) & 0xFFFFU));
  raw.read_all(from::start, to.start, from::end, to.end, from::thread, to.thread, from::correlation, to.correlation,
               from::result, to.result);
  return to;
}

[[nodiscard]] SynchronizationRecord read_synchronization(const RawRecord& raw) {
  namespace from = cupti::synchronization;
  auto to = begin_record<SynchronizationRecord>(RecordType::synchronization);
  raw.read_all(from::start, to.start, from::end, to.end, from::type, to.type, from::correlation, to.correlation,
               from::context, to.context, from::stream, to.stream, from::event, to.event, from::event_sync,
               to.event_sync, from::result, to.result);
  return to;
}

[[nodiscard]] ExternalCorrelationRecord read_external(const RawRecord& raw) {
  namespace from = cupti::external_correlation;
  auto to = begin_record<ExternalCorrelationRecord>(RecordType::external_correlation);
  raw.read_all(from::id, to.id, from::kind, to.kind, from::correlation, to.correlation);
  return to;
}

[[nodiscard]] GraphRecord read_graph(const RawRecord& raw) {
  namespace from = cupti::graph;
  auto to = begin_record<GraphRecord>(RecordType::graph);
  raw.read_all(from::start, to.start, from::end, to.end, from::device, to.device, from::context, to.context,
               from::stream, to.stream, from::correlation, to.correlation, from::graph, to.graph);
  return to;
}

[[nodiscard]] JitRecord read_jit(const RawRecord& raw, Names& names) {
  namespace from = cupti::jit;
  auto to = begin_record<JitRecord>(RecordType::jit);
  raw.read_all(from::start, to.start, from::end, to.end, from::cache_bytes, to.cache_bytes, from::entry, to.entry,
               from::operation, to.operation, from::device, to.device, from::correlation, to.correlation, from::thread,
               to.thread);
  to.path = names.number(raw.get(from::cache_path));
  return to;
}

[[nodiscard]] OverheadRecord read_overhead(const RawRecord& raw) {
  namespace from = cupti::overhead;
  auto to = begin_record<OverheadRecord>(RecordType::overhead);
  raw.read_all(from::start, to.start, from::end, to.end, from::kind, to.kind, from::correlation, to.correlation);
  if (raw.get(from::object_kind) == from::kThreadObject) raw.read(from::thread, to.thread);
  return to;
}

[[nodiscard]] UnifiedMemoryRecord read_unified_memory(const RawRecord& raw) {
  namespace from = cupti::unified_memory;
  auto to = begin_record<UnifiedMemoryRecord>(RecordType::unified_memory);
  raw.read_all(from::start, to.start, from::end, to.end, from::value, to.value, from::address, to.address, from::kind,
               to.kind, from::source, to.source, from::target, to.target, from::stream, to.stream, from::flags,
               to.flags);
  return to;
}

[[nodiscard]] MemoryRecord read_memory(const RawRecord& raw, Names& names) {
  namespace from = cupti::memory;
  auto to = begin_record<MemoryRecord>(RecordType::memory);
  raw.read_all(from::time, to.time, from::address, to.address, from::bytes, to.bytes, from::pc, to.pc, from::operation,
               to.operation, from::kind, to.kind, from::device, to.device, from::context, to.context, from::stream,
               to.stream, from::correlation, to.correlation, from::pool_type, to.pool_type);
  if (to.pool_type != 0) {
    raw.read_all(from::pool_address, to.pool_address, from::pool_threshold, to.pool_threshold, from::pool_size,
                 to.pool_size, from::pool_used, to.pool_used);
  }
  to.name = names.number(raw.get(from::name));
  return to;
}

[[nodiscard]] MemoryPoolRecord read_memory_pool(const RawRecord& raw) {
  namespace from = cupti::memory_pool;
  auto to = begin_record<MemoryPoolRecord>(RecordType::memory_pool);
  raw.read_all(from::time, to.time, from::address, to.address, from::size, to.size, from::threshold, to.threshold,
               from::used, to.used, from::least_bytes, to.least_bytes, from::operation, to.operation, from::type,
               to.type, from::process, to.process, from::device, to.device, from::correlation, to.correlation);
  return to;
}

[[nodiscard]] CudaEventRecord read_cuda_event(const RawRecord& raw) {
  namespace from = cupti::cuda_event;
  auto to = begin_record<CudaEventRecord>(RecordType::cuda_event);
  to.device = cupti::kNone;
  raw.read_all(from::device_time, to.device_time, from::sync, to.sync, from::device, to.device, from::context,
               to.context, from::stream, to.stream, from::event, to.event, from::correlation, to.correlation);
  return to;
}

[[nodiscard]] EnvironmentRecord read_environment(const RawRecord& raw) {
  namespace from = cupti::environment;
  auto to = begin_record<EnvironmentRecord>(RecordType::environment);
  raw.read_all(from::time, to.time, from::device, to.device, from::kind, to.kind, from::first, to.values[0],
               from::second, to.values[1], from::third, to.values[2], from::fourth, to.values[3], from::fifth,
               to.values[4]);
  return to;
}

[[nodiscard]] BodyWriter device_body(const RawRecord& raw) {
  namespace from = cupti::device;
  const char* name = raw.get(from::name);
  const bool is_mig = raw.get(from::is_mig) != 0;
  BodyWriter body;
  body.number(raw.get(from::id)).number(raw.get(from::memory_bytes)).number(raw.get(from::memory_bandwidth));
  for (const cupti::U32& field :
       {from::multiprocessors, from::clock_khz, from::warps, from::blocks, from::registers, from::shared_bytes,
        from::warp_threads, from::cache_bytes, from::major, from::minor}) {
    body.number(raw.get(field));
  }
  body.number(raw.get(is_mig ? from::mig_uuid_low : from::uuid_low));
  body.number(raw.get(is_mig ? from::mig_uuid_high : from::uuid_high));
  body.number(std::uint8_t{is_mig}).number(raw.get(from::gpu_instance)).number(raw.get(from::compute_instance));
  body.text(name == nullptr ? "" : name);
  return body;
}

[[nodiscard]] BodyWriter context_body(const RawRecord& raw) {
  namespace from = cupti::context;
  BodyWriter body;
  body.number(raw.get(from::context)).number(raw.get(from::device)).number(raw.get(from::parent));
  body.number(raw.get(from::is_green)).number(raw.get(from::multiprocessors));
  return body;
}

[[nodiscard]] BodyWriter stream_body(const RawRecord& raw) {
  namespace from = cupti::stream;
  BodyWriter body;
  body.number(raw.get(from::context)).number(raw.get(from::stream)).number(raw.get(from::priority));
  body.number(raw.get(from::flag));
  return body;
}

}  // namespace

void Collector::buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *most_records = 0;  // as many as fit
  *buffer = instance().pool_->take();
  *bytes = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
}

void Collector::buffer_completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                 std::size_t valid_bytes) {
  if (buffer == nullptr) return;
  Collector& collector = instance();
  collector.translating_.fetch_add(1);
  collector.translate(context, stream, buffer, std::min({bytes, valid_bytes, BufferPool::kBufferBytes}));
  collector.pool_->give_back(buffer);
  collector.translating_.fetch_sub(1);
}

// A record reaches at most to the next one.
void Collector::translate(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes) {
  if (!channel_.attached()) return;
  const std::uint8_t* const end = buffer + bytes;
  const std::uint8_t* last = nullptr;
  std::uint8_t* next = nullptr;
  while (bytes != 0 && library_->get_next_record(buffer, bytes, &next) == cupti::kSuccess) {
    if (next < buffer || next + sizeof(std::uint32_t) > end || (last != nullptr && next <= last)) {
      lost(LossCause::cut, 1);
      break;
    }
    if (last != nullptr) translate(RawRecord{last, static_cast<std::size_t>(next - last)});
    last = next;
  }
  if (last != nullptr) translate(RawRecord{last, static_cast<std::size_t>(end - last)});
  std::size_t dropped = 0;
  if (library_->get_dropped(context, stream, &dropped) == cupti::kSuccess) lost(LossCause::no_room, dropped);
}

bool Collector::records_call(std::uint32_t domain, std::uint32_t id) {
  return calls_.contain(domain - 1, std::min<std::size_t>(id, kMostFunctions - 1), [&] {
    const char* given = nullptr;
    (void)library_->get_callback_name(domain, id, &given);
    const std::string name = given == nullptr ? "" : given;
    const auto is_meant = [&](const std::string& word) {
      if (name.compare(0, word.size(), word) != 0) return false;
      const std::string_view rest = std::string_view(name).substr(word.size());
      return rest.empty() || rest.substr(0, 2) == "_v" || rest.substr(0, 3) == "_pt";
    };
    if (std::any_of(excluded_.begin(), excluded_.end(), is_meant)) return false;
    BodyWriter body;
    define(DefinitionType::call, body.number(domain).number(id).text(name));
    return true;
  });
}

void Collector::translate(const RawRecord& given) {
  const auto kind = static_cast<Activity>(given.get(cupti::kKind));
  const std::uint32_t known = cupti::record_bytes(kind, library_->version);
  if (known == 0) {
    if (static_cast<std::uint32_t>(kind) != 0) lost(LossCause::not_read, 1);  // 0: nothing was recorded there
    return;
  }
  if (given.bytes < cupti::record_bytes(kind, cupti::kVersion11_8)) return lost(LossCause::cut, 1);
  const RawRecord raw{given.begin, std::min<std::size_t>(given.bytes, known)};
  ThreadRing* ring = channel_.ring_even_paused();
  if (ring == nullptr) return;
  switch (kind) {
    case Activity::kernel:
    case Activity::concurrent_kernel:
      return ring->put(read_kernel(raw, *names_));
    case Activity::copy:
      return ring->put(read_copy(raw, false));
    case Activity::peer_copy:
      return ring->put(read_copy(raw, true));
    case Activity::set:
      return ring->put(read_set(raw));
    case Activity::driver_call:
    case Activity::runtime_call: {
      const std::uint32_t domain = kind == Activity::driver_call ? cupti::kDriverApi : cupti::kRuntimeApi;
      if (records_call(domain, raw.get(cupti::call::id))) ring->put(read_call(raw, domain));
      return;
    }
    case Activity::synchronization:
      return ring->put(read_synchronization(raw));
    case Activity::external_correlation:
      return ring->put(read_external(raw));
    case Activity::graph:
      return ring->put(read_graph(raw));
    case Activity::jit:
      return ring->put(read_jit(raw, *names_));
    case Activity::overhead:
      return ring->put(read_overhead(raw));
    case Activity::unified_memory:
      return ring->put(read_unified_memory(raw));
    case Activity::memory:
      return ring->put(read_memory(raw, *names_));
    case Activity::memory_pool:
      return ring->put(read_memory_pool(raw));
    case Activity::cuda_event:
      return ring->put(read_cuda_event(raw));
    case Activity::environment:
      return ring->put(read_environment(raw));
    case Activity::device:
      return define(DefinitionType::device, device_body(raw));
    case Activity::context:
      return define(DefinitionType::context, context_body(raw));
    case Activity::stream:
      return define(DefinitionType::stream, stream_body(raw));
  }
}

}  // namespace accelscope::probe::cuda
