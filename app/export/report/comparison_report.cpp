#include "app/export/report/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/content/comparison/comparison_listing.h"
#include "app/content/comparison/comparison_words.h"
#include "app/export/report/listing_table.h"
#include "app/export/report/report_timeline.h"
#include "core/analysis/time/session_activity.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app {
namespace {

ReportTone tone_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::better:
      return ReportTone::good;
    case Judgement::worse:
      return ReportTone::error;
    default:
      return ReportTone::neutral;
  }
}

std::string captures_text(const Comparison& comparison, std::size_t g) {
  const std::size_t count = comparison.configurations[g].captures.size();
  return fmt::format("{} ({} {})", side_title(comparison, g), count, count == 1 ? "capture" : "captures");
}

std::size_t rows_of(const ComparisonParts& parts) {
  return parts.most_rows == 0 ? kReportRows : std::min(parts.most_rows, kReportRows);
}

// The longest bar is that of the largest term.
ReportTable terms_table(const Explained& explained, const ExplainedPart& part, std::size_t most) {
  ReportTable table;
  table.columns = {{std::string(part.by.title), "On the critical path", false},
                   {"A", "Time on the base's critical path", true},
                   {"B", "Time on the other's critical path", true},
                   {"Difference", "B less A; all rows add up to the difference of the totals exactly", true},
                   {"", "", false}};
  const auto time_cell = [&](std::int64_t ns) {
    return ReportCell{exact_time(explained, ns), static_cast<double>(ns), {}, fmt::format("{} ns", ns)};
  };
  const auto difference_cell = [&](std::int64_t ns, std::int64_t largest) {
    const double share = largest == 0 ? 0 : static_cast<double>(std::abs(ns)) / static_cast<double>(largest);
    return ReportCell{exact_time(explained, ns, true), static_cast<double>(ns), share, fmt::format("{:+} ns", ns)};
  };
  std::int64_t largest = 0;
  for (const PathTerm& term : part.difference.terms) largest = std::max(largest, std::abs(term.difference_ns()));
  for (const PathTerm& term : part.difference.terms) {
    if (term.difference_ns() == 0) continue;
    if (table.rows.size() == most) {
      ++table.left_out;
      continue;
    }
    table.rows.push_back({{explained_label(term, part.by), {}, {}, ""},
                          time_cell(term.base_ns),
                          time_cell(term.other_ns),
                          difference_cell(term.difference_ns(), largest),
                          {explained_why(term), {}, {}, ""}});
  }
  return table;
}

void add_explained(Report& report, const Explained& explained, const std::string& of, std::size_t most) {
  for (const ExplainedPart& part : explained.parts) {
    const bool is_first = &part == &explained.parts.front();
    report.sections.push_back(
        {.title = fmt::format("What the difference is made of, by {}{}", part.by.name, of),
         .note = fmt::format("{} against {}: {}. {} A: {}. B: {}.", explained.other_title, explained.base_title,
                             explained_headline(explained), explained_sum(explained, part.difference),
                             explained.base_bound, explained.other_bound),
         .folded = !is_first,
         .body = terms_table(explained, part, most)});
  }
}

