#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/imgui_compat.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {

float heading(Ui& ui, const Rect& row, std::string_view title, std::string_view hint) {
  Rect rest = row;
  rest.cut_left(draw_text(ui, row, title, {.style = TextStyle::heading}));
  if (hint.empty()) return rest.x0;
  rest.cut_left(ui.px(8));
  return rest.x0 + draw_text(ui, rest, hint, kHintText);
}

void group_heading(Ui& ui, Rect& area, std::string_view title) {
  const Rect row = area.cut_top(ui.px(24));
  draw_text(ui, row, title, kGroupText);
  horizontal_line(ui, row.x0, row.x1, row.y1 - ui.px(3), ui.colour(Colour::line1));
}

Rect cut_pane(Ui& ui, Rect& area, float width) {
  const Rect pane = area.cut_right(width);
  vertical_line(ui, pane.x0, pane.y0, pane.y1, ui.colour(Colour::line2));
  return pane;
}

ScrollArea::ScrollArea(Ui& ui, std::string_view name, const Rect& area, float content_height, float content_width) {
  ui.register_widget(name, area);
  const float bar = ui.px(10);
  const float width = std::max(0.0F, area.width());
  const float height = std::max(0.0F, area.height());
  const bool bar_below = content_width > width;
  const bool bar_right = content_height > height - (bar_below ? bar : 0);
  compat::place_next_item(ImVec2(area.x0, area.y0));
  ImGui::SetNextWindowContentSize(ImVec2(content_width, content_height));
  ImGui::BeginChild(ImGui::GetID(std::string(name).c_str()), ImVec2(std::max(1.0F, width), std::max(1.0F, height)),
                    false,
                    ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                        (bar_below ? ImGuiWindowFlags_HorizontalScrollbar : ImGuiWindowFlags_None));
  visible_ = {area.x0, area.y0, area.x1 - (bar_right ? bar : 0), area.y1 - (bar_below ? bar : 0)};
  const float x = area.x0 - std::round(ImGui::GetScrollX());
  const float y = area.y0 - std::round(ImGui::GetScrollY());
  content_ = {x, y, x + std::max(content_width, visible_.width()), y + std::max(content_height, 0.0F)};
}

ScrollArea::~ScrollArea() { ImGui::EndChild(); }

void ScrollArea::show(const Rect& part) {
  if (part.y0 < visible_.y0) ImGui::SetScrollY(ImGui::GetScrollY() + part.y0 - visible_.y0);
  if (part.y1 > visible_.y1) ImGui::SetScrollY(ImGui::GetScrollY() + part.y1 - visible_.y1);
}

void ScrollArea::move(float down) {
  const float most = std::max(0.0F, content_.height() - visible_.height());
  const float from = std::round(ImGui::GetScrollY());
  const float to = std::clamp(from + std::round(down), 0.0F, most);
  ImGui::SetScrollY(to);
  content_.y0 -= to - from;
  content_.y1 -= to - from;
}

// Tab strips.

