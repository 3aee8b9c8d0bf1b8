#include "app/frame/app.h"

#include <cassert>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

#include "app/content/tab_titles.h"
#include "app/frame/app_state.h"
#include "app/output/output_file.h"
#include "app/output/session_export.h"
#include "app/session/analysis.h"
#include "app/view/marker_sets.h"
#include "app/view/record.h"
#include "core/base/json.h"
#include "core/names/short_names.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::frame {

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
  session::SessionTab* tab = state.tab();
  if (tab == nullptr || !state.options.compared.empty() || !state.compared_with.expired()) return;
  if (std::exchange(state.first_session_prepared, true)) return;
  const AppOptions& options = state.options;
  for (const std::string& entry : options.panels) {
    const bool maximise = entry.ends_with('!');
    const std::string name = maximise ? entry.substr(0, entry.size() - 1) : entry;
    if (const auto panel = find_panel(name)) {
      state.layout.show(*panel);
      if (maximise) state.layout.maximise(*panel);
    } else {
      state.workspace.notify(Severity::error, name + ": there is no such panel; see --list-panels");
    }
  }
  if (!options.view.empty()) go_to_link(state, options.view);
  if (!options.range.empty()) {
    const auto range =
        view::parse_marker_range(options.range, {tab->snapshot->begin_ns, tab->snapshot->end_ns}, tab->markers);
    if (range) {
      tab->show({static_cast<double>(range->begin_ns), static_cast<double>(range->end_ns)});
    } else {
      state.workspace.notify(Severity::error, range.message());
    }
  }
  if (options.select) {
    tab->events->when_known(session::EventIntent::selection, {*options.select}, [&state, tab, &options] {
      const EventId event = *options.select;
      if (const std::string problem = tab->events->problem(event); !problem.empty()) {
        return state.workspace.notify(Severity::error, problem);
      }
      if (!options.panels.empty()) state.panels_of(*tab).noticed = event;  // those that were asked for stay in front
      tab->selected = event;
      if (options.range.empty()) view::select_in_view(*tab, event);  // a range that was asked for stays
      state.timeline.reveal(*tab, event);
    });
  }
  if (!options.search.empty()) tab->change([&](session::ViewChoices& choices) { choices.search = options.search; });
  if (!options.panels.empty()) {  // stay in front of what is selected
    state.panels_of(*tab).noticed = tab->selected;
    state.arranged_for = tab;
  }
}

// Of the session, or those of a comparison: their titles of at most so many characters, each told apart.
std::string short_label(session::SessionTab& tab, const std::map<std::string, std::string>& titles) {
  constexpr std::size_t kMostNamed = 3;
  const std::vector<session::SessionTab*> all = session::sessions_of(tab);
  std::string label;
  for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i)
    label += (label.empty() ? "" : " : ") + titles.at(session::own_title(*all[i]));
  if (all.size() > kMostNamed) label += fmt::format(" + {}", all.size() - kMostNamed);
  return label + (tab.modified ? " •" : "");
}

// Where the tabs have no room with whole titles: first without their devices, then with what all titles begin or end
// with left out, then as long as there is room for, so that all of them are seen.
void shorten_tabs(AppState& state, const Ui& ui, float room, std::size_t first, std::vector<Tab>& tabs) {
  const auto fits = [&] { return tab_strip_width(ui, tabs) <= room; };
  if (fits()) return;
  workspace::Workspace& workspace = state.workspace;
  for (Tab& tab : tabs) tab.detail.clear();
  std::map<std::string, std::string> titles;
  for (std::size_t i = 0; i < workspace.tab_count(); ++i)
    for (const session::SessionTab* each : session::sessions_of(workspace.tab(i)))
      titles[session::own_title(*each)] = "";
  std::vector<std::string> whole;
  for (const auto& [title, label] : titles) whole.push_back(title);
  const auto shorten = [&](std::size_t characters) {
    const std::vector<std::string> labels = content::titles_that_differ(whole, characters);
    for (std::size_t i = 0; i < whole.size(); ++i) titles[whole[i]] = labels[i];
    for (std::size_t i = first; i < tabs.size(); ++i) tabs[i].label = short_label(workspace.tab(i - first), titles);
    return fits();
  };
  std::size_t least = content::kLeastTitle, most = 0;
  for (const std::string& title : whole) most = std::max(most, character_count(title));
  if (fits() || shorten(most)) return;
  while (least < most) {
    const std::size_t middle = (least + most + 1) / 2;
    shorten(middle) ? least = middle : most = middle - 1;
  }
  shorten(least);
}

