// Between the tabs and the status bar: notices and progress, then the timeline with the panels right of and below it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/frame/app_state.h"
#include "app/frame/filter_bar.h"
#include "app/session/analysis.h"
#include "core/model/track_kinds.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

void draw_splitter(AppState& state, Ui& ui, Place place, const Rect& bar, const Rect& area) {
  if (bar.empty()) return;
  const bool right = place == Place::right;
  const Interaction hand = interact(ui, right ? "splitter.right" : "splitter.bottom", bar);
  fill(ui, bar, ui.colour(hand.hovered || hand.held ? Colour::accent : Colour::bg0));
  if (hand.hovered || hand.held) set_cursor(right ? Cursor::resize_horizontal : Cursor::resize_vertical);
  if (!hand.held) return;
  const float moved = right ? ui.input().mouse.x - bar.centre().x : ui.input().mouse.y - bar.centre().y;
  if (std::abs(moved) >= 1) state.layout.drag_splitter(place, moved, area, ui.scale());
}

// Whether the right column has anything to show: a panel that the user put there or chose, or a source line of any
// event.
bool column_says_something(AppState& state, SessionTab& tab) {
  for (const PanelId id : state.layout.panels_in(Place::right)) {
    const bool tells_of_source = id == "source" || id == "stack";
    if (panel_info(id).place != Place::right || (!tells_of_source && state.layout.front(Place::right) == id))
      return true;
  }
  TabPanels& panels = state.panels_of(tab);
  if (!panels.lines_known && !may_grow(tab) && tab.choices.filter.empty()) {
    const auto lines = tab.analysis->source_lines();
    if (lines && tab.analysis->is_newest(tab.analysis->source_lines_state())) {
      panels.lines_known = true;
      panels.line_count = lines->lines.size();
      panels.has_lines = !lines->lines.empty() || !tab.snapshot->sources.empty();
    }
  }
  if (panels.lines_known) return panels.has_lines;
  const auto& schemas = tab.snapshot->schemas;  // what could have lines
  return !tab.snapshot->sources.empty() || std::any_of(schemas.begin(), schemas.end(), [](const auto& schema) {
    return schema->find(Role::source_location).has_value();
  });
}

// An event that is newly selected is explained, and what Details hid comes back when none is.
void bring_details(AppState& state, SessionTab& tab) {
  std::optional<EventId>& noticed = state.panels_of(tab).noticed;
  const bool other_tab = std::exchange(state.arranged_for, &tab) != &tab;
  if (!other_tab && tab.selected == noticed) return;
  noticed = tab.selected;
  state.layout.selection_changed(tab.selected.has_value());
}

// Whoever steps through the hits from the search box goes on to look at their list, and through rows of SQL to the
// next.
void leave_list_in_front(AppState& state, SessionTab& tab) {
  const ChosenIn where = std::exchange(tab.chosen_in, ChosenIn::elsewhere);
  const bool of_sql = where == ChosenIn::sql && state.layout.place("sql") == state.layout.place("details");
  const bool of_hits = where == ChosenIn::elsewhere && state.layout.is_seen("search");
  if (tab.selected && (of_sql || of_hits)) state.panels_of(tab).noticed = tab.selected;
}

// Some profiles are figures and tables alone.
[[nodiscard]] bool has_timeline(const SessionTab& tab) {
  if (!tab.snapshot) return true;
  const Snapshot& snapshot = *tab.snapshot;
  return tab.beside || may_grow(tab) ||
         std::any_of(snapshot.lanes.begin(), snapshot.lanes.end(), [&](const LaneSnapshot& lane) {
           const TrackSnapshot* const track = snapshot.find_track(lane.track);
           return track != nullptr && lane.event_count > 0 && track_kind_of(track->track->kind).has_rows;
         });
}

