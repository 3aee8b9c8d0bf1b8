// Two configurations or more beside each other, each told by one capture or several: their figures, and their costs by
// name, line or whatever was asked for. The first configuration is the base of all ratios.
//
//   const auto groups = group_captures(labels, "");
//   auto comparison = compare_captures(captures, *groups, *pair_captures(labels, *groups, "", ""));
//   for (const ComparedFigure& row : comparison.metrics) ... row.changes[0].ratio, row.changes[0].told
//
// Which differences are told is said in change.h. Reads no session: capture_figures.h does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/comparison/capture_figures.h"
#include "core/analysis/comparison/change.h"
#include "core/analysis/comparison/name_matching.h"

namespace accelscope {

struct ComparedFigure {
  ComparedMetric metric;         // its value is the base's
  std::vector<Change> changes;   // by configuration after the base; captures that do not have it take no part
  std::vector<char> is_missing;  // likewise: the base or all captures of the configuration have none
};

struct ComparedCost {
  std::string name, text;
  std::string moved_to;  // of a line that stands elsewhere in the last configuration that has it; "" else
  MatchKind match = MatchKind::exact;
  std::vector<Change> amounts;  // by configuration after the base; of a capture that has none of it 0
  std::vector<double> counts;   // by configuration, of a capture on average
  std::vector<char> is_there;   // by configuration: any capture has it
};

struct ComparedCosts {
  std::string kind, title, measured;
  std::string unit = "ns";               // of the amounts: "B" of memory
  std::string missing;                   // why there are no rows
  std::vector<ComparedCost> rows;        // the largest difference first
  std::size_t exact = 0, by_form = 0;    // rows that more than one configuration has
  std::vector<std::size_t> unmatched;    // by configuration: rows that it alone has
  std::vector<double> unmatched_amount;  // and what they take
};

// What is set against what for each problem: rows of a kernel within a config, columns of figures.
struct PairedFigures {
  struct Cell {
    std::size_t captures = 0;         // 0: it has no such figure
    double value = 0;                 // their mean
    std::optional<double> deviation;  // as a share of the mean; of one capture nothing
    std::optional<Change> change;     // nothing in the row that the others are set against
  };
  struct Row {
    std::size_t pair = 0;           // of CapturePairs::names; their number: all of those that every configuration has
    std::size_t configuration = 0;  // of Comparison::configurations
    std::vector<Cell> cells;        // by column
  };
  std::vector<ComparedMetric> columns;  // their values say nothing; the headline comes first
  std::vector<Row> rows;                // by pair, then configuration

  [[nodiscard]] const Cell* find(std::size_t pair, std::size_t configuration, std::size_t column) const noexcept;
};

struct Comparison {
  std::vector<CaptureGroup> configurations;
  CapturePairs pairs;
  std::vector<std::string> paths;   // of the captures
  std::vector<CaptureFacts> facts;  // likewise
  std::vector<ComparedFigure> metrics;
  std::string_view headline;  // the figure of the verdict: kStatedTime where every capture has it, else kWorkTime
  std::vector<ComparedCosts> costs;
  PairedFigures paired;

  // By its name, of several devices the first where none is named. Null: no capture has it.
  [[nodiscard]] const ComparedFigure* find_metric(std::string_view name) const noexcept;
  // The noise of any figure is known; else every difference stands as measured.
  [[nodiscard]] bool has_sample() const noexcept;
};

struct ComparisonOptions {
  ChangeOptions change;
  std::vector<std::string> columns;  // of PairedFigures after the headline, names of figures
};

// The groups name each capture once at most; at least two. The pairs are of these groups; without names everything is
// one problem. Figures are pooled over the problems that all groups have, geometrically; costs, which add up,
// arithmetically: change.h.
[[nodiscard]] Comparison compare_captures(std::span<const CaptureFigures> captures,
                                          const std::vector<CaptureGroup>& groups, CapturePairs pairs = {},
                                          const ComparisonOptions& options = {});

// "mfu" of "mfu (nc1)".
[[nodiscard]] std::string_view name_without_device(std::string_view name) noexcept;

// The worse by this figure: beyond noise in the direction that is not better; a figure that knows none is worse when it
// rises.
[[nodiscard]] bool is_worse(Better better, const Change& change) noexcept;
[[nodiscard]] bool is_better(Better better, const Change& change) noexcept;
// By how much, as a share of the base, the figure has become worse; below 0 where it is better.
[[nodiscard]] double worsening(Better better, const Change& change) noexcept;

}  // namespace accelscope
