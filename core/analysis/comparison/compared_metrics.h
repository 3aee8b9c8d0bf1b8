// The figures of a session as comparisons look at them: which are better when they fall, which comparisons speak of,
// and a few that only comparing asks for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/figures/session_terms.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

enum class Better : std::uint8_t { neither, lower, higher };

struct ComparedMetric {
  std::string name;  // as metric.name of SQL; with a device where several have one of the name: "mfu (nc1)"
  std::string group;
  std::string unit;     // "s", "share", "B" ...
  bool is_key = false;  // comparisons speak of it first; others are details
  Better better = Better::neither;
  double value = 0;
};

// What comparisons begin with, see core/analysis/figures/session_terms.h: what the maker of the device publishes as the
// time of the run, and from the first to the last work. Sessions in which nothing works have neither, and none of their
// times is better or worse.
inline constexpr std::string_view kStatedTime = terms::kStated, kWorkTime = terms::kWork;

// All of core/analysis/figures/metrics.h, ours where we have one, after kStatedTime, kWorkTime and
// - input_reads, how often HBM was read for each byte of inputs and weights: above 1, something was loaded again.
[[nodiscard]] Result<std::vector<ComparedMetric>> compared_metrics(const QueryContext& query);

// Which way a figure of this name is better; what rises or falls with the task itself (counts of events, FLOPs) has
// none.
[[nodiscard]] Better better_of(std::string_view name) noexcept;

}  // namespace accelscope::analysis
