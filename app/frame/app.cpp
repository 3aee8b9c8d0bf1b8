#include "app/frame/app.h"

#include <cassert>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "app/export/output_file.h"
#include "app/export/session_export.h"
#include "app/frame/app_state.h"
#include "app/session/analysis.h"
#include "app/view/marker_sets.h"
#include "app/view/record.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr double kToastSeconds = 2.5;
constexpr const char* kThemeSetting = "theme";
constexpr const char* kZoomSetting = "zoom";
constexpr const char* kLayoutSetting = "layout";
constexpr const char* kLayoutsSetting = "layouts";
constexpr const char* kUsedCommandsSetting = "used_commands";

bool looks_like_address(std::string_view target) {
  if (target.starts_with("tls://")) return true;
  const std::size_t colon = target.rfind(':');
  if (colon == std::string_view::npos || colon + 1 >= target.size()) return false;
  if (target.find('/') != std::string_view::npos) return false;
  return target.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

// Whether all places of "A:7420,B:7420" are such.
bool all_places(std::string_view target, bool (*is_such)(std::string_view)) {
  while (true) {
    const std::size_t comma = target.find(',');
    if (!is_such(target.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    target.remove_prefix(comma + 1);
  }
}

// Range, selection and panels that were asked for when the program was started.
void prepare_first_session(AppState& state) {
  SessionTab* tab = state.tab();
  if (tab == nullptr || !state.options.beside.empty() || !state.compare_base.expired()) return;
  if (std::exchange(state.first_session_prepared, true)) return;
  const AppOptions& options = state.options;
  for (const std::string& entry : options.panels) {
    const bool maximise = entry.ends_with('!');
    const std::string name = maximise ? entry.substr(0, entry.size() - 1) : entry;
    if (const auto panel = find_panel(name)) {
      maximise ? state.layout.maximise(*panel) : state.layout.show(*panel);
    } else {
      state.workspace.notify(Severity::error, name + ": there is no such panel; see --list-panels");
    }
  }
  if (!options.view.empty()) go_to_link(state, options.view);
  if (!options.range.empty()) {
    const auto range =
        parse_marker_range(options.range, {tab->snapshot->begin_ns, tab->snapshot->end_ns}, tab->markers);
    if (range) {
      tab->show({static_cast<double>(range->begin_ns), static_cast<double>(range->end_ns)});
    } else {
      state.workspace.notify(Severity::error, range.message());
    }
  }
  if (options.select) {
    tab->events->when_known(EventIntent::selection, {*options.select}, [&state, tab, &options] {
      const EventId event = *options.select;
      if (const std::string problem = tab->events->problem(event); !problem.empty()) {
        return state.workspace.notify(Severity::error, problem);
      }
      if (!options.panels.empty()) state.panels_of(*tab).noticed = event;  // those that were asked for stay in front
      tab->selected = event;
      if (options.range.empty()) select_in_view(*tab, event);  // a range that was asked for stays
      state.timeline.reveal(*tab, event);
    });
  }
  if (!options.search.empty()) tab->change([&](ViewChoices& choices) { choices.search = options.search; });
  if (!options.panels.empty()) {  // stay in front of what is selected
    state.panels_of(*tab).noticed = tab->selected;
    state.arranged_for = tab;
  }
}

void draw_tabs(AppState& state, Ui& ui, const Rect& strip) {
  Workspace& workspace = state.workspace;
  std::vector<Tab> tabs;
  const bool start_open = workspace.start_page_open();
  if (start_open) {
    tabs.push_back({.name = "start", .label = "Start", .icon = icon::kStar, .closable = workspace.tab_count() > 0});
  }
  for (std::size_t i = 0; i < workspace.tab_count(); ++i) {
    const SessionTab& tab = workspace.tab(i);
    tabs.push_back({.name = std::to_string(i),
                    .label = tab.title + (tab.modified ? " •" : ""),
                    .detail = tab.device,
                    .icon = may_grow(tab) ? icon::kCircle
                            : tab.beside  ? icon::kBalance
                                          : icon::kChip,
                    .closable = true,
                    .tooltip = tab.path.empty() ? "Not saved yet" : tab.path});
  }
  const std::size_t offset = start_open ? 1 : 0;
  std::optional<std::size_t> front = start_open ? std::optional<std::size_t>(0) : std::nullopt;
  if (workspace.active_index()) front = *workspace.active_index() + offset;
  const TabStripResult result = tab_strip(ui, "tabs", strip, tabs, front, {.can_add = workspace.tab_count() > 0});
  if (result.add) workspace.show_start_page();
  if (result.closed) {
    *result.closed < offset ? workspace.close_start_page() : workspace.close(*result.closed - offset);
  } else if (result.chosen) {
    *result.chosen < offset ? workspace.show_start_page() : workspace.activate(*result.chosen - offset);
  }
}

void forget_closed_tabs(AppState& state) {
  state.arranged_for = state.tab() == nullptr ? nullptr : state.arranged_for;
  std::erase_if(state.panels, [&](const auto& entry) {
    for (std::size_t i = 0; i < state.workspace.tab_count(); ++i) {
      const SessionTab& tab = state.workspace.tab(i);
      if (&tab == entry.first || tab.beside.get() == entry.first) return false;
    }
    return true;
  });
}

void finish_quitting(AppState& state) {
  if (!state.quitting || state.quit || state.workspace.question() || state.file_dialog.is_open()) return;
  for (std::size_t i = 0; i < state.workspace.tab_count(); ++i) {
    if (state.workspace.saving(i) || state.workspace.closes_when_saved(i)) return;
  }
  if (!state.workspace.ask_of_unsaved()) state.quit = true;
}

}  // namespace

std::vector<NamedPlace> dialog_places(Workspace& workspace) {
  std::vector<NamedPlace> places = standard_places(process_environment());
  for (const RecentSession& session : workspace.recent().list()) {
    const std::string folder = parent_folder(session.path);
    const bool known = std::ranges::any_of(places, [&](const NamedPlace& p) { return p.path == folder; });
    if (!known && places.size() < 10) places.push_back({title_of_path(folder), folder});
  }
  return places;
}

void WakeBell::set(std::function<void()> wake) {
  const std::scoped_lock lock(mutex_);
  wake_ = std::move(wake);
}

void WakeBell::ring() {
  const std::scoped_lock lock(mutex_);
  if (wake_) wake_();
}

AppState::AppState(AppOptions app_options)
    : options(std::move(app_options)),
      workspace({.state_directory = options.state_directory,
                 .source_roots = options.source_roots,
                 .wake = [bell = bell] { bell->ring(); },
                 .services = options.services}),
      queries(options.state_directory.empty()
                  ? std::string()
                  : (std::filesystem::path(options.state_directory) / "queries.txt").string()),
      searches(options.state_directory.empty()
                   ? std::string()
                   : (std::filesystem::path(options.state_directory) / "searches.txt").string()),
      peaks(peak_book_file(options.state_directory)),
      library(
          workspace.settings(), workspace.pool(), [bell = bell] { bell->ring(); },
          options.state_directory.empty()
              ? std::string()
              : (std::filesystem::path(options.state_directory) / "headlines.txt").string()),
      file_dialog(workspace.pool()) {
  if (auto loaded = peaks.load(); !loaded) workspace.notify(Severity::warning, loaded.message());
  for (QueryHistory* book : {&queries, &searches}) {
    if (auto loaded = book->load(); !loaded) workspace.notify(Severity::warning, loaded.message());
  }
  Settings& settings = workspace.settings();
  theme = settings.value(kThemeSetting, "dark") == "light" ? ThemeKind::light : ThemeKind::dark;
  if (options.theme) theme = *options.theme;
  zoom = std::clamp(static_cast<float>(settings.number(kZoomSetting, 1)), 0.5F, 3.0F);
  layout = PanelLayout::from_text(settings.value(kLayoutSetting));
  layouts = SavedLayouts::from_text(settings.value(kLayoutsSetting));
  std::istringstream used(settings.value(kUsedCommandsSetting));
  command_box.set_used({std::istream_iterator<std::string>(used), {}});
  actions.run = [this](std::string_view id) {
    assert(commands.find(id) != nullptr);
    commands.run(id);
  };
  actions.show_panel = [this](PanelId panel) { layout.show(panel); };
  actions.inform = [this](std::string text) { inform(std::move(text)); };
  actions.notify = [this](Severity severity, std::string text) { workspace.notify(severity, std::move(text)); };
  actions.choose_folder = [this](std::string title, std::function<void(const std::string&)> chosen) {
    file_dialog.show_folders(std::move(title), start_folder(), dialog_places(workspace), std::move(chosen));
  };
  actions.open_part = [this](std::string title, std::string device, const std::vector<TrackNumber>& tracks) {
    if (workspace.active_index())
      workspace.open_part(*workspace.active_index(), std::move(title), std::move(device), tracks);
  };
  actions.other_sessions = [this] {
    std::vector<OpenSession> others;
    for (std::size_t i = 0; i < workspace.tab_count(); ++i) {
      const SessionTab& each = workspace.tab(i);
      const bool is_known =
          (tab() != nullptr && tab()->store == each.store) ||
          std::ranges::any_of(others, [&](const OpenSession& known) { return known.store == each.store; });
      if (is_known || each.beside) continue;
      // The one that stands below comes first.
      const bool is_below = tab() != nullptr && tab()->beside && tab()->beside->store == each.store;
      const bool is_earlier = !is_below && workspace.active_index() && i < *workspace.active_index();
      others.insert(is_below ? others.begin() : others.end(), {each.title, each.store, may_grow(each), is_earlier});
    }
    if (tab() != nullptr && tab()->beside && (others.empty() || others.front().store != tab()->beside->store))
      others.insert(others.begin(), {tab()->beside->title, tab()->beside->store});
    return others;
  };
  actions.open_comparison = [this](const std::shared_ptr<const Store>& other) {
    for (std::size_t i = 0; i < workspace.tab_count(); ++i) {
      if (workspace.tab(i).store != other) continue;
      // A, above, is what was opened first.
      const std::size_t here = *workspace.active_index();
      workspace.open_comparison(std::min(here, i), std::max(here, i));
      return layout.show("compare");
    }
  };
  actions.reveal = [this](EventId event) {
    if (tab() == nullptr) return;
    SessionTab& session = in_progress(*tab());
    timeline_of(session).reveal(session, event);
  };
  add_commands(*this);
}

TabPanels& AppState::panels_of(SessionTab& session) {
  auto& entry = panels[&session];
  if (!entry) entry = std::make_unique<TabPanels>(workspace.pool(), queries, peaks);
  return *entry;
}

void AppState::inform(std::string text) {
  toast = std::move(text);
  toast_until_s = now_s + kToastSeconds;
}

void AppState::open_dialog(std::string_view which) {
  dialog = which;
  dialog_text.clear();
  dialog_focused = false;
  dialog_must_open = true;
}

void AppState::show_connect_form() {
  if (start_page.form_seen() && dialog.empty()) return connect_form.focus();
  open_dialog("connect");
}

std::string AppState::start_folder() {
  std::string start;
  if (!workspace.recent().list().empty()) start = parent_folder(workspace.recent().list().front().path);
  return start.empty() ? home_directory(process_environment()) : start;
}

void AppState::show_open_dialog() {
  file_dialog.show(FileDialog::Purpose::open, start_folder(), dialog_places(workspace),
                   [this](const std::string& path) { workspace.open(path); });
}

void AppState::show_import_dialog(FileDialog::Chosen chosen) {
  file_dialog.show(FileDialog::Purpose::import_text, start_folder(), dialog_places(workspace), std::move(chosen));
}

void AppState::show_save_dialog(std::size_t index, bool then_close) {
  file_dialog.show(FileDialog::Purpose::save, workspace.suggested_path(index), dialog_places(workspace),
                   [this, id = workspace.id_of(index), then_close](const std::string& path) {
                     const std::optional<std::size_t> now = workspace.index_of(id);
                     if (!now) return inform("The session was closed meanwhile; nothing was saved");
                     then_close ? workspace.save_and_close(*now, path) : workspace.save(*now, path);
                   });
}

void AppState::export_text(FileOffer offer) {
  if (exporting.valid()) return inform("The last export is still being written");
  const std::string folder =
      tab() == nullptr || tab()->path.empty() ? home_directory(process_environment()) : parent_folder(tab()->path);
  file_dialog.show(FileDialog::Purpose::export_text, (std::filesystem::path(folder) / offer.name).string(),
                   dialog_places(workspace), [this, text = std::move(offer.text)](const std::string& path) {
                     inform("Writing " + path + " ...");
                     exporting = workspace.pool().start(Priority::background,
                                                        [text, path](TaskControl&) -> Result<std::string> {
                                                          TRY(write_file(path, text()));
                                                          return "Wrote " + path;
                                                        });
                   });
}

void AppState::show_filtered_export() {
  const SessionTab& session = *tab();
  const std::string folder = session.path.empty() ? home_directory(process_environment()) : parent_folder(session.path);
  const std::string name = session.title + "-filtered.csv";
  file_dialog.show(
      FileDialog::Purpose::export_text, (std::filesystem::path(folder) / name).string(), dialog_places(workspace),
      [this, store = session.store, snapshot = session.snapshot,
       filter = session.choices.filter](const std::string& path) {
        exporting = workspace.pool().start(
            Priority::background, [store, snapshot, filter, path, &pool = workspace.pool()](TaskControl& control) {
              return write_filtered({*store, snapshot, pool, control}, filter, path);
            });
        inform("Writing " + path);
      });
}

void AppState::take_exported() {
  if (!exporting.valid() || !exporting.ready()) return;
  const Result<std::string> written = exporting.take();
  written ? inform(*written) : workspace.notify(Severity::error, written.message());
}

void AppState::copy_made(std::function<std::string()> text) {
  copying = workspace.pool().start(Priority::question,
                                   [text = std::move(text)](TaskControl&) -> Result<std::string> { return text(); });
}

void AppState::take_copied() {
  if (!copying.valid() || !copying.ready()) return;
  Result<std::string> text = copying.take();
  if (!text) return workspace.notify(Severity::error, "Nothing was copied: " + text.message());
  inform("Copied the table");
  to_copy = std::move(*text);
}

void AppState::remember_settings() {
  Settings& settings = workspace.settings();
  if (!options.theme) settings.set(kThemeSetting, std::string(theme == ThemeKind::light ? "light" : "dark"));
  settings.set(kZoomSetting, static_cast<double>(zoom));
  settings.set(kLayoutSetting, layout.to_text());
  settings.set(kLayoutsSetting, layouts.to_text());
  std::string used;
  for (const std::string& id : command_box.used()) used += (used.empty() ? "" : " ") + id;
  settings.set(kUsedCommandsSetting, used);
  workspace.write_settings();
}

struct App::State : AppState {
  using AppState::AppState;
};

App::App(AppOptions options) : state_(std::make_unique<State>(std::move(options))) {}

App::~App() {
  state_->bell->set({});
  state_->remember_settings();
}

bool names_agents(const std::string& target) {
  return all_places(target, [](std::string_view place) {
    return place == "local" || place.starts_with("ssh://") || looks_like_address(place);
  });
}

void App::open(const std::string& target) {
  if (!names_agents(target)) return state_->workspace.open(target);
  if (all_places(target, looks_like_address)) return state_->workspace.connect(target);
  state_->connect_form.show_place(target);
  state_->show_connect_form();
}

void App::open(const std::vector<std::string>& targets) {
  std::vector<std::string> files;
  for (const std::string& target : targets) {
    if (names_agents(target)) {
      open(target);
    } else {
      files.push_back(target);
    }
  }
  state_->workspace.open(files);
}

void App::frame(Ui& ui) {
  State& state = *state_;
  ++state.frames;
  state.now_s = ui.time();
  if (ui.theme().kind() != state.theme) ui.set_theme(state.theme);
  if (ui.zoom() != state.zoom) ui.set_zoom(state.zoom);
  if (!ui.can_offer_file()) {
    ui.set_file_taker([&state](FileOffer offer) { state.export_text(std::move(offer)); });
    ui.set_copy_maker([&state](std::function<std::string()> text) { state.copy_made(std::move(text)); });
  }
  if (!ui.can_look_up()) {
    ui.set_explainer([&state](const LabelWord& word) {
      SessionTab* tab = state.tab();
      if (tab == nullptr) return;
      tab->looked_up = {word.name.empty() ? word.title : word.name, word.title, word.meaning};
      state.layout.show("tables");
    });
  }
  state.workspace.update(state.now_s);
  for (std::string& wrong : state.library.update()) state.workspace.notify(Severity::warning, std::move(wrong));
  forget_closed_tabs(state);
  compare_with_opened(state);
  prepare_first_session(state);
  state.take_exported();
  state.take_copied();
  state.take_imported();
  if (std::exchange(state.layouts_changed, false)) add_layout_commands(state);
  run_key_commands(state, ui);

  Rect rest = ui.window();
  fill(ui, rest, ui.colour(Colour::bg0));
  draw_top_bar(state, ui, rest.cut_top(ui.px(size::kTopBar)));
  draw_tabs(state, ui, rest.cut_top(ui.px(size::kSessionTabs)));
  draw_status_bar(state, ui, rest.cut_bottom(ui.px(size::kStatusBar)));
  draw_notices(state, ui, rest);
  state.start_page.left();
  if (SessionTab* tab = state.tab()) {
    state.panels_of(*tab).follower.update(*tab);
    if (tab->beside) state.panels_of(*tab->beside).follower.update(*tab->beside);
    draw_session(state, ui, rest);
    if (state.layout.maximised() || state.timeline.settled(*tab)) tab->analysis->timeline_drawn();
  } else {
    ConnectForm* form = state.dialog == "connect" ? nullptr : &state.connect_form;
    state.start_page.draw(ui, state.workspace, state.library, form, rest, state.actions);
  }
  draw_dialogs(state, ui);
  draw_capture_question(state, ui);
  finish_quitting(state);
  if (const SessionTab* tab = state.tab()) {
    if (const auto due = tab->analysis->due_in()) ui.request_frame_after(*due);
    if (const auto due = tab->beside ? tab->beside->analysis->due_in() : std::nullopt) ui.request_frame_after(*due);
  }
  if (auto text = std::exchange(state.to_copy, std::nullopt)) ui.copy_to_clipboard(*text);
  if (state.toast_until_s > state.now_s) ui.request_frame_after(state.toast_until_s - state.now_s);
}

void App::files_dropped(const std::vector<std::string>& paths) { state_->workspace.open(paths); }

bool App::close_requested() {
  state_->quitting = true;
  finish_quitting(*state_);
  return state_->quit;
}

bool App::wants_to_quit() const { return state_->quit; }

bool App::animates() const {
  if (!state_->workspace.jobs().empty() || !state_->library.jobs().empty()) return true;
  const SessionTab* tab = state_->tab();
  return tab != nullptr && may_grow(*tab);
}

bool App::timeline_complete() const {
  SessionTab* tab = state_->tab();
  return tab != nullptr && !state_->workspace.opening() && !tab->analysis->timeline_pending() &&
         state_->timeline.settled(*tab);
}

bool App::settled() const {
  if (state_->frames < 3 || !state_->workspace.settled() || state_->file_dialog.loading()) return false;
  if (!state_->library.settled()) return false;
  SessionTab* tab = state_->tab();
  if (tab == nullptr) return true;
  const auto panels = state_->panels.find(tab);
  // Behind a maximised panel the timeline is not drawn and asks for nothing.
  const bool timeline_settled =
      state_->layout.maximised().has_value() ||
      (state_->timeline.settled(*tab) && (!tab->beside || state_->timeline_below.settled(*tab->beside)));
  if (panels != state_->panels.end() && panels->second->compared.task.valid()) return false;
  return panels != state_->panels.end() && !panels->second->pending(state_->layout) && timeline_settled;
}

void App::set_wake(std::function<void()> wake) { state_->bell->set(std::move(wake)); }

Workspace& App::workspace() noexcept { return state_->workspace; }
PanelLayout& App::layout() noexcept { return state_->layout; }
const CommandTable& App::commands() const noexcept { return state_->commands; }

std::string App::dump_state() const {
  const State& state = *state_;
  const auto number = [](double value) { return std::to_string(static_cast<long long>(value)); };
  std::string json = "{\"tabs\":[";
  for (std::size_t i = 0; i < state.workspace.tab_count(); ++i) {
    const SessionTab& tab = state.workspace.tab(i);
    if (i > 0) json += ",";
    json += "{\"title\":" + json_quote(tab.title) + ",\"device\":" + json_quote(tab.device) +
            ",\"path\":" + json_quote(tab.path) + ",\"modified\":" + (tab.modified ? "true" : "false") +
            ",\"events\":" + std::to_string(tab.snapshot->event_count) + ",\"view\":[" + number(tab.view.begin_ns) +
            "," + number(tab.view.end_ns) +
            "],\"selected\":" + (tab.selected ? std::to_string(*tab.selected) : std::string("null")) +
            ",\"related\":" + std::to_string(tab.related.size() + (tab.lit ? tab.lit->total() : 0)) +
            ",\"selected_source\":" + json_quote(tab.selected_source) +
            ",\"search\":" + json_quote(tab.choices.search) +
            ",\"filter_terms\":" + std::to_string(tab.choices.filter.terms.size()) +
            ",\"region\":" + (tab.region ? "true" : "false") + ",\"markers\":" + std::to_string(tab.markers.size()) +
            ",\"link\":" + json_quote(to_text(link_to_view(tab))) +
            ",\"live\":" + (tab.live == LiveState::recording ? "true" : "false") + "}";
  }
  json += "],\"active\":" +
          (state.workspace.active_index() ? std::to_string(*state.workspace.active_index()) : std::string("null"));
  json += ",\"theme\":" + json_quote(state.theme == ThemeKind::light ? "light" : "dark");
  json += ",\"layout\":" + json_quote(state.layout.to_text());
  json += ",\"last_error\":" + json_quote(state.workspace.last_error()) + "}";
  return json;
}

}  // namespace accelscope::app
