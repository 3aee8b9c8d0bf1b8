// A lane's level-of-detail tree, appended to while chunks come in and read at the same time. A leaf covers one
// 64-event block of a chunk; eight nodes of a level share a parent, which is written when its eighth child is.
// Whatever has no parent yet is a root of its own, so a reader needs nothing but the counts of each level.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/append_only_array.h"

namespace accelscope {

// 40 bytes. For slices: busy + wait is the covered time. For counters (kind counter): see CounterNode.
struct SliceNode {
  std::int64_t begin = 0;    // ticks; start of the first event
  std::int64_t end = 0;      // end of the last event
  std::uint64_t busy = 0;    // ticks covered by events that do not wait
  std::uint64_t wait = 0;    // ticks covered by waiting events
  std::uint32_t colour = 0;  // mean of the busy events' colours by duration, 0xRRGGBB; waits only if none is busy
  std::uint32_t count = 0;   // events; saturates
};
static_assert(sizeof(SliceNode) == 40);

struct CounterNode {
  std::int64_t begin = 0;  // ticks of the first sample
  std::int64_t end = 0;    // ticks of the last sample
  float min = 0;
  float max = 0;
  double last = 0;      // value at the last sample, which holds until the next
  double integral = 0;  // sum of value * ticks over [begin, end), samples held
};
static_assert(sizeof(CounterNode) == 40);

inline constexpr std::size_t kTreeFanout = 8;
inline constexpr std::size_t kTreeLevels = 12;

struct TreeCounts {
  std::array<std::uint32_t, kTreeLevels> nodes{};  // complete nodes per level; level 0 are the leaves
};

template <typename Node>
class LaneTree {
 public:
  void add_leaf(const Node& leaf);
  [[nodiscard]] TreeCounts counts() const noexcept;
  [[nodiscard]] const Node& node(std::size_t level, std::size_t index) const noexcept { return levels_[level][index]; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  std::array<AppendOnlyArray<Node>, kTreeLevels> levels_;
};

[[nodiscard]] SliceNode merge(const SliceNode* children, std::size_t count) noexcept;
[[nodiscard]] CounterNode merge(const CounterNode* children, std::size_t count) noexcept;

extern template class LaneTree<SliceNode>;
extern template class LaneTree<CounterNode>;

}  // namespace accelscope
