#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/imgui_compat.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {
namespace {

constexpr float kItemHeight = 26, kPadding = 10, kIconColumn = 24, kShortcutGap = 32, kLine = 9, kMenuMargin = 4;
constexpr ImGuiWindowFlags kPopupFlags =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav;

ImGuiID popup_id(std::string_view name) { return ImHashStr(name.data(), name.size(), 0x706f7075); }

std::string menu_part(std::string_view name, std::string_view id) { return std::string(name) + '.' + std::string(id); }

struct MenuSize {
  float width = 0;
  float height = 0;
};

MenuSize size_of(const Ui& ui, std::span<const MenuItem> items) {
  MenuSize menu;
  for (const MenuItem& item : items) {
    float width = text_width(ui, TextStyle::body, item.label);
    if (!item.shortcut.empty()) width += ui.px(kShortcutGap) + text_width(ui, TextStyle::mono_small, item.shortcut);
    if (!item.children.empty()) width += ui.px(kIconColumn);
    menu.width = std::max(menu.width, width);
    menu.height += ui.px(kItemHeight) + (item.line_above ? ui.px(kLine) : 0);
  }
  menu.width = std::max(ui.px(140), std::ceil(menu.width) + ui.px(kIconColumn) + 2 * ui.px(kPadding));
  menu.height += 2 * ui.px(kMenuMargin);
  return menu;
}

// Moves the keyboard's mark over the items that can be chosen; -1: none is marked.
void move_mark(std::span<const MenuItem> items, float& mark, int step) {
  const auto count = static_cast<int>(items.size());
  int at = static_cast<int>(mark);
  for (int tried = 0; tried < count; ++tried) {
    at = at < 0 && step < 0 ? count - 1 : (at + step + count) % count;
    if (items[static_cast<std::size_t>(at)].enabled) {
      mark = static_cast<float>(at);
      return;
    }
  }
}

bool begins_with(std::string_view text, std::string_view start) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(), [&](char a, char b) { return small(a) == small(b); });
}

// Letters that are typed mark the first item that begins with them, or has a word that does.
void mark_typed(Ui& ui, std::string_view name, std::span<const MenuItem> items, float& mark) {
  if (ui.keys_go_elsewhere()) return;
  std::string& typed = ui.type_ahead(name);
  if (ui.input().text.empty()) return;
  typed += ui.input().text;
  const auto mark_first = [&](const auto& fits) {
    const auto found =
        std::ranges::find_if(items, [&](const MenuItem& item) { return item.enabled && fits(item.label); });
    if (found != items.end()) mark = static_cast<float>(found - items.begin());
    return found != items.end();
  };
  if (mark_first([&](const std::string& label) { return begins_with(label, typed); })) return;
  mark_first([&](const std::string& label) {
    for (std::size_t at = label.find(' '); at != std::string::npos; at = label.find(' ', at + 1)) {
      if (begins_with(std::string_view(label).substr(at + 1), typed)) return true;
    }
    return false;
  });
}

void draw_item(Ui& ui, const Rect& row, const MenuItem& item, bool lit) {
  if (lit) fill(ui, row.inset(ui.px(4), 0), ui.colour(Colour::accent_bg), size::kChipRadius);
  Rect inside = row.inset(ui.px(kPadding), 0);
  Rect icon_box = inside.cut_left(ui.px(kIconColumn));
  icon_box.x1 -= ui.px(8);
  const Colour label = item.enabled ? Colour::text1 : Colour::disabled;
  const char* shown_icon = item.checked ? icon::kCheck : item.icon;
  if (shown_icon != nullptr) {
    const Colour colour = !item.enabled ? Colour::disabled : item.checked ? Colour::accent : Colour::text2;
    draw_icon(ui, icon_box, shown_icon, ui.colour(colour));
  }
  draw_text(ui, inside, item.label, {.colour = label, .fit = Fit::middle});
  if (!item.children.empty()) {
    Rect caret = inside;
    draw_icon(ui, caret.cut_right(ui.px(10)), icon::kCaretRight, ui.colour(Colour::text3));
  }
  draw_text(ui, inside, item.shortcut,
            {.style = TextStyle::mono_small,
             .colour = item.enabled ? Colour::text3 : Colour::disabled,
             .align = Align::right});
}