void draw_tabs(AppState& state, Ui& ui, const Rect& strip) {
  const FocusPane pane(ui, kTabsPane.name, kTabsPane.order);
  workspace::Workspace& workspace = state.workspace;
  std::vector<Tab> tabs;
  const bool start_open = workspace.start_page_open();
  if (start_open) {
    tabs.push_back({.name = "start", .label = "Start", .icon = icon::kStar, .closable = workspace.tab_count() > 0});
  }
  for (std::size_t i = 0; i < workspace.tab_count(); ++i) {
    const session::SessionTab& tab = workspace.tab(i);
    tabs.push_back({.name = std::to_string(i),
                    .label = tab.title + (tab.modified ? " •" : ""),
                    .detail = tab.device,
                    .icon = session::may_grow(tab) ? icon::kCircle
                            : tab.beside.empty()   ? icon::kChip
                                                   : icon::kBalance,
                    .closable = true,
                    .tooltip = tab.path.empty() ? "Not saved yet" : tab.path});
  }
  const std::vector<Tab> whole = tabs;
  constexpr float kAddTab = 30;
  shorten_tabs(state, ui, strip.width() - (workspace.tab_count() > 0 ? ui.px(kAddTab) : 0), start_open ? 1 : 0, tabs);
  for (std::size_t i = 0; i < tabs.size(); ++i) {
    if (tabs[i].label == whole[i].label && tabs[i].detail == whole[i].detail) continue;
    tabs[i].tooltip = whole[i].label + (whole[i].detail.empty() ? "" : "  " + whole[i].detail) + "\n" + tabs[i].tooltip;
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
      const std::vector<session::SessionTab*> all = session::sessions_of(state.workspace.tab(i));
      if (std::ranges::find(all, entry.first) != all.end()) return false;
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

std::vector<system::NamedPlace> dialog_places(workspace::Workspace& workspace) {
  std::vector<system::NamedPlace> places = system::standard_places(system::process_environment());
  for (const persist::RecentSession& session : workspace.recent().list()) {
    const std::string folder = system::parent_folder(session.path);
    const bool known = std::ranges::any_of(places, [&](const system::NamedPlace& p) { return p.path == folder; });
    if (!known && places.size() < 10) places.push_back({workspace::title_of_path(folder), folder});
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
      peaks(persist::peak_book_file(options.state_directory)),
      library(
          workspace.settings(), workspace.pool(), [bell = bell] { bell->ring(); },
          options.state_directory.empty()
              ? std::string()
              : (std::filesystem::path(options.state_directory) / "headlines.txt").string()),
      file_dialog(workspace.pool()) {
  if (auto loaded = peaks.load(); !loaded) workspace.notify(Severity::warning, loaded.message());
  for (persist::QueryHistory* book : {&queries, &searches}) {
    if (auto loaded = book->load(); !loaded) workspace.notify(Severity::warning, loaded.message());
  }
  persist::Settings& settings = workspace.settings();
  theme = render::theme_of_name(settings.value(kThemeSetting));
  theme_chosen = !settings.value(kThemeSetting).empty();
  if (options.theme) theme = *options.theme;
  const std::string motion = settings.value(kReducedMotionSetting);
  reduced_motion = motion.empty() ? system::desktop_reduces_motion(system::process_environment()) : motion == "on";
  if (!options.gsettings.empty() && (motion.empty() || !(theme_chosen || options.theme))) {
    desktop = workspace.pool().start([program = options.gsettings](TaskControl& control) {
      return system::desktop_settings(program, [&] { return control.cancelled(); });
    });
  }
  zoom = std::clamp(static_cast<float>(settings.number(kZoomSetting, 1)), 0.5F, 3.0F);
  layout = PanelLayout::from_text(settings.value(kLayoutSetting));
  layouts = persist::SavedLayouts::from_text(settings.value(kLayoutsSetting));
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
    std::vector<panels::OpenSession> others;
    const std::vector<session::SessionTab*> in_front =
        tab() == nullptr ? std::vector<session::SessionTab*>{} : session::sessions_of(*tab());
    for (std::size_t i = 0; i < workspace.tab_count(); ++i) {
      const session::SessionTab& each = workspace.tab(i);
      const auto is_it = [&](const auto& known) { return known.store == each.store; };
      const bool is_known = std::ranges::any_of(in_front, [&](const auto* known) { return is_it(*known); }) ||
                            std::ranges::any_of(others, is_it);
      if (is_known || !each.beside.empty()) continue;
      others.push_back(
          {each.title, each.store, session::may_grow(each), workspace.active_index() && i < *workspace.active_index()});
    }
    return others;
  };
  actions.open_comparison = [this](const std::shared_ptr<const Store>& other) {
    const auto added = workspace.tab_of(other);
    if (!added) return;
    if (!tab()->beside.empty()) return workspace.add_to_comparison(*tab(), *added);
    workspace.open_comparison({*workspace.active_index(), *added});
    layout.show("compare");
  };
  actions.grows = [this](const Store& store) { return workspace.grows(store); };
  actions.reveal = [this](EventId event) {
    if (tab() == nullptr) return;
    session::SessionTab& session = session::in_progress(*tab());
    timeline_of(session).reveal(session, event);
  };
  add_commands(*this);
}

timeline::TimelinePanel& AppState::timeline_of(const session::SessionTab& session) {
  if (tab() == nullptr) return timeline;
  const std::vector<session::SessionTab*> all = session::sessions_of(*tab());
  const auto place = static_cast<std::size_t>(std::ranges::find(all, &session) - all.begin());
  if (place == 0 || place == all.size()) return timeline;
  while (timelines_below.size() < place) {
    const std::size_t number = timelines_below.size() + 1;
    timelines_below.emplace_back(number == 1 ? "timeline_below" : fmt::format("timeline_below.{}", number), false);
  }
  return timelines_below[place - 1];
}

TabPanels& AppState::panels_of(session::SessionTab& session) {
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
  if (!workspace.recent().list().empty()) start = system::parent_folder(workspace.recent().list().front().path);
  return start.empty() ? system::home_directory(system::process_environment()) : start;
}

void AppState::show_open_dialog() {
  file_dialog.show(connect::FileDialog::Purpose::open, start_folder(), dialog_places(workspace),
                   [this](const std::string& path) { workspace.open(path); });
}

void AppState::show_import_dialog(connect::FileDialog::Chosen chosen) {
  file_dialog.show(connect::FileDialog::Purpose::import_text, start_folder(), dialog_places(workspace),
                   std::move(chosen));
}

void AppState::show_save_dialog(std::size_t index, bool then_close) {
  file_dialog.show(connect::FileDialog::Purpose::save, workspace.suggested_path(index), dialog_places(workspace),
                   [this, id = workspace.id_of(index), then_close](const std::string& path) {
                     const std::optional<std::size_t> now = workspace.index_of(id);
                     if (!now) return inform("The session was closed meanwhile; nothing was saved");
                     then_close ? workspace.save_and_close(*now, path) : workspace.save(*now, path);
                   });
}

void AppState::export_text(FileOffer offer) {
  if (exporting.valid()) return inform("The last export is still being written");
  const std::string folder = tab() == nullptr || tab()->path.empty()
                                 ? system::home_directory(system::process_environment())
                                 : system::parent_folder(tab()->path);
  file_dialog.show(connect::FileDialog::Purpose::export_text, (std::filesystem::path(folder) / offer.name).string(),
                   dialog_places(workspace), [this, text = std::move(offer.text)](const std::string& path) {
                     inform("Writing " + path + " ...");
                     exporting = workspace.pool().start(Priority::background,
                                                        [text, path](TaskControl&) -> Result<std::string> {
                                                          TRY(output::write_file(path, text()));
                                                          return "Wrote " + path;
                                                        });
                   });
}

void AppState::show_filtered_export() {
  const session::SessionTab& session = *tab();
  const std::string folder = session.path.empty() ? system::home_directory(system::process_environment())
                                                  : system::parent_folder(session.path);
  const std::string name = session.title + "-filtered.csv";
  file_dialog.show(connect::FileDialog::Purpose::export_text, (std::filesystem::path(folder) / name).string(),
                   dialog_places(workspace),
                   [this, store = session.store, snapshot = session.snapshot,
                    filter = session.choices.filter](const std::string& path) {
                     exporting = workspace.pool().start(
                         Priority::background,
                         [store, snapshot, filter, path, &pool = workspace.pool()](TaskControl& control) {
                           return output::write_filtered({*store, snapshot, pool, control}, filter, path);
                         });
                     inform("Writing " + path);
                   });
}

void AppState::take_exported() {
  for (Task<Result<std::string>>* task : {&exporting, &opening}) {
    if (!task->ready()) continue;
    const Result<std::string> done = task->take();
    if (done) {
      inform(*done);
      continue;
    }
    workspace.notify(Severity::error, done.message());
    if (!dialog.empty() || file_dialog.is_open()) inform(done.message());  // it lies over the notices
  }
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

// What the user has chosen meanwhile stays.
void AppState::take_desktop() {
  if (!desktop.valid() || !desktop.ready()) return;
  const system::DesktopSettings found = desktop.take();
  if (found.reduces_motion && workspace.settings().value(kReducedMotionSetting).empty()) reduced_motion = true;
  if (found.high_contrast && !theme_chosen && !options.theme) theme = render::ThemeKind::high_contrast;
}

void AppState::remember_settings() {
  persist::Settings& settings = workspace.settings();
  if (!options.theme && theme_chosen) settings.set(kThemeSetting, std::string(name_of(theme)));
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
  state.take_desktop();
  if (ui.theme().kind() != state.theme) ui.set_theme(state.theme);
  ui.set_reduced_motion(state.reduced_motion);
  if (ui.zoom() != state.zoom) ui.set_zoom(state.zoom);
  if (!ui.can_offer_file()) {
    ui.set_file_taker([&state](FileOffer offer) { state.export_text(std::move(offer)); });
    ui.set_copy_maker([&state](std::function<std::string()> text) { state.copy_made(std::move(text)); });
  }
  if (!ui.can_look_up()) {
    ui.set_explainer([&state](const LabelWord& word) {
      session::SessionTab* tab = state.tab();
      if (tab == nullptr) return;
      tab->looked_up = {word.name.empty() ? word.title : word.name, word.title, word.meaning};
      state.layout.show("tables");
    });
  }
  state.workspace.update(state.now_s);
  for (std::string& wrong : state.library.update()) state.workspace.notify(Severity::warning, std::move(wrong));
  take_removed_side(state);
  forget_closed_tabs(state);
  compare_with_opened(state);
  prepare_first_session(state);
  state.take_exported();
  state.take_copied();
  state.take_imported();
  if (std::exchange(state.layouts_changed, false)) add_layout_commands(state);
  const FocusScope keyboard(ui, "window");
  if (!ui.keys_go_elsewhere()) state.focused = ui.keyboard_focus().place;
  run_key_commands(state, ui);

  Rect rest = ui.window();
  fill(ui, rest, ui.colour(Colour::bg0));
  draw_top_bar(state, ui, rest.cut_top(ui.px(size::kTopBar)));
  draw_tabs(state, ui, rest.cut_top(ui.px(size::kSessionTabs)));
  draw_status_bar(state, ui, rest.cut_bottom(ui.px(size::kStatusBar)));
  draw_notices(state, ui, rest);
  state.start_page.left();
  if (session::SessionTab* tab = state.tab()) {
    for (session::SessionTab* each : session::sessions_of(*tab)) state.panels_of(*each).follower.update(*each);
    draw_session(state, ui, rest);
    if (state.layout.maximised() || state.timeline.settled(*tab)) tab->analysis->timeline_drawn();
  } else {
    connect::ConnectForm* form = state.dialog == "connect" ? nullptr : &state.connect_form;
    const FocusPane pane(ui, kStartPane.name, kStartPane.order, "start.open");
    state.start_page.draw(ui, state.workspace, state.library, form, rest, state.actions);
  }
  if (session::SessionTab* tab = state.tab(); tab != nullptr && !ui.input().down(MouseButton::left)) {
    session::note_edits(session::in_progress(*tab));
  }
  draw_dialogs(state, ui);
  draw_capture_question(state, ui);
  finish_quitting(state);
  if (state.tab() != nullptr) {
    for (const session::SessionTab* each : session::sessions_of(*state.tab()))
      if (const auto due = each->analysis->due_in()) ui.request_frame_after(*due);
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
  const session::SessionTab* tab = state_->tab();
  return tab != nullptr && session::may_grow(*tab);
}

bool App::timeline_complete() const {
  session::SessionTab* tab = state_->tab();
  return tab != nullptr && !state_->workspace.opening() && !tab->analysis->timeline_pending() &&
         state_->timeline.settled(*tab);
}

bool App::settled() const {
  if (state_->frames < 3 || !state_->workspace.settled() || state_->file_dialog.loading()) return false;
  if (!state_->library.settled()) return false;
  session::SessionTab* tab = state_->tab();
  if (tab == nullptr) return true;
  const auto panels = state_->panels.find(tab);
  // Behind a maximised panel the timeline is not drawn and asks for nothing.
  const bool timeline_settled =
      state_->layout.maximised().has_value() || std::ranges::all_of(session::sessions_of(*tab), [&](const auto* each) {
        return state_->timeline_of(*each).settled(*each);
      });
  if (panels != state_->panels.end() && panels->second->compared.task.valid()) return false;
  if (!state_->options.compared.empty() || !state_->compared_with.expired()) return false;
  return panels != state_->panels.end() && !panels->second->pending(state_->layout) && timeline_settled;
}

void App::set_wake(std::function<void()> wake) { state_->bell->set(std::move(wake)); }

workspace::Workspace& App::workspace() noexcept { return state_->workspace; }
PanelLayout& App::layout() noexcept { return state_->layout; }
const palette::CommandTable& App::commands() const noexcept { return state_->commands; }

std::string App::dump_state() const {
  const State& state = *state_;
  JsonWriter json;
  json.begin_object().key("tabs").begin_array();
  for (std::size_t i = 0; i < state.workspace.tab_count(); ++i) {
    const session::SessionTab& tab = state.workspace.tab(i);
    json.begin_object("title", tab.title, "device", tab.device, "path", tab.path, "modified", tab.modified);
    json.add("events", tab.snapshot->event_count);
    json.array("view", std::array{tab.view.begin_ns, tab.view.end_ns},
               [&](double ns) { json.value(static_cast<std::int64_t>(ns)); });
    json.add("selected", tab.selected, "related", tab.related.size() + (tab.lit ? tab.lit->total() : 0));
    json.add("selected_source", tab.selected_source, "search", tab.choices.search);
    json.add("filter_terms", tab.choices.filter.terms.size(), "region", tab.region.has_value());
    json.add("markers", tab.markers.size(), "link", view::to_text(view::link_to_view(tab)));
    json.add("live", tab.live == session::LiveState::recording).end();
  }
  json.end().add("active", state.workspace.active_index());
  json.add("theme", name_of(state.theme), "layout", state.layout.to_text());
  return json.add("last_error", state.workspace.last_error()).done();
}

}  // namespace accelscope::app::frame
