#include <imgui.h>

#include <cmath>
#include <filesystem>

#include "app/frame/app_state.h"
#include "app/frame/filter_bar.h"
#include "app/session/analysis.h"
#include "core/model/track_kinds.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

// The two places of panels: tabs with their icons, the panel in front, the slim door that a closed column leaves, and
// tabs that are dragged from one place to the other.

namespace {

void draw_unfiltered_note(const PanelContext& context, PanelId id, Rect& area) {
  const std::string_view reason = panel_info(id).unfiltered;
  if (context.tab.choices.filter.empty() || reason.empty()) return;
  Ui& ui = context.ui;
  const Rect strip = area.cut_top(ui.px(size::kSmallControl));
  fill(ui, strip, ui.colour(Colour::bg3));
  Rect row = padded(ui, strip);
  draw_icon(ui, row.cut_left(ui.px(14)), icon::kFilter, ui.colour(Colour::text3), TextStyle::icon13);
  row.cut_left(ui.px(6));
  draw_text(ui, row, reason, kLabelText);
}

// Icons at the right end of a place's tabs: pin, menu, shut (of the column), maximise or restore, close.
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
  const bool right = state.layout.place(front) == Place::right;
  if (right && !maximised) {
    const Rect shut = strip.cut_right(side).middle(side);
    if (icon_button(ui, place_name + ".shut", shut, icon::kChevronRight, "Shut this column to a slim door")) {
      return state.layout.open_column(false);
    }
  }
  const Rect menu = strip.cut_right(side).middle(side);
  const std::string menu_name = place_name + ".menu";
  if (icon_button(ui, menu_name, menu, icon::kMenu, "Move or open panels")) open_menu_below(ui, menu_name + "s", menu);
  std::vector<MenuItem> items;
  items.push_back({.id = "move", .label = right ? "Move to the bottom" : "Move to the right"});
  for (const PanelInfo& panel : all_panels()) {
    items.push_back({.id = std::string(panel.name),
                     .label = std::string(panel.title),
                     .checked = state.layout.is_open(panel.name),
                     .line_above = panel.name == all_panels().front().name});
  }
  const bool pinned = state.layout.is_pinned(front);
  const Rect pin = strip.cut_right(side).middle(side);
  if (icon_button(ui, place_name + ".pin", pin, icon::kPin,
                  pinned ? "Let Details come forward again" : "Keep this tab in front when an event is selected",
                  {.active = pinned})) {
    state.layout.pin(front, !pinned);
  }
  if (const auto chosen = popup_menu(ui, menu_name + "s", items)) {
    if (*chosen == "move") {
      state.layout.move(front, right ? Place::bottom : Place::right);
    } else if (const auto panel = find_panel(*chosen)) {
      state.layout.is_open(*panel) ? state.layout.close(*panel) : state.layout.show(*panel);
    }
  }
}

// dropped: a tab of this place that has been let go.
void draw_place(AppState& state, const PanelContext& context, Place place, const Rect& area,
                std::optional<PanelId>& dropped) {
  Ui& ui = context.ui;
  const std::string place_name = place == Place::right ? "right" : "bottom";
  TabPanels& own = state.panels_of(context.tab);
  const std::vector<PanelId> panels = state.layout.panels_in(place);
  const PanelId front = state.layout.maximised().value_or(*state.layout.front(place));
  Rect rest = area;
  fill(ui, rest, ui.colour(Colour::bg2));
  Rect strip = rest.cut_top(ui.px(size::kPanelTabs));
  std::vector<Tab> tabs;
  std::size_t active = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const PanelInfo& info = panel_info(panels[i]);
    if (panels[i] != front) own.older.erase(panels[i]);  // it shows nothing, and asks for nothing better
    tabs.push_back({.name = std::string(info.name),
                    .label = std::string(info.title),
                    .badge = own.of(panels[i]).badge(context.tab),
                    .pinned = state.layout.is_pinned(panels[i]),
                    .updating = own.older.contains(panels[i])});
    if (panels[i] == front) active = i;
  }
  const TabStripResult result =
      tab_strip(ui, place_name, strip, tabs, active, {.reserved_right = 5 * ui.px(size::kSmallControl) + ui.px(16)});
  if (result.chosen) state.layout.show(panels[*result.chosen]);
  if (result.dragged) state.dragged_tab = panels[*result.dragged];
  if (result.dropped) dropped = panels[*result.dropped];
  draw_place_buttons(state, ui, place_name, front, strip);
  draw_unfiltered_note(context, front, rest);
  if (rest.empty()) return;
  // Of both sessions, whichever is in hand.
  SessionTab& shown = front == "compare" ? *state.tab() : context.tab;
  (void)shown.analysis->take_older();
  state.panels_of(shown).of(front).draw({ui, shown, context.actions}, rest);
  if (shown.analysis->take_older()) {
    own.older.insert(front);
  } else {
    own.older.erase(front);
  }
}

