#include "app/content/comparison/comparison_listing.h"

#include <fmt/format.h>

#include <cmath>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/comparison_words.h"
#include "core/base/format.h"
#include "core/model/unit.h"

namespace accelscope::app {
namespace {

SqlValue ratio_cell(const Change& change) { return change.ratio ? SqlValue(*change.ratio) : SqlValue(); }

bool differs_at_all(const Change& change) {
  if (change.told != Told::no_sample) return change.is_told();
  return std::abs(change.difference()) > ChangeOptions::kLeastTold * std::abs(change.base);
}

}  // namespace

Listing metrics_listing(const Comparison& comparison, std::size_t other) {
  Listing listing({{"metric", "Metric", "", "The figure's name, as scripts have it"},
                   {"title", "What", "", ""},
                   {"base", side_title(comparison, 0), "", "A, the base"},
                   {"other", side_title(comparison, other), "", "B"},
                   {"difference", "Difference", "", "B less A"},
                   {"ratio", "Ratio B : A", "", "Below 1: B has less"},
                   {"told", "Means", "", "Better or worse beyond noise; with one capture a side noise is not known"}});
  std::size_t alike = 0;
  for (const ComparedFigure& figure : comparison.metrics) {
    if (figure.is_missing[other - 1] != 0) continue;
    const Change& change = figure.changes[other - 1];
    if (figure.metric.group != "compared" && !differs_at_all(change)) {
      ++alike;
      continue;
    }
    const std::string& unit = figure.metric.unit;
    listing.add({figure.metric.name, compared_title(figure.metric.name), format_value(change.base, unit),
                 format_value(change.other, unit), signed_figure(change.difference(), unit), ratio_cell(change),
                 std::string(told_text(change, figure.metric.better, unit == "s"))});
  }
  listing.note = alike_text(comparison, alike);
  return listing;
}

Listing costs_listing(const Comparison& comparison, const ComparedCosts& costs, std::size_t other) {
  Listing listing(
      {{"name", costs.title, "", costs.measured, false, false, costs.kind == "kernel"},
       {"text", "Code", "", "What stands there, where the source is known", false, costs.kind != "line"},
       {costs.unit == "B" ? "base_bytes" : "base_ns", side_title(comparison, 0), costs.unit,
        "A, the base: " + costs.measured},
       {costs.unit == "B" ? "other_bytes" : "other_ns", side_title(comparison, other), costs.unit,
        "B: " + costs.measured},
       {costs.unit == "B" ? "difference_bytes" : "difference_ns", "Difference", costs.unit, "B less A"},
       {"ratio", "Ratio B : A", "", "Below 1: B takes less"},
       {"base_count", "Events of A", "", "Of a capture on average"},
       {"other_count", "Events of B", "", "Of a capture on average"},
       {"match", "Matched", "", "By the whole name, or without the numbers in it; or where a line is now"}});
  for (const ComparedCost& cost : costs.rows) {
    const Change& change = cost.amounts[other - 1];
    std::string match = cost.match == MatchKind::exact ? "" : costs.unit == "B" ? "end of the path" : "without numbers";
    if (cost.is_there[0] == 0) match = "B alone";
    if (cost.is_there[other] == 0) match = "A alone";
    if (!cost.moved_to.empty()) match = "now " + cost.moved_to;
    const auto time = [&](std::size_t g, double ns) {
      return cost.is_there[g] == 0 ? SqlValue() : SqlValue(static_cast<std::int64_t>(std::llround(ns)));
    };
    listing.add({cost.name, cost.text, time(0, change.base), time(other, change.other),
                 static_cast<std::int64_t>(std::llround(change.difference())), ratio_cell(change), cost.counts[0],
                 cost.counts[other], match});
  }
  listing.note = costs.rows.empty() ? costs.missing : matching_text(comparison, costs);
  return listing;
}

}  // namespace accelscope::app
