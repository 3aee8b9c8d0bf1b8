#include "core/export/report/lane_boxes.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "core/base/format.h"
#include "core/lod/lane_window.h"
#include "core/model/palette.h"
#include "core/scan/event_mask.h"

namespace accelscope::exporting {
namespace {

// A node of a lane's tree that may be taken apart.
struct TreePlace {
  std::size_t level = 0, index = 0;
  std::uint64_t urgency = 0;  // ticks; of those that the range cuts all there are
  friend bool operator<(const TreePlace& a, const TreePlace& b) { return a.urgency < b.urgency; }
};

// Takes the longest nodes of a tree apart until there are as many pieces as wanted.
template <typename Node>
class TreeSplit {
 public:
  TreeSplit(const LaneSnapshot& lane, const LaneTree<Node>& tree, const TickRange& range)
      : lane_(lane), tree_(tree), range_(range) {}

  // wanted(level, index): whether a node has anything to show. open(index): shows the events of a leaf, and says how
  // many pieces they are; 0: it stays as it is.
  template <typename Wanted, typename Open>
  void run(std::size_t most, Wanted wanted, Open open) {
    const auto offer = [&](std::size_t level, std::size_t index) {
      const Node& node = tree_.node(level, index);
      if (!range_.holds(node.begin, node.end) || !wanted(level, index)) return;
      const bool cut = !range_.covers(node.begin, node.end);
      queue_.push({level, index,
                   cut ? std::numeric_limits<std::uint64_t>::max()
                       : static_cast<std::uint64_t>(node.end) - static_cast<std::uint64_t>(node.begin)});
    };
    std::size_t begin = 0;  // leaves before it are below roots that were offered
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t leaves = std::size_t{1} << (3 * level);
      for (std::size_t index = begin / leaves; index < lane_.tree.nodes[level]; ++index) {
        offer(level, index);
        begin = (index + 1) * leaves;
      }
    }
    std::size_t pieces = 0;
    while (!queue_.empty() && pieces + queue_.size() + kBlockEvents <= most) {
      const TreePlace place = queue_.top();
      queue_.pop();
      if (place.level > 0) {
        for (std::size_t i = 0; i < kTreeFanout; ++i) offer(place.level - 1, place.index * kTreeFanout + i);
      } else if (const std::size_t shown = open(place.index); shown > 0) {
        pieces += shown;
      } else {
        retained_.push_back(place);
        ++pieces;
      }
    }
    for (; !queue_.empty(); queue_.pop()) retained_.push_back(queue_.top());
  }
  [[nodiscard]] const std::vector<TreePlace>& retained() const noexcept { return retained_; }

 private:
  const LaneSnapshot& lane_;
  const LaneTree<Node>& tree_;
  TickRange range_;
  std::priority_queue<TreePlace> queue_;
  std::vector<TreePlace> retained_;
};

// The decoded windows of a lane.
class WindowsOfLane {
 public:
  WindowsOfLane(const QueryContext& query, const LaneSnapshot& lane)
      : query_(query),
        lane_(lane),
        decoder_([&query](const LaneSnapshot& of, std::uint32_t chunk) { return query.store.read_chunk(of, chunk); }) {}
  // Null where it cannot be read.
  [[nodiscard]] const lod::LaneWindow* of_leaf(std::uint32_t leaf) {
    const std::uint32_t first = leaf / lod::kWindowLeaves * lod::kWindowLeaves;
    const auto known = windows_.find(first);
    if (known != windows_.end()) return known->second.get();
    auto decoded = decoder_.decode(lane_, *query_.snapshot->strings, first, lod::WindowDetail::events);
    auto& place = windows_[first];
    if (decoded) place = std::make_unique<lod::LaneWindow>(std::move(*decoded));
    return place.get();
  }

 private:
  const QueryContext& query_;
  const LaneSnapshot& lane_;
  lod::WindowDecoder decoder_;
  std::map<std::uint32_t, std::unique_ptr<lod::LaneWindow>> windows_;
};

class BoxMaker {
 public:
  BoxMaker(const QueryContext& query, std::uint32_t index, const TimeRange& range, TimelineNames& names)
      : mask_(query.mask.get()),
        index_(index),
        lane_(query.snapshot->lanes[index]),
        origin_ns_(range.begin_ns),
        ticks_(tick_range(lane_, range)),
        names_(names),
        windows_(query, lane_) {}

  LaneBoxes run(std::size_t most) {
    TreeSplit<SliceNode> split(lane_, lane_.data->slices, ticks_);
    split.run(
        most,
        [&](std::size_t level, std::size_t node) {
          return mask_ == nullptr || mask_->passing(index_, level, node) > 0;
        },
        [&](std::size_t leaf) { return add_events(static_cast<std::uint32_t>(leaf)); });
    for (const TreePlace& place : split.retained()) add_node(place);
    std::ranges::sort(out_.boxes, {}, &ReportBox::begin_ns);
    return std::move(out_);
  }

