// The user's order of rows: keeping to it, and moving a row among those that belong to the same group or track.
#include <algorithm>
#include <utility>

#include "app/rows/rows.h"

namespace accelscope::app {
namespace {

[[nodiscard]] const TimelineRow* find_row(const std::vector<TimelineRow>& rows, std::string_view key) {
  const auto row = std::find_if(rows.begin(), rows.end(), [key](const TimelineRow& each) { return each.key == key; });
  return row == rows.end() ? nullptr : &*row;
}

[[nodiscard]] bool are_siblings(const TimelineRow& a, const TimelineRow& b) {
  if (a.pinned != b.pinned) return false;
  return a.pinned ? a.depth == 0 && b.depth == 0 : a.parent == b.parent;
}

// Keys of those it can change places with, itself included, as they stand.
[[nodiscard]] std::vector<std::string> siblings_of(const std::vector<TimelineRow>& rows, const TimelineRow& row) {
  std::vector<std::string> keys;
  for (const TimelineRow& each : rows) {
    if (are_siblings(each, row)) keys.push_back(each.key);
  }
  return keys;
}

}  // namespace

void put_in_order(const RowChoices& choices, const std::string& parent, std::vector<RowBlock>& blocks) {
  const auto chosen = choices.order.find(parent);
  if (chosen == choices.order.end()) return;
  const std::vector<std::string>& keys = chosen->second;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // after which of `keys`, place by default
  std::size_t after = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto own = std::find(keys.begin(), keys.end(), blocks[i].front().key);
    if (own != keys.end()) after = static_cast<std::size_t>(own - keys.begin()) + 1;
    places.emplace_back(after, i);
  }
  std::sort(places.begin(), places.end());
  std::vector<RowBlock> ordered;
  for (const auto& place : places) ordered.push_back(std::move(blocks[place.second]));
  blocks = std::move(ordered);
}

RowChoices with_row_moved(RowChoices choices, const std::vector<TimelineRow>& rows, std::string_view key,
                          std::string_view before) {
  const TimelineRow* row = find_row(rows, key);
  if (row == nullptr || key == before) return choices;
  std::vector<std::string> keys = siblings_of(rows, *row);
  auto to = std::find(keys.begin(), keys.end(), before);
  if (to == keys.end() && !before.empty()) return choices;
  const auto from = std::find(keys.begin(), keys.end(), key);
  if (from == keys.end()) return choices;
  if (from < to) {
    std::rotate(from, from + 1, to);
  } else {
    std::rotate(to, from, from + 1);
  }
  if (row->pinned) {
    choices.pinned = std::move(keys);
  } else {
    choices.order[row->parent] = std::move(keys);
  }
  return choices;
}

RowChoices with_row_stepped(RowChoices choices, const std::vector<TimelineRow>& rows, std::string_view key, int step) {
  const TimelineRow* row = find_row(rows, key);
  if (row == nullptr) return choices;
  const std::vector<std::string> keys = siblings_of(rows, *row);
  const auto at = std::find(keys.begin(), keys.end(), key) - keys.begin();
  const auto count = static_cast<std::ptrdiff_t>(keys.size());
  const std::ptrdiff_t before = step < 0 ? at - 1 : at + 2;
  if (before < 0 || before > count) return choices;
  const std::string_view target = before == count ? std::string_view() : keys[static_cast<std::size_t>(before)];
  return with_row_moved(std::move(choices), rows, key, target);
}

}  // namespace accelscope::app
