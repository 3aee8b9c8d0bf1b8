// The command table of the viewer: what can be done, its key, when it can be done.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/content/capture/text.h"
#include "app/frame/app_state.h"
#include "app/palette/key_chord.h"
#include "app/session/analysis.h"
#include "app/view/record.h"
#include "core/base/format.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

namespace {

constexpr std::array kZooms = {0.75F, 1.0F, 1.25F, 1.5F, 1.75F, 2.0F, 2.5F, 3.0F};

bool has_tab(const AppState& state) { return state.tab() != nullptr; }

bool is_recording(const AppState& state) {
  const SessionTab* tab = state.tab();
  return tab != nullptr && may_grow(*tab);
}

bool can_pause(const AppState& state) {
  if (!is_recording(state)) return false;
  const capture::client::CaptureStatus& status = state.tab()->capture;
  const bool runs =
      status.phase == capture::client::CapturePhase::streaming || status.phase == capture::client::CapturePhase::paused;
  return runs && watching_text(status).empty();
}

void change_zoom(AppState& state, int steps) {
  std::size_t nearest = 0;
  for (std::size_t i = 0; i < kZooms.size(); ++i) {
    if (std::abs(kZooms[i] - state.zoom) < std::abs(kZooms[nearest] - state.zoom)) nearest = i;
  }
  const auto wanted = std::clamp(static_cast<int>(nearest) + steps, 0, static_cast<int>(kZooms.size()) - 1);
  state.zoom = kZooms[static_cast<std::size_t>(wanted)];
  state.say("Scale " + std::to_string(std::lround(state.zoom * 100)) + " %");
}

void switch_tab(AppState& state, int step) {
  const auto count = static_cast<int>(state.workspace.tab_count());
  if (count == 0) return;
  const int now = state.workspace.active_index() ? static_cast<int>(*state.workspace.active_index()) : -1;
  state.workspace.activate(static_cast<std::size_t>((now + step + count) % count));
}

// To the event that the selected one waited for longest, or to the first that waited for it.
void follow_dependency(AppState& state, bool backwards) {
  SessionTab& tab = *state.tab();
  const auto dependencies = tab.analysis->dependencies();
  if (!dependencies) return state.say("The dependencies are still being read");
  const auto along = [dependencies, backwards](EventReader& reader, StepPlace& place,
                                               const TaskControl&) -> Result<void> {
    const auto found = backwards ? last_predecessor(*dependencies, *place.event, reader)
                                 : first_successor(*dependencies, *place.event, reader);
    if (found) place.event = backwards ? found->source : found->target;
    if (!found) place.said = backwards ? "It depends on nothing" : "Nothing depends on it";
    return {};
  };
  step_selection(tab, along, [&state, &tab](const StepPlace& place) {
    if (!place.said.empty()) state.say(place.said);
    if (place.event == tab.selected) return;
    select_event(tab, *place.event);
    state.timeline.reveal(tab, *place.event);
  });
}

void save_active(AppState& state, bool ask_for_path) {
  const std::size_t index = *state.workspace.active_index();
  SessionTab& tab = state.workspace.tab(index);
  if (ask_for_path || tab.path.empty() || tab.store->is_read_only()) return state.show_save_dialog(index);
  if (!tab.modified && writes_to_its_file(tab)) {
    return keep_view(tab, [&state](const Result<void>& kept) {
      kept ? state.say("Saved the view") : state.workspace.notify(Severity::error, kept.message());
    });
  }
  state.workspace.save(index, tab.path);
}

void add_file_commands(AppState& state) {
  CommandTable& commands = state.commands;
  const auto tab_open = [&state] { return has_tab(state); };
  commands.add(
      {.id = "open", .title = "Open a file or folder...", .menu = MenuId::file, .key = "Ctrl+O", .run = [&state] {
         state.show_open_dialog();
       }});
  commands.add({.id = "save",
                .title = "Save",
                .menu = MenuId::file,
                .key = "Ctrl+S",
                .run = [&state] { save_active(state, false); },
                .enabled = tab_open});
  commands.add({.id = "save_as",
                .title = "Save as...",
                .menu = MenuId::file,
                .key = "Ctrl+Shift+S",
                .run = [&state] { save_active(state, true); },
                .enabled = tab_open});
  commands.add({.id = "close",
                .title = "Close the session",
                .menu = MenuId::file,
                .key = "Ctrl+W",
                .run = [&state] { state.workspace.close(*state.workspace.active_index()); },
                .enabled = tab_open});
  commands.add({.id = "start_page",
                .title = "Start page",
                .menu = MenuId::file,
                .key = "Ctrl+T",
                .run = [&state] { state.workspace.show_start_page(); },
                .separator_before = true});
  commands.add({.id = "next_tab",
                .title = "Next session",
                .menu = MenuId::file,
                .key = "Ctrl+Tab",
                .second_key = "Ctrl+PageDown",
                .run = [&state] { switch_tab(state, 1); },
                .enabled = tab_open});
  commands.add({.id = "previous_tab",
                .title = "Previous session",
                .menu = MenuId::file,
                .key = "Ctrl+Shift+Tab",
                .second_key = "Ctrl+PageUp",
                .run = [&state] { switch_tab(state, -1); },
                .enabled = tab_open});
  commands.add({.id = "export_filtered",
                .title = "Export what is filtered...",
                .menu = MenuId::file,
                .run = [&state] { state.show_filtered_export(); },
                .enabled = [&state] { return has_tab(state) && !state.tab()->choices.filter.empty(); },
                .separator_before = true});
  commands.add({.id = "picture",
                .title = "Picture of the window (PNG)",
                .menu = MenuId::file,
                .key = "F12",
                .run = [&state] { state.picture_wanted = true; },
                .separator_before = true});
  commands.add({.id = "quit",
                .title = "Quit",
                .menu = MenuId::file,
                .key = "Ctrl+Q",
                .run = [&state] { state.quitting = true; },
                .separator_before = true});
}

void add_record_commands(AppState& state) {
  CommandTable& commands = state.commands;
  commands.add(
      {.id = "connect", .title = "Connect and record...", .menu = MenuId::record, .key = "Ctrl+K", .run = [&state] {
         state.show_connect_form();
       }});
  commands.add(
      {.id = "demo", .title = "Start the demo (simulated accelerator)", .menu = MenuId::record, .run = [&state] {
         state.workspace.start_demo();
       }});
  commands.add({.id = "pause",
                .title = "Pause or resume the capture",
                .menu = MenuId::record,
                .key = "Ctrl+Shift+E",
                .run =
                    [&state] {
                      const bool paused = state.tab()->capture.phase == capture::client::CapturePhase::paused;
                      state.workspace.pause_capture(*state.workspace.active_index(), !paused);
                    },
                .enabled = [&state] { return can_pause(state); },
                .checked =
                    [&state] {
                      return is_recording(state) && state.tab()->capture.phase == capture::client::CapturePhase::paused;
                    },
                .separator_before = true});
  commands.add({.id = "stop",
                .title = "Stop the capture",
                .menu = MenuId::record,
                .key = "Ctrl+E",
                .run = [&state] { state.workspace.stop_capture(*state.workspace.active_index()); },
                .enabled = [&state] { return is_recording(state); }});
}

constexpr const char* kPanelMenu = "Panels";

void add_view_commands(AppState& state) {
  CommandTable& commands = state.commands;
  commands.add({.id = "theme",
                .title = "Dark or light",
                .menu = MenuId::view,
                .key = "Ctrl+Shift+L",
                .run =
                    [&state] {
                      const bool dark = state.theme == render::ThemeKind::dark;
                      state.theme = dark ? render::ThemeKind::light : render::ThemeKind::dark;
                    },
                .separator_before = true});
  commands.add({.id = "larger",
                .title = "Larger",
                .menu = MenuId::view,
                .key = "Ctrl++",
                .second_key = "Ctrl+Shift++",
                .run = [&state] { change_zoom(state, 1); }});
  commands.add({.id = "smaller", .title = "Smaller", .menu = MenuId::view, .key = "Ctrl+-", .run = [&state] {
                  change_zoom(state, -1);
                }});
  commands.add({.id = "normal_size", .title = "Normal size", .menu = MenuId::view, .key = "Ctrl+0", .run = [&state] {
                  state.zoom = 1;
                }});
  commands.add({.id = "verdict",
                .title = "What bounds it, in a line",
                .menu = MenuId::view,
                .run =
                    [&state] {
                      bool& closed = state.panels_of(*state.tab()).verdict_closed;
                      closed = !closed;
                    },
                .enabled = [&state] { return has_tab(state); },
                .checked = [&state] { return has_tab(state) && !state.panels_of(*state.tab()).verdict_closed; },
                .separator_before = true});
  add_view_settings_commands(state);
  bool first = true;
  for (const PanelInfo& panel : all_panels()) {
    commands.add({.id = "panel_" + std::string(panel.name),
                  .title = std::string(panel.title),
                  .menu = MenuId::view,
                  .submenu = kPanelMenu,
                  .run = [&state, id = panel.id] { state.layout.toggle(id); },
                  .enabled = [&state] { return has_tab(state); },
                  .checked = [&state, id = panel.id] { return state.layout.is_seen(id); },
                  .separator_before = std::exchange(first, false)});
  }
  commands.add({.id = "restore",
                .title = "Restore the maximised panel",
                .menu = MenuId::view,
                .submenu = kPanelMenu,
                .run = [&state] { state.layout.restore(); },
                .enabled = [&state] { return state.layout.maximised().has_value(); },
                .separator_before = true});
  commands.add(
      {.id = "reset_layout", .title = "Reset the panels", .menu = MenuId::view, .submenu = kPanelMenu, .run = [&state] {
         state.layout.reset();
       }});
}

void add_analyse_commands(AppState& state) {
  CommandTable& commands = state.commands;
  const auto selected = [&state] { return has_tab(state) && state.tab()->selected.has_value(); };
  commands.add({.id = "search",
                .title = "Search events",
                .menu = MenuId::analyse,
                .key = "Ctrl+F",
                .run = [&state] { state.command_box.focus(CommandBox::Mode::search); },
                .enabled = [&state] { return has_tab(state); }});
  commands.add(
      {.id = "next_hit",
       .title = "Next hit",
       .menu = MenuId::analyse,
       .key = "F3",
       .run = [&state] { state.command_box.step(*state.tab(), true, state.actions.say, state.actions.reveal); },
       .enabled = [&state] { return has_tab(state) && !state.command_box.text().empty(); }});
  commands.add(
      {.id = "previous_hit",
       .title = "Previous hit",
       .menu = MenuId::analyse,
       .key = "Shift+F3",
       .run = [&state] { state.command_box.step(*state.tab(), false, state.actions.say, state.actions.reveal); },
       .enabled = [&state] { return has_tab(state) && !state.command_box.text().empty(); }});
  commands.add({.id = "go_to_time",
                .title = "Go to time...",
                .menu = MenuId::analyse,
                .key = "Ctrl+G",
                .run = [&state] { state.open_dialog(Dialog::go_to_time); },
                .enabled = [&state] { return has_tab(state); }});
  commands.add({.id = "predecessor",
                .title = "To what it waited for",
                .menu = MenuId::analyse,
                .key = "[",
                .run = [&state] { follow_dependency(state, true); },
                .enabled = selected,
                .separator_before = true});
  commands.add({.id = "successor",
                .title = "To what waited for it",
                .menu = MenuId::analyse,
                .key = "]",
                .run = [&state] { follow_dependency(state, false); },
                .enabled = selected});
  commands.add({.id = "explain_operands",
                .title = "Take the operands apart",
                .menu = MenuId::analyse,
                .key = "Shift+O",
                .run =
                    [&state] {
                      state.layout.show(PanelId::details);
                      state.panels_of(*state.tab()).details.explain_operands();
                    },
                .enabled = selected});
}

void add_help_commands(AppState& state) {
  CommandTable& commands = state.commands;
  commands.add({.id = "commands", .title = "Run a command", .menu = MenuId::help, .key = "Ctrl+P", .run = [&state] {
                  state.command_box.focus(CommandBox::Mode::command);
                }});
  commands.add({.id = "keys", .title = "Keys", .menu = MenuId::help, .key = "?", .second_key = "F1", .run = [&state] {
                  state.open_dialog(Dialog::keys);
                }});
  commands.add({.id = "about",
                .title = "About Accelscope",
                .menu = MenuId::help,
                .run = [&state] { state.open_dialog(Dialog::about); },
                .separator_before = true});
}

MenuId menu_of(TimelineCommand command) {
  switch (command) {
    case TimelineCommand::next_event:
    case TimelineCommand::previous_event:
    case TimelineCommand::next_same_name:
    case TimelineCommand::previous_same_name:
    case TimelineCommand::drop_marker:
    case TimelineCommand::clear_selection:
    case TimelineCommand::box_select:
    case TimelineCommand::filter_by_region:
    case TimelineCommand::event_above:
    case TimelineCommand::event_below:
      return MenuId::analyse;
    default:
      return MenuId::view;
  }
}

// What most do by keys stays out of the way of the rest of the menu.
const char* submenu_of(TimelineCommand command) {
  switch (command) {
    case TimelineCommand::zoom_in:
    case TimelineCommand::zoom_out:
    case TimelineCommand::pan_left:
    case TimelineCommand::pan_right:
    case TimelineCommand::scroll_up:
    case TimelineCommand::scroll_down:
      return "Move";
    case TimelineCommand::filter_lanes:
    case TimelineCommand::collapse_groups:
    case TimelineCommand::expand_groups:
    case TimelineCommand::pin_lane:
    case TimelineCommand::hide_lane:
    case TimelineCommand::show_hidden:
      return "Lanes";
    case TimelineCommand::next_event:
    case TimelineCommand::previous_event:
    case TimelineCommand::next_same_name:
    case TimelineCommand::previous_same_name:
    case TimelineCommand::event_above:
    case TimelineCommand::event_below:
      return "Step";
    default:
      return "";
  }
}

void add_timeline_commands(AppState& state) {
  for (const TimelineCommandInfo& info : timeline_commands()) {
    state.commands.add({.id = info.id,
                        .title = info.title,
                        .menu = menu_of(info.command),
                        .submenu = submenu_of(info.command),
                        .key = info.key != nullptr ? info.key : "",
                        .second_key = info.second_key != nullptr ? info.second_key : "",
                        .run = [&state, command = info.command] { state.timeline_queue.push_back(command); },
                        .enabled =
                            [&state, command = info.command] {
                              const SessionTab* tab = state.tab();
                              if (tab == nullptr) return false;
                              if (command == TimelineCommand::back) return tab->history.can_go_back();
                              if (command == TimelineCommand::forward) return tab->history.can_go_forward();
                              return true;
                            }});
  }
}

bool chord_pressed(render::Ui& ui, const std::string& text) {
  const auto chord = parse_chord(text);
  if (!chord || (ui.typing() && !works_while_typing(*chord))) return false;
  return ui.pressed(chord->key, chord->modifiers);
}

}  // namespace

void add_commands(AppState& state) {
  add_file_commands(state);
  add_timeline_commands(state);
  add_view_commands(state);
  add_link_commands(state);
  add_layout_commands(state);
  add_record_commands(state);
  add_analyse_commands(state);
  add_marker_commands(state);
  add_help_commands(state);
}

void run_key_commands(AppState& state, render::Ui& ui) {
  if (state.file_dialog.is_open() || state.dialog != Dialog::none || state.workspace.question() ||
      state.asked_id != 0) {
    return;
  }
  const bool escapes = ui.pressed(render::Key::escape, {}, false) && !ui.typing();
  if (escapes && render::any_popup_open()) return;  // closes it
  if (escapes && state.layout.maximised()) {
    state.layout.restore();
    return;
  }
  for (const Command& command : state.commands.all()) {
    if (!chord_pressed(ui, command.key) && (command.second_key.empty() || !chord_pressed(ui, command.second_key))) {
      continue;
    }
    if (CommandTable::can_run(command)) command.run();
    return;
  }
}

}  // namespace accelscope::app
