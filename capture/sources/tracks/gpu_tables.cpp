#include "capture/sources/tracks/gpu_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"

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

Schema make_counter_schema() {
  return make_schema({"counter", EventKind::counter},
                     {{.name = "value", .type = columns::kReal, .role = Role::value, .required = true}});
}

std::string gpu_name(std::string_view number) { return fmt::format("GPU {}", number); }
std::string gpu_name(std::int64_t number) { return fmt::format("GPU {}", number); }

bool is_collective_kernel(std::string_view name) noexcept {
  return name.starts_with("nccl") || name.starts_with("rccl") || name.starts_with("mscclKernel");
}

namespace {

constexpr std::string_view kStreamKind = "stream";
constexpr std::string_view kQueueKind = "dma_queue";
constexpr std::string_view kEngineKind = "engine";
constexpr std::string_view kLayerKind = "layer";

struct DeviceWord {
  std::string_view word;   // in small letters
  std::string_view shown;  // "": as every profile calls a GPU
};
constexpr DeviceWord kDeviceWords[] = {
    {"gpu", "GPU"},  {"tpu", "TPU"},  {"npu", "NPU"}, {"xpu", "XPU"}, {"hpu", "HPU"},    {"mtia", "MTIA"},
    {"cuda", "GPU"}, {"rocm", "GPU"}, {"hip", "GPU"}, {"dcu", "GPU"}, {"ascend", "NPU"}, {"neuroncore", "NC"},
};
// What may follow where the name is one of a device: "CUDA functions", "Ascend Hardware".
constexpr std::string_view kDeviceNouns[] = {"functions", "kernels", "streams", "stream", "hardware",
                                             "device",    "devices", "events",  "ops",    "operators"};
// Rows of a device that are made from its streams, or say what work was for.
constexpr std::string_view kNoteRows[] = {"steps",       "xla modules",  "xla traceme",           "framework ops",
                                          "source code", "launch stats", "framework name scope",  "tensorflow ops",
                                          "source",      "annotations",  "tensorflow name scope", "sparse core steps"};
constexpr std::string_view kTransferWords[] = {"memcpy", "memset", "copy", "h2d", "d2h", "d2d", "dma", "async xla ops"};

template <typename Words>
[[nodiscard]] bool contains_one(std::string_view text, const Words& words) noexcept {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}
template <typename Words>
[[nodiscard]] bool is_one(std::string_view text, const Words& words) noexcept {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

// The digits that follow, behind blanks and marks.
[[nodiscard]] std::string_view number_behind(std::string_view text) noexcept {
  constexpr std::string_view kMarks = " :/#_-";
  const std::size_t begin = text.find_first_not_of(kMarks);
  if (begin == std::string_view::npos || !is_digit(text[begin])) return {};
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(begin, end - begin);
}

[[nodiscard]] std::string numbered(std::string_view shown, std::string_view number) {
  return number.empty() ? std::string(shown) : std::string(shown) + " " + std::string(number);
}

// ".../device:GPU:0", as XLA and TensorFlow call their devices; the host is one too.
[[nodiscard]] std::optional<std::string> xla_device(std::string_view lower) {
  constexpr std::string_view kWord = "/device:";
  const std::size_t at = lower.rfind(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view name = lower.substr(at + kWord.size());
  const std::size_t end = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  const std::string_view word = name.substr(0, end);
  if (word.empty() || word.find("cpu") != std::string_view::npos || word == "custom") return std::nullopt;
  std::string shown(word);
  for (const DeviceWord& known : kDeviceWords) {
    if (known.word == word) shown = known.shown;
  }
  if (shown == word) shown = upper_case(shown);
  return numbered(shown, end == std::string_view::npos ? std::string_view{} : number_behind(name.substr(end)));
}

// "stream 7", "Stream #13(Compute)", "CUDA stream 7".
[[nodiscard]] bool is_stream(std::string_view lower) noexcept {
  const std::size_t at = lower.find(kStreamKind);
  if (at == std::string_view::npos || (at > 0 && lower[at - 1] != ' ')) return false;
  const std::string_view before = lower.substr(0, at);
  const bool plain = before.empty() || before == "cuda " || before == "hip " || before == "gpu " || before == "device ";
  return plain && !number_behind(lower.substr(at + kStreamKind.size())).empty();
}

[[nodiscard]] bool has_number(std::string_view lower, std::string_view word) noexcept {
  const std::size_t at = lower.find(word);
  return at != std::string_view::npos && at + word.size() < lower.size() && is_digit(lower[at + word.size()]);
}

// Within kernels: "matmul_kernel Core0 CTA0" with a row for each warp.
[[nodiscard]] bool is_block(std::string_view process, std::string_view thread) noexcept {
  return has_number(process, " core") && has_number(process, " cta") && thread.starts_with("warp ");
}

}  // namespace

std::optional<std::string> device_of_process(std::string_view process) {
  const std::string lower = lower_case(process);
  if (auto device = xla_device(lower)) return device;
  for (const DeviceWord& known : kDeviceWords) {
    if (!lower.starts_with(known.word)) continue;
    const std::string_view behind = std::string_view(lower).substr(known.word.size());
    if (behind.empty()) return std::string(known.shown);
    if (const std::string_view number = number_behind(behind); !number.empty()) return numbered(known.shown, number);
    if (behind.front() == ' ' && is_one(behind.substr(1), kDeviceNouns)) return std::string(known.shown);
  }
  return std::nullopt;
}

std::optional<DeviceRow> device_row(std::string_view process, std::string_view thread) {
  const std::string row = lower_case(thread);
  if (is_block(lower_case(process), row)) return DeviceRow{"GPU", kEngineKind, std::string(process)};
  const std::optional<std::string> device = device_of_process(process);
  if (!device && !is_stream(row)) return std::nullopt;
  const std::string shown = device.value_or("GPU");
  if (is_one(row, kNoteRows)) return DeviceRow{shown, kLayerKind, {}};
  // On a GPU it repeats what the streams have; elsewhere it is the work itself.
  if (row == "xla ops" || row == "sparse core ops") {
    return DeviceRow{shown, shown.starts_with("GPU") ? kLayerKind : kEngineKind, {}};
  }
  return DeviceRow{shown, contains_one(row, kTransferWords) ? kQueueKind : kStreamKind, {}};
}

}  // namespace accelscope::capture::sources::tracks
