// The top bar: menus, what we are connected to, the search and command box, the visible range, theme and settings.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/content/axes/axes.h"
#include "app/frame/app_state.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kLogo = 34, kBoxWidth = 424, kLeastBox = 180;
constexpr const char* kNarrow = "top.narrow";  // remembered: the last frame had no room for the box

std::vector<Menu> menus_of(const CommandTable& commands) {
  std::vector<Menu> menus;
  for (std::size_t i = 0; i < kMenuCount; ++i) {
    Menu menu{std::string(menu_title(static_cast<MenuId>(i))), {}};
    for (const Command& command : commands.all()) {
      if (static_cast<std::size_t>(command.menu) != i) continue;
      std::vector<MenuItem>* items = &menu.items;
      if (!command.submenu.empty()) {
        auto submenu = std::find_if(items->begin(), items->end(),
                                    [&](const MenuItem& item) { return item.id == command.submenu; });
        if (submenu == items->end()) {
          submenu = items->insert(items->end(), {.id = command.submenu,
                                                 .label = command.submenu,
                                                 .line_above = command.separator_before && !items->empty()});
        }
        items = &submenu->children;
      }
      items->push_back({.id = command.id,
                        .label = command.title,
                        .shortcut = command.key,
                        .enabled = CommandTable::can_run(command),
                        .checked = command.checked && command.checked(),
                        .line_above = command.separator_before && !items->empty()});
    }
    menus.push_back(std::move(menu));
  }
  return menus;
}

// Three staggered slices.
void draw_logo(Ui& ui, const Rect& box) {
  const float h = ui.px(4);
  const float y = std::floor(box.centre().y);
  const Pixel accent = ui.colour(Colour::accent);
  fill(ui, {box.x0, y - ui.px(7), box.x0 + ui.px(10), y - ui.px(7) + h}, accent, 1);
  fill(ui, {box.x0 + ui.px(4), y - ui.px(1), box.x0 + ui.px(14), y - ui.px(1) + h},
       mix(accent, ui.colour(Colour::bg3), 0.4F), 1);
  fill(ui, {box.x0 + ui.px(8), y + ui.px(5), box.x0 + ui.px(17), y + ui.px(5) + h}, accent, 1);
}

void draw_settings(AppState& state, Ui& ui, Rect& row) {
  const Rect settings = row.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (icon_button(ui, "top.settings", settings, icon::kSettings, "Settings", {.kind = ButtonKind::flat})) {
    open_menu_below(ui, "settings", settings);
  }
  std::vector<MenuItem> items;
  for (const char* id : {"theme", "larger", "smaller", "normal_size", "reset_layout", "keys", "about"}) {
    const Command* command = state.commands.find(id);
    items.push_back({.id = id,
                     .label = command->title,
                     .shortcut = command->key,
                     .enabled = CommandTable::can_run(*command),
                     .line_above = std::string_view(id) == "reset_layout"});
  }
  if (const auto chosen = popup_menu(ui, "settings", items)) state.commands.run(*chosen);
  const bool dark = state.theme == ThemeKind::dark;
  const Rect theme = row.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (icon_button(ui, "top.theme", theme, dark ? icon::kSun : icon::kMoon, dark ? "Light theme" : "Dark theme",
                  {.kind = ButtonKind::flat, .shortcut = "Ctrl+Shift+L"})) {
    state.commands.run("theme");
  }
}

void draw_range_text(AppState& state, Ui& ui, Rect& row, const SessionTab& tab, const std::string& span,
                     const std::string& range) {
  draw_text(ui, row.cut_right(text_width(ui, TextStyle::mono_strong, span)), span, {.style = TextStyle::mono_strong});
  row.cut_right(ui.px(10));
  const Rect place = row.cut_right(text_width(ui, TextStyle::mono, range));
  draw_text(ui, place, range, {.style = TextStyle::mono, .colour = Colour::text2});
  const Interaction hand = interact(ui, "top.range", place);
  tooltip(ui, hand, place, "Visible range; click to copy it");
  if (hand.clicked) {
    ui.copy_to_clipboard(std::to_string(std::llround(tab.view.begin_ns)) + ":" +
                         std::to_string(std::llround(tab.view.end_ns)));
    state.say("Copied the range in ns");
  }
  row.cut_right(ui.px(8));
}

