#include <imgui.h>

#include <cmath>
#include <filesystem>

#include "app/frame/app_state.h"
#include "app/frame/filter_bar.h"
#include "app/session/analysis.h"
#include "app/view/marker_sets.h"
#include "core/model/track_kinds.h"

namespace accelscope::app::frame {

using namespace render;  // NOLINT: this file is nothing but drawing

// The two places of panels: tabs with their icons, the panel in front, the slim door that a closed column leaves, and
// tabs that are dragged from one place to the other.

namespace {

void draw_unfiltered_note(const panels::PanelContext& context, PanelId id, Rect& area) {
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

// Whether a panel has something to say of the session; nothing until it is known.
[[nodiscard]] std::optional<bool> says_something(AppState& state, const panels::PanelContext& context, PanelId id) {
  const TabPanels& panels = state.panels_of(context.tab);
  const auto fact = panel_info(id).fact;
  if (fact != nullptr && panels.facts.value && !((*panels.facts.value).*fact)) return false;
  return panels.of(id).has_content(context);
}

// Whether a page is worth a place: it says something of this session, or it is not known yet, or the user has brought
// it to the front here.
[[nodiscard]] bool is_worth_showing(AppState& state, const panels::PanelContext& context, PanelId id) {
  const bool stays = state.panels_of(context.tab).stays.contains(id);
  if (panel_info(id).missing.empty() || stays || session::may_grow(context.tab)) return true;
  return says_something(state, context, id).value_or(true);
}

// The pages of a question that say something, and the one in front.
[[nodiscard]] std::vector<PanelId> shown_pages(AppState& state, const panels::PanelContext& context,
                                               Question question) {
  std::vector<PanelId> pages = state.layout.pages_of(question);
  std::set<PanelId>& empty = state.panels_of(context.tab).empty;
  std::erase_if(pages, [&](PanelId id) {
    const bool shown = is_worth_showing(state, context, id);
    shown ? (void)empty.erase(id) : (void)empty.insert(id);
    return !shown && !state.layout.is_seen(id);
  });
  return pages;
}

// Where a place has room for its tabs alone, what is chosen there has the window.
[[nodiscard]] bool has_timeline(const session::SessionTab& tab);
void show_chosen(AppState& state, PanelId page) {
  const bool folded = state.layout.folded() && has_timeline(*state.tab());
  folded&& state.layout.place(page) == Place::bottom ? state.layout.maximise(page) : state.layout.show_page(page);
}

void show_question(AppState& state, const panels::PanelContext& context, Question question) {
  const auto says = [&](PanelId id) { return is_worth_showing(state, context, id); };
  if (const auto page = state.layout.page_of(question, says)) show_chosen(state, *page);
}

// The tab of a page or of a question, which stands for its page where it has only one.
[[nodiscard]] Tab tab_of(AppState& state, const panels::PanelContext& context, PanelId id) {
  const PanelInfo& info = panel_info(id);
  TabPanels& own = state.panels_of(context.tab);
  return {.name = std::string(info.name),
          .label = std::string(info.title),
          .badge = own.of(id).badge(context.tab),
          .pinned = state.layout.is_pinned(id),
          .updating = own.older.contains(id)};
}

void follow_drag(AppState& state, const TabStripResult& result, std::span<const PanelId> ids,
                 std::optional<PanelId>& dropped) {
  if (result.dragged && !ids[*result.dragged].empty()) state.dragged_tab = ids[*result.dragged];
  if (result.dropped && !ids[*result.dropped].empty()) dropped = ids[*result.dropped];
}

// A tab for each question, in the strip's left; returns where the pages of the one in front go: beside them, or where
// there is no room into a row of their own, off the top of `rest`.
Rect draw_questions(AppState& state, const panels::PanelContext& context, const Rect& strip, Rect& rest, PanelId front,
                    std::span<const Tab> pages, float reserved, std::optional<PanelId>& dropped) {
  Ui& ui = context.ui;
  std::vector<Tab> tabs;
  std::vector<Question> questions;
  std::vector<PanelId> alone;  // the only page, which goes where the tab is dragged to; "": there are more
  std::size_t active = 0;
  for (std::size_t i = 0; i < kQuestionCount; ++i) {
    const auto question = static_cast<Question>(i);
    const std::vector<PanelId> shown = shown_pages(state, context, question);
    if (shown.empty()) continue;
    if (panel_info(front).question == question) active = tabs.size();
    alone.push_back(shown.size() == 1 ? shown.front() : PanelId());
    Tab tab = shown.size() == 1 ? tab_of(state, context, shown.front()) : Tab{};
    if (panel_info(front).question != question) tab.badge = tab_of(state, context, shown.front()).badge;
    tab.name = question_info(question).name;
    tab.label = question_info(question).title;
    tabs.push_back(std::move(tab));
    questions.push_back(question);
  }
  const float room = strip.width() - reserved;
  const float pages_width = pages.size() < 2 ? 0 : tab_strip_width(ui, pages) + ui.px(16);
  if (tab_strip_width(ui, tabs) + pages_width > room) {
    for (std::size_t i = 0; i < tabs.size(); ++i) tabs[i].label = question_info(questions[i]).brief;
  }
  Rect right = strip;
  const TabStripResult result =
      tab_strip(ui, "questions", right.cut_left(std::min(tab_strip_width(ui, tabs), room)), tabs, active);
  fill(ui, right, ui.colour(Colour::bg0));
  if (result.chosen) show_question(state, context, questions[*result.chosen]);
  follow_drag(state, result, alone, dropped);
  if (pages_width == 0) return {};
  if (pages_width > right.width() - reserved) {
    return rest.cut_top(ui.px(size::kPanelTabs)).inset(ui.px(8), 0);
  }
  right.cut_left(ui.px(8));
  vertical_line(ui, right.x0, right.y0 + ui.px(6), right.y1 - ui.px(6), ui.colour(Colour::line2));
  right.cut_left(ui.px(8));
  right.cut_right(reserved);
  return right;
}

// dropped: a tab of this place that has been let go.
void draw_place(AppState& state, const panels::PanelContext& context, Place place, const Rect& area,
                std::optional<PanelId>& dropped) {
  Ui& ui = context.ui;
  const std::string place_name = place == Place::right ? "right" : "bottom";
  const Pane& own_pane = place == Place::right ? kRightPane : kBottomPane;
  const FocusPane pane(ui, own_pane.name, own_pane.order);
  TabPanels& own = state.panels_of(context.tab);
  const PanelId front = state.layout.maximised().value_or(*state.layout.front(place));
  const std::vector<PanelId> panels =
      place == Place::right ? state.layout.panels_in(place) : shown_pages(state, context, panel_info(front).question);
  Rect rest = area;
  fill(ui, rest, ui.colour(Colour::bg2));
  Rect strip = rest.cut_top(ui.px(size::kPanelTabs));
  for (const PanelId id : state.layout.panels_in(place)) {
    if (id != front) own.older.erase(id);  // it shows nothing, and asks for nothing better
  }
  std::vector<Tab> tabs;
  for (const PanelId id : panels) tabs.push_back(tab_of(state, context, id));
  const auto active = static_cast<std::size_t>(std::ranges::find(panels, front) - panels.begin());
  const float reserved = 5 * ui.px(size::kSmallControl) + ui.px(16);
  const bool asks = place == Place::bottom;
  const Rect pages = asks ? draw_questions(state, context, strip, rest, front, tabs, reserved, dropped) : strip;
  if (!pages.empty()) {
    const TabStripResult result =
        tab_strip(ui, place_name, pages, tabs, active, {.reserved_right = asks ? 0 : reserved, .pages = asks});
    if (result.chosen) show_chosen(state, panels[*result.chosen]);
    follow_drag(state, result, panels, dropped);
  }
  draw_place_buttons(state, ui, place_name, front, strip);
  draw_unfiltered_note(context, front, rest);
  if (rest.empty()) return;
  // Of all sessions of a comparison, whichever is in hand.
  session::SessionTab& shown = front == "compare" ? *state.tab() : context.tab;
  (void)shown.analysis->take_older();
  ImGui::PushClipRect({area.x0, area.y0}, {area.x1, area.y1}, true);  // in a small window a panel has more than room
  state.panels_of(shown).of(front).draw({ui, shown, context.actions}, rest);
  ImGui::PopClipRect();
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
  const FocusPane pane(ui, kRightPane.name, kRightPane.order);
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
    if (rest.height() < ui.px(PanelLayout::kDoor)) return;  // the arrow opens all of them
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

constexpr float kSplitterStep = 16, kSplitterFar = 80;  // units that an arrow moves it by, and with Shift

void draw_splitter(AppState& state, Ui& ui, Place place, const Rect& bar, const Rect& area) {
  if (bar.empty()) return;
  const bool right = place == Place::right;
  const Interaction response = interact(
      ui, right ? "splitter.right" : "splitter.bottom", bar,
      {.keys = FocusStopKind::handle, .label = right ? "Width of the right column" : "Height of the panels below"});
  const HandleKeys keys = handle_keys(ui, response);
  const float whole = right ? area.width() : area.height();
  const float by =
      static_cast<float>(right ? keys.across : keys.along) * ui.px(keys.far ? kSplitterFar : kSplitterStep) +
      static_cast<float>(keys.to_end) * whole;
  if (by != 0) state.layout.drag_splitter(place, by, area, ui.scale());
  float& was_reset = ui.remembered(right ? "splitter.right#reset" : "splitter.bottom#reset");  // by the press under way
  if (response.double_clicked) {
    state.layout.reset_size(place);
    was_reset = 1;
  }
  fill(ui, bar, ui.colour(response.hovered || response.held ? Colour::accent : Colour::bg0));
  if (response.hovered || response.held) set_cursor(right ? Cursor::resize_horizontal : Cursor::resize_vertical);
  if (!response.held) was_reset = 0;
  if (was_reset != 0 || !response.held) return;
  const float moved = right ? ui.input().mouse.x - bar.centre().x : ui.input().mouse.y - bar.centre().y;
  if (std::abs(moved) >= 1) state.layout.drag_splitter(place, moved, area, ui.scale());
}

// Whether the right column has anything to show: a panel that the user put there or chose, or a source line of any
// event.
bool column_has_text(AppState& state, session::SessionTab& tab) {
  for (const PanelId id : state.layout.panels_in(Place::right)) {
    const bool tells_of_source = id == "source" || id == "stack";
    if (panel_info(id).place != Place::right || (!tells_of_source && state.layout.front(Place::right) == id))
      return true;
  }
  TabPanels& panels = state.panels_of(tab);
  if (!panels.lines_known && !session::may_grow(tab) && tab.choices.filter.empty()) {
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
void bring_details(AppState& state, session::SessionTab& tab) {
  std::optional<EventId>& noticed = state.panels_of(tab).noticed;
  const bool other_tab = std::exchange(state.arranged_for, &tab) != &tab;
  if (!other_tab && tab.selected == noticed) return;
  noticed = tab.selected;
  state.layout.selection_changed(tab.selected.has_value());
}

// A marker whose flag was clicked: its page, and its time where everything else is in front of that.
void show_marker(AppState& state, const session::SessionTab& tab) {
  const auto marker = std::ranges::find(tab.markers, tab.chosen_marker, &Marker::id);
  if (marker == tab.markers.end()) return;
  state.layout.show("markers");
  const std::string length = marker->end_ns ? ", " + format_time_exact(*marker->end_ns - marker->ts_ns) + " long" : "";
  state.inform("Marker " + view::marker_called(*marker) + " at " + format_time_exact(marker->ts_ns) + length);
}

// Whoever steps through the hits from the search box goes on to look at their list, and through rows of SQL to the
// next.
void leave_list_in_front(AppState& state, session::SessionTab& tab) {
  const session::ChosenIn where = std::exchange(tab.chosen_in, session::ChosenIn::elsewhere);
  const bool of_sql = where == session::ChosenIn::sql && state.layout.place("sql") == state.layout.place("details");
  const bool of_hits = where == session::ChosenIn::elsewhere && state.layout.is_seen("search");
  if (tab.selected && (of_sql || of_hits)) state.panels_of(tab).noticed = tab.selected;
}

// Some profiles are figures and tables alone.
bool has_timeline(const session::SessionTab& tab) {
  if (!tab.snapshot) return true;
  const Snapshot& snapshot = *tab.snapshot;
  return !tab.beside.empty() || session::may_grow(tab) ||
         std::ranges::any_of(snapshot.lanes, [&](const LaneSnapshot& lane) {
           const TrackSnapshot* const track = snapshot.find_track(lane.track);
           return track != nullptr && lane.event_count > 0 && track_kind_of(track->track->kind).has_rows;
         });
}

// A session opens with the panel that its content asks for. The panel that was used last may be empty for it: then
// another one stands in front. What once had something to say here, or was asked for, stays.
void choose_by_content(AppState& state, const panels::PanelContext& context, bool timeline) {
  TabPanels& panels = state.panels_of(context.tab);
  if (const auto name = state.layout.take_opened()) panels.of(*name).open_at(*name);
  for (const auto& chosen : state.layout.take_chosen()) {
    if (chosen) panels.stays.insert(*chosen);
  }
  const bool other = state.arranged_for != &context.tab;
  content::SessionContent content =
      other ? content::content_of_tracks(*context.tab.snapshot) : content::SessionContent();
  content.grows = session::may_grow(context.tab);
  content.timeline = timeline;
  content.figures = !context.tab.snapshot->metrics.empty();
  const std::optional<PanelId> asked = opening_panel(content);
  const PanelId summary = timeline ? "selection" : asked.value_or("tables");
  if (content.grows) {  // it may still come
    panels.facts.drop();
    return state.layout.greet(other, asked, summary, [](PanelId) { return true; });
  }
  (void)context.analysis().ask(panels.facts, content::page_facts);
  state.layout.greet(other, asked, summary, [&](PanelId id) {
    if (panels.stays.contains(id)) return true;
    const std::optional<bool> known = timeline ? says_something(state, context, id) : id == summary;
    if (known == true) panels.stays.insert(id);
    return known.value_or(true);
  });
}

void draw_places(AppState& state, const panels::PanelContext& context, const PanelLayout::Rects& rects,
                 const Rect& area) {
  std::optional<PanelId> dropped;
  session::SessionTab& tab = context.tab;
  if (state.wanted_question) show_question(state, context, *std::exchange(state.wanted_question, {}));
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
  const FocusPane pane(ui, kNoticesPane.name, kNoticesPane.order);
  std::vector<session::BackgroundJob*> jobs = state.workspace.jobs();
  for (session::BackgroundJob* job : state.library.jobs()) jobs.push_back(job);
  for (session::BackgroundJob* job : jobs) {
    const session::JobProgress progress = job->progress();
    if (job->elapsed_s() < 0.2) continue;  // short work shows nothing
    const Rect row = area.cut_top(ui.px(size::kControl));
    const std::string details = session::progress_text(progress);
    const std::string name = "job." + job->title();
    if (render::progress(
            ui, name, row,
            {.label = job->title(), .share = progress.share_text.empty() ? -1 : progress.share, .details = details})) {
      job->cancel();
    }
  }
  const std::vector<workspace::Notice> notices = state.workspace.notices();
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
  session::SessionTab& tab = *state.tab();
  leave_list_in_front(state, session::in_progress(tab));
  const FocusPane pane(ui, kTimelinePane.name, kTimelinePane.order, "timeline.canvas");
  Rect area = whole;
  tab.beside.empty() ? draw_verdict(state, ui, area) : draw_comparison_head(state, ui, area);
  const panels::PanelContext context{ui, session::in_progress(tab), state.actions};
  draw_filter_bar(context, area);
  const bool timeline = has_timeline(tab);
  choose_by_content(state, context, timeline);
  state.layout.arrange(area, ui.scale(), column_has_text(state, tab));
  const PanelLayout::Rects rects = state.layout.rects(area, ui.scale(), timeline);
  session::SessionTab& response = session::in_progress(tab);
  for (const timeline::TimelineCommand* command : std::exchange(state.timeline_queue, {}))
    state.timeline_of(response).run(ui, response, *command);
  for (session::SessionTab* each : session::sessions_of(tab)) {
    each->cursor_ns.reset();  // only now: commands act at the pointer of the last frame
    each->hovered.reset();
  }
  tab.beside.empty() ? state.timeline.draw(ui, tab, rects.centre) : draw_comparison(state, ui, rects.centre);
  if (state.timeline_of(response).take_region_made(response)) state.layout.show("selection");
  if (state.timeline_of(response).take_warning_chosen(response)) state.layout.show("warnings");
  if (state.timeline_of(response).take_marker_chosen(response)) show_marker(state, response);
  bring_details(state, response);
  draw_splitter(state, ui, Place::right, rects.right_splitter, area);
  draw_splitter(state, ui, Place::bottom, rects.bottom_splitter, area);
  draw_places(state, context, rects, area);
  for (const PanelInfo& panel : all_panels()) {
    if (state.layout.is_seen(panel.name)) continue;
    panels::Panel& unseen = state.panels_of(response).of(panel.name);
    state.layout.is_behind_details(panel.name) ? unseen.keep_up(context) : unseen.leave(context);
  }
}

}  // namespace accelscope::app::frame
