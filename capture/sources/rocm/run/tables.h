// The tables that profiles of ROCm become, whichever of its tools wrote them: those that profiles of GPUs have in
// common (sources/tracks/gpu_tables.h), with what ROCm tells beyond them, under the names of rocpd's own tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "capture/sources/tracks/gpu_tables.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::rocm {

enum class RocmTable : std::uint8_t { kernel, memcpy, memset, call, region, mark, sample, memory };
inline constexpr std::size_t kRocmTableCount = 8;

// Places of the columns that follow the common ones.
struct RocmKernelColumns {
  static constexpr std::size_t first = tracks::KernelColumns::count;
  static constexpr std::size_t dispatch_id = first, queue_id = first + 1, tid = first + 2, pid = first + 3,
                               kernel_id = first + 4, grid_size = first + 5, private_segment_size = first + 6,
                               arch_vgpr_count = first + 7, accum_vgpr_count = first + 8, sgpr_count = first + 9,
                               region = first + 10, graph_exec_id = first + 11, graph_node_id = first + 12,
                               further_counters = first + 13, arguments = first + 14, count = first + 15;
};
struct RocmCopyColumns {
  static constexpr std::size_t first = tracks::TransferColumns::count;
  static constexpr std::size_t source = first, destination = first + 1, src_address = first + 2,
                               dst_address = first + 3, queue_id = first + 4, tid = first + 5, pid = first + 6,
                               region = first + 7, graph_exec_id = first + 8, graph_node_id = first + 9,
                               arguments = first + 10, count = first + 11;
};
struct RocmCallColumns {  // of calls; regions and samples have them from the first place on
  static constexpr std::size_t first = tracks::RuntimeColumns::count;
  static constexpr std::size_t category = 0, parent = 1, arguments = 2, message = 3, call_stack = 4, line_info = 5,
                               count = 6;
};
struct RocmMarkColumns {
  static constexpr std::size_t correlation = tracks::NvtxColumns::count, arguments = correlation + 1,
                               call_stack = correlation + 2, count = correlation + 3;
};
struct RocmMemoryColumns {
  static constexpr std::size_t bytes = 0, address = 1, device = 2, type = 3, level = 4, call_ns = 5, correlation = 6,
                               queue_id = 7, stream_id = 8, tid = 9, pid = 10, flags = 11, count = 12;
};

// A hardware counter that was read for single kernels: a column of their table.
struct RocmCounter {
  std::string name;
  std::string unit;
  std::string description;
};

[[nodiscard]] Schema make_rocm_schema(RocmTable table, std::span<const RocmCounter> counters = {});

}  // namespace accelscope::capture::sources::rocm