// "Source: mlp_fwd.py, 9 lines with events"
std::string door_text(AppState& state, PanelId id) {
  std::string text(panel_info(id).title);
  if (id != "source") return text;
  const auto& sources = state.tab()->snapshot->sources;
  if (!sources.empty()) {
    text += ": " + (sources.size() == 1 ? std::filesystem::path(sources.front()->path).filename().string()
                                        : format_count(sources.size()) + " files");
  }
  const TabPanels& panels = state.panels_of(*state.tab());
  if (!panels.lines_known) return text;
  text += sources.empty() ? ": " : ", ";
  return text + (panels.line_count == 0 ? "no line with events"
                                        : format_count(panels.line_count) +
                                              (panels.line_count == 1 ? " line with events" : " lines with events"));
}

// The column shut: an arrow that opens it, and an icon for each of its panels.
void draw_door(AppState& state, Ui& ui, const Rect& door) {
  fill(ui, door, ui.colour(Colour::bg2));
  vertical_line(ui, door.x0, door.y0, door.y1, ui.colour(Colour::line2));
  Rect rest = door;
  rest.cut_top(ui.px(4));
  const float side = ui.px(size::kControl);
  const Rect arrow = rest.cut_top(ui.px(PanelLayout::kDoor)).middle(side);
  const auto centred = [&](const Rect& row) {
    const float x = std::floor(row.centre().x - side / 2);
    return Rect{x, row.y0, x + side, row.y1};
  };
  if (icon_button(ui, "door.open", centred(arrow), icon::kChevronLeft, "Open this column")) {
    state.layout.open_column(true);
  }
  rest.cut_top(ui.px(8));
  for (const PanelId id : state.layout.panels_in(Place::right)) {
    const Rect place = centred(rest.cut_top(ui.px(PanelLayout::kDoor)).middle(side));
    if (icon_button(ui, "door." + std::string(panel_info(id).name), place, panel_info(id).icon, door_text(state, id))) {
      state.layout.show(id);
    }
  }
}

// Where a tab of the other place would go: that place, or where it would open.
Rect drop_target(const PanelLayout::Rects& rects, const Rect& area, Place to) {
  const Rect& there = rects.places[static_cast<std::size_t>(to)];
  if (!there.empty()) return there;
  Rect rest = area;
  if (to == Place::bottom) return rest.cut_bottom(area.height() / 3);
  return rest.cut_right(area.width() / 3);
}

// Above all else, so that it is seen over panels that scroll.
void draw_dragged(Ui& ui, const Rect& target, PanelId id, bool inside) {
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const Rect box = target.inset(ui.px(2));
  const Pixel accent = ui.colour(Colour::accent);
  list->AddRectFilled(ImVec2(box.x0, box.y0), ImVec2(box.x1, box.y1), with_alpha(accent, inside ? 0.18F : 0.07F));
  list->AddRect(ImVec2(box.x0, box.y0), ImVec2(box.x1, box.y1), accent, 0, 0, ui.px(inside ? 2 : 1));
  const std::string title(panel_info(id).title);
  const Point mouse = ui.input().mouse;
  const float width = text_width(ui, TextStyle::body, title) + 2 * ui.px(10);
  const Rect tag{mouse.x + ui.px(10), mouse.y + ui.px(6), mouse.x + ui.px(10) + width,
                 mouse.y + ui.px(6) + ui.px(size::kControl)};
  list->AddRectFilled(ImVec2(tag.x0, tag.y0), ImVec2(tag.x1, tag.y1), ui.colour(Colour::bg4), ui.px(4));
  draw_text(ui, list, tag, title, {.align = Align::centre});
}

