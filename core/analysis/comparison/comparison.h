// Two configurations or more beside each other, each told by one capture or several: their figures, and their costs by
// name, line or whatever was asked for. The first configuration is the base of all ratios.
//
//   auto comparison = compare_captures(captures, *group_captures(labels, ""));
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
  std::vector<Change> time_ns;  // by configuration after the base; of a capture that has none of it 0
  std::vector<double> counts;   // by configuration, of a capture on average
  std::vector<char> is_there;   // by configuration: any capture has it
};

struct ComparedCosts {
  std::string kind, title, measured;
  std::string missing;                 // why there are no rows
  std::vector<ComparedCost> rows;      // the largest difference first
  std::size_t exact = 0, by_form = 0;  // rows that more than one configuration has
  std::vector<std::size_t> unmatched;  // by configuration: rows that it alone has
  std::vector<double> unmatched_ns;    // and what they take
};

// Kernels by configurations, from the tags kernel=... and config=...; ratios are to the first configuration that has
// the kernel.
struct KernelTable {
  struct Cell {
    std::vector<double> work_ns;   // by capture
    std::optional<Change> change;  // nothing in the column that the others are set against
  };
  std::vector<std::string> kernels, configurations;
  std::vector<Cell> cells;  // by kernel, then configuration
};

struct Comparison {
  std::vector<CaptureGroup> configurations;
  std::vector<std::string> paths;  // of the captures
  std::vector<ComparedFigure> metrics;
  std::string_view headline;  // the figure of the verdict: kStatedTime where every capture has it, else kWorkTime
  std::vector<ComparedCosts> costs;
  KernelTable kernels;  // empty without these tags

  // By its name, of several devices the first where none is named. Null: no capture has it.
  [[nodiscard]] const ComparedFigure* find_metric(std::string_view name) const noexcept;
};

// The groups name each capture once at most. At least two groups.
[[nodiscard]] Comparison compare_captures(std::span<const CaptureFigures> captures,
                                          const std::vector<CaptureGroup>& groups, const ChangeOptions& options = {});

// "mfu" of "mfu (nc1)".
[[nodiscard]] std::string_view name_without_device(std::string_view name) noexcept;

// The worse by this figure: beyond noise in the direction that is not better; a figure that knows none is worse when it
// rises.
[[nodiscard]] bool is_worse(Better better, const Change& change) noexcept;
[[nodiscard]] bool is_better(Better better, const Change& change) noexcept;
// By how much, as a share of the base, the figure has become worse; below 0 where it is better.
[[nodiscard]] double worsening(Better better, const Change& change) noexcept;

}  // namespace accelscope
