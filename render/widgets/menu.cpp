#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <set>

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

// Letters that are typed mark the first item that begins with them, or has a word that does.
void mark_typed(Ui& ui, std::string_view name, std::span<const MenuItem> items, float& mark) {
  if (ui.keys_go_elsewhere()) return;
  std::string& typed = ui.type_ahead(name);
  if (ui.input().text.empty()) return;
  typed += ui.input().text;
  const auto found = find_typed(items.size(), 0, typed, [&](std::size_t index) {
    return items[index].enabled ? items[index].label : std::string();
  });
  if (found) mark = static_cast<float>(*found);
}

constexpr const char* kByKeys = "#by_keys";  // remembered of a menu bar: its menus were opened by Alt

Key letter_key(char letter) {
  const auto lower = static_cast<char>(letter | 0x20);
  return lower >= 'a' && lower <= 'z' ? static_cast<Key>(static_cast<int>(Key::a) + lower - 'a') : Key::none;
}

// Of each label the letter that chooses it: the first of a word that no item before it has, else any such letter;
// npos: none is left.
std::vector<std::size_t> mnemonics_of(std::size_t count, const std::function<std::string_view(std::size_t)>& label) {
  std::vector<std::size_t> places(count, std::string_view::npos);
  std::set<Key> taken;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view text = label(i);
    for (const bool any_letter : {false, true}) {
      for (std::size_t at = 0; at < text.size() && places[i] == std::string_view::npos; ++at) {
        const Key key = letter_key(text[at]);
        const bool begins = at == 0 || text[at - 1] == ' ';
        if (key == Key::none || (!begins && !any_letter) || !taken.insert(key).second) continue;
        places[i] = at;
      }
    }
  }
  return places;
}

bool mnemonic_pressed(const Ui& ui, std::string_view label, std::size_t place, Modifiers modifiers) {
  return place != std::string_view::npos && ui.pressed(letter_key(label[place]), modifiers, false);
}

// Below the letter of a label that is drawn from x on.
void underline(Ui& ui, float x, const Rect& row, std::string_view label, std::size_t place) {
  if (place == std::string_view::npos) return;
  const float from = x + text_width(ui, TextStyle::body, label.substr(0, place));
  const float width = text_width(ui, TextStyle::body, label.substr(place, 1));
  const float baseline = row.centre().y + ui.fonts().baseline_offset(TextStyle::body);
  horizontal_line(ui, from, from + width, std::round(baseline + ui.px(2)), ui.colour(Colour::text1));
}

