// The dialog of the view settings.
#include <fmt/format.h>

#include <algorithm>

#include "app/frame/app_state.h"
#include "app/timeline/colour_legend.h"
#include "app/view/colour_choices.h"
#include "app/view/record.h"
#include "core/base/text.h"
#include "core/names/short_names.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::size_t kMostTables = 6;  // of the largest; the legend has them all
constexpr float kLabel = 150, kSettingsRow = 28, kSettingsGap = 14, kCheckRow = 24, kLeastCheck = 120;

void draw_colours(Ui& ui, Rect& area, SessionTab& tab) {
  group_heading(ui, area, "Colours");
  std::vector<std::string> tables = coloured_tables(*tab.snapshot);
  if (tables.size() > kMostTables) tables.resize(kMostTables);
  for (const std::string& table : tables) {
    Rect row = area.cut_top(ui.px(kSettingsRow));
    draw_text(ui, row.cut_left(ui.px(kLabel)), table_title(table), {.colour = Colour::text2});
    const Rect place = row.middle(ui.px(size::kSmallControl));
    if (const auto column = colour_menu(ui, "view_settings.colour." + table, place, tab, table)) {
      choose_colour(tab, table, *column);
    }
  }
  if (tab.choices.colour_by.empty()) return;
  Rect row = area.cut_top(ui.px(kSettingsRow));
  row.cut_left(ui.px(kLabel));
  constexpr const char* kReset = "Colour all by name";
  if (link(ui, "view_settings.colours.reset", row.cut_left(link_width(ui, kReset)), kReset)) {
    tab.change([](ViewChoices& choices) { choices.colour_by.clear(); });
  }
}

void draw_rows(Ui& ui, Rect& area, SessionTab& tab) {
  group_heading(ui, area, "Lanes");
  const RowChoices& rows = tab.choices.rows;
  Rect row = area.cut_top(ui.px(kSettingsRow));
  const auto view_button = [&](const char* name, const char* label, bool active, const char* tip) {
    const ButtonOptions options{.label = label, .active = active, .tooltip = tip};
    const Rect place = row.cut_left(button_width(ui, options)).middle(ui.px(size::kSmallControl));
    row.cut_left(ui.px(8));
    return button(ui, name, place, options);
  };
  if (view_button("view_settings.full", "Full view", rows == full_view(rows),
                  "Every lane; what was hidden is shown again.")) {
    choose_rows(tab, full_view(rows));
  }
  if (view_button("view_settings.minimal", "Minimal view", rows == minimal_view(rows),
                  "Instructions or kernels, and the counters of utilisation and MFU.")) {
    choose_rows(tab, minimal_view(rows));
  }
  if (!rows.hidden.empty()) {
    draw_text(ui, row, fmt::format("{} hidden", rows.hidden.size()), {.colour = Colour::text3});
  }
  const std::uint32_t levels = layer_levels(*tab.snapshot);
  if (levels < 2) return;
  Rect depth = area.cut_top(ui.px(kSettingsRow));
  draw_text(ui, depth.cut_left(ui.px(kLabel)), "Levels of layers", {.colour = Colour::text2});
  std::vector<std::string> choices = {"All"};
  for (std::uint32_t level = 1; level < levels; ++level) choices.push_back(std::to_string(level));
  int chosen = static_cast<int>(rows.layer_depth < levels ? rows.layer_depth : 0);
  const Rect place = depth.cut_left(ui.px(110)).middle(ui.px(size::kSmallControl));
  if (dropdown(ui, "view_settings.layers", place, choices, chosen)) {
    RowChoices changed = rows;
    changed.layer_depth = static_cast<std::uint32_t>(chosen);
    choose_rows(tab, std::move(changed));
  }
}

void draw_semaphores(AppState& state, Ui& ui, Rect area, SessionTab& tab) {
  const std::vector<SemaphoreRow> all = semaphore_rows(*tab.snapshot);
  group_heading(ui, area, "Semaphores");
  if (all.empty()) {
    draw_text(ui, area.cut_top(ui.px(kSettingsRow)), "This session has no semaphores.", {.colour = Colour::text3});
    return;
  }
  std::vector<SemaphoreRow> listed;
  for (const SemaphoreRow& row : all) {
    if (matches_words(row.label, state.dialog_text)) listed.push_back(row);
  }
  Rect head = area.cut_top(ui.px(kSettingsRow));
  text_input(ui, "view_settings.semaphores.filter", head.cut_left(ui.px(240)).middle(ui.px(size::kSmallControl)),
             state.dialog_text, {.placeholder = "Filter semaphores", .icon = icon::kFilter});
  head.cut_left(ui.px(12));
  RowChoices changed = tab.choices.rows;
  const auto shown = std::count_if(all.begin(), all.end(),
                                   [&](const SemaphoreRow& row) { return changed.hidden.count(row.key) == 0; });
  if (link(ui, "view_settings.semaphores.all", head.cut_left(link_width(ui, "Show")), "Show")) {
    show_semaphores(changed, listed, true);
  }
  head.cut_left(ui.px(10));
  if (link(ui, "view_settings.semaphores.none", head.cut_left(link_width(ui, "Hide")), "Hide")) {
    show_semaphores(changed, listed, false);
  }
  head.cut_left(ui.px(12));
  const std::string count = fmt::format("{} listed, {} of {} shown", listed.size(), shown, all.size());
  draw_text(ui, head, count, {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  float width = ui.px(kLeastCheck);
  for (const SemaphoreRow& row : all) width = std::max(width, checkbox_width(ui, row.label) + ui.px(12));
  const auto across = std::max<std::size_t>(1, static_cast<std::size_t>(area.width() / width));
  const std::size_t lines = (listed.size() + across - 1) / across;
  const ScrollArea scroll(ui, "view_settings.semaphores.list", area, ui.px(kCheckRow) * static_cast<float>(lines));
  Rect content = scroll.content();
  content.x1 = scroll.visible().x1;
  for (std::size_t line = 0; line < lines; ++line) {
    Rect row = content.cut_top(ui.px(kCheckRow));
    if (row.y1 < scroll.visible().y0 || row.y0 > scroll.visible().y1) continue;
    for (std::size_t i = line * across; i < std::min(listed.size(), (line + 1) * across); ++i) {
      bool on = changed.hidden.count(listed[i].key) == 0;
      const Rect place = row.cut_left(width);
      if (checkbox(ui, "view_settings.semaphore." + listed[i].label, place, listed[i].label, on)) {
        show_semaphores(changed, {listed[i]}, on);
      }
    }
  }
  choose_rows(tab, std::move(changed));
}

}  // namespace

bool draw_view_settings(AppState& state, Ui& ui) {
  Modal modal(ui, "view_settings", "View settings", 640, 600);
  SessionTab* tab = state.tab();
  if (!modal.open() || tab == nullptr) return false;
  Rect body = modal.body();
  draw_colours(ui, body, *tab);
  body.cut_top(ui.px(kSettingsGap));
  draw_rows(ui, body, *tab);
  body.cut_top(ui.px(kSettingsGap));
  draw_semaphores(state, ui, body, *tab);
  Rect foot = modal.buttons();
  const ButtonOptions close{.label = "Close", .kind = ButtonKind::primary};
  const bool closed =
      button(ui, "view_settings.close", foot.cut_right(std::max(button_width(ui, close), ui.px(88))), close);
  if (closed) modal.close();
  draw_text(ui, foot, "Changes act at once. Alt+Left undoes them when this is closed.",
            {.style = TextStyle::small, .colour = Colour::text3});
  return !closed;
}

}  // namespace accelscope::app