namespace {

constexpr float kTabStripPadding = 12, kTabStripIconBox = 14, kTabStripIconGap = 6, kDetailGap = 8, kClose = 22,
                kAdd = 30, kPinned = 18;
constexpr float kTabDragSlack = 6;  // units that a press moves before the tab comes along

float tab_width(const Ui& ui, const Tab& tab) {
  float width = 2 * ui.px(kTabStripPadding) + std::ceil(text_width(ui, TextStyle::body, tab.label));
  if (tab.icon != nullptr) width += ui.px(kTabStripIconBox) + ui.px(kTabStripIconGap);
  if (!tab.detail.empty()) width += ui.px(kDetailGap) + std::ceil(text_width(ui, TextStyle::small, tab.detail));
  if (!tab.badge.empty()) {
    width += ui.px(kDetailGap) + std::ceil(text_width(ui, TextStyle::mono_small, tab.badge)) + ui.px(8);
  }
  if (tab.pinned) width += ui.px(kPinned);
  return width + (tab.closable ? ui.px(kClose) - ui.px(kTabStripPadding) / 2 : 0);
}

std::string tab_part(std::string_view strip, std::string_view name) {
  return std::string(strip) + '.' + std::string(name);
}

struct TabHits {
  bool chosen = false;
  bool closed = false;
  bool right_clicked = false;
  bool dragged = false;
};

TabHits draw_tab(Ui& ui, const std::string& name, const Rect& rect, const Tab& tab, bool active, bool is_page) {
  TabHits hits;
  const Interaction at = interact(ui, name, rect, {.below_others = tab.closable, .chosen = active, .label = tab.label});
  if (is_page) {
    const Rect chip = rect.inset(ui.px(1), 0).middle(ui.px(size::kSmallControl) - ui.px(4));
    if (active || at.hovered) fill(ui, chip, ui.colour(active ? Colour::accent_bg : Colour::bg3), size::kChipRadius);
  } else if (active) {
    Rect body = rect;
    fill(ui, body, ui.colour(Colour::bg2));
    fill(ui, body.cut_top(ui.px(size::kAccentLine)), ui.colour(Colour::accent));
  } else if (at.hovered) {
    fill(ui, rect, mix(ui.colour(Colour::bg0), ui.colour(Colour::bg3), 0.7F));
  }
  Rect inside = rect.inset(ui.px(kTabStripPadding), 0);
  if (tab.closable) {
    Rect close = {rect.x1 - ui.px(kClose), rect.y0, rect.x1 - ui.px(4), rect.y1};
    inside.x1 = close.x0;
    const Interaction at_close = interact(ui, name + ".close", close.middle(ui.px(18)), {.label = "Close"});
    if (at_close.hovered) fill(ui, close.middle(ui.px(18)), ui.colour(Colour::bg4), size::kChipRadius);
    draw_icon(ui, close, icon::kClose, ui.colour(at_close.hovered || active ? Colour::text1 : Colour::text3),
              TextStyle::icon12);
    tooltip(ui, at_close, close, "Close");
    hits.closed = at_close.clicked || at.middle_clicked;
  }
  if (tab.icon != nullptr) {
    draw_icon(ui, inside.cut_left(ui.px(kTabStripIconBox)), tab.icon,
              ui.colour(active ? Colour::accent : Colour::text3));
    inside.cut_left(ui.px(kTabStripIconGap));
  }
  const Colour label = active || at.hovered ? Colour::text1 : Colour::text2;
  inside.cut_left(draw_text(ui, inside, tab.label, {.colour = label, .fit = Fit::middle}) + ui.px(kDetailGap));
  if (!tab.detail.empty()) {
    const float width = draw_text(ui, inside, tab.detail,
                                  {.style = TextStyle::small, .colour = active ? Colour::text2 : Colour::text3});
    inside.cut_left(width + ui.px(kDetailGap));
  }
  if (!tab.badge.empty()) inside.cut_left(badge(ui, inside, tab.badge));
  if (tab.pinned) {
    draw_icon(ui, {inside.x1 - ui.px(kTabStripPadding), inside.y0, inside.x1, inside.y1}, icon::kPin,
              ui.colour(Colour::text3), TextStyle::icon12);
  }
  if (tab.updating) {
    const Rect margin = {rect.x1 - ui.px(kTabStripPadding - 3), rect.y0, rect.x1 + ui.px(3), rect.y1};
    const Interaction at_clock = interact(ui, name + ".updating", margin, {.keys = FocusStopKind::open});
    draw_icon(ui, margin, icon::kClock, ui.colour(Colour::text3), TextStyle::icon12);
    tooltip(ui, at_clock, margin, "Updating: more has been recorded since");
  }
  if (!tab.tooltip.empty()) tooltip(ui, at, rect, tab.tooltip);
  hits.chosen = at.pressed && !hits.closed;
  hits.right_clicked = at.right_clicked;
  const float slack = ui.px(kTabDragSlack);
  hits.dragged = at.held && ImGui::GetIO().MouseDragMaxDistanceSqr[ImGuiMouseButton_Left] > slack * slack;
  return hits;
}

// The tabs that fit, as [first, last): a window over the strip that keeps the active one in sight.
struct Shown {
  std::size_t first = 0;
  std::size_t last = 0;
};

Shown tabs_that_fit(const std::vector<float>& widths, float room, std::size_t active) {
  Shown shown{0, 0};
  float used = 0;
  while (shown.last < widths.size()) {
    used += widths[shown.last];
    ++shown.last;
    while (used > room && shown.first + 1 < shown.last) {
      if (shown.last - 1 > active) return {shown.first, shown.last - 1};
      used -= widths[shown.first];
      ++shown.first;
    }
  }
  return shown;
}

}  // namespace