void draw_item(Ui& ui, const Rect& row, const MenuItem& item, bool lit, std::size_t mnemonic) {
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
  underline(ui, inside.x0, row, item.label, mnemonic);
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
  // The key that opened it does nothing more.
  const bool opens = std::exchange(ui.remembered(menu_part(name, "#opens")), 0.0F) > 0;
  const auto pressed = [&](Key key, Modifiers modifiers = {}, bool repeat = true) {
    return !opens && ui.pressed(key, modifiers, repeat);
  };
  if (pressed(Key::down)) move_mark(items, mark, 1);
  if (pressed(Key::up)) move_mark(items, mark, -1);
  if (pressed(Key::home)) mark = -1, move_mark(items, mark, 1);
  if (pressed(Key::end)) mark = -1, move_mark(items, mark, -1);
  const bool alt = ui.input().modifiers().alt;
  const bool by_keys =
      !ui.keys_go_elsewhere() && (alt || ui.remembered(std::string(name.substr(0, name.find('.'))) + kByKeys) > 0);
  std::vector<std::size_t> mnemonics;
  if (by_keys) mnemonics = mnemonics_of(items.size(), [&](std::size_t i) { return std::string_view(items[i].label); });
  if (!by_keys && !opens) mark_typed(ui, name, items, mark);
  const bool enter = pressed(Key::enter, {}, false) || (by_keys && pressed(Key::space, {}, false));
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
    const Interaction at = interact(ui, item_name, row, {.disabled = !item.enabled, .label = item.label});
    const ImVec2 moved = ImGui::GetIO().MouseDelta;  // a pointer that rests leaves the mark to the keys
    if (at.hovered && item.enabled && (moved.x != 0 || moved.y != 0)) mark = static_cast<float>(index);
    const std::size_t mnemonic = by_keys ? mnemonics[index] : std::string_view::npos;
    const bool lettered = by_keys && !opens && item.enabled && mnemonic_pressed(ui, item.label, mnemonic, {.alt = alt});
    if (lettered) mark = static_cast<float>(index);
    const bool marked = static_cast<int>(mark) == static_cast<int>(index);
    const bool submenu_open = !item.children.empty() && menu_is_open(item_name);
    draw_item(ui, row, item, (marked && item.enabled) || submenu_open, mnemonic);
    const bool taken = item.enabled && (at.clicked || (marked && enter) || lettered);
    if (item.children.empty()) {
      if (taken) chosen = item.id;
      continue;
    }
    const bool opens_below =
        taken || (at.hovered && at.hovered_for > kHoverCardDelay) || (marked && pressed(Key::right));
    if (item.enabled && opens_below && !submenu_open) {
      open_menu_below(ui, item_name, {row.x1, row.y0 - ui.px(kMenuMargin), row.x1, row.y0 - ui.px(kMenuMargin)});
      if (!at.hovered) ui.remembered(menu_part(item_name, "#mark")) = 0;  // by a key: its first item is marked
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
  ui.remembered(menu_part(name, "#opens")) = 1;
  ImGui::OpenPopupEx(popup_id(name));
  ui.request_frame();
}

// The closed box with its value; a press opens the menu of its name. True while that is open.
bool dropdown_box(Ui& ui, std::string_view name, const Rect& rect, std::string_view value,
                  const DropdownOptions& options) {
  const Interaction at =
      interact(ui, name, rect, {.disabled = options.disabled, .label = options.label.empty() ? value : options.label});
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
  if ((at.pressed || (at.ring && !open && ui.pressed(Key::down, {.alt = true}))) && !options.disabled) {
    open_menu_below(ui, name, rect);
  }
  if (!open && !options.tooltip.empty()) tooltip(ui, at, rect, options.tooltip);

  return menu_is_open(name);
}

}  // namespace

void open_menu(Ui& ui, std::string_view name) {
  if (const auto& below = ui.keyboard_focus().menu_below) return open_menu_below(ui, name, *below);
  open_at(ui, name, ui.input().mouse, ui.input().mouse.y);
}

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
  const bool has_keys = !ui.keys_go_elsewhere();  // before a menu below closes by the same key
  auto chosen = draw_items(ui, name, {x, top, x + menu.width, top + menu.height}, items);
  const bool is_submenu = ImGui::GetCurrentContext()->BeginPopupStack.Size > 1;
  const bool leaves = has_keys && (ui.pressed(Key::escape, {}, false) || (is_submenu && ui.pressed(Key::left)));
  if (chosen || leaves) {
    ImGui::CloseCurrentPopup();
    ui.request_frame();
  }
  ImGui::EndPopup();
  return chosen;
}

// Pressed and released with no other key and no button between.
static bool alt_was_pressed_alone(Ui& ui, std::string_view name) {
  float& armed = ui.remembered(std::string(name) + "#alt");
  const Input& input = ui.input();
  std::bitset<kKeyCount> others = input.keys;
  others.reset(static_cast<std::size_t>(Key::left_alt));
  const bool others_used = others.any() || input.down(MouseButton::left) || input.down(MouseButton::right) ||
                           input.down(MouseButton::middle) || input.wheel.y != 0 || !input.focused;
  const bool down = input.down(Key::left_alt);
  const bool released = !down && armed == 1;  // 1: pressed alone so far, 2: with others
  if (!down) armed = 0;
  if (down && armed == 0) armed = 1;
  if (down && others_used) armed = 2;
  return released && !others_used;
}

