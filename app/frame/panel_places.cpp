// The two places of panels: tabs with their icons, the panel in front, the slim door that a closed column leaves, and
// tabs that are dragged from one place to the other.
#include <imgui.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/frame/app_state.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

void draw_unfiltered_note(const PanelContext& context, PanelId id, Rect& area) {
  const std::string_view reason = panel_info(id).unfiltered;
  if (context.tab.choices.filter.empty() || reason.empty()) return;
  Ui& ui = context.ui;
  const Rect strip = area.cut_top(ui.px(size::kSmallControl));
  fill(ui, strip, ui.colour(Colour::bg3));
  Rect row = strip.inset(ui.px(size::kPanelPadding), 0);
  draw_icon(ui, row.cut_left(ui.px(14)), icon::kFilter, ui.colour(Colour::text3), TextStyle::icon13);
  row.cut_left(ui.px(6));
  draw_text(ui, row, reason, {.style = TextStyle::small, .colour = Colour::text2});
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

}  // namespace

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

}  // namespace accelscope::app
