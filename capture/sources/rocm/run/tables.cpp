#include "capture/sources/rocm/run/tables.h"

#include <algorithm>

#include "core/model/column_spec.h"

namespace accelscope::capture::sources::rocm {
namespace {

using namespace columns;
using tracks::GpuTable;

constexpr ColumnSpec kQueueId = {"queue_id", kInt, "", kIds, "", "The hardware's queue."};
constexpr ColumnSpec kThreadId = {"tid", kInt, "", kIds, "", "The thread that asked for it."};
constexpr ColumnSpec kProcessId = {"pid", kInt, "", kIds, "", "The process that asked for it."};
constexpr ColumnSpec kCorrelationId = {"correlation", kInt, "", kIds, "", "Joins a runtime call and what it started."};
constexpr ColumnSpec kRegion = {"region", kString, "", kOperation, "", "What the program calls it."};
constexpr ColumnSpec kGraphExec = {"graph_exec_id", kInt, "", kIds, "", "The graph that it was launched with."};
constexpr ColumnSpec kGraphNode = {"graph_node_id", kInt, "", kIds, "", "Its node of that graph."};
constexpr ColumnSpec kArguments = {"args", kText, "", kOperation, "Arguments", "What the call was given."};
constexpr ColumnSpec kCallStack = {"Call stack", kString, "", kSource, "", "Where it was called from.", Role::stack};

constexpr ColumnSpec kKernelFurther[] = {
    {"dispatch_id", kInt, "", kIds, "", "The profiler's number of the launch."},
    kQueueId,
    kThreadId,
    kProcessId,
    {"kernel_id", kInt, "", kIds, "", "The profiler's number of the function."},
    {"grid_size", kString, "", kLaunch, "", "Work-items in x, y and z."},
    {"private_segment_size", kInt, "B", kLaunch, "Scratch", "Scratch memory of a work-item."},
    {"arch_vgpr_count", kInt, "", kLaunch, "VGPRs", "Vector registers of a work-item."},
    {"accum_vgpr_count", kInt, "", kLaunch, "Accumulation VGPRs", "Vector registers of matrix instructions."},
    {"sgpr_count", kInt, "", kLaunch, "SGPRs", "Scalar registers of a wave."},
    kRegion,
    kGraphExec,
    kGraphNode,
    {"further counters", kText, "", "Counters", "", "Counters that only few launches have."},
    {"args", kText, "", kOperation, "Arguments", "What else the profiler says of the launch."},
};
constexpr ColumnSpec kCopyFurther[] = {
    {"src_agent", kString, "", kTransfer, "From", "The device that is read."},
    {"dst_agent", kString, "", kTransfer, "To", "The device that is written."},
    {"src_address", kUnsigned, "", kTransfer, "", "Address that is read."},
    {"dst_address", kUnsigned, "", kTransfer, "", "Address that is written."},
    kQueueId,
    kThreadId,
    kProcessId,
    kRegion,
    kGraphExec,
    kGraphNode,
    kArguments,
};
constexpr ColumnSpec kCallFurther[] = {
    {"category", kString, "", kOperation, "Category", "The library, or part of it, that was called."},
    {"parent correlation", kInt, "", kIds, "", "The call that it was made in."},
    kArguments,
    {"message", kText, "", kOperation, "Message", "What the profiler says of it."},
    kCallStack,
    {"line_info", kText, "", kSource, "Lines", "Where in the source it was called."},
};
// Of regions and samples: kCallFurther, then these.
constexpr ColumnSpec kHostFurther[] = {
    {"External id", kInt, "", kIds, "", "What the program joins it with."},
    kCorrelationId,
};
constexpr ColumnSpec kMarkFurther[] = {kCorrelationId, kArguments, kCallStack};
constexpr ColumnSpec kMemoryColumns[] = {
    {"Bytes", kInt, "B", kMemory, "", "Allocated, or released if negative.", Role::allocation},
    {"Addr", kUnsigned, "", kMemory, "", "Where it lies.", Role::address},
    {"Device Id", kInt, "", kMemory, "", "Number of the device; -1 for the host."},
    {"type", kString, "", kMemory, "Type", "Whether it is allocated, released, grown or taken back."},
    {"level", kString, "", kMemory, "Level", "Real or virtual memory, or scratch of kernels."},
    {"call_ns", kInt, "ns", kTiming, "Took", "How long the call took."},
    kCorrelationId,
    kQueueId,
    {"stream", kInt, "", kIds, "", "The stream it was asked for on."},
    kThreadId,
    kProcessId,
    {"flags", kString, "", kMemory, "Flags", "As the runtime has them."},
};

[[nodiscard]] Schema host_schema(const SchemaSpec& spec) {
  Schema schema = make_schema(spec, std::span<const ColumnSpec>(kCallFurther));
  append_columns(schema, kHostFurther);
  return schema;
}

[[nodiscard]] Schema kernel_schema(std::span<const RocmCounter> counters) {
  Schema schema = tracks::make_gpu_schema(GpuTable::kernel, kKernelFurther);
  for (const RocmCounter& counter : counters) {
    Column column;
    column.name = counter.name;
    column.type = ColumnType::float64;
    column.unit = counter.unit;
    column.group = "Counters";
    column.explanation = counter.description;
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

}  // namespace

Schema make_rocm_schema(RocmTable table, std::span<const RocmCounter> counters) {
  switch (table) {
    case RocmTable::kernel:
      return kernel_schema(counters);
    case RocmTable::memcpy:
      return tracks::make_gpu_schema(GpuTable::memcpy, kCopyFurther);
    case RocmTable::memset:
      return tracks::make_gpu_schema(GpuTable::memset, kCopyFurther);
    case RocmTable::call:
      return tracks::make_gpu_schema(GpuTable::runtime_call, kCallFurther);
    case RocmTable::region:
      return host_schema({"region", EventKind::slice, "name", "What the profiled library calls it."});
    case RocmTable::mark:
      return tracks::make_gpu_schema(GpuTable::nvtx, kMarkFurther);
    case RocmTable::sample:
      return host_schema({"sample", EventKind::instant, "name", "What was sampled."});
    case RocmTable::memory:
      break;
  }
  return make_schema({"memory", EventKind::memory, "name", "What was done."},
                     std::span<const ColumnSpec>(kMemoryColumns));
}

}  // namespace accelscope::capture::sources::rocm