std::optional<std::string> menu_bar(Ui& ui, std::string_view name, const Rect& rect, std::span<const Menu> menus,
                                    float* used_width) {
  std::optional<std::string> chosen;
  Rect rest = rect;
  const auto open =
      std::ranges::find_if(menus, [&](const Menu& menu) { return menu_is_open(menu_part(name, menu.label)); });
  const bool any_open = open != menus.end();
  float& by_keys = ui.remembered(std::string(name) + kByKeys);
  const bool alt = ui.input().modifiers() == Modifiers{.alt = true};
  if (alt_was_pressed_alone(ui, name) && !any_open) {
    KeyboardFocus& focus = ui.keyboard_focus();
    focus.at = menu_part(name, menus.front().label);
    focus.by_keyboard = true;
  }
  const auto count = static_cast<std::ptrdiff_t>(menus.size());
  const std::vector<std::size_t> mnemonics =
      mnemonics_of(menus.size(), [&](std::size_t i) { return std::string_view(menus[i].label); });
  std::ptrdiff_t wanted = -1;  // opened by a key in this frame
  const bool is_in_front = ImGui::GetCurrentContext()->OpenPopupStack.Size == 1;
  if (any_open && is_in_front && ImGui::GetCurrentContext()->BeginPopupStack.Size == 0) {
    const std::ptrdiff_t at = open - menus.begin();
    const float mark = ui.remembered(menu_part(menu_part(name, open->label), "#mark"), -1);
    const bool enters = mark >= 0 && !open->items()[static_cast<std::size_t>(mark)].children.empty();
    if (compat::key_pressed(Key::right, true) && !enters) wanted = (at + 1) % count;
    if (compat::key_pressed(Key::left, true)) wanted = (at + count - 1) % count;
  }
  const FocusGroup group(ui, name, {}, false);
  for (std::ptrdiff_t index = 0; index < count; ++index) {
    const Menu& menu = menus[static_cast<std::size_t>(index)];
    const std::string menu_name = menu_part(name, menu.label);
    const float width = std::ceil(text_width(ui, TextStyle::body, menu.label)) + 2 * ui.px(kPadding);
    const Rect title = rest.cut_left(width).middle(ui.px(size::kControl));
    const Interaction at = interact(ui, menu_name, title, {.label = menu.label});
    const bool is_open = menu_is_open(menu_name);
    // While a menu is open ImGui keeps the pointer from what lies behind, but the next menu opens by hovering.
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    const bool slides = any_open && !is_open && (moved.x != 0 || moved.y != 0) && title.contains(ui.input().mouse);
    const std::size_t mnemonic = mnemonics[static_cast<std::size_t>(index)];
    const bool lettered = !any_open && (mnemonic_pressed(ui, menu.label, mnemonic, {.alt = true}) ||
                                        (at.ring && (ui.pressed(Key::down) || ui.pressed(Key::up))) ||
                                        (by_keys > 0 && ui.keyboard_focus().by_keyboard &&
                                         ui.keyboard_focus().at.starts_with(std::string(name) + ".") &&
                                         mnemonic_pressed(ui, menu.label, mnemonic, {})));
    const bool by_key = lettered || wanted == index || (at.pressed && at.ring);
    if (is_open || at.hovered) fill(ui, title, ui.colour(Colour::bg4), size::kControlRadius);
    draw_text(ui, title, menu.label, {.align = Align::centre});
    if (alt || at.ring || (any_open && by_keys > 0))
      underline(ui, title.x0 + ui.px(kPadding), title, menu.label, mnemonic);
    if (at.pressed || slides || by_key) {
      open_menu_below(ui, menu_name, title);
      by_keys = by_key ? 1 : slides ? by_keys : 0;
      if (by_key) {
        float& mark = ui.remembered(menu_part(menu_name, "#mark"), -1);
        move_mark(menu.items(), mark, 1);
      }
    }
    if (!menu_is_open(menu_name)) continue;
    if (auto item = popup_menu(ui, menu_name, menu.items())) chosen = std::move(item);
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
