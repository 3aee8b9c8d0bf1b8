#include "app/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "render/base/theme.h"

namespace accelscope::app {
namespace {

namespace size = render::size;

constexpr float kSmallCounter = 18;  // units

[[nodiscard]] bool is_left_out(const RowChoices& choices, const std::string& key) {
  return choices.hidden.count(key) > 0 ||
         std::find(choices.pinned.begin(), choices.pinned.end(), key) != choices.pinned.end();
}

[[nodiscard]] TimelineRow derived_row(const std::shared_ptr<const DerivedCounter>& counter, const std::string& parent,
                                      const RowChoices& choices) {
  TimelineRow row;
  row.kind = RowKind::derived;
  row.key = counter->key;
  row.label = derived_label(*counter);
  row.parent = parent;
  row.derived = counter;
  row.size = choices.size_of(row.key);
  row.height = counter_height(row.size);
  return row;
}

// One row for each unit, where its first counter was.
void share_rows(const std::string& group, CounterMode mode, const RowChoices& choices, std::vector<TimelineRow>& rows) {
  std::vector<TimelineRow> kept;
  std::map<std::string, std::size_t> shared;  // by unit: index into `kept`
  for (TimelineRow& row : rows) {
    if (row.kind != RowKind::counter) {
      kept.push_back(std::move(row));
      continue;
    }
    const std::string& unit = row.track->unit;
    const auto [place, is_new] = shared.try_emplace(unit, kept.size());
    if (is_new) {
      TimelineRow& all = kept.emplace_back();
      all.kind = RowKind::counter;
      all.key = fmt::format("counters:{}:{}", group, unit);
      all.parent = group;
      all.counters = mode;
      all.size = choices.size_of(all.key);
      all.height = shared_plot_height(all.size);
    }
    TimelineRow& all = kept[place->second];
    if (row.lanes.empty()) continue;  // it has no sample yet
    all.lanes.push_back(row.lanes.front());
    all.series.push_back(row.track);
  }
  for (const auto& [unit, index] : shared) {
    TimelineRow& row = kept[index];
    row.scale_lanes = row.lanes;
    row.label = fmt::format("{} counters{}{}", row.series.size(), unit.empty() ? "" : ", ", unit);
  }
  rows = std::move(kept);
}

void share_scales(std::vector<TimelineRow>& rows) {
  std::map<std::string, std::vector<std::uint32_t>> lanes;  // by unit
  for (const TimelineRow& row : rows) {
    if (row.kind != RowKind::counter || row.series.empty()) continue;
    std::vector<std::uint32_t>& all = lanes[row.series.front()->unit];
    all.insert(all.end(), row.lanes.begin(), row.lanes.end());
  }
  for (TimelineRow& row : rows) {
    if (row.kind == RowKind::counter && !row.series.empty()) row.scale_lanes = lanes[row.series.front()->unit];
  }
}

}  // namespace

float counter_height(RowSize row_size) noexcept {
  if (row_size == RowSize::small) return kSmallCounter;
  return row_size == RowSize::tall ? size::kMemoryLane : size::kCounterLane;
}

float shared_plot_height(RowSize row_size) noexcept {
  if (row_size == RowSize::small) return size::kCounterLane;
  return row_size == RowSize::tall ? 2 * size::kMemoryLane : size::kMemoryLane;
}

std::string derived_label(const DerivedCounter& counter) {
  std::string_view name = counter.name;
  const std::string_view what = " utilisation";
  if (!counter.parent.empty() && name.ends_with(what)) name.remove_suffix(what.size());  // the row above says it
  if (counter.is_of_launches()) return std::string(name);                                // no source records it
  return std::string(name).append(kDerivedMark);
}

std::vector<RowBlock> derived_rows(const DerivedCounters& counters, const std::string& group, const RowChoices& choices,
                                   const std::function<bool(std::string_view label)>& matches) {
  std::vector<RowBlock> blocks;
  for (const auto& counter : counters) {
    if (!counter->parent.empty()) continue;
    RowBlock block{derived_row(counter, group, choices)};
    bool any_below = false;
    std::vector<RowBlock> below;
    for (const auto& child : counters) {
      if (child->parent != counter->key) continue;
      any_below = true;
      if (is_left_out(choices, child->key) || !matches(derived_label(*child))) continue;
      below.push_back({derived_row(child, counter->key, choices)});
      below.back().front().depth = 1;
    }
    const bool itself = matches(block.front().label);
    if (!itself && below.empty()) continue;
    block.front().has_children = any_below;
    const auto chosen = choices.open.find(counter->key);
    block.front().open = any_below && (chosen == choices.open.end() ? !itself : chosen->second);
    if (block.front().open) {
      put_in_order(choices, counter->key, below);
      for (RowBlock& each : below) std::move(each.begin(), each.end(), std::back_inserter(block));
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

void arrange_counters(const std::string& group, const RowChoices& choices, std::vector<TimelineRow>& rows) {
  const CounterMode mode = choices.counter_mode_of(group);
  if (mode != CounterMode::separate) share_rows(group, mode, choices, rows);
  const bool one_scale = choices.shared_scale.count(group) > 0;
  if (one_scale && mode == CounterMode::separate) share_scales(rows);
  const bool lines = choices.counter_lines.count(group) > 0;
  for (TimelineRow& row : rows) {
    if (row.kind != RowKind::counter) continue;
    row.counter_line = lines;
    row.own_scales = mode == CounterMode::overlaid && !one_scale;
  }
}

}  // namespace accelscope::app