ReportTable paired_table(const Comparison& comparison) {
  const PairedFigures& paired = comparison.paired;
  ReportTable table;
  const bool has_pairs = !comparison.pairs.by.empty();
  if (has_pairs) table.columns.push_back({comparison.pairs.by, "Captures of one are set against each other", false});
  table.columns.push_back({"Side", "", false});
  for (const ComparedMetric& column : paired.columns)
    table.columns.push_back({column_title(comparison, column.name), compared_title(column.name), true});
  for (const PairedFigures::Row& each : paired.rows) {
    std::vector<ReportCell> row;
    if (has_pairs) row.push_back({pair_title(comparison, each.pair), {}, {}, ""});
    row.push_back({side_title(comparison, each.configuration), {}, {}, ""});
    for (std::size_t i = 0; i < each.cells.size(); ++i) {
      const PairedFigures::Cell& cell = each.cells[i];
      row.push_back({paired_text(paired.columns[i], cell),
                     cell.captures == 0 ? std::nullopt : std::optional(cell.value),
                     {},
                     ""});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_results(Report& report, const ComparisonParts& parts) {
  ReportText text;
  for (const CheckedResults& each : parts.results)
    text.lines.emplace_back(tone_of(results_judgement(each.found)), results_text(parts.comparison, each));
  if (!text.lines.empty())
    report.sections.push_back({.title = "Do the results differ?", .note = "", .body = std::move(text)});
}

void add_limits(Report& report, const std::vector<ComparisonGate>& gates) {
  ReportText text;
  for (const ComparisonGate& gate : gates) {
    for (const ComparisonGate::Outcome& outcome : gate.outcomes) {
      const ReportTone tone = outcome.failed     ? ReportTone::error
                              : outcome.is_known ? ReportTone::good
                                                 : ReportTone::warning;
      text.lines.emplace_back(tone, gate_text(gate, outcome));
    }
  }
  if (!text.lines.empty()) report.sections.push_back({.title = "Limits", .note = "", .body = std::move(text)});
}

}  // namespace

Report comparison_report(const ComparisonParts& parts, const std::vector<ReportSection>& timelines) {
  const Comparison& comparison = parts.comparison;
  const auto& groups = comparison.configurations;
  const std::size_t most = rows_of(parts);
  Report report;
  report.title = captures_text(comparison, 1) + " against " + captures_text(comparison, 0);
  if (groups.size() > 2)
    report.title = fmt::format("{} configurations against {}", groups.size() - 1, captures_text(comparison, 0));
  report.facts.push_back({"Base (A)", captures_text(comparison, 0)});
  for (std::size_t g = 1; g < groups.size(); ++g)
    report.facts.push_back(
        {groups.size() == 2 ? "Other (B)" : fmt::format("Other {}", g), captures_text(comparison, g)});
  const ComparisonVerdict verdict = comparison_verdict(comparison, 1);
  for (const CheckedResults& each : parts.results) report.verdict += results_text(comparison, each) + ". ";
  report.verdict += verdict.text();
  report.tone = tone_of(verdict.judgement);
  const auto differs = [](const CheckedResults& each) { return results_judgement(each.found) == Judgement::worse; };
  if (std::any_of(parts.results.begin(), parts.results.end(), differs)) report.tone = ReportTone::error;

  add_results(report, parts);
  if (!comparison.paired.columns.empty())
    report.sections.push_back({.title = paired_title(comparison), .note = "", .body = paired_table(comparison)});
  ReportText reasons;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    if (groups.size() > 2) {
      const ComparisonVerdict each = comparison_verdict(comparison, g);
      reasons.lines.emplace_back(tone_of(each.judgement), side_title(comparison, g) + ": " + each.text());
    }
    for (const ComparisonReason& reason : comparison_reasons(comparison, g))
      reasons.lines.emplace_back(tone_of(reason.judgement), reason.text);
  }
  if (!reasons.lines.empty())
    report.sections.push_back({.title = "What goes with it", .note = "", .body = std::move(reasons)});
  add_limits(report, parts.gates);
  for (const Explained& explained : parts.explained)
    add_explained(report, explained, parts.explained.size() > 1 ? ": " + explained.other_title : "", most);
  for (const std::string& why : parts.unexplained) {
    report.sections.push_back({.title = "What the difference is made of",
                               .note = "",
                               .body = ReportText{{{ReportTone::neutral, "Unknown: " + why}}}});
  }
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const std::string of = groups.size() == 2 ? "" : ": " + side_title(comparison, g);
    if (parts.with_metrics) {
      const Listing figures = metrics_listing(comparison, g);
      report.sections.push_back(
          {.title = "Figures" + of, .note = figures.note, .body = table_of_listing(figures, most)});
    }
    for (const ComparedCosts& costs : comparison.costs) {
      const Listing listing = costs_listing(comparison, costs, g);
      report.sections.push_back({.title = fmt::format("By {}, {}{}", with_blanks(costs.kind), costs.measured, of),
                                 .note = listing.note,
                                 .body = table_of_listing(listing, most)});
    }
  }
  ReportText method;
  for (const std::string& line : method_lines(parts)) method.lines.emplace_back(ReportTone::neutral, line);
  report.sections.push_back({.title = "Method", .note = "", .body = std::move(method)});
  for (const ReportSection& timeline : timelines) report.sections.push_back(timeline);
  return report;
}

ReportSection capture_timeline(const QueryContext& query, const std::string& title) {
  TimeRange shown{0, 0};
  if (const auto look = find_first_look(query); look && look->shown) shown = *look->shown;
  ReportSection section = timeline_section(
      {.query = query, .range = {query.snapshot->begin_ns, query.snapshot->end_ns}, .title = title}, shown);
  section.title = "Timeline: " + title;
  return section;
}

}  // namespace accelscope::app