// The panel that was used last may be empty for this session: then another one stands in front. What once had something
// to say here, or was asked for, stays.
void choose_by_content(AppState& state, const PanelContext& context, bool timeline) {
  TabPanels& panels = state.panels_of(context.tab);
  for (const auto& chosen : state.layout.take_chosen()) {
    if (chosen) panels.stays.insert(*chosen);
  }
  if (may_grow(context.tab)) return;  // it may still come
  const PanelId summary = timeline ? "selection" : context.tab.snapshot->metrics.empty() ? "tables" : "metrics";
  state.layout.greet(state.arranged_for != &context.tab, summary, [&](PanelId id) {
    if (panels.stays.contains(id)) return true;
    const std::optional<bool> known = timeline ? panels.of(id).has_content(context) : id == summary;
    if (known == true) panels.stays.insert(id);
    return known.value_or(true);
  });
}

}  // namespace

void draw_notices(AppState& state, Ui& ui, Rect& area) {
  std::vector<BackgroundJob*> jobs = state.workspace.jobs();
  for (BackgroundJob* job : state.library.jobs()) jobs.push_back(job);
  for (BackgroundJob* job : jobs) {
    const JobProgress progress = job->progress();
    if (job->elapsed_s() < 0.2) continue;  // short work shows nothing
    const Rect row = area.cut_top(ui.px(size::kControl));
    const std::string details = progress_text(progress);
    const std::string name = "job." + job->title();
    if (render::progress(
            ui, name, row,
            {.label = job->title(), .share = progress.share_text.empty() ? -1 : progress.share, .details = details})) {
      job->cancel();
    }
  }
  const std::vector<Notice> notices = state.workspace.notices();
  for (std::size_t i = 0; i < notices.size(); ++i) {
    const float inner = area.width() - ui.px(60);
    Rect row = area.cut_top(banner_height(ui, inner, notices[i].text) + ui.px(8)).inset(ui.px(8), ui.px(4));
    const Rect close = row.cut_right(ui.px(size::kSmallControl + 4)).middle(ui.px(size::kSmallControl));
    const BannerKind kind = notices[i].severity == Severity::error     ? BannerKind::error
                            : notices[i].severity == Severity::warning ? BannerKind::warning
                                                                       : BannerKind::info;
    banner(ui, row, kind, notices[i].text);
    if (icon_button(ui, "notice." + std::to_string(i) + ".close", close, icon::kClose, "Dismiss")) {
      state.workspace.dismiss_notice(i);
    }
  }
}

void draw_session(AppState& state, Ui& ui, const Rect& whole) {
  SessionTab& tab = *state.tab();
  leave_list_in_front(state, in_hand(tab));
  Rect area = whole;
  tab.beside ? draw_comparison_head(state, ui, area) : draw_verdict(state, ui, area);
  const PanelContext context{ui, in_hand(tab), state.actions};
  draw_filter_bar(context, area);
  const bool timeline = has_timeline(tab);
  choose_by_content(state, context, timeline);
  state.layout.arrange(area, ui.scale(), column_says_something(state, tab));
  const PanelLayout::Rects rects = state.layout.rects(area, ui.scale(), timeline);
  SessionTab& hand = in_hand(tab);
  for (const TimelineCommand* command : std::exchange(state.timeline_queue, {}))
    state.timeline_of(hand).run(ui, hand, *command);
  for (SessionTab* each : {&tab, tab.beside.get()}) {
    if (each == nullptr) continue;
    each->cursor_ns.reset();  // only now: commands act at the pointer of the last frame
    each->hovered.reset();
  }
  tab.beside ? draw_comparison(state, ui, rects.centre) : state.timeline.draw(ui, tab, rects.centre);
  if (state.timeline_of(hand).take_region_made(hand)) state.layout.show("selection");
  if (state.timeline_of(hand).take_warning_chosen(hand)) state.layout.show("warnings");
  bring_details(state, hand);
  draw_splitter(state, ui, Place::right, rects.right_splitter, area);
  draw_splitter(state, ui, Place::bottom, rects.bottom_splitter, area);
  draw_places(state, context, rects, area);
  for (const PanelInfo& panel : all_panels()) {
    if (!state.layout.is_seen(panel.name)) state.panels_of(hand).of(panel.name).keep_up(context);
  }
}

}  // namespace accelscope::app
