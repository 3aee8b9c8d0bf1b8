#include "app/frame/filter_bar.h"

#include <fmt/format.h>

#include "app/content/figure_text.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// Tracks that hold events in time: what a user calls a lane.
std::size_t lane_count(const Snapshot& snapshot) {
  std::size_t count = 0;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const EventKind kind = track.schema ? track.schema->kind : EventKind::slice;
    if (kind != EventKind::flow && kind != EventKind::table) ++count;
  }
  return count;
}

std::string time_text(const TimeRange& range) {
  return "Time " + format_time_exact(range.begin_ns) + " – " + format_time_exact(range.end_ns);
}

// What passes, or why that cannot be said.
std::string passing_text(SessionAnalysis& analysis, const SessionTab& tab, bool& wrong) {
  const EventFilter& filter = tab.choices.filter;
  const std::shared_ptr<const PassingCount> counted = analysis.passing();
  wrong = filter.needs_mask() && !analysis.mask_error(MaskUse::filter).empty();
  if (wrong) return analysis.mask_error(MaskUse::filter);
  if (!counted) return "Filtering ...";
  return format_count(counted->passing) + " of " + format_count(counted->all) + " events pass";
}

}  // namespace

std::vector<FilterChip> filter_chips(const EventFilter& filter, const Snapshot& snapshot) {
  std::vector<FilterChip> chips;
  if (filter.range) chips.push_back({FilterChip::Part::time, 0, time_text(*filter.range)});
  if (filter.tracks.size() == 1) {
    const TrackSnapshot* track = snapshot.find_track(filter.tracks.front());
    chips.push_back(
        {FilterChip::Part::tracks, 0, "Lane " + (track != nullptr ? track->track->name : std::string("–"))});
  } else if (!filter.tracks.empty()) {
    chips.push_back(
        {FilterChip::Part::tracks, 0, fmt::format("{} of {} lanes", filter.tracks.size(), lane_count(snapshot))});
  }
  for (std::size_t i = 0; i < filter.terms.size(); ++i) {
    const FilterTerm& term = filter.terms[i];
    chips.push_back({FilterChip::Part::term, i, (term.excluded ? "Not " : "") + term.search});
  }
  return chips;
}

void remove_part(EventFilter& filter, const FilterChip& chip) {
  switch (chip.part) {
    case FilterChip::Part::time:
      return filter.range.reset();
    case FilterChip::Part::tracks:
      return filter.tracks.clear();
    case FilterChip::Part::term:
      if (chip.term < filter.terms.size())
        filter.terms.erase(filter.terms.begin() + static_cast<std::ptrdiff_t>(chip.term));
  }
}

void draw_filter_bar(const PanelContext& context, Rect& area) {
  SessionTab& tab = context.tab;
  if (tab.choices.filter.empty()) return;
  Ui& ui = context.ui;
  const Rect bar = area.cut_top(ui.px(size::kFilterRow));
  fill(ui, bar, ui.colour(Colour::bg2));
  horizontal_line(ui, bar.x0, bar.x1, bar.y1 - ui.px(1), ui.colour(Colour::line2));
  Rect row = bar.inset(ui.px(size::kPanelPadding), 0);
  draw_icon(ui, row.cut_left(ui.px(20)), icon::kFilter, ui.colour(Colour::accent), TextStyle::icon14);
  row.cut_left(ui.px(6));

  const float clear_width = link_width(ui, "Clear all");
  const std::vector<FilterChip> chips = filter_chips(tab.choices.filter, *tab.snapshot);
  std::optional<FilterChip> removed;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const ChipOptions options{.label = chips[i].text, .closable = true, .tooltip = chips[i].text};
    const float width = std::min(chip_width(ui, options), ui.px(320));
    if (row.width() < width + clear_width + ui.px(24)) {
      draw_text(ui, row.cut_left(ui.px(60)), fmt::format("+{}", chips.size() - i), {.colour = Colour::text2});
      break;
    }
    const Rect place = row.cut_left(width).middle(ui.px(size::kSmallControl));
    row.cut_left(ui.px(8));
    if (chip(ui, fmt::format("filter.chip.{}", i), place, options).closed) removed = chips[i];
  }
  row.cut_left(ui.px(4));
  const bool clear =
      link(ui, "filter.clear", row.cut_left(clear_width).middle(ui.px(size::kSmallControl)), "Clear all");
  row.cut_left(ui.px(16));
  bool wrong = false;
  std::string text = passing_text(context.analysis(), tab, wrong);
  if (!wrong)
    text += (text.empty() ? "" : ". ") + std::string("Panels, totals and exports follow, or say that they do not");
  draw_text(ui, row, text,
            {.style = TextStyle::small, .colour = wrong ? Colour::error : Colour::text3, .align = Align::right});
  if (clear) tab.change([](ViewChoices& choices) { choices.filter = {}; });
  if (removed) tab.change([&](ViewChoices& choices) { remove_part(choices.filter, *removed); });
}

}  // namespace accelscope::app
