// How the values of statistics are spread, and which lie far from the others: the histogram and the outliers of one
// group, or of all.
//
//   const auto details = value_details(query, question, BinScale::log, &row.keys);     // null: of all groups
//
// Outliers lie beyond the outer fences of their own group: more than three times the distance of its quartiles below
// the first or above the third (Tukey, Exploratory Data Analysis, 1977: "far out"). A distance of less than 5 % of the
// median counts as 5 %, so that durations that hardly differ have none; groups of fewer than kLeastForFences events
// have none either.
#pragma once

#include "core/analysis/statistics/statistics.h"

namespace accelscope::analysis {

enum class BinScale : std::uint8_t { linear, log };

// Bins [edges[i], edges[i + 1]), with round edges: steps of 1, 2 or 5 of a decade, or equal parts of decades.
struct ValueBins {
  std::vector<double> edges;  // one more than there are counts; none without values
  std::vector<std::uint64_t> counts;
  // Of a log scale, what has no bin: 0 or less; where such values are and they are no whole numbers, also what is more
  // than six decades below the greatest.
  std::uint64_t below = 0;

  [[nodiscard]] std::size_t size() const noexcept { return counts.size(); }
};

struct ValueOutlier {
  EventId event = kNoEvent;
  double value = 0;
  double quartile_distances = 0;  // beyond the quartile, in distances of the quartiles; below 0: it is small
  std::uint32_t row = 0;          // of ValueDetails::statistics
  std::int64_t begin_ns = 0;
  std::string name;
};

struct ValueDetails {
  static constexpr std::size_t kMostOutliers = 200;
  static constexpr std::size_t kMostBins = 60;
  static constexpr std::uint64_t kLeastForFences = 8;

  BinScale scale = BinScale::linear;
  std::shared_ptr<const Statistics> statistics;  // by the columns of the question
  ValueFigures figures;                          // of what the bins hold
  ValueBins bins;
  std::vector<ValueOutlier> outliers;  // the farthest first; at most kMostOutliers
  std::uint64_t outlier_count = 0;     // of the group, or of all
};

// known: statistics of the same question with the same mask, if there are any; those of another state of the session
// are not used. A group that has no event any more has no bins.
[[nodiscard]] Result<std::shared_ptr<const ValueDetails>> value_details(
    const QueryContext& query, const StatisticsQuestion& question, BinScale scale,
    const std::vector<FieldValue>* keys = nullptr, std::shared_ptr<const Statistics> known = nullptr);

// The edges for values from min to max. whole: values are whole numbers, so no bin is narrower than 1.
[[nodiscard]] std::vector<double> bin_edges(double min, double max, BinScale scale, bool whole);

}  // namespace accelscope::analysis
