// Commands about what is kept of a session and carried elsewhere: links to views, the search as text, sets of markers.
#include <filesystem>
#include <fstream>

#include "app/frame/app_state.h"
#include "app/view/record.h"

namespace accelscope::app {

namespace {

constexpr std::uintmax_t kMostImported = 16U << 20U;  // bytes: a file of marker sets is small

void copy_link(AppState& state) {
  SessionTab& tab = *state.tab();
  std::vector<EventId> in_link;
  if (tab.selected) in_link.push_back(*tab.selected);
  tab.events->when_known(EventWish::link, std::move(in_link), [&state, &tab] {
    state.to_copy = to_text(link_to_view(tab));
    state.say("Copied a link to this view");
  });
}

Result<std::string> read_text(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kMostImported || error) {
    return Error{path + ": too large for a file of marker sets, or not readable; choose one that was exported"};
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file.good() && !file.eof()) return Error{path + ": cannot be read; check its permissions"};
  return text;
}

void export_sets(AppState& state) {
  SessionTab& tab = *state.tab();
  state.export_text(
      {"marker-sets.txt", [text = state.panels_of(tab).markers.sets().of(tab).to_text()] { return text; }});
}

bool has_sets(AppState& state) {
  SessionTab* tab = state.tab();
  return tab != nullptr && !state.panels_of(*tab).markers.sets().of(*tab).all().empty();
}

}  // namespace

bool go_to_link(AppState& state, const std::string& text) {
  const Result<ViewLink> link = read_view_link(text);
  if (!link) {
    state.workspace.notify(Severity::error, link.message());
    return false;
  }
  SessionTab& tab = *state.tab();
  follow_link(
      tab, *link, [&state](std::string told) { state.workspace.notify(Severity::note, std::move(told)); },
      [&state, &tab](EventId event) { state.timeline.reveal(tab, event); });
  return true;
}

void AppState::take_imported() {
  if (!importing.valid() || !importing.ready()) return;
  const Result<std::string> text = importing.take();
  if (tab() == nullptr) return;
  const Result<std::size_t> count =
      text ? panels_of(*tab()).markers.sets().import_text(*tab(), *text) : Result<std::size_t>(text.error());
  if (!count) return workspace.notify(Severity::error, count.message());
  say(*count == 1 ? "Imported one set of markers" : "Imported " + std::to_string(*count) + " sets of markers");
  layout.show(PanelId::markers);
}

void add_link_commands(AppState& state) {
  CommandTable& commands = state.commands;
  const auto tab_open = [&state] { return state.tab() != nullptr; };
  commands.add({.id = "copy_link",
                .title = "Copy link to this view",
                .menu = MenuId::view,
                .key = "Ctrl+Shift+C",
                .run = [&state] { copy_link(state); },
                .enabled = tab_open,
                .separator_before = true});
  commands.add({.id = "go_to_link",
                .title = "Go to link...",
                .menu = MenuId::view,
                .key = "Ctrl+Shift+G",
                .run = [&state] { state.open_dialog(Dialog::go_to_link); },
                .enabled = tab_open});
  commands.add({.id = "copy_search",
                .title = "Copy the search as text",
                .menu = MenuId::analyse,
                .run =
                    [&state] {
                      state.to_copy = state.tab()->choices.search;
                      state.say("Copied the search");
                    },
                .enabled = [&state] { return state.tab() != nullptr && !state.tab()->choices.search.empty(); }});
}

void add_marker_commands(AppState& state) {
  CommandTable& commands = state.commands;
  const auto add = [&commands](const char* id, const char* title, std::function<void()> run,
                               std::function<bool()> enabled) {
    commands.add({.id = id,
                  .title = title,
                  .menu = MenuId::analyse,
                  .submenu = "Marker sets",
                  .run = std::move(run),
                  .enabled = std::move(enabled)});
  };
  add(
      "save_marker_set", "Save the markers as a set...", [&state] { state.open_dialog(Dialog::save_markers); },
      [&state] { return state.tab() != nullptr && !state.tab()->markers.empty(); });
  add(
      "load_marker_set", "Load a set of markers...", [&state] { state.open_dialog(Dialog::load_markers); },
      [&state] { return has_sets(state); });
  add(
      "export_marker_sets", "Export the sets of markers...", [&state] { export_sets(state); },
      [&state] { return has_sets(state); });
  add(
      "import_marker_sets", "Import sets of markers...",
      [&state] {
        state.show_import_dialog([&state](const std::string& path) {
          state.importing = state.workspace.pool().start([path](TaskControl&) { return read_text(path); });
        });
      },
      [&state] { return state.tab() != nullptr; });
}

}  // namespace accelscope::app
