// Where the boxes of findings lie, found without looking at every row or every place of theirs in each frame: rows by
// track, made when the rows are composed anew, and places by time, made when the advice is. No drawing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/analysis/advice/advice.h"

namespace accelscope::app::rows {

// The longest of stretches that share time with another one, of those that are in order of their begins.
class PlaceIndex {
 public:
  PlaceIndex() = default;
  explicit PlaceIndex(std::vector<TimeRange> by_begin);
  // The first of the longest; nothing where none is in it.
  [[nodiscard]] std::optional<std::size_t> longest(const TimeRange& view) const;
  [[nodiscard]] std::size_t looked_at() const noexcept { return looked_at_; }  // nodes, by the last search

 private:
  struct Node {
    std::int64_t end_ns = 0;     // the last end below it
    std::int64_t length_ns = 0;  // the greatest length below it
  };
  struct Search;
  void look(Search& search, std::size_t node, std::size_t first, std::size_t last) const;

  std::vector<TimeRange> places_;
  std::vector<Node> nodes_;  // a binary tree: children of n are 2n + 1 and 2n + 2
  mutable std::size_t looked_at_ = 0;
};

class WarningIndex {
 public:
  // Rows that follow each other, from first to last.
  struct RowRun {
    std::size_t first = 0, last = 0;
    bool operator==(const RowRun&) const = default;
  };
  using TracksOfRow = std::function<std::set<TrackNumber>(std::size_t row)>;
  // Once per frame. rows_version: other rows have another one.
  void update(std::shared_ptr<const analysis::Advice> advice, std::uint64_t rows_version, std::size_t rows,
              const TracksOfRow& tracks_of);
  // Of the advice's finding of this number: its longest place in view, null where none is, and the rows that hold one
  // of its tracks, ascending.
  [[nodiscard]] const analysis::FindingPlace* longest_place(std::size_t finding, const TimeRange& view);
  [[nodiscard]] std::span<const RowRun> rows_of(std::size_t finding);
  [[nodiscard]] const analysis::Advice& advice() const noexcept { return *advice_; }

 private:
  struct OfFinding {
    bool has_places = false, has_rows = false;
    PlaceIndex places;
    std::vector<RowRun> rows;
  };
  std::shared_ptr<const analysis::Advice> advice_;
  std::uint64_t rows_version_ = ~std::uint64_t{0};
  std::unordered_map<TrackNumber, std::vector<std::size_t>> rows_by_track_;
  std::vector<OfFinding> findings_;
};

}  // namespace accelscope::app::rows
