// A comparison as text for people, as Markdown for a pull request, and as JSON for programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "core/analysis/comparison/comparison.h"

namespace accelscope::app {

// A limit that a figure was held to: --fail-above.
struct ComparisonGate {
  std::string metric;
  double above = 0;  // share of the base by which it may become worse
  struct Outcome {
    std::string configuration;
    Change change;
    bool is_known = false;  // else there is no sample, or one side has no such figure
    bool failed = false;
  };
  Better better = Better::lower;
  std::vector<Outcome> outcomes;  // by configuration after the base

  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] bool is_known() const noexcept;
};
// Fails where the figure is worse beyond noise, and by more than its limit. An error: no capture has the figure; those
// like it are named. A figure is one of the metrics, or a row of the costs: "line:mlp.py:33".
[[nodiscard]] Result<ComparisonGate> judged_gate(const Comparison& comparison, const std::string& metric, double above);
// "work_time 1.7 % worse, allowed 3 %: passed"
[[nodiscard]] std::string gate_text(const ComparisonGate& gate, const ComparisonGate::Outcome& outcome);

struct ComparisonOutputOptions {
  bool with_metrics = true;
  std::size_t most_rows = 30;  // of a table; 0: all. JSON says how many it leaves out
};

void write_comparison_text(std::ostream& out, const Comparison& comparison, const std::vector<ComparisonGate>& gates,
                           const ComparisonOutputOptions& options);
void write_comparison_markdown(std::ostream& out, const Comparison& comparison,
                               const std::vector<ComparisonGate>& gates, const ComparisonOutputOptions& options);
void write_comparison_json(std::ostream& out, const Comparison& comparison, const std::vector<ComparisonGate>& gates,
                           const ComparisonOutputOptions& options);

}  // namespace accelscope::app
