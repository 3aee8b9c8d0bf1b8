#include "capture/sources/tracks/gpu_tables.h"

#include <fmt/format.h>

#include <array>

namespace accelscope::capture::sources::tracks {
namespace {

using namespace columns;

constexpr ColumnSpec kExternalId = {"External id", kInt, "", kIds, "", "Joins the framework's operator and its work."};
constexpr ColumnSpec kCorrelation = {"correlation", kInt, "", kIds, "", "Joins a runtime call and what it started."};
constexpr ColumnSpec kDevice = {"device", kInt, "", kIds, "", "Number of the device."};
constexpr ColumnSpec kContext = {"context", kInt, "", kIds, "", "The driver's context."};
constexpr ColumnSpec kStream = {"stream", kInt, "", kIds, "", "The stream it ran on."};
constexpr ColumnSpec kKind = {"kind", kString, "", kOperation, "", "What it is to the driver."};
constexpr ColumnSpec kGrid = {"grid", kString, "", kLaunch, "", "Blocks in x, y and z."};
constexpr ColumnSpec kBlock = {"block", kString, "", kLaunch, "", "Threads of a block in x, y and z."};
constexpr ColumnSpec kSharedMemory = {"shared memory", kInt, "B", kLaunch, "", "Shared memory of a block."};
constexpr ColumnSpec kBytes = {"bytes", kInt, "B", kTransfer, "", "Bytes moved.", Role::bytes};
constexpr ColumnSpec kBandwidth = {"memory bandwidth (GB/s)", kReal, "GB/s", kTransfer, "", "Bytes over duration."};

constexpr ColumnSpec kKernelColumns[] = {
    kExternalId,
    kCorrelation,
    kDevice,
    kContext,
    kStream,
    kKind,
    kGrid,
    kBlock,
    kSharedMemory,
    {"queued", kInt, "", kLaunch, "", "When it was queued, if the driver says so."},
    {"registers per thread", kInt, "", kLaunch, "", "Registers that a thread takes."},
    {"blocks per SM", kReal, "", kLaunch, "", "Blocks that a multiprocessor holds at once."},
    {"warps per SM", kReal, "", kLaunch, "", "Warps that a multiprocessor holds at once."},
    {"est. achieved occupancy %", kReal, "%", kLaunch, "", "Estimated share of the warps that were active."},
    {"flops", kReal, "FLOP", kOperation, "Operations",
     "Floating point operations: of what the operator that launched it was to compute, by the shapes of its inputs.",
     Role::flops},
    {"bytes", kInt, "B", kTransfer, "Bytes",
     "Bytes that it has to move at least: inputs and outputs once each; of a collective its message.", Role::bytes},
    {"precision", kString, "", kOperation, "Precision", "The type that it multiplies in."},
    {"work from", kString, "", kOperation, "Operations from", "What its operations and bytes rest on."},
};
constexpr ColumnSpec kTransferColumns[] = {kExternalId, kCorrelation, kDevice, kContext,
                                           kStream,     kKind,        kBytes,  kBandwidth};
constexpr ColumnSpec kRuntimeColumns[] = {
    kExternalId,
    kCorrelation,
    kStream,
    kGrid,
    kBlock,
    kSharedMemory,
    kKind,
    {"cbid", kInt, "", kIds, "", "The driver's number of the function."},
    {"cid", kInt, "", kIds, "", "The driver's number of the function."},
    {"kernel", kString, "", kLaunch, "", "What is launched."},
    {"src", kUnsigned, "", kTransfer, "", "Address that is read."},
    {"dst", kUnsigned, "", kTransfer, "", "Address that is written."},
    {"ptr", kUnsigned, "", kMemory, "", "Address that the call is about."},
    {"size", kInt, "B", kTransfer, "", "Bytes that the call is about."},
    {"bytes", kInt, "B", kTransfer, "", "Bytes that the call is about."},
};
constexpr ColumnSpec kSyncColumns[] = {
    kExternalId, kCorrelation, kDevice,
    kContext,    kStream,      {"cuda_sync_kind", kString, "", kOperation, "", "What is waited for."},
};
constexpr ColumnSpec kNvtxColumns[] = {
    {"domain", kString, "", kOperation, "Domain", "The library or part of the program that made it."},
    {"category", kString, "", kOperation, "Category", "The group that the program put it in."},
    {"payload", kText, "", kOperation, "Payload", "The value that the program gave it."},
    {"kind", kString, "", kOperation, "Kind", "How it was made: pushed and popped, started and ended, or a mark."},
};

constexpr std::string_view kWaitingCalls[] = {"cudaDeviceSynchronize",
                                              "cudaStreamSynchronize",
                                              "cudaEventSynchronize",
                                              "cuCtxSynchronize",
                                              "cuStreamSynchronize",
                                              "cuEventSynchronize",
                                              "hipDeviceSynchronize",
                                              "hipStreamSynchronize",
                                              "hipEventSynchronize",
                                              "hipCtxSynchronize",
                                              "zeEventHostSynchronize",
                                              "zeCommandQueueSynchronize",
                                              "zeFenceHostSynchronize",
                                              "zeCommandListHostSynchronize",
                                              "urQueueFinish",
                                              "urEventWait",
                                              "synchronize",
                                              "synchronizeStream",
                                              "synchronizeEvent"};
constexpr std::string_view kWaitingOnDevice[] = {"Context Sync",      "Stream Sync",         "Event Sync",
                                                 "Stream Wait Event", "Context Synchronize", "Stream Synchronize",
                                                 "Event Synchronize"};
struct GpuTableRow {
  GpuTable table;
  SchemaSpec schema;
  std::span<const ColumnSpec> columns;
};

constexpr std::array kTables = {
    GpuTableRow{GpuTable::kernel, {"kernel", EventKind::slice, "name", "The function that ran."}, kKernelColumns},
    GpuTableRow{GpuTable::memcpy, {"memcpy", EventKind::slice, "name", "What moves the bytes."}, kTransferColumns},
    GpuTableRow{GpuTable::memset, {"memset", EventKind::slice, "name", "What sets the bytes."}, kTransferColumns},
    GpuTableRow{GpuTable::runtime_call,
                {"runtime_call", EventKind::slice, "name", "The function that was called.", kWaitingCalls},
                kRuntimeColumns},
    GpuTableRow{GpuTable::cuda_sync,
                {"cuda_sync", EventKind::slice, "name", "What was waited for.", kWaitingOnDevice},
                kSyncColumns},
    GpuTableRow{GpuTable::nvtx, {"nvtx", EventKind::slice, "name", "What the program calls it."}, kNvtxColumns},
};

[[nodiscard]] const GpuTableRow& table_row(GpuTable table) noexcept { return kTables[static_cast<std::size_t>(table)]; }

}  // namespace

std::span<const ColumnSpec> gpu_columns(GpuTable table) noexcept { return table_row(table).columns; }

std::span<const std::string_view> gpu_waiting_names(GpuTable table) noexcept {
  return table_row(table).schema.wait_names;
}

Schema make_gpu_schema(GpuTable table, std::span<const ColumnSpec> further) {
  Schema schema = make_schema(table_row(table).schema, gpu_columns(table));
  append_columns(schema, further);
  return schema;
}

std::string gpu_name(std::string_view number) { return fmt::format("GPU {}", number); }
std::string gpu_name(std::int64_t number) { return fmt::format("GPU {}", number); }

bool is_collective_kernel(std::string_view name) noexcept {
  return name.starts_with("nccl") || name.starts_with("rccl") || name.starts_with("mscclKernel");
}

}  // namespace accelscope::capture::sources::tracks