float tab_strip_width(const Ui& ui, std::span<const Tab> tabs) {
  float width = 0;
  for (const Tab& tab : tabs) width += tab_width(ui, tab);
  return width;
}

TabStripResult tab_strip(Ui& ui, std::string_view name, const Rect& rect, std::span<const Tab> tabs,
                         std::optional<std::size_t> active, const TabStripOptions& options) {
  if (!options.pages) fill(ui, rect, ui.colour(Colour::bg0));
  TabStripResult result;
  std::vector<float> widths;
  float total = 0;
  for (const Tab& tab : tabs) total += widths.emplace_back(tab_width(ui, tab));
  Rect rest = rect;
  rest.cut_right(options.reserved_right);
  const float add_width = options.can_add ? ui.px(kAdd) : 0;
  const bool overflows = total > rest.width() - add_width;
  const ButtonOptions more_options{.label = "More", .kind = ButtonKind::flat, .tooltip = "All tabs"};
  const float more_width = button_width(ui, more_options);
  const float room = rest.width() - add_width - (overflows ? more_width : 0);
  const FocusGroup group(ui, name,
                         active && *active < tabs.size() ? tab_part(name, tabs[*active].name) : std::string());
  float& dragged = ui.remembered(tab_part(name, "#dragged"));  // one more than its index; 0: none
  const Shown shown = tabs_that_fit(widths, room, active.value_or(0));
  for (std::size_t index = shown.first; index < shown.last; ++index) {
    const Rect place = rest.cut_left(std::min(widths[index], room));
    const bool is_active = active == index;
    const TabHits hits = draw_tab(ui, tab_part(name, tabs[index].name), place, tabs[index], is_active, options.pages);
    const bool next_is_active = active == index + 1;
    if (!is_active && !next_is_active && options.can_add) {
      vertical_line(ui, place.x1 - ui.px(1), rect.y0 + ui.px(8), rect.y1 - ui.px(8), ui.colour(Colour::line2));
    }
    if (hits.chosen) result.chosen = index;
    if (hits.closed) result.closed = index;
    if (hits.right_clicked) result.right_clicked = index;
    if (hits.dragged) dragged = static_cast<float>(index + 1);
  }
  if (const auto index = static_cast<std::size_t>(dragged); index > 0 && index <= tabs.size()) {
    const bool held = ui.input().down(MouseButton::left);
    (held ? result.dragged : result.dropped) = index - 1;
    if (!held) dragged = 0;
  }
  if (overflows) {
    const Rect more = rest.cut_left(more_width).middle(ui.px(size::kSmallControl));
    const std::string more_name = tab_part(name, "more");
    if (button(ui, more_name, more, more_options)) open_menu_below(ui, more_name + ".menu", more);
    std::vector<MenuItem> items;
    for (std::size_t index = 0; index < tabs.size(); ++index) {
      items.push_back({.id = std::to_string(index), .label = tabs[index].label, .checked = active == index});
    }
    if (const auto picked = popup_menu(ui, more_name + ".menu", items)) {
      result.chosen = static_cast<std::size_t>(std::stoul(*picked));
    }
  }
  if (options.can_add) {
    const Rect add = rest.cut_left(add_width).middle(ui.px(size::kSmallControl));
    result.add = icon_button(ui, tab_part(name, "add"), add, icon::kPlus, "New tab");
  }
  return result;
}

}  // namespace accelscope::render
