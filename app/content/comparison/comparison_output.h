// A comparison as text for people, as Markdown for a pull request, and as JSON for programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/content/comparison/comparison_words.h"
#include "app/content/comparison/explained.h"
#include "core/analysis/comparison/comparison.h"
#include "core/analysis/comparison/divergence.h"
#include "core/listing/base/listing.h"

namespace accelscope::app::content {

// A limit that a figure was held to: --fail-above.
struct ComparisonGate {
  std::string metric;
  double above = 0;  // share of the base by which it may become worse
  struct Outcome {
    std::string configuration;
    analysis::Change change;
    bool is_known = false;  // else there is no sample, or one side has no such figure
    bool failed = false;
  };
  analysis::Better better = analysis::Better::lower;
  std::vector<Outcome> outcomes;  // by configuration after the base

  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] bool is_known() const noexcept;
};
// Fails where the figure is worse beyond noise, and by more than its limit. An error: no capture has the figure; those
// like it are named. A figure is one of the metrics, or a row of the costs: "line:mlp.py:33".
[[nodiscard]] Result<ComparisonGate> judged_gate(const analysis::Comparison& comparison, const std::string& metric,
                                                 double above);
// "work_time 1.7 % worse, allowed 3 %: passed"
[[nodiscard]] std::string gate_text(const ComparisonGate& gate, const ComparisonGate::Outcome& outcome);

// What is told of a comparison, in this order: whether results differ, the verdicts, what is set against what, figures,
// costs, what the difference is made of, limits, method.
struct ComparisonParts {
  const analysis::Comparison& comparison;
  const std::vector<ComparisonGate>& gates;
  bool with_metrics = true;
  std::size_t most_rows = 30;            // of a table; 0: all. JSON says how many it leaves out
  std::vector<CheckedResults> results;   // of pairs of which both sides have checksums
  std::vector<Explained> explained;      // of a pair each
  std::vector<std::string> unexplained;  // why there is none
};

void write_comparison_text(std::ostream& out, const ComparisonParts& parts);
void write_comparison_markdown(std::ostream& out, const ComparisonParts& parts);
void write_comparison_json(std::ostream& out, const ComparisonParts& parts);

// The method and versions, of this program too.
[[nodiscard]] std::vector<std::string> method_lines(const ComparisonParts& parts);

// A cell of what is set against what: "36.35 µs ±0.3 %  0.67× faster"; "–" where there is none.
[[nodiscard]] std::string paired_text(const analysis::ComparedMetric& column,
                                      const analysis::PairedFigures::Cell& cell);
// How many rows do not differ, and by what that is judged; "" for none.
[[nodiscard]] std::string alike_text(const analysis::Comparison& comparison, std::size_t count);

// The tables of a comparison as listings, for panels: the base, A, then configurations beside it with what is different
// in each. `others`: numbers of configurations, from 1 on.
using ComparedOthers = std::vector<std::size_t>;
// Figures that differ in one of them; those that every comparison begins with always.
[[nodiscard]] listing::Listing metrics_listing(const analysis::Comparison& comparison, const ComparedOthers& others);
[[nodiscard]] listing::Listing costs_listing(const analysis::Comparison& comparison,
                                             const analysis::ComparedCosts& costs, const ComparedOthers& others);

// Where the data of two runs first differ, as text and as JSON.

// "first at MATMUL on TensorMatrix, mlp.py:37, 12.5 µs: its input agrees, so it computes something else"
[[nodiscard]] std::string divergence_verdict(const analysis::Divergence& divergence);

// "MATMUL on TensorMatrix, mlp.py:37, at 12.5 µs: its input agrees, so it computes something else"
[[nodiscard]] std::string divergent_text(const analysis::DivergentPair& pair);
// "read 12ab, wrote 3f01 / 77aa; tensor x; its operands; handed on by ...": what is known of it beside that.
[[nodiscard]] std::string divergent_details(const analysis::DivergentPair& pair);

void write_divergence_text(std::ostream& out, const analysis::Divergence& divergence, std::size_t most_rows);  // 0: all
void write_divergence_json(std::ostream& out, const analysis::Divergence& divergence);

}  // namespace accelscope::app::content
