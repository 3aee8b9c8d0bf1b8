// What is kept of a session and carried elsewhere: links to views, sets of markers.
#include <filesystem>
#include <fstream>

#include "app/frame/app_state.h"
#include "app/view/record.h"

namespace accelscope::app {

namespace {

constexpr std::uintmax_t kMostImported = 16U << 20U;  // bytes: a file of marker sets is small

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

}  // namespace

void copy_link(AppState& state) {
  SessionTab& tab = *state.tab();
  std::vector<EventId> in_link;
  if (tab.selected) in_link.push_back(*tab.selected);
  tab.events->when_known(EventWish::link, std::move(in_link), [&state, &tab] {
    state.to_copy = to_text(link_to_view(tab));
    state.say("Copied a link to this view");
  });
}

void export_marker_sets(AppState& state) {
  SessionTab& tab = *state.tab();
  state.export_text(
      {"marker-sets.txt", [text = state.panels_of(tab).marker_sets().of(tab).to_text()] { return text; }});
}

bool has_marker_sets(AppState& state) {
  SessionTab* tab = state.tab();
  return tab != nullptr && !state.panels_of(*tab).marker_sets().of(*tab).all().empty();
}

void import_marker_sets(AppState& state) {
  state.show_import_dialog([&state](const std::string& path) {
    state.importing = state.workspace.pool().start([path](TaskControl&) { return read_text(path); });
  });
}

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
      text ? panels_of(*tab()).marker_sets().import_text(*tab(), *text) : Result<std::size_t>(text.error());
  if (!count) return workspace.notify(Severity::error, count.message());
  say(*count == 1 ? "Imported one set of markers" : "Imported " + std::to_string(*count) + " sets of markers");
  layout.show("markers");
}

}  // namespace accelscope::app
