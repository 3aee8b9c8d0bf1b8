// The tables that a memory snapshot becomes.
#pragma once

#include <array>
#include <cstdint>

#include "capture/sources/pickle/pickle_data.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::torch_memory {

struct BlockColumns {  // of memory
  static constexpr std::size_t bytes = 0, address = 1, device = 2, allocated = 3, reserved = 4, requested = 5,
                               action = 6, entry = 7, stream = 8, segment = 9, estimated = 10, stack = 11, source = 12,
                               compile_context = 13, user_metadata = 14, category = 15;
};
struct SegmentColumns {  // of memory_segment
  static constexpr std::size_t bytes = 0, address = 1, device = 2, reserved = 3, action = 4, entry = 5, stream = 6,
                               joins = 7, type = 8, pool = 9, stack = 10, source = 11, memory = 12;
};
struct OomColumns {  // of out_of_memory
  static constexpr std::size_t asked = 0, device_free = 1, device = 2, allocated = 3, active = 4, reserved = 5,
                               entry = 6, stream = 7, stack = 8, source = 9, compile_context = 10, user_metadata = 11;
};
struct SnapshotColumns {  // of memory_snapshot
  static constexpr std::size_t device = 0, allocated = 1, active = 2, requested = 3, reserved = 4, entry = 5;
};
inline constexpr std::size_t kAnnotationDevice = 0;  // of user_annotation

[[nodiscard]] Schema block_schema();
[[nodiscard]] Schema segment_schema();
[[nodiscard]] Schema oom_schema();
[[nodiscard]] Schema snapshot_schema();
[[nodiscard]] Schema annotation_schema();
[[nodiscard]] Schema total_schema();  // counters of bytes

// How large the block is that PyTorch's allocator takes for a request: what was asked for, rounded up, and what lies
// behind it up to the next block where that is too little to be of use. Source: c10/cuda/CUDACachingAllocator.cpp
// (round_size, should_split) and CUDAAllocatorConfig of PyTorch 2.
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
