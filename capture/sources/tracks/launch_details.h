// Texts in which a profiler puts several values: " regs:32 static_shared:0 grid:16,1,1 block:512,1,1 occ_pct:50".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace accelscope::capture::sources::tracks {

// kernel_details. NVIDIA writes regs, static_shared, dynamic_shared; AMD private_mem, group_mem.
struct KernelDetails {
  std::string grid, block;  // "[16, 1, 1]"; "": not told
  std::optional<std::int64_t> registers, shared_memory, private_memory;
  std::optional<double> occupancy;  // percent; 0 stands for not known
  std::uint32_t implausible = 0;    // values that no device has, left out
};
[[nodiscard]] KernelDetails read_kernel_details(std::string_view text);

// memcpy_details, Memset_details, memalloc_details.
struct TransferDetails {
  std::string kind;  // "pinned > device" of a copy between two kinds of memory
  std::optional<std::int64_t> bytes;
  std::uint32_t implausible = 0;
};
[[nodiscard]] TransferDetails read_transfer_details(std::string_view text);

// "16" of "Stream #16(Kernel)"; nothing: it is no stream's name.
[[nodiscard]] std::optional<std::int64_t> stream_of_line(std::string_view name);

}  // namespace accelscope::capture::sources::tracks
