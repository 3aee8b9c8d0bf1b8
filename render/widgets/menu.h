// Menus and dropdowns as data: a bar of menus, a popup at the pointer, a choice out of a list. Items are named
// MENU.ID for tests. All return what was chosen in this frame.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/base/draw.h"
#include "render/widgets/interact.h"

namespace accelscope::render {

struct MenuItem {
  std::string id;  // what choosing it returns
  std::string label;
  std::string shortcut = {};  // "Ctrl+O"
  const char* icon = nullptr;
  bool enabled = true;
  bool checked = false;
  bool line_above = false;
  std::vector<MenuItem> children = {};  // a submenu
};
struct Menu {
  std::string label;
  std::vector<MenuItem> items;
};

// Draws the labels from the left edge of `rect` and returns the chosen item's id. `used_width` is what they took.
[[nodiscard]] std::optional<std::string> menu_bar(Ui& ui, std::string_view name, const Rect& rect,
                                                  std::span<const Menu> menus, float* used_width = nullptr);

// open_menu() at a click, popup_menu() in every frame (it draws nothing while closed).
void open_menu(Ui& ui, std::string_view name);  // at the pointer
void open_menu_below(Ui& ui, std::string_view name, const Rect& anchor);
[[nodiscard]] bool menu_is_open(std::string_view name);
[[nodiscard]] std::optional<std::string> popup_menu(Ui& ui, std::string_view name, std::span<const MenuItem> items);

struct DropdownOptions {
  std::string_view label = {};  // before the value: "Colour: "
  const char* icon = nullptr;
  bool mono = false;
  bool flat = false;  // text and a caret only, right-aligned (panel heads)
  bool disabled = false;
  std::string_view tooltip = {};
};
[[nodiscard]] float dropdown_width(const Ui& ui, std::string_view value, const DropdownOptions& options = {});
// The same with a menu of any items, submenus too: the id of what was chosen. Items register as NAME.ID while open.
[[nodiscard]] std::optional<std::string> dropdown_menu(Ui& ui, std::string_view name, const Rect& rect,
                                                       std::string_view value, std::span<const MenuItem> items,
                                                       const DropdownOptions& options = {});
// True when another item was chosen. Items register as NAME.0, NAME.1 ... while open.
bool dropdown(Ui& ui, std::string_view name, const Rect& rect, std::span<const std::string> items, int& chosen,
              const DropdownOptions& options = {});

}  // namespace accelscope::render