 private:
  [[nodiscard]] ReportBox box_of(std::int64_t begin_ticks, std::int64_t end_ticks) const {
    const std::int64_t begin_ns = lane_.clock->to_ns(begin_ticks);
    return {.begin_ns = begin_ns - origin_ns_, .length_ns = lane_.clock->to_ns(end_ticks) - begin_ns};
  }
  // How many boxes; a leaf of which nothing passes shows nothing and counts as one, so that it goes.
  std::size_t add_events(std::uint32_t leaf) {
    const lod::LaneWindow* window = windows_.of_leaf(leaf);
    if (window == nullptr) return 0;
    const std::uint32_t place = leaf - window->first_leaf;
    const std::uint32_t first = window->first_entry[place];
    const std::uint64_t passing = mask_ == nullptr ? ~std::uint64_t{0} : mask_->bits(index_, leaf);
    std::size_t shown = 0;
    for (std::uint32_t i = first; i < window->first_entry[place + 1]; ++i) {
      const lod::WindowEvent& event = window->events[i];
      if ((passing >> (i - first) & 1U) == 0 || !ticks_.holds(event.begin_ticks, event.end_ticks)) continue;
      ReportBox box = box_of(event.begin_ticks, event.end_ticks);
      box.name = names_.index(event.name);
      box.colour = kSlicePalette[event.slot % kSlicePalette.size()];
      box.waits = event.waits;
      out_.boxes.push_back(box);
      ++shown;
    }
    out_.events += shown;
    return std::max<std::size_t>(shown, 1);
  }
  void add_node(const TreePlace& place) {
    const SliceNode& node = lane_.data->slices.node(place.level, place.index);
    ReportBox box = box_of(node.begin, node.end);
    const std::uint64_t all = mask_ == nullptr ? node.count : mask_->passing(index_, place.level, place.index);
    const double length = std::max(1.0, static_cast<double>(node.end) - static_cast<double>(node.begin));
    box.colour = node.colour;
    box.busy_share = std::min(1.0, (static_cast<double>(node.busy) + static_cast<double>(node.wait)) / length);
    // A single event of a part that cannot be read has a name that nobody knows: it is drawn as a part, too.
    box.count = std::max<std::uint64_t>(all, 2);
    out_.events += all;
    out_.merged_events += all;
    out_.boxes.push_back(box);
  }

  const EventMask* mask_;
  std::uint32_t index_;
  const LaneSnapshot& lane_;
  std::int64_t origin_ns_;
  TickRange ticks_;
  TimelineNames& names_;
  WindowsOfLane windows_;
  LaneBoxes out_;
};

}  // namespace

std::uint32_t TimelineNames::index(StringId name) {
  const auto known = places_.find(name);
  if (known != places_.end()) return known->second;
  if (names_.size() > kMost) {
    ++left_out_;
    return static_cast<std::uint32_t>(kMost);
  }
  const auto place = static_cast<std::uint32_t>(names_.size());
  if (place == kMost) {
    names_.emplace_back("(one of many names that there is no room for)");
    ++left_out_;
    return place;
  }
  names_.push_back(shorten_middle(strings_.text(name), kMostBytes));
  places_.emplace(name, place);
  return place;
}

LaneBoxes lane_boxes(const QueryContext& query, std::uint32_t lane, const TimeRange& range, std::size_t most,
                     TimelineNames& names) {
  return BoxMaker(query, lane, range, names).run(most);
}

std::vector<ReportValue> lane_values(const QueryContext& query, std::uint32_t index, const TimeRange& range,
                                     std::size_t most) {
  const LaneSnapshot& lane = query.snapshot->lanes[index];
  std::vector<ReportValue> values;
  const auto add = [&](std::int64_t begin_ticks, std::int64_t end_ticks, double least, double greatest) {
    const std::int64_t begin_ns = std::max(range.begin_ns, lane.clock->to_ns(begin_ticks));
    values.push_back({begin_ns - range.begin_ns, lane.clock->to_ns(end_ticks) - begin_ns, least, greatest});
  };
  WindowsOfLane windows(query, lane);
  const TickRange ticks = tick_range(lane, range);
  TreeSplit<CounterNode> split(lane, lane.data->counters, ticks);
  split.run(
      most, [](std::size_t, std::size_t) { return true; },
      [&](std::size_t leaf) -> std::size_t {
        const lod::LaneWindow* window = windows.of_leaf(static_cast<std::uint32_t>(leaf));
        if (window == nullptr) return 0;
        const auto place = static_cast<std::uint32_t>(leaf) - window->first_leaf;
        for (std::uint32_t i = window->first_entry[place]; i < window->first_entry[place + 1]; ++i) {
          const lod::WindowSample& sample = window->samples[i];
          if (ticks.holds(sample.ticks, sample.ticks)) add(sample.ticks, sample.ticks, sample.value, sample.value);
        }
        return std::max<std::size_t>(1, window->first_entry[place + 1] - window->first_entry[place]);
      });
  for (const TreePlace& place : split.retained()) {
    const CounterNode& node = lane.data->counters.node(place.level, place.index);
    add(node.begin, node.end, static_cast<double>(node.min), static_cast<double>(node.max));
  }
  std::ranges::sort(values, {}, &ReportValue::begin_ns);
  // A value holds until the next sample.
  for (std::size_t i = 0; i + 1 < values.size(); ++i) values[i].length_ns = values[i + 1].begin_ns - values[i].begin_ns;
  return values;
}

}  // namespace accelscope::exporting
