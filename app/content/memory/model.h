// What the memory panel shows, without drawing it: which allocations are alive at the cursor, grouped by tensor, and
// round figures for its axes. The use over time itself comes from core/analysis/memory/usage.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/memory/usage.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::content {

// The events that the session's filter lets through; without a mask all.
struct PassingEvents {
  std::shared_ptr<const EventMask> mask;
  std::shared_ptr<const Snapshot> snapshot;  // that the mask was made of, or a later one
  [[nodiscard]] bool takes(const analysis::Allocation& allocation) const noexcept {
    return !mask || mask->passes(*snapshot, allocation.event);
  }
  bool operator==(const PassingEvents& other) const noexcept { return mask == other.mask; }
};
// A filter that no allocation passes speaks of something else: it is not followed.
[[nodiscard]] bool meets_allocations(const EventMask& mask, const Snapshot& snapshot);

struct AliveTensor {
  std::uint32_t tensor = 0;                // index into MemoryUsage::tensors
  std::uint64_t bytes = 0;                 // together
  std::int64_t begin_ns = 0;               // of the oldest
  std::vector<std::uint32_t> allocations;  // indices into MemoryUsage::allocations, largest first
};

// Largest tensor first. Allocations smaller than min_bytes are left out.
[[nodiscard]] std::vector<AliveTensor> alive_by_tensor(const analysis::MemoryUsage& usage, std::uint32_t pool,
                                                       std::int64_t ns, std::uint64_t min_bytes,
                                                       const PassingEvents& passing = {});

enum class AliveColumn : std::uint8_t { tensor, tiles, bytes, address, since, lives };
// By the column, tensors and the allocations of each; what a row does not have goes last.
void sort_alive(const analysis::MemoryUsage& usage, AliveColumn column, bool descending,
                std::vector<AliveTensor>& tensors);

// Where an address lies on a plot of all: shares of its height from the bottom. Long stretches that were never used are
// drawn shorter than they are, so that what is used fills the plot.
struct AddressPart {
  analysis::AddressSpan span;
  double begin = 0, end = 0;  // shares of the height
  bool used = false;          // false: never taken by any allocation, and long enough to be drawn as such
};
class AddressScale {
 public:
  AddressScale() = default;
  explicit AddressScale(const analysis::PoolUsage& pool);
  [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
  [[nodiscard]] const std::vector<AddressPart>& parts() const noexcept { return parts_; }
  [[nodiscard]] double share_of(std::uint64_t address) const noexcept;
  [[nodiscard]] std::uint64_t address_at(double share) const noexcept;

 private:
  std::vector<AddressPart> parts_;  // rising, without gaps
};

// Which addresses are taken when, on a plot of so many pixels: blocks of the same rows and group that touch are one, so
// that any number of allocations is as many rectangles as can be seen. Pixels are from the lower left corner.
struct AddressBlock {
  float x0 = 0, x1 = 0;
  float y0 = 0, y1 = 0;
  std::uint32_t group = 0;
  std::uint32_t allocation = 0;  // the first one, an index into MemoryUsage::allocations
  static constexpr std::uint8_t kSeveralGroups = 255;
  std::uint8_t slot = 0;  // of the slice palette, by the group's name; or kSeveralGroups
};
struct AddressMapIntent {
  std::uint32_t pool = 0;
  TimeRange range;
  std::size_t pixels = 1, rows = 1;
  std::uint64_t min_bytes = 0;
  analysis::UsageGrouping grouping = analysis::UsageGrouping::tensor;
  std::int64_t session_end_ns = 0;  // where allocations end that are never released
  PassingEvents passing = {};
};
inline constexpr std::size_t kMostBlocks = 8'000;
[[nodiscard]] std::vector<AddressBlock> address_map(const analysis::MemoryUsage& usage, const AddressScale& scale,
                                                    const AddressMapIntent& intent);

// The allocation that holds the address at the time: an index into MemoryUsage::allocations.
[[nodiscard]] std::optional<std::uint32_t> allocation_at(const analysis::MemoryUsage& usage, std::uint32_t pool,
                                                         std::int64_t ns, std::uint64_t address);

// Pools that are parts of one memory ("SBUF partition 0", "PSUM bank 3") together, in the order of their numbers; every
// other pool is alone.
struct PoolFamily {
  std::string name;  // "SBUF"
  bool estimated = false;
  std::vector<std::uint32_t> pools;  // numbers in MemoryUsage
  std::vector<std::string> parts;    // "partition 0"; empty where it has but one pool
};
[[nodiscard]] std::vector<PoolFamily> pool_families(const analysis::MemoryUsage& usage);

// Axis steps for a plot up to `most`: at most `count` round figures (1, 2, 4 or 8 times a power of 1024 or of two).
[[nodiscard]] std::vector<std::uint64_t> byte_ticks(std::uint64_t most, std::size_t count);

// Position of the "smallest shown" slider (0 to 1) to bytes and back: 0, then powers of two up to 16 MiB.
[[nodiscard]] std::uint64_t slider_to_bytes(float position) noexcept;
[[nodiscard]] float bytes_to_slider(std::uint64_t bytes) noexcept;

[[nodiscard]] std::string address_text(std::uint64_t address);  // "0x1F00"

}  // namespace accelscope::app::content