std::optional<std::string> draw_items(Ui& ui, std::string_view name, const Rect& box, std::span<const MenuItem> items) {
  float& mark = ui.remembered(menu_part(name, "#mark"), -1);
  if (ui.pressed(Key::down)) move_mark(items, mark, 1);
  if (ui.pressed(Key::up)) move_mark(items, mark, -1);
  mark_typed(ui, name, items, mark);
  const bool enter = ui.pressed(Key::enter, {}, false);
  std::optional<std::string> chosen;
  Rect rest = box.inset(0, ui.px(kMenuMargin));
  for (std::size_t index = 0; index < items.size(); ++index) {
    const MenuItem& item = items[index];
    if (item.line_above) {
      const Rect gap = rest.cut_top(ui.px(kLine));
      horizontal_line(ui, gap.x0 + ui.px(4), gap.x1 - ui.px(4), gap.centre().y, ui.colour(Colour::line2));
    }
    const Rect row = rest.cut_top(ui.px(kItemHeight));
    const std::string item_name = menu_part(name, item.id);
    const Interaction at = interact(ui, item_name, row, {.disabled = !item.enabled});
    const ImVec2 moved = ImGui::GetIO().MouseDelta;  // a pointer that rests leaves the mark to the keys
    if (at.hovered && item.enabled && (moved.x != 0 || moved.y != 0)) mark = static_cast<float>(index);
    const bool marked = static_cast<int>(mark) == static_cast<int>(index);
    const bool submenu_open = !item.children.empty() && menu_is_open(item_name);
    draw_item(ui, row, item, (marked && item.enabled) || submenu_open);
    const bool taken = item.enabled && (at.clicked || (marked && enter));
    if (item.children.empty()) {
      if (taken) chosen = item.id;
      continue;
    }
    const bool opens = taken || (at.hovered && at.hovered_for > kHoverCardDelay) || (marked && ui.pressed(Key::right));
    if (item.enabled && opens && !submenu_open) {
      open_menu_below(ui, item_name, {row.x1, row.y0 - ui.px(kMenuMargin), row.x1, row.y0 - ui.px(kMenuMargin)});
    }
    if (auto below = popup_menu(ui, item_name, item.children)) chosen = below;
  }
  return chosen;
}

void open_at(Ui& ui, std::string_view name, Point where, float above) {
  ui.remembered(menu_part(name, "#x")) = where.x;
  ui.remembered(menu_part(name, "#y")) = where.y;
  ui.remembered(menu_part(name, "#above")) = above;
  ui.remembered(menu_part(name, "#mark"), -1) = -1;
  ImGui::OpenPopupEx(popup_id(name));
  ui.request_frame();
}

// The closed box with its value; a press opens the menu of its name. True while that is open.
bool dropdown_box(Ui& ui, std::string_view name, const Rect& rect, std::string_view value,
                  const DropdownOptions& options) {
  const Interaction at = interact(ui, name, rect, {.disabled = options.disabled});
  const bool open = menu_is_open(name);
  if (!options.flat) {
    fill(ui, rect, ui.colour(Colour::bg1), size::kControlRadius);
    const Colour border = open ? Colour::accent : at.hovered && !options.disabled ? Colour::text3 : Colour::line2;
    outline(ui, rect, ui.colour(border), size::kControlRadius, open ? size::kFocusRing : 1);
  }
  Rect inside = options.flat ? rect : rect.inset(ui.px(9), 0);
  const Pixel muted = ui.colour(options.disabled ? Colour::disabled : Colour::text2);
  draw_icon(ui, inside.cut_right(ui.px(10)), icon::kCaretDown, muted);
  inside.cut_right(ui.px(6));
  if (options.icon != nullptr) {
    draw_icon(ui, inside.cut_left(ui.px(14)), options.icon, muted);
    inside.cut_left(ui.px(6));
  }
  const TextStyle style = options.mono ? TextStyle::mono : TextStyle::body;
  const Colour colour = options.disabled ? Colour::disabled
                        : options.flat   ? (at.hovered ? Colour::text1 : Colour::text2)
                                         : Colour::text1;
  if (options.flat) {  // label and value end at the caret
    const float text = text_width(ui, TextStyle::body, options.label) + text_width(ui, style, value);
    inside.x0 = std::max(inside.x0, std::floor(inside.x1 - text - 1));
  }
  inside.cut_left(draw_text(ui, inside, options.label, {.colour = options.flat ? colour : Colour::text2}));
  draw_text(ui, inside, value, {.style = style, .colour = colour, .fit = Fit::middle});
  if (at.pressed && !options.disabled) open_menu_below(ui, name, rect);
  if (!open && !options.tooltip.empty()) tooltip(ui, at, rect, options.tooltip);

  return menu_is_open(name);
}

}  // namespace

void open_menu(Ui& ui, std::string_view name) { open_at(ui, name, ui.input().mouse, ui.input().mouse.y); }

void open_menu_below(Ui& ui, std::string_view name, const Rect& anchor) {
  open_at(ui, name, {anchor.x0, anchor.y1}, anchor.y0);
}

bool menu_is_open(std::string_view name) { return ImGui::IsPopupOpen(popup_id(name), ImGuiPopupFlags_AnyPopupLevel); }

