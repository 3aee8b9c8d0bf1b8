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

std::string captures_text(const CaptureGroup& group) {
  return fmt::format("{} ({} {})", group.name, group.captures.size(),
                     group.captures.size() == 1 ? "capture" : "captures");
}

std::size_t rows_of(const ComparisonReportParts& parts) {
  return parts.most_rows == 0 ? kReportRows : std::min(parts.most_rows, kReportRows);
}

// The longest bar is that of the largest term.
ReportTable terms_table(const ExplainedPart& part, std::size_t most) {
  ReportTable table;
  table.columns = {{std::string(part.by.title), "On the critical path", false},
                   {"A", "Time on the base's critical path", true},
                   {"B", "Time on the other's critical path", true},
                   {"Difference", "B less A; all rows add up to the difference of the totals exactly", true},
                   {"", "", false}};
  const auto time_cell = [](std::int64_t ns) {
    return ReportCell{format_duration(static_cast<double>(ns)), static_cast<double>(ns), {}, fmt::format("{} ns", ns)};
  };
  const auto difference_cell = [](std::int64_t ns, std::int64_t largest) {
    const double share = largest == 0 ? 0 : static_cast<double>(std::abs(ns)) / static_cast<double>(largest);
    return ReportCell{signed_figure(static_cast<double>(ns), "ns"), static_cast<double>(ns), share,
                      fmt::format("{:+} ns", ns)};
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

void add_explained(Report& report, const Explained& explained, std::size_t most) {
  for (const ExplainedPart& part : explained.parts) {
    const bool is_first = &part == &explained.parts.front();
    report.sections.push_back(
        {.title = fmt::format("What the difference is made of, by {}", part.by.name),
         .note = fmt::format("{} against {}: {}. {} A: {}. B: {}.", explained.other_title, explained.base_title,
                             explained_headline(explained), explained_sum(part.difference), explained.base_bound,
                             explained.other_bound),
         .folded = !is_first,
         .body = terms_table(part, most)});
  }
}

ReportTable kernels_table(const Comparison& comparison) {
  const KernelTable& kernels = comparison.kernels;
  ReportTable table;
  table.columns.push_back({"Kernel", "", false});
  for (const std::string& name : kernels.configurations)
    table.columns.push_back({name, compared_title(comparison.headline), true});
  for (std::size_t kernel = 0; kernel < kernels.kernels.size(); ++kernel) {
    std::vector<ReportCell> row{{kernels.kernels[kernel], {}, {}, ""}};
    for (std::size_t config = 0; config < kernels.configurations.size(); ++config) {
      const KernelTable::Cell& cell = kernels.cells[kernel * kernels.configurations.size() + config];
      double sum = 0;
      for (const double each : cell.work_ns) sum += each;
      const double mean = cell.work_ns.empty() ? 0 : sum / static_cast<double>(cell.work_ns.size());
      std::string text = cell.work_ns.empty() ? "–" : format_duration(mean);
      if (cell.change) text += "  " + ratio_text(*cell.change);
      row.push_back({std::move(text), cell.work_ns.empty() ? std::nullopt : std::optional(mean), {}, ""});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
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

Report comparison_report(const ComparisonReportParts& parts) {
  const Comparison& comparison = parts.comparison;
  const auto& groups = comparison.configurations;
  const std::size_t most = rows_of(parts);
  Report report;
  report.title = captures_text(groups[1]) + " against " + captures_text(groups.front());
  if (groups.size() > 2)
    report.title = fmt::format("{} configurations against {}", groups.size() - 1, captures_text(groups.front()));
  report.facts.push_back({"Base (A)", captures_text(groups.front())});
  for (std::size_t g = 1; g < groups.size(); ++g)
    report.facts.push_back({groups.size() == 2 ? "Other (B)" : fmt::format("Other {}", g), captures_text(groups[g])});
  const ComparisonVerdict verdict = comparison_verdict(comparison, 1);
  report.verdict = verdict.text();
  report.tone = tone_of(verdict.judgement);

  ReportText reasons;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    if (groups.size() > 2) {
      const ComparisonVerdict each = comparison_verdict(comparison, g);
      reasons.lines.emplace_back(tone_of(each.judgement), groups[g].name + ": " + each.text());
    }
    for (const ComparisonReason& reason : comparison_reasons(comparison, g))
      reasons.lines.emplace_back(tone_of(reason.judgement), reason.text);
  }
  if (!reasons.lines.empty())
    report.sections.push_back({.title = "What goes with it", .note = "", .body = std::move(reasons)});
  add_limits(report, parts.gates);
  for (const Explained& explained : parts.explained) add_explained(report, explained, most);
  for (const std::string& why : parts.unexplained) {
    report.sections.push_back({.title = "What the difference is made of",
                               .note = "",
                               .body = ReportText{{{ReportTone::neutral, "Unknown: " + why}}}});
  }
  if (comparison.kernels.kernels.size() * comparison.kernels.configurations.size() > 1)
    report.sections.push_back({.title = "Kernel x config", .note = "", .body = kernels_table(comparison)});
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const std::string of = groups.size() == 2 ? "" : ": " + groups[g].name;
    if (parts.with_metrics) {
      const Listing figures = metrics_listing(comparison, g);
      report.sections.push_back(
          {.title = "Figures" + of, .note = figures.note, .body = table_of_listing(figures, most)});
    }
    for (const ComparedCosts& costs : comparison.costs) {
      const Listing listing = costs_listing(comparison, costs, g);
      report.sections.push_back({.title = fmt::format("By {}, {}{}", costs.kind, costs.measured, of),
                                 .note = listing.note,
                                 .body = table_of_listing(listing, most)});
    }
  }
  for (const ReportSection& timeline : parts.timelines) report.sections.push_back(timeline);
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
