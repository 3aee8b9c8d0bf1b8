#include "app/output/report/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <type_traits>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/comparison_words.h"
#include "app/content/figure_text.h"
#include "app/rows/rows.h"
#include "core/analysis/time/session_activity.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/export/report/lane_boxes.h"
#include "core/names/short_names.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::output {
namespace {

exporting::ReportTone tone_of(content::Judgement judgement) {
  switch (judgement) {
    case content::Judgement::better:
      return exporting::ReportTone::good;
    case content::Judgement::worse:
      return exporting::ReportTone::error;
    default:
      return exporting::ReportTone::neutral;
  }
}

std::size_t rows_of(const content::ComparisonParts& parts) {
  return parts.most_rows == 0 ? kReportRows : std::min(parts.most_rows, kReportRows);
}

// The longest bar is that of the largest term.
exporting::ReportTable terms_table(const content::Explained& explained, const content::ExplainedPart& part,
                                   std::size_t most) {
  exporting::ReportTable table;
  table.columns = {{std::string(part.by.title), "On the critical path", false},
                   {"A", "Time on the base's critical path", true},
                   {"B", "Time on the other's critical path", true},
                   {"Difference", "B less A; all rows add up to the difference of the totals exactly", true},
                   {"", "", false}};
  const auto time_cell = [&](std::int64_t ns) {
    return exporting::ReportCell{
        content::exact_time(explained, ns), static_cast<double>(ns), {}, fmt::format("{} ns", ns)};
  };
  const auto difference_cell = [&](std::int64_t ns, std::int64_t largest) {
    const double share = largest == 0 ? 0 : static_cast<double>(std::abs(ns)) / static_cast<double>(largest);
    return exporting::ReportCell{content::exact_time(explained, ns, true), static_cast<double>(ns), share,
                                 fmt::format("{:+} ns", ns)};
  };
  std::int64_t largest = 0;
  for (const analysis::PathTerm& term : part.difference.terms)
    largest = std::max(largest, std::abs(term.difference_ns()));
  for (const analysis::PathTerm& term : part.difference.terms) {
    if (term.difference_ns() == 0) continue;
    if (table.rows.size() == most) {
      ++table.left_out;
      continue;
    }
    table.rows.push_back({{content::explained_label(term, part.by), {}, {}, ""},
                          time_cell(term.base_ns),
                          time_cell(term.other_ns),
                          difference_cell(term.difference_ns(), largest),
                          {content::explained_why(term), {}, {}, ""}});
  }
  return table;
}

void add_explained(exporting::Report& report, const content::Explained& explained, const std::string& of,
                   std::size_t most) {
  for (const content::ExplainedPart& part : explained.parts) {
    const bool is_first = &part == &explained.parts.front();
    report.sections.push_back(
        {.title = fmt::format("What the difference is made of, by {}{}", part.by.name, of),
         .note = fmt::format("{} against {}: {}. {} A: {}. B: {}.", explained.other_title, explained.base_title,
                             content::explained_headline(explained), content::explained_sum(explained, part.difference),
                             explained.base_bound, explained.other_bound),
         .folded = !is_first,
         .body = terms_table(explained, part, most)});
  }
}

exporting::ReportTable paired_table(const analysis::Comparison& comparison) {
  const analysis::PairedFigures& paired = comparison.paired;
  exporting::ReportTable table;
  const bool has_pairs = !comparison.pairs.by.empty();
  if (has_pairs) table.columns.push_back({comparison.pairs.by, "Captures of one are set against each other", false});
  table.columns.push_back({"Side", "", false});
  for (const analysis::ComparedMetric& column : paired.columns)
    table.columns.push_back(
        {content::column_title(comparison, column.name), content::compared_title(column.name), true});
  for (const analysis::PairedFigures::Row& each : paired.rows) {
    std::vector<exporting::ReportCell> row;
    if (has_pairs) row.push_back({content::pair_title(comparison, each.pair), {}, {}, ""});
    row.push_back({content::side_title(comparison, each.configuration), {}, {}, ""});
    for (std::size_t i = 0; i < each.cells.size(); ++i) {
      const analysis::PairedFigures::Cell& cell = each.cells[i];
      row.push_back({content::paired_text(paired.columns[i], cell),
                     cell.captures == 0 ? std::nullopt : std::optional(cell.value),
                     {},
                     ""});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_results(exporting::Report& report, const content::ComparisonParts& parts) {
  exporting::ReportText text;
  for (const content::CheckedResults& each : parts.results)
    text.lines.emplace_back(tone_of(content::results_judgement(each.found)),
                            content::results_text(parts.comparison, each));
  if (!text.lines.empty())
    report.sections.push_back({.title = "Do the results differ?", .note = "", .body = std::move(text)});
}

void add_limits(exporting::Report& report, const std::vector<content::ComparisonGate>& gates) {
  exporting::ReportText text;
  for (const content::ComparisonGate& gate : gates) {
    for (const content::ComparisonGate::Outcome& outcome : gate.outcomes) {
      const exporting::ReportTone tone = outcome.failed     ? exporting::ReportTone::error
                                         : outcome.is_known ? exporting::ReportTone::good
                                                            : exporting::ReportTone::warning;
      text.lines.emplace_back(tone, content::gate_text(gate, outcome));
    }
  }
  if (!text.lines.empty()) report.sections.push_back({.title = "Limits", .note = "", .body = std::move(text)});
}

}  // namespace

exporting::Report comparison_report(const content::ComparisonParts& parts,
                                    const std::vector<exporting::ReportSection>& timelines) {
  const analysis::Comparison& comparison = parts.comparison;
  const auto& groups = comparison.configurations;
  const std::size_t most = rows_of(parts);
  exporting::Report report;
  report.title = content::configuration_text(comparison, 1) + " against " + content::configuration_text(comparison, 0);
  if (groups.size() > 2)
    report.title =
        fmt::format("{} configurations against {}", groups.size() - 1, content::configuration_text(comparison, 0));
  report.facts.push_back({"Base (A)", content::configuration_text(comparison, 0)});
  for (std::size_t g = 1; g < groups.size(); ++g)
    report.facts.push_back(
        {groups.size() == 2 ? "Other (B)" : fmt::format("Other {}", g), content::configuration_text(comparison, g)});
  const content::ComparisonVerdict verdict = content::comparison_verdict(comparison, 1);
  for (const content::CheckedResults& each : parts.results)
    report.verdict += content::results_text(comparison, each) + ". ";
  report.verdict += verdict.text();
  report.tone = tone_of(verdict.judgement);
  const auto differs = [](const content::CheckedResults& each) {
    return content::results_judgement(each.found) == content::Judgement::worse;
  };
  if (std::any_of(parts.results.begin(), parts.results.end(), differs)) report.tone = exporting::ReportTone::error;

  add_results(report, parts);
  if (!comparison.paired.columns.empty())
    report.sections.push_back(
        {.title = content::paired_title(comparison), .note = "", .body = paired_table(comparison)});
  exporting::ReportText reasons;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    if (groups.size() > 2) {
      const content::ComparisonVerdict each = content::comparison_verdict(comparison, g);
      reasons.lines.emplace_back(tone_of(each.judgement), content::side_title(comparison, g) + ": " + each.text());
    }
    for (const content::ComparisonReason& reason : content::comparison_reasons(comparison, g))
      reasons.lines.emplace_back(tone_of(reason.judgement), reason.text);
  }
  if (!reasons.lines.empty())
    report.sections.push_back({.title = "What goes with it", .note = "", .body = std::move(reasons)});
  add_limits(report, parts.gates);
  for (const content::Explained& explained : parts.explained)
    add_explained(report, explained, parts.explained.size() > 1 ? ": " + explained.other_title : "", most);
  for (const std::string& why : parts.unexplained) {
    report.sections.push_back({.title = "What the difference is made of",
                               .note = "",
                               .body = exporting::ReportText{{{exporting::ReportTone::neutral, "Unknown: " + why}}}});
  }
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const std::string of = groups.size() == 2 ? "" : ": " + content::side_title(comparison, g);
    if (parts.with_metrics) {
      const listing::Listing figures = content::metrics_listing(comparison, {g});
      report.sections.push_back(
          {.title = "Figures" + of, .note = figures.note, .body = table_of_listing(figures, most)});
    }
    for (const analysis::ComparedCosts& costs : comparison.costs) {
      const listing::Listing listing = content::costs_listing(comparison, costs, {g});
      report.sections.push_back({.title = fmt::format("By {}, {}{}", with_blanks(costs.kind), costs.measured, of),
                                 .note = listing.note,
                                 .body = table_of_listing(listing, most)});
    }
  }
  exporting::ReportText method;
  for (const std::string& line : content::method_lines(parts))
    method.lines.emplace_back(exporting::ReportTone::neutral, line);
  report.sections.push_back({.title = "Method", .note = "", .body = std::move(method)});
  for (const exporting::ReportSection& timeline : timelines) report.sections.push_back(timeline);
  return report;
}

exporting::ReportSection capture_timeline(const QueryContext& query, const std::string& title) {
  TimeRange shown{0, 0};
  if (const auto look = analysis::find_first_look(query); look && look->shown) shown = *look->shown;
  exporting::ReportSection section = timeline_section(
      {.query = query, .range = {query.snapshot->begin_ns, query.snapshot->end_ns}, .title = title}, shown);
  section.title = "Timeline: " + title;
  return section;
}

namespace {

[[nodiscard]] bool is_number(const listing::SqlValue& value) noexcept {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

exporting::ReportCell cell_of(const listing::ListingColumn& column, const listing::SqlValue& value, ShortNames& names) {
  exporting::ReportCell cell;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    cell.number = static_cast<double>(*whole);
    cell.text = column.unit.empty() ? format_signed(*whole) : format_value(*cell.number, column.unit);
    cell.exact = format_signed(*whole) + (column.unit.empty() ? "" : " " + column.unit);
  } else if (const auto* real = std::get_if<double>(&value)) {
    cell.number = *real;
    cell.text = format_value(*real, column.unit);
    cell.exact = format_exact(*real, column.unit);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    cell.text = shorten_middle(column.look.names ? names.usual(*text) : *text, kReportCellBytes);
    if (cell.text != *text) cell.exact = text->substr(0, 4 * kReportCellBytes);
  } else if (std::holds_alternative<listing::SqlBlob>(value)) {
    cell.text = "(bytes)";
  }
  if (cell.exact == cell.text) cell.exact.clear();
  if (column.look.bar) cell.bar = cell.number;
  return cell;
}

}  // namespace

exporting::ReportTable table_of_listing(const listing::Listing& listing, std::size_t most_rows) {
  const listing::SqlResult& all = listing.rows;
  const std::size_t rows = std::min(all.row_count(), most_rows);
  exporting::ReportTable table;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < listing.columns.size(); ++i) {
    const listing::ListingColumn& column = listing.columns[i];
    bool any = false, numeric = true;
    for (std::size_t row = 0; row < rows; ++row) {
      const listing::SqlValue& value = all.at(row, i);
      if (std::holds_alternative<std::monostate>(value)) continue;
      any = true;
      numeric = numeric && is_number(value);
    }
    if (!any || column.look.aside) continue;
    shown.push_back(i);
    table.columns.push_back({column.title.empty() ? column.name : column.title, column.explanation, numeric});
  }
  ShortNames names;  // of all columns of names
  for (const std::size_t i : shown) {
    for (std::size_t row = 0; row < rows && listing.columns[i].look.names; ++row) {
      if (const auto* name = std::get_if<std::string>(&all.at(row, i))) names.add(*name);
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<exporting::ReportCell>& cells = table.rows.emplace_back();
    for (const std::size_t i : shown) cells.push_back(cell_of(listing.columns[i], all.at(row, i), names));
  }
  table.left_out = all.row_count() - rows;
  return table;
}

namespace {

[[nodiscard]] bool is_drawn(rows::RowKind kind) noexcept {
  return kind == rows::RowKind::slices || kind == rows::RowKind::counter;
}

// Events of a lane that a filter leaves, in all of the session.
[[nodiscard]] std::uint64_t events_of(const QueryContext& query, std::uint32_t lane) {
  return query.mask ? query.mask->count(lane) : query.snapshot->lanes[lane].event_count;
}

[[nodiscard]] bool meets(const LaneSnapshot& lane, const TimeRange& range) {
  return lane.event_count > 0 && tick_range(lane, range).holds(lane.begin_ticks, lane.end_ticks);
}

// Gathers rows with their boxes.
class TimelineBuilder {
 public:
  TimelineBuilder(const exporting::ExportRequest& request, const TimelineLimits& limits)
      : query_(request.query), limits_(limits), names_(*query_.snapshot->strings) {
    const Snapshot& snapshot = *query_.snapshot;
    timeline_.begin_ns = std::max(request.range.begin_ns, snapshot.begin_ns);
    timeline_.end_ns = std::max(timeline_.begin_ns, std::min(request.range.end_ns, snapshot.end_ns));
    range_ = {timeline_.begin_ns, timeline_.end_ns == request.range.end_ns ? timeline_.end_ns : timeline_.end_ns + 1};
  }