std::optional<std::string> popup_menu(Ui& ui, std::string_view name, std::span<const MenuItem> items) {
  if (!menu_is_open(name)) return std::nullopt;
  const MenuSize menu = size_of(ui, items);
  const Rect window = ui.window();
  const float shown_height = std::min(menu.height, window.height());
  float x = std::min(ui.remembered(menu_part(name, "#x")), window.x1 - menu.width);
  float y = ui.remembered(menu_part(name, "#y"));
  if (y + shown_height > window.y1) {  // no room below: above the anchor, or as low as it goes
    const float above = ui.remembered(menu_part(name, "#above")) - shown_height;
    y = above >= window.y0 ? above : window.y1 - shown_height;
  }
  x = std::round(std::max(window.x0, x));
  y = std::round(y);
  ImGui::SetNextWindowPos(ImVec2(x, y));
  ImGui::SetNextWindowSize(ImVec2(menu.width, shown_height));
  ImGui::SetNextWindowContentSize(ImVec2(0, menu.height));
  const ImGuiWindowFlags scrolls = menu.height > shown_height ? 0 : ImGuiWindowFlags_NoScrollbar;
  constexpr ImGuiWindowFlags kOwnScroll = kPopupFlags & ~ImGuiWindowFlags_NoScrollbar;
  if (!ImGui::BeginPopupEx(popup_id(name), kOwnScroll | scrolls)) return std::nullopt;
  const float top = y - ImGui::GetScrollY();
  auto chosen = draw_items(ui, name, {x, top, x + menu.width, top + menu.height}, items);
  if (chosen || ui.pressed(Key::escape, {}, false)) {
    ImGui::CloseCurrentPopup();
    ui.request_frame();
  }
  ImGui::EndPopup();
  return chosen;
}

std::optional<std::string> menu_bar(Ui& ui, std::string_view name, const Rect& rect, std::span<const Menu> menus,
                                    float* used_width) {
  std::optional<std::string> chosen;
  Rect rest = rect;
  const bool any_open =
      std::ranges::any_of(menus, [&](const Menu& menu) { return menu_is_open(menu_part(name, menu.label)); });
  for (const Menu& menu : menus) {
    const std::string menu_name = menu_part(name, menu.label);
    const float width = std::ceil(text_width(ui, TextStyle::body, menu.label)) + 2 * ui.px(kPadding);
    const Rect title = rest.cut_left(width).middle(ui.px(size::kControl));
    const Interaction at = interact(ui, menu_name, title);
    const bool open = menu_is_open(menu_name);
    // While a menu is open ImGui keeps the pointer from what lies behind, but the next menu opens by hovering.
    const bool slides = any_open && !open && title.contains(ui.input().mouse);
    if (open || at.hovered) fill(ui, title, ui.colour(Colour::bg4), size::kControlRadius);
    draw_text(ui, title, menu.label, {.align = Align::centre});
    if (at.pressed || slides) open_menu_below(ui, menu_name, title);
    if (auto item = popup_menu(ui, menu_name, menu.items)) chosen = std::move(item);
  }
  if (used_width != nullptr) *used_width = rest.x0 - rect.x0;
  return chosen;
}

float dropdown_width(const Ui& ui, std::string_view value, const DropdownOptions& options) {
  const TextStyle style = options.mono ? TextStyle::mono : TextStyle::body;
  const float text = text_width(ui, TextStyle::body, options.label) + text_width(ui, style, value);
  return std::ceil(text) + (options.icon != nullptr ? ui.px(20) : 0) + ui.px(options.flat ? 20 : 40);
}

std::optional<std::string> dropdown_menu(Ui& ui, std::string_view name, const Rect& rect, std::string_view value,
                                         std::span<const MenuItem> items, const DropdownOptions& options) {
  return dropdown_box(ui, name, rect, value, options) ? popup_menu(ui, name, items) : std::nullopt;
}

bool dropdown(Ui& ui, std::string_view name, const Rect& rect, std::span<const std::string> items, int& chosen,
              const DropdownOptions& options) {
  const bool valid = chosen >= 0 && static_cast<std::size_t>(chosen) < items.size();
  const std::string value = valid ? items[static_cast<std::size_t>(chosen)] : std::string("\xe2\x80\x93");
  if (!dropdown_box(ui, name, rect, value, options)) return false;
  std::vector<MenuItem> entries;
  for (std::size_t index = 0; index < items.size(); ++index) {
    entries.push_back(
        {.id = std::to_string(index), .label = items[index], .checked = static_cast<int>(index) == chosen});
  }
  const auto picked = popup_menu(ui, name, entries);
  if (!picked) return false;
  const int index = std::stoi(*picked);
  const bool changed = index != chosen;
  chosen = index;
  return changed;
}

}  // namespace accelscope::render