// The text of the range goes where it would leave no room for the box: the ruler has it too.
void draw_range(AppState& state, Ui& ui, Rect& row, const SessionTab& tab) {
  row.cut_right(ui.px(12));
  const std::string span = format_duration(tab.view.span_ns());
  const std::string range = range_text(tab.view.begin_ns, tab.view.end_ns);
  const float text = text_width(ui, TextStyle::mono_strong, span) + text_width(ui, TextStyle::mono, range) + ui.px(18);
  const float kept = ui.px(kLeastBox + 2 * 12 + 2 * size::kControl);
  if (row.width() - text >= kept) draw_range_text(state, ui, row, tab, span, range);
  const Rect forward = row.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (icon_button(ui, "top.forward", forward, icon::kArrowRight, "Forward to the next view",
                  {.kind = ButtonKind::flat, .disabled = !tab.history.can_go_forward(), .shortcut = "Alt+Right"})) {
    state.commands.run("view_forward");
  }
  const Rect back = row.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (icon_button(ui, "top.back", back, icon::kArrowLeft, "Back to the view before",
                  {.kind = ButtonKind::flat, .disabled = !tab.history.can_go_back(), .shortcut = "Alt+Left"})) {
    state.commands.run("view_back");
  }
}

}  // namespace

void draw_top_bar(AppState& state, Ui& ui, Rect bar) {
  fill(ui, bar, ui.colour(Colour::bg3));
  horizontal_line(ui, bar.x0, bar.x1, bar.y1 - 1, ui.colour(Colour::line2));
  Rect row = bar.inset(ui.px(size::kPanelPadding), 0);
  draw_logo(ui, row.cut_left(ui.px(kLogo - 6)));
  const auto draw_box = [&](const Rect& place) {
    const Rect box = place.middle(ui.px(size::kControl));
    state.command_box.draw(ui, box, state.commands, state.searches, state.tab(), state.actions.say,
                           state.actions.reveal);
  };
  if (state.command_box.in_use() && ui.remembered(kNarrow) > 0) return draw_box(row);  // in place of all else
  float used = 0;
  const std::vector<Menu> menus = menus_of(state.commands);
  if (const auto chosen = menu_bar(ui, "menu", row, menus, &used)) state.commands.run(*chosen);
  row.cut_left(used + ui.px(8));
  vertical_line(ui, row.x0, row.y0 + ui.px(11), row.y1 - ui.px(11), ui.colour(Colour::line2));
  row.cut_left(ui.px(12));
  Rect settings = row.cut_right(std::min(ui.px(2 * size::kControl), row.width()));
  draw_capture_bar(state, ui, row);
  draw_settings(state, ui, settings);
  SessionTab* tab = state.tab();
  if (tab != nullptr && row.width() >= ui.px(12 + 2 * size::kControl)) draw_range(state, ui, row, *tab);

  // In the middle of the window when there is room, else in the middle of what is left.
  row = row.inset(ui.px(12), 0);
  float& narrow = ui.remembered(kNarrow);
  narrow = row.width() < ui.px(kLeastBox) ? 1 : 0;
  if (narrow > 0) return;  // it is there once it is asked for
  const float width = std::min(ui.px(kBoxWidth), row.width());
  const float wanted = bar.centre().x - width / 2;
  const float left = std::round(std::clamp(wanted, row.x0, row.x1 - width));
  draw_box({left, row.y0, left + width, row.y1});
}

}  // namespace accelscope::app
