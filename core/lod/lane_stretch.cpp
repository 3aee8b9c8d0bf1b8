#include "core/lod/lane_stretch.h"

#include <algorithm>
#include <map>

#include "core/chunk/chunk_format.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {
namespace {

constexpr std::uint32_t kMostNames = 4096;  // totals that are looked at for a name; beyond, none is told

class StretchWalk {
 public:
  StretchWalk(const LaneSnapshot& lane, const LaneDetail* detail, const TickRange& range)
      : lane_(lane), detail_(detail), range_(range) {}

  LaneStretch run() {
    std::size_t begin = 0;  // leaves before it are done
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t leaves = std::size_t{1} << (3 * level);
      static_assert(kTreeFanout == 8);
      for (std::size_t index = begin / leaves; index < lane_.tree.nodes[level]; ++index) {
        add(level, index);
        begin = (index + 1) * leaves;
      }
    }
    if (whole_leaves_) {  // events of the edges alone would not speak for it
      names_.clear();
      add_totals();
    }
    const auto most = std::max_element(names_.begin(), names_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != names_.end()) stretch_.name = most->first;
    if (stretch_.events == 1 && stretch_.exact) stretch_.lone = last_;
    return stretch_;
  }

 private:
  void add_whole(const SliceNode& node) {
    const double rate = mean_ns_per_tick(*lane_.clock, node.begin, node.end);
    stretch_.events += node.count;
    stretch_.busy_ns += rate * static_cast<double>(node.busy);
    stretch_.wait_ns += rate * static_cast<double>(node.wait);
  }

  // Where nothing finer is decoded, its events are taken to be spread evenly.
  void add_part(const SliceNode& node) {
    if (range_.covers(node.begin, node.end)) {
      add_whole(node);
    } else if (const auto length = static_cast<double>(node.end - node.begin); length > 0) {
      const double share = static_cast<double>(range_.shared(node.begin, node.end)) / length;
      const double rate = mean_ns_per_tick(*lane_.clock, node.begin, node.end) * share;
      stretch_.events += std::max(1.0, share * node.count);
      stretch_.busy_ns += rate * static_cast<double>(node.busy);
      stretch_.wait_ns += rate * static_cast<double>(node.wait);
    }
    stretch_.exact = false;
  }

  void add(std::size_t level, std::size_t index) {
    const SliceNode& node = lane_.data->slices.node(level, index);
    if (!range_.holds(node.begin, node.end)) return;
    if (range_.covers(node.begin, node.end) && level > 0) {
      whole_leaves_ = true;
      return add_whole(node);
    }
    if (level == 0) return add_leaf(node, static_cast<std::uint32_t>(index));
    for (std::size_t i = 0; i < kTreeFanout; ++i) add(level - 1, index * kTreeFanout + i);
  }

  void add_leaf(const SliceNode& node, std::uint32_t leaf) {
    if (const LaneWindow* window = detail_ != nullptr ? detail_->ready(leaf, WindowDetail::events) : nullptr) {
      return add_events(*window, leaf);
    }
    if (range_.covers(node.begin, node.end)) return add_whole(node);
    const LaneWindow* window = detail_ != nullptr ? detail_->ready(leaf, WindowDetail::micro) : nullptr;
    if (window == nullptr) return add_part(node);
    const std::uint32_t place = leaf - window->first_leaf;
    for (std::uint32_t i = window->first_entry[place]; i < window->first_entry[place + 1]; ++i) {
      const SliceNode& micro = window->nodes[i];
      if (range_.covers(micro.begin, micro.end)) {
        add_whole(micro);
      } else if (range_.holds(micro.begin, micro.end)) {
        add_part(micro);
      }
    }
  }

  void add_events(const LaneWindow& window, std::uint32_t leaf) {
    const std::uint32_t place = leaf - window.first_leaf;
    const std::uint32_t first = window.first_entry[place];
    for (std::uint32_t i = first; i < window.first_entry[place + 1]; ++i) {
      const WindowEvent& event = window.events[i];
      if (!range_.holds(event.begin_ticks, event.end_ticks)) continue;
      const double rate = mean_ns_per_tick(*lane_.clock, event.begin_ticks, event.end_ticks);
      const double time_ns = rate * static_cast<double>(range_.shared(event.begin_ticks, event.end_ticks));
      stretch_.events += 1;
      (event.waits ? stretch_.wait_ns : stretch_.busy_ns) += time_ns;
      if (!event.waits) names_[event.name] += time_ns;
      last_ = make_event_id(lane_.number(), window.first_ordinal[place] + (i - first));
    }
  }

  // Names of whole chunks, from their totals.
  void add_totals() {
    std::uint32_t looked = 0;
    for (std::uint32_t i = lane_.first_chunk_ending_after(range_.begin); i < lane_.chunk_count; ++i) {
      const ChunkPlace& chunk = lane_.chunk(i);
      if (chunk.begin_ticks >= range_.end || looked > kMostNames) return;
      if (i >= lane_.totals.stretches[0] || !range_.covers(chunk.begin_ticks, chunk.end_ticks)) continue;
      const NameTotals::Stretch totals = lane_.data->totals.stretch(0, i);
      if (!totals.kept) continue;
      const double rate = mean_ns_per_tick(*lane_.clock, chunk.begin_ticks, chunk.end_ticks);
      for (std::uint32_t n = 0; n < totals.size; ++n) {
        names_[totals.totals[n].name] += rate * static_cast<double>(totals.totals[n].busy);
      }
      looked += std::max<std::uint32_t>(totals.size, 1);
    }
  }

  const LaneSnapshot& lane_;
  const LaneDetail* detail_;
  TickRange range_;
  LaneStretch stretch_;
  std::map<StringId, double> names_;  // ns
  std::optional<EventId> last_;
  bool whole_leaves_ = false;
};

}  // namespace

LaneStretch lane_stretch(const LaneSnapshot& lane, const LaneDetail* detail, const TimeRange& range) {
  const EventKind kind = lane.data->kind;
  if (kind == EventKind::counter || kind == EventKind::table || lane.event_count == 0) return {};
  return StretchWalk(lane, detail, tick_range(lane, range)).run();
}

}  // namespace accelscope
