#include <cmath>

#include "core/lod/range_statistics.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/wait_names.h"

namespace accelscope {
namespace {

// Adds up a lane's tree over a range; goes down only where a node lies across an edge of the range.
class LaneShareWalk {
 public:
  LaneShareWalk(const Store& store, const Snapshot& snapshot, const LaneSnapshot& lane, const TickRange& range)
      : store_(store),
        lane_(lane),
        range_(range),
        waits_(lane.schema.get(), *snapshot.strings),
        strings_(*snapshot.strings) {}

  Result<LaneShare> run() {
    std::size_t begin = 0;  // leaves before it are done
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t leaves = std::size_t{1} << (3 * level);
      static_assert(kTreeFanout == 8);
      for (std::size_t index = begin / leaves; index < lane_.tree.nodes[level]; ++index) {
        if (const Result<void> added = add(level, index); !added) return added.error();
        begin = (index + 1) * leaves;
      }
    }
    return LaneShare{count_, std::llround(busy_ns_), std::llround(wait_ns_)};
  }

 private:
  // Where a clock's rate changes, nodes above this level (4,096 events) are too long for one rate.
  static constexpr std::size_t kOneRateLevel = 2;

  Result<void> add(std::size_t level, std::size_t index) {
    const SliceNode& node = lane_.data->slices.node(level, index);
    if (node.begin >= range_.end || node.end < range_.begin) return {};
    if (range_.covers(node.begin, node.end) && (lane_.clock->is_affine() || level <= kOneRateLevel)) {
      const double rate = mean_ns_per_tick(*lane_.clock, node.begin, node.end);
      count_ += node.count;
      busy_ns_ += rate * static_cast<double>(node.busy);
      wait_ns_ += rate * static_cast<double>(node.wait);
      return {};
    }
    if (level == 0) return decode(static_cast<std::uint32_t>(index), node);
    for (std::size_t i = 0; i < kTreeFanout; ++i) {
      if (const Result<void> added = add(level - 1, index * kTreeFanout + i); !added) return added;
    }
    return {};
  }

  Result<void> decode(std::uint32_t leaf, const SliceNode& node) {
    const std::uint32_t chunk_index = lane_.chunk_of_leaf(leaf);
    const Result<LoadedChunk> loaded = load_chunk(store_, lane_, chunk_index);
    if (!loaded) return loaded.error();
    const ChunkView& view = loaded->view;
    const std::uint32_t block = leaf - lane_.chunk(chunk_index).first_leaf;
    BlockTimes times;
    std::uint64_t names[kBlockEvents];
    view.times(block, times);
    view.names(block, names);
    const double rate = mean_ns_per_tick(*lane_.clock, node.begin, node.end);
    for (std::uint32_t i = 0; i < view.block_size(block); ++i) {
      if (!range_.holds(times.begins[i], times.ends[i])) continue;
      ++count_;
      const double time_ns = rate * static_cast<double>(range_.shared(times.begins[i], times.ends[i]));
      const StringId name = strings_.session_id(scope_of(lane_.number()), static_cast<std::uint32_t>(names[i]));
      (waits_.contains(name) ? wait_ns_ : busy_ns_) += time_ns;
    }
    return {};
  }

  const Store& store_;
  const LaneSnapshot& lane_;
  TickRange range_;
  WaitNames waits_;
  const StringPool& strings_;
  std::uint64_t count_ = 0;
  double busy_ns_ = 0;
  double wait_ns_ = 0;
};

}  // namespace

Result<LaneShare> lane_share(const Store& store, const Snapshot& snapshot, std::uint32_t lane_index,
                             const TimeRange& range) {
  const LaneSnapshot& lane = snapshot.lanes[lane_index];
  if (lane.data->kind == EventKind::counter || lane.data->kind == EventKind::table) return LaneShare{};
  return LaneShareWalk(store, snapshot, lane, tick_range(lane, range)).run();
}

}  // namespace accelscope
