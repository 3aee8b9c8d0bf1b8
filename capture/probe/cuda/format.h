// What the CUDA collector tells the kind `cuda`, beside what all such collectors tell: records of the rings and bodies
// of definitions. Times are ns of CLOCK_MONOTONIC, except where CUPTI has a clock of its own; a ClockRecord says so.
// Names are numbers of definitions, from 1; devices, contexts, streams and correlations are CUPTI's own numbers within
// a process.
#pragma once

#include <cstdint>

#include "capture/probe/tracing_format.h"

namespace accelscope::probe::cuda {

enum class RecordType : std::uint16_t {
  kernel = 1,
  copy,
  set,
  call,  // head.value: domain << 16 | number of the function
  synchronization,
  external_correlation,
  graph,
  jit,
  overhead,
  unified_memory,
  memory,
  memory_pool,
  cuda_event,
  environment,
  range_push,  // RangeRecord; head.value: name, and so for the next two
  range_start,
  mark,
  range_pop,  // RangeEndRecord; head.value: number of the domain
  range_end,
  stack,  // head.value: number of the stack
};

struct KernelRecord {
  RecordHead head;
  std::uint64_t start, end;
  std::uint64_t queued, submitted;  // 0: not known
  std::uint32_t device, context, stream, correlation;
  std::int32_t grid[3], block[3];
  std::int32_t static_shared, dynamic_shared;
  std::uint64_t local_total;
  std::int64_t grid_id;
  std::uint64_t graph_node;
  std::uint32_t graph, name;
  std::uint32_t local_per_thread, shared_executed, shared_limit;
  std::uint32_t cluster[3], cluster_policy, largest_cluster, active_clusters;
  std::uint16_t registers;
  std::uint8_t launch_type, cache_config;
  std::uint8_t carveout_requested, carveout;
  std::uint8_t unused[6];
};

struct CopyRecord {  // also between devices
  RecordHead head;
  std::uint64_t start, end, bytes;
  std::uint32_t device, context, stream, correlation;
  std::uint64_t graph_node, count;
  std::uint32_t graph;
  std::uint32_t source_device, source_context, target_device, target_context;  // of copies between devices
  std::uint8_t kind, source_kind, target_kind, is_peer;
};

struct SetRecord {
  RecordHead head;
  std::uint64_t start, end, bytes;
  std::uint32_t device, context, stream, correlation;
  std::uint64_t graph_node;
  std::uint32_t graph, value;
  std::uint16_t memory_kind, unused[3];
};

struct CallRecord {
  RecordHead head;
  std::uint64_t start, end;
  std::uint32_t thread, correlation, result, unused;
};

struct SynchronizationRecord {
  RecordHead head;
  std::uint64_t start, end, event_sync;
  std::uint32_t type, correlation, context, stream, event, result;
};

struct ExternalCorrelationRecord {
  RecordHead head;
  std::uint64_t id;
  std::uint32_t kind, correlation;
};

struct GraphRecord {
  RecordHead head;
  std::uint64_t start, end;
  std::uint32_t device, context, stream, correlation, graph, unused;
};

struct JitRecord {
  RecordHead head;
  std::uint64_t start, end, cache_bytes;
  std::uint32_t entry, operation, device, correlation, thread, path;
};

struct OverheadRecord {
  RecordHead head;
  std::uint64_t start, end;
  std::uint32_t kind, thread, correlation, unused;  // thread 0: of the process
};

struct UnifiedMemoryRecord {
  RecordHead head;
  std::uint64_t start, end, value, address;
  std::uint32_t kind, source, target, stream, flags, unused;
};

struct MemoryRecord {
  RecordHead head;
  std::uint64_t time, address, bytes, pc;
  std::uint64_t pool_address, pool_threshold, pool_size, pool_used;
  std::uint32_t operation, kind, device, context, stream, correlation, pool_type, name;
};

struct MemoryPoolRecord {
  RecordHead head;
  std::uint64_t time, address, size, threshold, used, least_bytes;
  std::uint32_t operation, type, process, device, correlation, unused;
};

struct CudaEventRecord {
  RecordHead head;
  std::uint64_t device_time, sync;  // 0: not known
  std::uint32_t device, context, stream, event, correlation, unused;
};

struct EnvironmentRecord {
  RecordHead head;
  std::uint64_t time;
  std::uint32_t device, kind, values[5], unused;
};

// From where a call was made. It comes before what it is of.
struct StackRecord {
  RecordHead head;
  std::uint32_t correlation, unused;
};

// Data of schemas stand behind the record, `payload` bytes of them: u64 schema, u64 bytes, the bytes; and so on.
enum class PayloadType : std::uint32_t { none, unsigned_integer, integer, real, schemas };
struct RangeRecord {
  RecordHead head;
  std::uint64_t time, payload, range;  // range: number of one that is started
  std::uint32_t domain, category, color;
  PayloadType payload_type;
};
struct RangeEndRecord {
  RecordHead head;
  std::uint64_t time, range;
};

// Bodies, as BodyWriter packs them.
enum class DefinitionType : std::uint32_t {
  collector =
      1,     // u32 version of CUPTI, u32 that of the driver (0: not known), text path, u8 whether the clock is ours
  call,      // u32 domain, u32 number, text name
  device,    // u32 number, u64 memory bytes, u64 memory bandwidth (kB/s), u32 multiprocessors, clock (kHz), warps,
             // blocks, registers and shared bytes of one, warp's threads, cache bytes, major, minor, u8[16] uuid,
             // u8 MIG, u32 instances of GPU and compute, text name
  context,   // u32 number, u32 device, u32 parent, u8 green, u16 multiprocessors
  stream,    // u32 context, u32 number, u32 priority, u32 flag
  domain,    // u32 number, text
  category,  // u32 domain, u32 number, text
  module,    // u32 number, text path: a file that code was loaded from
  stack,     // u32 number, u32 frames, of each from the innermost: u32 module (0: none), u64 return address in it
  resource,  // u8 Resource, u32 the device, context or stream as CUPTI numbers it, text its name
  payload_schema,  // u32 domain, u64 schema, u64 alignment at most (0: any), text name, u32 fields, of each: u64 flags,
                   // u64 type, u64 offset, u64 length, text name
  payload_words,   // u32 domain, u64 schema, u64 bytes of a number, u32 words, of each: u64 number, text
};

enum class Resource : std::uint8_t { device = 1, context, stream };

}  // namespace accelscope::probe::cuda
