// How large the block is that PyTorch's allocator takes for a request: what was asked for, rounded up, and what lies
// behind it up to the next block where that is too little to be of use. Source: c10/cuda/CUDACachingAllocator.cpp
// (round_size, should_split) and CUDAAllocatorConfig of PyTorch 2.
#pragma once

#include <array>
#include <cstdint>

#include "capture/sources/pickle/pickle_data.h"

namespace accelscope::capture::sources::torch_memory {

class BlockSizes {
 public:
  BlockSizes() = default;
  // Of a snapshot's allocator_settings; the defaults where there are none.
  BlockSizes(const pickle::PickleData& data, pickle::PickleValue settings);

  [[nodiscard]] std::uint64_t rounded(std::uint64_t requested) const noexcept;
  // `room`: from its begin to the next block or the segment's end. `splits_finely`: in small or expandable segments.
  [[nodiscard]] std::uint64_t taken(std::uint64_t requested, std::uint64_t room, bool splits_finely) const noexcept;

 private:
  static constexpr std::size_t kSizeClasses = 16;           // below 2 MiB, 4 MiB, ... 32 GiB and more
  std::array<std::uint64_t, kSizeClasses> divisions_ = {};  // of each power of two; 0 or 1: multiples of 512 bytes
  std::uint64_t largest_split_ = ~std::uint64_t{0};         // larger requests never leave a rest behind
};

}  // namespace accelscope::capture::sources::torch_memory
