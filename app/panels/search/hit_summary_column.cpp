#include "app/panels/search/hit_summary_column.h"

#include <algorithm>
#include <array>

#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kHitRow = 28;

struct Line {
  std::string text;
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;
};

std::vector<Line> lines_of(const SelectionSummary& summary, int by, const Snapshot& snapshot) {
  std::vector<Line> lines;
  if (by == 2) {
    for (const SummaryTrack& each : summary.tracks) {
      const TrackSnapshot* track = snapshot.find_track(each.track);
      lines.push_back({track != nullptr ? track->track->name : "–", each.count, each.busy_ns + each.wait_ns});
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.time_ns > b.time_ns; });
    return lines;
  }
  for (const SummaryRow& row : (by == 0 ? summary.names : summary.lines).rows) {
    lines.push_back({row.text, row.count, row.busy_ns});
  }
  return lines;
}

// "In view: 12 of 37,007, busy 3.2 ms".
std::string totals_text(const SessionSummary& answer, std::uint64_t total) {
  const SelectionSummary& summary = *answer.summary;
  if (answer.events == 0) return "In view: none of " + format_count(total);
  std::string text = "In view: " + format_count(answer.events) + " of " + format_count(total);
  if (summary.busy_ns > 0) text += ", busy " + format_duration(static_cast<double>(summary.busy_ns));
  if (summary.busy_ns > 0 && summary.wait_ns > 0) {
    text += " of " + format_duration(static_cast<double>(summary.busy_ns + summary.wait_ns));
  }
  return text;
}

// Whether it is about the search that is shown; another range is that of the view a moment ago.
bool is_of_search(const SessionSummary& answer, const SessionTab& tab) {
  const std::vector<FilterTerm>& terms = answer.summary->filter.terms;
  return !terms.empty() && terms.back() == FilterTerm{tab.choices.search, false};
}

}  // namespace

void HitSummaryColumn::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  Rect rest = area;
  const std::array<Segment, 3> ways = {Segment{.label = "Name"}, Segment{.label = "Line"}, Segment{.label = "Lane"}};
  auto answer = context.analysis().hit_summary(context.tab.view.whole_ns());
  const EventSearch* hits = context.analysis().hits();
  if (answer && (hits == nullptr || !is_of_search(*answer, context.tab))) answer = nullptr;
  draw_text(ui, rest.cut_top(ui.px(kHitRow)).inset(ui.px(size::kPanelPadding), 0),
            answer ? totals_text(*answer, hits->total()) : "Adding up the hits in view ...",
            {.colour = Colour::text2, .fit = Fit::ellipsis});
  Rect head = rest.cut_top(ui.px(kHitRow)).inset(ui.px(size::kPanelPadding), 0);
  const Rect choice = head.cut_left(segmented_width(ui, ways)).middle(ui.px(size::kSmallControl));
  (void)segmented(ui, "search.summary_by", choice, ways, by_);
  if (!answer) return;
  const std::vector<Line> lines = lines_of(*answer->summary, by_, *context.tab.snapshot);
  if (lines.empty()) {
    if (answer->events > 0) {
      empty_state(ui, "search.summary_none", rest, icon::kTable,
                  by_ == 1 ? "No hit in view has a source line." : "What was found in view adds up to no work.");
      return;
    }
    constexpr std::array<std::string_view, 1> kNext = {"To the next one"};
    if (empty_state(ui, "search.summary_none", rest, icon::kSearch, "No hit is in view.", kNext) == 0) {
      context.actions.run("next_hit");
    }
    return;
  }
  const std::array<TableColumn, 3> columns = {
      {{.title = by_ == 0   ? "Name"
                 : by_ == 1 ? "Source line"
                            : "Lane",
        .sortable = false},
       {.title = "Hits", .width = 70, .align = Align::right, .sortable = false},
       {.title = "Time", .width = 90, .align = Align::right, .sortable = false}}};
  table(
      ui, "search.summary", rest, columns, lines.size(),
      [&](std::size_t row, std::size_t column) -> TableCell {
        const Line& line = lines[row];
        if (column == 0) return {.text = line.text, .fit = Fit::middle};
        if (column == 1) return {.text = format_count(line.count), .colour = Colour::text2};
        return {.text = format_duration(static_cast<double>(line.time_ns))};
      },
      table_);
}

}  // namespace accelscope::app
