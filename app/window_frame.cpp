// Between the tabs and the status bar: notices and progress, then the timeline with the panels right of and below it.
#include <array>
#include <cmath>

#include "app/app_state.h"
#include "app/filter_bar.h"
#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

void draw_panel(AppState& state, const PanelContext& context, PanelId id, const Rect& area) {
  TabPanels& panels = state.panels_of(context.tab);
  switch (id) {
    case PanelId::source:
      return panels.source.draw(context, area);
    case PanelId::stack:
      return panels.stack.draw(context, area);
    case PanelId::details:
      return panels.details.draw(context, area);
    case PanelId::search:
      return panels.search.draw(context, area);
    case PanelId::selection:
      return panels.selection.draw(context, area);
    case PanelId::memory:
      return panels.memory.draw(context, area);
    case PanelId::markers:
      return panels.markers.draw(context, area);
    case PanelId::quality:
      return panels.quality.draw(context, area);
    case PanelId::metrics:
      return panels.metrics.draw(context, area);
    case PanelId::sql:
      return panels.sql.draw(context, area);
    case PanelId::output:
      return panels.output.draw(context, area);
  }
}

// Why what a panel shows is not what passes the filter; "" where it is, or where the panel says so itself.
std::string_view unfiltered_reason(PanelId id) {
  switch (id) {
    case PanelId::markers:
      return "Not filtered: markers belong to the whole session";
    case PanelId::quality:
      return "Not filtered: the quality of all data";
    case PanelId::output:
      return "Not filtered: the output of the whole run";
    case PanelId::details:
    case PanelId::stack:
      return "Not filtered: the selected event with all that it depends on";
    default:
      return "";
  }
}

void draw_unfiltered_note(const PanelContext& context, PanelId id, Rect& area) {
  const std::string_view reason = unfiltered_reason(id);
  if (context.tab.choices.filter.empty() || reason.empty()) return;
  Ui& ui = context.ui;
  const Rect strip = area.cut_top(ui.px(size::kSmallControl));
  fill(ui, strip, ui.colour(Colour::bg3));
  Rect row = strip.inset(ui.px(size::kPanelPadding), 0);
  draw_icon(ui, row.cut_left(ui.px(14)), icon::kFilter, ui.colour(Colour::text3), TextStyle::icon13);
  row.cut_left(ui.px(6));
  draw_text(ui, row, reason, {.style = TextStyle::small, .colour = Colour::text2});
}

std::string badge_of(const SessionTab& tab, PanelId id) {
  if (id == PanelId::markers && !tab.markers.empty()) return std::to_string(tab.markers.size());
  if (id == PanelId::quality) {
    const QualitySummary summary = summarise_quality(*tab.snapshot);
    if (!summary.complete()) return std::to_string(summary.errors + summary.warnings);
  }
  return "";
}

// Icons at the right end of a place's tabs: menu, maximise or restore, close.
void draw_place_buttons(AppState& state, Ui& ui, const std::string& place_name, PanelId front, Rect& strip) {
  const float side = ui.px(size::kSmallControl);
  strip.cut_right(ui.px(8));
  const Rect close = strip.cut_right(side).middle(side);
  if (icon_button(ui, place_name + ".close", close, icon::kClose, "Close this panel (View opens it again)")) {
    return state.layout.close(front);
  }
  const bool maximised = state.layout.maximised().has_value();
  const Rect size_button = strip.cut_right(side).middle(side);
  if (icon_button(ui, place_name + ".maximise", size_button, maximised ? icon::kRestore : icon::kMaximise,
                  maximised ? "Restore (Esc)" : "Maximise this panel")) {
    maximised ? state.layout.restore() : state.layout.maximise(front);
  }
  const Rect menu = strip.cut_right(side).middle(side);
  const std::string menu_name = place_name + ".menu";
  if (icon_button(ui, menu_name, menu, icon::kMenu, "Move or open panels")) open_menu_below(ui, menu_name + "s", menu);
  std::vector<MenuItem> items;
  const bool right = state.layout.place(front) == Place::right;
  items.push_back({.id = "move", .label = right ? "Move to the bottom" : "Move to the right"});
  for (const PanelInfo& panel : all_panels()) {
    items.push_back({.id = std::string(panel.name),
                     .label = std::string(panel.title),
                     .checked = state.layout.is_open(panel.id),
                     .line_above = panel.id == all_panels().front().id});
  }
  if (const auto chosen = popup_menu(ui, menu_name + "s", items)) {
    if (*chosen == "move") {
      state.layout.move(front, right ? Place::bottom : Place::right);
    } else if (const auto panel = find_panel(*chosen)) {
      state.layout.is_open(*panel) ? state.layout.close(*panel) : state.layout.show(*panel);
    }
  }
}

void draw_place(AppState& state, const PanelContext& context, Place place, const Rect& area) {
  Ui& ui = context.ui;
  const std::string place_name = place == Place::right ? "right" : "bottom";
  const std::vector<PanelId> panels = state.layout.panels_in(place);
  const PanelId front = state.layout.maximised().value_or(*state.layout.front(place));
  Rect rest = area;
  fill(ui, rest, ui.colour(Colour::bg2));
  Rect strip = rest.cut_top(ui.px(size::kPanelTabs));
  std::vector<Tab> tabs;
  std::size_t active = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const PanelInfo& info = panel_info(panels[i]);
    tabs.push_back(
        {.name = std::string(info.name), .label = std::string(info.title), .badge = badge_of(context.tab, panels[i])});
    if (panels[i] == front) active = i;
  }
  const TabStripResult result =
      tab_strip(ui, place_name, strip, tabs, active, {.reserved_right = 3 * ui.px(size::kSmallControl) + ui.px(16)});
  if (result.chosen) state.layout.show(panels[*result.chosen]);
  draw_place_buttons(state, ui, place_name, front, strip);
  draw_unfiltered_note(context, front, rest);
  if (!rest.empty()) draw_panel(state, context, front, rest);
}

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

}  // namespace

void draw_notices(AppState& state, Ui& ui, Rect& area) {
  for (const Workspace::JobView& job : state.workspace.jobs()) {
    const JobProgress progress = job.job->progress();
    if (job.job->elapsed_s() < 0.2) continue;  // short work shows nothing
    const Rect row = area.cut_top(ui.px(size::kControl));
    const std::string details = progress_text(progress);
    const std::string name = std::string("job.") + job.job->title();
    if (render::progress(ui, name, row,
                         {.label = job.job->title(),
                          .share = progress.share_text.empty() ? -1 : progress.share,
                          .details = details})) {
      state.workspace.cancel_job(job.job);
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
  Rect area = whole;
  draw_verdict(state, ui, area);
  const PanelContext context{ui, tab, state.actions};
  draw_filter_bar(context, area);
  const PanelLayout::Rects rects = state.layout.rects(area, ui.scale());
  for (const TimelineCommand command : std::exchange(state.timeline_queue, {})) state.timeline.run(ui, tab, command);
  tab.cursor_ns.reset();  // only now: commands act at the pointer of the last frame
  tab.hovered.reset();
  if (!rects.centre.empty()) state.timeline.draw(ui, tab, rects.centre);
  if (state.timeline.take_region_made(tab)) state.layout.show(PanelId::selection);
  draw_splitter(state, ui, Place::right, rects.right_splitter, area);
  draw_splitter(state, ui, Place::bottom, rects.bottom_splitter, area);
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    if (!rects.places[i].empty()) draw_place(state, context, static_cast<Place>(i), rects.places[i]);
  }
}

}  // namespace accelscope::app
