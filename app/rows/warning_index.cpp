#include "app/rows/warning_index.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace accelscope::app::rows {

PlaceIndex::PlaceIndex(std::vector<TimeRange> by_begin) : places_(std::move(by_begin)) {
  if (places_.empty()) return;
  std::size_t leaves = 1;
  while (leaves < places_.size()) leaves *= 2;
  // What is beyond the places is never met: it ends before all time.
  nodes_.assign(2 * leaves - 1, Node{std::numeric_limits<std::int64_t>::min(), -1});
  for (std::size_t i = 0; i < places_.size(); ++i) nodes_[leaves - 1 + i] = {places_[i].end_ns, places_[i].length_ns()};
  for (std::size_t node = leaves - 1; node-- > 0;) {
    const Node &a = nodes_[2 * node + 1], &b = nodes_[2 * node + 2];
    nodes_[node] = {std::max(a.end_ns, b.end_ns), std::max(a.length_ns, b.length_ns)};
  }
}

struct PlaceIndex::Search {
  const TimeRange& view;
  std::optional<std::size_t> best;
  std::int64_t length_ns = -1;
};

// Only where something may be longer than the best so far, and may share time with the view.
void PlaceIndex::look(Search& search, std::size_t node, std::size_t first, std::size_t last) const {
  ++looked_at_;
  if (first >= places_.size() || nodes_[node].length_ns <= search.length_ns) return;
  if (nodes_[node].end_ns < search.view.begin_ns || places_[first].begin_ns >= search.view.end_ns) return;
  if (last - first == 1) {
    if (!search.view.holds(places_[first].begin_ns, places_[first].end_ns)) return;
    search.best = first;
    search.length_ns = places_[first].length_ns();
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  look(search, 2 * node + 1, first, middle);
  look(search, 2 * node + 2, middle, last);
}

std::optional<std::size_t> PlaceIndex::longest(const TimeRange& view) const {
  looked_at_ = 0;
  if (nodes_.empty()) return std::nullopt;
  Search search{view, std::nullopt};
  look(search, 0, 0, (nodes_.size() + 1) / 2);
  return search.best;
}

void WarningIndex::update(std::shared_ptr<const analysis::Advice> advice, std::uint64_t rows_version, std::size_t rows,
                          const TracksOfRow& tracks_of) {
  if (advice_ != advice) {
    advice_ = std::move(advice);
    findings_.assign(advice_->findings.size(), {});
  }
  if (rows_version_ == rows_version) return;
  rows_version_ = rows_version;
  for (OfFinding& each : findings_) each.has_rows = false;
  rows_by_track_.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    for (const TrackNumber track : tracks_of(row)) rows_by_track_[track].push_back(row);
  }
}

const analysis::FindingPlace* WarningIndex::longest_place(std::size_t finding, const TimeRange& view) {
  const std::vector<analysis::FindingPlace>& places = advice_->findings[finding].places;
  OfFinding& of = findings_[finding];
  if (!std::exchange(of.has_places, true)) {
    std::vector<TimeRange> ranges;
    ranges.reserve(places.size());
    for (const analysis::FindingPlace& each : places) ranges.push_back(each.range);
    of.places = PlaceIndex(std::move(ranges));
  }
  const auto found = of.places.longest(view);
  return found ? &places[*found] : nullptr;
}

std::span<const WarningIndex::RowRun> WarningIndex::rows_of(std::size_t finding) {
  OfFinding& of = findings_[finding];
  if (std::exchange(of.has_rows, true)) return of.rows;
  std::vector<std::size_t> rows;
  for (const TrackNumber track : advice_->findings[finding].tracks) {
    const auto found = rows_by_track_.find(track);
    if (found != rows_by_track_.end()) rows.insert(rows.end(), found->second.begin(), found->second.end());
  }
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  of.rows.clear();
  for (const std::size_t row : rows) {
    if (!of.rows.empty() && of.rows.back().last + 1 == row) {
      of.rows.back().last = row;
    } else {
      of.rows.push_back({row, row});
    }
  }
  return of.rows;
}

}  // namespace accelscope::app::rows