  exporting::ReportSection run(const TimeRange& shown) {
    choose_rows();
    share_boxes();
    for (const app::rows::TimelineRow& row : rows_) add(row);
    drop_empty_headings();
    timeline_.names = names_.take();
    const std::int64_t length = timeline_.end_ns - timeline_.begin_ns;
    timeline_.shown_begin_ns = std::clamp<std::int64_t>(shown.begin_ns - timeline_.begin_ns, 0, length);
    timeline_.shown_end_ns = std::clamp<std::int64_t>(shown.end_ns - timeline_.begin_ns, 0, length);
    if (timeline_.shown_begin_ns >= timeline_.shown_end_ns) {
      timeline_.shown_begin_ns = 0;
      timeline_.shown_end_ns = length;
    }
    return {.title = "Timeline", .note = note(), .body = std::move(timeline_)};
  }

 private:
  // Events of a row that may be drawn.
  [[nodiscard]] std::uint64_t size_of(const app::rows::TimelineRow& row) const {
    std::uint64_t events = 0;
    for (const std::uint32_t lane : row.lanes) {
      if (is_drawn(row.kind) && meets(query_.snapshot->lanes[lane], range_)) events += events_of(query_, lane);
    }
    return events;
  }

  // Those that the viewer shows at first, and of every group that is closed there the ones with the most events, as far
  // as they have anything in the range. Where that is still too much, the ones with the most events.
  void choose_rows() {
    rows::RowChoices choices;
    std::set<std::string> at_first;
    // Groups that were closed have threads and cores below them that were not listed before.
    for (int level = 0; level < 2; ++level) {
      for (const app::rows::TimelineRow& row : rows::compose_rows(*query_.snapshot, nullptr, choices)) {
        if (level == 0) at_first.insert(row.key);
        if (row.kind == rows::RowKind::group || row.has_children) choices.open[row.key] = true;
      }
    }
    rows_ = rows::compose_rows(*query_.snapshot, nullptr, choices);
    using Place = std::pair<std::uint64_t, std::size_t>;  // events, index
    const auto larger = [](const Place& a, const Place& b) { return a.first > b.first; };
    std::vector<Place> chosen, closed;
    std::size_t all = 0;
    const auto end_group = [&] {
      std::stable_sort(closed.begin(), closed.end(), larger);
      closed.resize(std::min(closed.size(), limits_.closed_rows));
      chosen.insert(chosen.end(), closed.begin(), closed.end());
      closed.clear();
    };
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].kind == rows::RowKind::group) end_group();
      const std::uint64_t events = size_of(rows_[i]);
      if (events == 0) continue;
      ++all;
      (at_first.contains(rows_[i].key) ? chosen : closed).emplace_back(events, i);
    }
    end_group();
    std::stable_sort(chosen.begin(), chosen.end(), larger);
    chosen.resize(std::min(chosen.size(), limits_.rows));
    left_out_rows_ = all - chosen.size();
    std::set<std::size_t> retained;
    for (const Place& place : chosen) retained.insert(place.second);
    std::vector<app::rows::TimelineRow> rows;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!is_drawn(rows_[i].kind) || retained.contains(i)) rows.push_back(std::move(rows_[i]));
    }
    rows_ = std::move(rows);
  }

  [[nodiscard]] std::vector<std::uint32_t> lanes_of(const app::rows::TimelineRow& row) const {
    std::vector<std::uint32_t> lanes = row.lanes;
    if (lanes.size() > limits_.lanes) lanes.resize(limits_.lanes);
    return lanes;
  }

  // Lanes of few events have all of theirs; what is left is shared by the others alike.
  void share_boxes() {
    std::vector<std::uint64_t> sizes;
    std::size_t counters = 0;
    for (const app::rows::TimelineRow& row : rows_) {
      if (row.kind == rows::RowKind::counter) counters += row.lanes.size();
      if (row.kind != rows::RowKind::slices) continue;
      for (const std::uint32_t lane : lanes_of(row)) sizes.push_back(events_of(query_, lane) + 2 * kBlockEvents);
    }
    std::sort(sizes.begin(), sizes.end());
    std::uint64_t left = limits_.boxes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint64_t part = left / (sizes.size() - i);
      share_ = part;
      left -= std::min(part, sizes[i]);
    }
    share_ = std::min<std::uint64_t>(share_, limits_.lane_boxes);
    counter_share_ = std::min<std::size_t>(1'000, limits_.values / std::max<std::size_t>(counters, 1));
  }

  void add(const app::rows::TimelineRow& row) {
    exporting::ReportRow out{.label = row.label, .indent = static_cast<std::uint32_t>(std::max(0, row.depth))};
    if (!is_drawn(row.kind)) {
      out.heading = true;
      if (row.kind == rows::RowKind::group || row.kind == rows::RowKind::bundle)
        timeline_.rows.push_back(std::move(out));
      return;
    }
    if (row.kind == rows::RowKind::counter) {
      for (const std::uint32_t lane : row.lanes) {
        if (query_.snapshot->lanes[lane].data->kind != EventKind::counter) continue;
        out.values = exporting::lane_values(query_, lane, range_, counter_share_);
        out.unit = row.track == nullptr ? "" : row.track->unit;
      }
      if (!out.values.empty()) timeline_.rows.push_back(std::move(out));
      return;
    }
    const std::vector<std::uint32_t> lanes = lanes_of(row);
    for (std::size_t i = lanes.size(); i < row.lanes.size(); ++i) deeper_events_ += events_of(query_, row.lanes[i]);
    bool any = false;
    for (const std::uint32_t lane : lanes) {
      exporting::LaneBoxes boxes = exporting::lane_boxes(query_, lane, range_, share_, names_);
      any = any || !boxes.boxes.empty();
      events_ += boxes.events;
      merged_events_ += boxes.merged_events;
      for (const exporting::ReportBox& box : boxes.boxes) merged_boxes_ += box.count > 1 ? 1 : 0;
      out.lanes.push_back(std::move(boxes.boxes));
    }
    while (!out.lanes.empty() && out.lanes.back().empty()) out.lanes.pop_back();
    if (any) timeline_.rows.push_back(std::move(out));
  }

  // A heading stays where a row follows it before the next one.
  void drop_empty_headings() {
    std::vector<exporting::ReportRow> rows;
    for (std::size_t i = 0; i < timeline_.rows.size(); ++i) {
      exporting::ReportRow& row = timeline_.rows[i];
      const bool followed = i + 1 < timeline_.rows.size() &&
                            (!timeline_.rows[i + 1].heading || timeline_.rows[i + 1].indent > row.indent);
      if (!row.heading || followed) rows.push_back(std::move(row));
    }
    timeline_.rows = std::move(rows);
  }

  [[nodiscard]] std::string note() const {
    std::vector<std::string> said;
    if (merged_events_ > 0)
      said.push_back(
          fmt::format("{} of {} events lie too close together for this file and are drawn as {} boxes, each "
                      "with its count and how busy it is",
                      format_count(merged_events_), format_count(events_), format_count(merged_boxes_)));
    if (left_out_rows_ > 0)
      said.push_back(fmt::format("{} rows with fewer events are left out", format_count(left_out_rows_)));
    if (deeper_events_ > 0)
      said.push_back(
          fmt::format("{} calls deeper than {} levels are left out", format_count(deeper_events_), limits_.lanes));
    if (!names_.all_retained())
      said.push_back(fmt::format("of more than {} names the later ones are left out",
                                 format_count(exporting::TimelineNames::kMost)));
    return joined(said, "; ");
  }

  const QueryContext& query_;
  TimelineLimits limits_;
  exporting::TimelineNames names_;
  TimeRange range_;
  exporting::ReportTimeline timeline_;
  std::vector<app::rows::TimelineRow> rows_;
  std::uint64_t share_ = 0;  // boxes of one lane
  std::size_t counter_share_ = 0;
  std::uint64_t events_ = 0, merged_events_ = 0, merged_boxes_ = 0, deeper_events_ = 0;
  std::size_t left_out_rows_ = 0;
};

}  // namespace

exporting::ReportSection timeline_section(const exporting::ExportRequest& request, const TimeRange& shown,
                                          const TimelineLimits& limits) {
  return TimelineBuilder(request, limits).run(shown);
}

}  // namespace accelscope::app::output