void drag_tab(AppState& state, Ui& ui, const PanelLayout::Rects& rects, const Rect& area,
              std::optional<PanelId> dropped) {
  if (!state.dragged_tab) return;
  const PanelId id = *state.dragged_tab;
  const Place to = state.layout.place(id) == Place::right ? Place::bottom : Place::right;
  const Rect target = drop_target(rects, area, to);
  const bool inside = target.contains(ui.input().mouse);
  if (ui.input().down(MouseButton::left)) {
    set_cursor(inside ? Cursor::move : Cursor::arrow);
    return draw_dragged(ui, target, id, inside);
  }
  if (inside && dropped == id) state.layout.move(id, to);
  state.dragged_tab.reset();
}

void draw_splitter(AppState& state, Ui& ui, Place place, const Rect& bar, const Rect& area) {
  if (bar.empty()) return;
  const bool right = place == Place::right;
  const Interaction response = interact(ui, right ? "splitter.right" : "splitter.bottom", bar);
  fill(ui, bar, ui.colour(response.hovered || response.held ? Colour::accent : Colour::bg0));
  if (response.hovered || response.held) set_cursor(right ? Cursor::resize_horizontal : Cursor::resize_vertical);
  if (!response.held) return;
  const float moved = right ? ui.input().mouse.x - bar.centre().x : ui.input().mouse.y - bar.centre().y;
  if (std::abs(moved) >= 1) state.layout.drag_splitter(place, moved, area, ui.scale());
}

// Whether the right column has anything to show: a panel that the user put there or chose, or a source line of any
// event.
bool column_has_text(AppState& state, SessionTab& tab) {
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
  return !tab.snapshot->sources.empty() || std::ranges::any_of(schemas, [](const auto& schema) {
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
  return tab.beside || may_grow(tab) || std::ranges::any_of(snapshot.lanes, [&](const LaneSnapshot& lane) {
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

void draw_places(AppState& state, const PanelContext& context, const PanelLayout::Rects& rects, const Rect& area) {
  std::optional<PanelId> dropped;
  SessionTab& tab = context.tab;
  const Place explained_in = state.layout.place("details");
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    if (rects.places[i].empty()) continue;
    const auto place = static_cast<Place>(i);
    const std::optional<EventId> before = tab.selected;
    draw_place(state, context, place, rects.places[i], dropped);
    // A table whose row was clicked stays in front: the user goes on to its next row.
    const bool clicked_here = place == explained_in && tab.selected && tab.selected != before;
    if (clicked_here) state.panels_of(tab).noticed = tab.selected;
  }
  if (!rects.door.empty()) draw_door(state, context.ui, rects.door);
  drag_tab(state, context.ui, rects, area, dropped);
}

}  // namespace

// Between the tabs and the status bar: notices and progress, then the timeline with the panels right of and below it.

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
  leave_list_in_front(state, in_progress(tab));
  Rect area = whole;
  tab.beside ? draw_comparison_head(state, ui, area) : draw_verdict(state, ui, area);
  const PanelContext context{ui, in_progress(tab), state.actions};
  draw_filter_bar(context, area);
  const bool timeline = has_timeline(tab);
  choose_by_content(state, context, timeline);
  state.layout.arrange(area, ui.scale(), column_has_text(state, tab));
  const PanelLayout::Rects rects = state.layout.rects(area, ui.scale(), timeline);
  SessionTab& response = in_progress(tab);
  for (const TimelineCommand* command : std::exchange(state.timeline_queue, {}))
    state.timeline_of(response).run(ui, response, *command);
  for (SessionTab* each : {&tab, tab.beside.get()}) {
    if (each == nullptr) continue;
    each->cursor_ns.reset();  // only now: commands act at the pointer of the last frame
    each->hovered.reset();
  }
  tab.beside ? draw_comparison(state, ui, rects.centre) : state.timeline.draw(ui, tab, rects.centre);
  if (state.timeline_of(response).take_region_made(response)) state.layout.show("selection");
  if (state.timeline_of(response).take_warning_chosen(response)) state.layout.show("warnings");
  bring_details(state, response);
  draw_splitter(state, ui, Place::right, rects.right_splitter, area);
  draw_splitter(state, ui, Place::bottom, rects.bottom_splitter, area);
  draw_places(state, context, rects, area);
  for (const PanelInfo& panel : all_panels()) {
    if (!state.layout.is_seen(panel.name)) state.panels_of(response).of(panel.name).keep_up(context);
  }
}

}  // namespace accelscope::app
