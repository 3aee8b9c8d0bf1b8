// The tables that profiles of GPUs have in common, whoever wrote them: the same names, the same columns first, so that
// one query fits all. What a format tells beyond them follows in columns of its own names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tracks {

enum class GpuTable : std::uint8_t {
  kernel,
  memcpy,
  memset,
  runtime_call,  // of CUDA, HIP, HSA, Level Zero ... and of their drivers
  cuda_sync,     // waits on a device
  nvtx,          // ranges and marks that a program made itself: NVTX, ROCTX, ITT
};

// Places of the common columns, for whoever writes them.
struct KernelColumns {
  static constexpr std::size_t external_id = 0, correlation = 1, device = 2, context = 3, stream = 4, kind = 5,
                               grid = 6, block = 7, shared_memory = 8, queued = 9, registers = 10, blocks_per_sm = 11,
                               warps_per_sm = 12, occupancy = 13, flops = 14, bytes = 15, precision = 16,
                               work_from = 17, count = 18;
};
struct TransferColumns {  // of memcpy and memset
  static constexpr std::size_t external_id = 0, correlation = 1, device = 2, context = 3, stream = 4, kind = 5,
                               bytes = 6, bandwidth = 7, count = 8;
};
struct RuntimeColumns {
  static constexpr std::size_t external_id = 0, correlation = 1, stream = 2, grid = 3, block = 4, kind = 6, size = 13,
                               bytes = 14, count = 15;
};
struct SyncColumns {
  static constexpr std::size_t external_id = 0, correlation = 1, device = 2, context = 3, stream = 4, kind = 5,
                               count = 6;
};
struct NvtxColumns {
  static constexpr std::size_t domain = 0, category = 1, payload = 2, kind = 3, count = 4;
};

[[nodiscard]] std::span<const ColumnSpec> gpu_columns(GpuTable table) noexcept;
// Names of events that only wait: of calls, for what they have started before; of a device, for others of its streams.
[[nodiscard]] std::span<const std::string_view> gpu_waiting_names(GpuTable table) noexcept;
[[nodiscard]] Schema make_gpu_schema(GpuTable table, std::span<const ColumnSpec> further = {});
// The table of counters: a value for each sample.
[[nodiscard]] Schema make_counter_schema();

// "GPU 0": what every profile calls a GPU, whose number may stand as a text in the file.
[[nodiscard]] std::string gpu_name(std::string_view number);
[[nodiscard]] std::string gpu_name(std::int64_t number);

// Kernels of NVIDIA's, AMD's and Microsoft's libraries for work that several devices do together, by their names.
[[nodiscard]] bool is_collective_kernel(std::string_view name) noexcept;

// What a row of a trace is by the names that its process and thread have, where nothing else says so: many tools write
// what a device did as threads of a "process", each with a spelling of its own.

struct DeviceRow {
  std::string device;     // "GPU 0"; without a number where the names have none
  std::string_view kind;  // of the track: stream, dma_queue, engine, collective or layer
  std::string row_title;  // what the process says beside the device, such as the kernel and core; "": nothing
};

// "GPU 0" of "/device:GPU:0", "gpu/0" and "GPU 0 - H100"; "GPU" of "CUDA functions"; nothing for a host's process.
[[nodiscard]] std::optional<std::string> device_of_process(std::string_view process);
// Nothing: by their names they are a process and a thread of a host.
[[nodiscard]] std::optional<DeviceRow> device_row(std::string_view process, std::string_view thread);

}  // namespace accelscope::capture::sources::tracks
