#include "tests/render/timeline/manual_lane.h"

#include <algorithm>

#include "core/chunk/chunk_format.h"
#include "core/lod/lane_window.h"

namespace accelscope::test {
namespace {

[[nodiscard]] CounterNode sample_node(const lod::WindowSample& sample) {
  const auto value = static_cast<float>(sample.value);
  return {sample.ticks, sample.ticks, value, value, sample.value, 0};
}

template <typename Node, typename Entry, typename ToNode>
[[nodiscard]] Node sum_up(const std::vector<Entry>& entries, std::size_t first, std::size_t count, ToNode to_node) {
  std::vector<Node> nodes;
  for (std::size_t i = first; i < std::min(first + count, entries.size()); ++i) nodes.push_back(to_node(entries[i]));
  return merge(nodes.data(), nodes.size());
}

}  // namespace

ManualLane::ManualLane(std::vector<lod::WindowEvent> events, ClockMap clock) : events_(std::move(events)) {
  for (std::size_t first = 0; first < events_.size(); first += kBlockEvents) {
    data_->slices.add_leaf(sum_up<SliceNode>(events_, first, kBlockEvents, lod::event_node));
  }
  snapshot_.tree = data_->slices.counts();
  finish(EventKind::slice, events_.size(), std::move(clock));
}

ManualLane::ManualLane(std::vector<lod::WindowSample> samples) : samples_(std::move(samples)) {
  for (std::size_t first = 0; first < samples_.size(); first += kBlockEvents) {
    data_->counters.add_leaf(sum_up<CounterNode>(samples_, first, kBlockEvents, sample_node));
  }
  snapshot_.tree = data_->counters.counts();
  finish(EventKind::counter, samples_.size(), {});
}

void ManualLane::finish(EventKind kind, std::size_t count, ClockMap clock) {
  data_->lane.number = 5;
  data_->kind = kind;
  snapshot_.data = data_;
  snapshot_.clock = std::make_shared<const ClockMap>(std::move(clock));
  snapshot_.event_count = count;
  for (const lod::WindowDetail detail : {lod::WindowDetail::micro, lod::WindowDetail::events}) {
    for (std::uint32_t leaf = 0; leaf < snapshot_.tree.nodes[0]; leaf += lod::kWindowLeaves) {
      windows_[static_cast<std::size_t>(detail)].push_back(make_window(leaf, detail));
    }
  }
}

lod::LaneWindow ManualLane::make_window(std::uint32_t first_leaf, lod::WindowDetail detail) const {
  lod::LaneWindow window;
  window.detail = detail;
  window.first_leaf = first_leaf;
  window.leaf_count = std::min(lod::kWindowLeaves, snapshot_.tree.nodes[0] - first_leaf);
  const std::size_t total = events_.size() + samples_.size();
  for (std::uint32_t i = 0; i < window.leaf_count; ++i) {
    const std::size_t first = std::size_t{first_leaf + i} * kBlockEvents;
    const std::size_t end = std::min<std::size_t>(first + kBlockEvents, total);
    window.first_ordinal[i] = first;
    const std::size_t step = detail == lod::WindowDetail::micro ? lod::kMicroEvents : 1;
    for (std::size_t at = first; at < end; at += step) {
      const std::size_t count = std::min(step, end - at);
      if (detail == lod::WindowDetail::events) {
        if (!events_.empty()) window.events.push_back(events_[at]);
        if (!samples_.empty()) window.samples.push_back(samples_[at]);
      } else {
        if (!events_.empty()) window.nodes.push_back(sum_up<SliceNode>(events_, at, count, lod::event_node));
        if (!samples_.empty()) window.counter_nodes.push_back(sum_up<CounterNode>(samples_, at, count, sample_node));
      }
    }
    window.first_entry[i + 1] = static_cast<std::uint32_t>(window.nodes.size() + window.counter_nodes.size() +
                                                           window.events.size() + window.samples.size());
  }
  return window;
}

const lod::LaneWindow* ManualLane::find(std::uint32_t leaf, lod::WindowDetail detail) { return ready(leaf, detail); }

const lod::LaneWindow* ManualLane::ready(std::uint32_t leaf, lod::WindowDetail detail) const {
  const auto& windows = windows_[static_cast<std::size_t>(detail)];
  return leaf / lod::kWindowLeaves < windows.size() ? &windows[leaf / lod::kWindowLeaves] : nullptr;
}

}  // namespace accelscope::test
