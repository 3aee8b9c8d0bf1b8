// The commands that arrange the panels: presets, and the layouts that the user saved.
#include "app/frame/app_state.h"

namespace accelscope::app {

namespace {

constexpr const char* kSubmenu = "Panel layout";
constexpr std::string_view kPrefix = "layout.";

void arrange(AppState& state, const PanelLayout& layout) { state.layout = layout; }

PanelLayout minimal_layout() {
  PanelLayout layout;
  for (const PanelInfo& panel : all_panels()) {
    if (panel.name != "details") layout.close(panel.name);
  }
  return layout;
}

// Host, queues and devices under each other, the calls of what is selected beside them.
void show_platform(AppState& state) {
  for (const PanelInfo& panel : all_panels()) {
    if (panel.name != "stack" && panel.name != "details" && panel.name != "selection") state.layout.close(panel.name);
  }
  for (const PanelId panel : {"details", "selection", "stack"}) state.layout.show(panel);
  if (state.tab() != nullptr) state.actions.run("expand_groups");
}

void add(AppState& state, const std::string& id, std::string title, std::function<void()> run, bool line = false) {
  state.commands.add({.id = std::string(kPrefix) + id,
                      .title = std::move(title),
                      .menu = MenuId::view,
                      .submenu = kSubmenu,
                      .run = std::move(run),
                      .separator_before = line});
}

}  // namespace

void add_layout_commands(AppState& state) {
  state.commands.remove(kPrefix);
  add(state, "minimal", "Timeline and Details only", [&state] { arrange(state, minimal_layout()); });
  add(state, "platform", "Platform view: host calls, queues, devices and counters in one time",
      [&state] { show_platform(state); });
  add(state, "full", "All panels", [&state] { arrange(state, PanelLayout()); });
  add(
      state, "save", "Save layout as...", [&state] { state.open_dialog("save_layout"); }, true);
  bool line = true;
  for (const SavedLayout& saved : state.layouts.all()) {
    add(
        state, "restore." + saved.name, "Restore layout: " + saved.name,
        [&state, text = saved.text] { arrange(state, PanelLayout::from_text(text)); }, std::exchange(line, false));
  }
  line = true;
  for (const SavedLayout& saved : state.layouts.all()) {
    add(
        state, "delete." + saved.name, "Delete layout: " + saved.name,
        [&state, name = saved.name] {
          state.layouts.remove(name);
          state.layouts_changed = true;
          state.remember_settings();
        },
        std::exchange(line, false));
  }
}

}  // namespace accelscope::app
