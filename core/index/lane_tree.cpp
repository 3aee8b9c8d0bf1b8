#include "core/index/lane_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace accelscope {
namespace {

// Mean of colours weighted by time; three sums of at most 2^8 * 2^63 ticks need doubles.
class ColourMean {
 public:
  void add(std::uint32_t colour, double weight) {
    red_ += weight * (colour >> 16 & 0xff);
    green_ += weight * (colour >> 8 & 0xff);
    blue_ += weight * (colour & 0xff);
    weight_ += weight;
  }
  [[nodiscard]] std::uint32_t value() const {
    if (weight_ <= 0) return 0;
    const auto channel = [this](double sum) { return static_cast<std::uint32_t>(std::lround(sum / weight_)); };
    return channel(red_) << 16 | channel(green_) << 8 | channel(blue_);
  }

 private:
  double red_ = 0, green_ = 0, blue_ = 0, weight_ = 0;
};

}  // namespace

SliceNode merge(const SliceNode* children, std::size_t count) noexcept {
  SliceNode node{children[0].begin, children[count - 1].end, 0, 0, 0, 0};
  ColourMean busy;
  ColourMean waits;
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const SliceNode& child = children[i];
    node.busy += child.busy;
    node.wait += child.wait;
    events += child.count;
    // Instants cover nothing, yet their colour must not vanish: they weigh as one tick.
    if (child.busy == 0 && child.wait > 0) {
      waits.add(child.colour, static_cast<double>(child.wait));
    } else {
      busy.add(child.colour, static_cast<double>(child.busy) + 1.0);
    }
  }
  const bool only_waits = node.busy == 0 && node.wait > 0;
  node.colour = only_waits ? waits.value() : busy.value();
  node.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(events, std::numeric_limits<std::uint32_t>::max()));
  return node;
}

CounterNode merge(const CounterNode* children, std::size_t count) noexcept {
  CounterNode node = children[0];
  for (std::size_t i = 1; i < count; ++i) {
    const CounterNode& child = children[i];
    // The value held over the hole between two children belongs to neither.
    node.integral += node.last * (static_cast<double>(child.begin) - static_cast<double>(node.end)) + child.integral;
    node.min = std::min(node.min, child.min);
    node.max = std::max(node.max, child.max);
    node.last = child.last;
    node.end = child.end;
  }
  return node;
}

template <typename Node>
void LaneTree<Node>::add_leaf(const Node& leaf) {
  levels_[0].push_back(leaf);
  for (std::size_t level = 0; level + 1 < kTreeLevels; ++level) {
    const std::size_t size = levels_[level].size();
    if (size % kTreeFanout != 0) return;
    levels_[level + 1].push_back(merge(&levels_[level][size - kTreeFanout], kTreeFanout));
  }
}

template <typename Node>
TreeCounts LaneTree<Node>::counts() const noexcept {
  TreeCounts counts;
  for (std::size_t level = 0; level < kTreeLevels; ++level) {
    counts.nodes[level] = static_cast<std::uint32_t>(levels_[level].size());
  }
  return counts;
}

template <typename Node>
std::size_t LaneTree<Node>::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& level : levels_) bytes += level.memory_bytes();
  return bytes;
}

template class LaneTree<SliceNode>;
template class LaneTree<CounterNode>;

}  // namespace accelscope
