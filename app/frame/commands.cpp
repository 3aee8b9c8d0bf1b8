#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/content/capture/text.h"
#include "app/frame/app_state.h"
#include "app/output/report/reports.h"
#include "app/output/session_export.h"
#include "app/palette/command_table.h"
#include "app/plan/editor.h"
#include "app/session/analysis.h"
#include "app/system/system_files.h"
#include "app/view/record.h"
#include "core/base/text.h"
#include "core/export/formats/formats.h"
#include "core/listing/listings.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"

namespace accelscope::app::frame {

// File > Export: the session, or what its filter passes, in every format of core/export/formats.

namespace {

constexpr const char* kExportMenu = "Export";

// What is written, taken when the user chose where to.
struct ExportSource {
  std::shared_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;
  EventFilter filter;
  std::string title;
  analysis::PeakEdits peaks;
};

Result<std::string> export_to(const ExportSource& source, const exporting::ExportFormat& format,
                              const std::string& path, WorkerPool& pool, session::JobControl& control) {
  control.set_unit(session::JobUnit::events);
  TaskControl task;
  exporting::ExportRequest request{{*source.store, source.snapshot, pool, task}};
  auto mask = search::filter_mask(request.query, source.filter);
  if (!mask) return Error{"The filter: " + mask.message()};
  request.query.mask = std::move(*mask);
  request.range = source.filter.range.value_or(TimeRange{});
  request.title = source.title;
  request.filter = source.filter;
  if (request.query.mask) {
    request.filter_text = fmt::format("{} of {} events pass the filter",
                                      format_count(count_passing(*source.snapshot, request.query.mask.get())),
                                      format_count(count_passing(*source.snapshot, nullptr)));
  }
  request.peaks = source.peaks;
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!control.report(done, total)) task.cancel();
  };
  std::ostringstream unused;
  const auto report = TRY(output::write_export(format, request, path, unused));
  return output::export_said(report, path);
}

void export_session(AppState& state, const exporting::ExportFormat& format) {
  const session::SessionTab& session = *state.tab();
  const ExportSource source{session.store, session.snapshot, session.choices.filter, session.title,
                            state.peaks.edits()};
  const std::string folder = session.path.empty() ? state.start_folder() : system::parent_folder(session.path);
  std::string name = session.title.empty() ? "session" : session.title;
  if (!source.filter.empty()) name += "-filtered";
  name += format.shape == exporting::ExportShape::folder ? "-" + std::string(format.name) : std::string(format.suffix);
  state.file_dialog.show(connect::FileDialog::Purpose::export_text, (std::filesystem::path(folder) / name).string(),
                         dialog_places(state.workspace), [&state, source, &format](const std::string& path) {
                           const auto said = std::make_shared<std::string>();
                           state.workspace.start_job(
                               "Writing " + file_name(path),
                               [source, &format, path, said,
                                &pool = state.workspace.pool()](session::JobControl& control) -> Result<void> {
                                 auto written = TRY(export_to(source, format, path, pool, control));
                                 *said = std::move(written);
                                 return {};
                               },
                               [&state, said](const Result<void>& done) {
                                 state.workspace.notify(done ? Severity::note : Severity::error,
                                                        done ? *said : done.message());
                               });
                         });
}

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

void add(AppState& state, const std::string& id, std::string title, std::function<void()> run, bool line = false) {
  state.commands.add({.id = std::string(kPrefix) + id,
                      .title = std::move(title),
                      .menu = palette::MenuId::view,
                      .submenu = kSubmenu,
                      .run = std::move(run),
                      .separator_before = line});
}

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

constexpr std::array kZooms = {0.75F, 1.0F, 1.25F, 1.5F, 1.75F, 2.0F, 2.5F, 3.0F};

bool has_tab(AppState& state) { return state.tab() != nullptr; }
bool compares(AppState& state) { return has_tab(state) && !state.tab()->beside.empty(); }

bool is_recording(AppState& state) {
  const session::SessionTab* tab = state.tab();
  return tab != nullptr && session::may_grow(*tab);
}

bool can_pause(AppState& state) {
  if (!is_recording(state)) return false;
  const capture::client::CaptureStatus& status = state.tab()->capture;
  const bool runs =
      status.phase == capture::client::CapturePhase::streaming || status.phase == capture::client::CapturePhase::paused;
  return runs && content::watching_text(status).empty();
}

void change_zoom(AppState& state, int steps) {
  std::size_t nearest = 0;
  for (std::size_t i = 0; i < kZooms.size(); ++i) {
    if (std::abs(kZooms[i] - state.zoom) < std::abs(kZooms[nearest] - state.zoom)) nearest = i;
  }
  const auto wanted = std::clamp(static_cast<int>(nearest) + steps, 0, static_cast<int>(kZooms.size()) - 1);
  state.zoom = kZooms[static_cast<std::size_t>(wanted)];
  state.inform("Scale " + std::to_string(std::lround(state.zoom * 100)) + " %");
}

void toggle_theme(AppState& state) {
  const bool light = state.theme == render::ThemeKind::light;
  state.theme = light ? render::ThemeKind::dark : render::ThemeKind::light;
  state.theme_chosen = true;
}

bool has_high_contrast(AppState& state) { return state.theme == render::ThemeKind::high_contrast; }

void toggle_reduced_motion(AppState& state) {
  state.reduced_motion = !state.reduced_motion;
  state.workspace.settings().set(kReducedMotionSetting, std::string(state.reduced_motion ? "on" : "off"));
}

void toggle_high_contrast(AppState& state) {
  state.theme = has_high_contrast(state) ? render::ThemeKind::dark : render::ThemeKind::high_contrast;
  state.theme_chosen = true;
}

bool any_tab(AppState& state) { return state.workspace.tab_count() > 0; }

// From the start page to the first or the last.
void switch_tab(AppState& state, int step) {
  const auto count = static_cast<int>(state.workspace.tab_count());
  const int before = step > 0 ? -1 : count;
  const int now = state.workspace.active_index() ? static_cast<int>(*state.workspace.active_index()) : before;
  state.workspace.activate(static_cast<std::size_t>((now + step + count) % count));
}

// To the event that the selected one waited for longest, or to the first that waited for it.
void follow_dependency(AppState& state, bool backwards) {
  session::SessionTab& tab = *state.tab();
  const auto dependencies = tab.analysis->dependencies();
  if (!dependencies) return state.inform("The dependencies are still being read");
  const auto along = [dependencies, backwards](EventReader& reader, session::StepPlace& place,
                                               const TaskControl&) -> Result<void> {
    const auto found = backwards ? analysis::last_predecessor(*dependencies, *place.event, reader)
                                 : analysis::first_successor(*dependencies, *place.event, reader);
    if (found) place.event = backwards ? found->source : found->target;
    if (!found) place.said = backwards ? "It depends on nothing" : "Nothing depends on it";
    return {};
  };
  view::step_selection(tab, along, [&state, &tab](const session::StepPlace& place) {
    if (!place.said.empty()) state.inform(place.said);
    if (place.event == tab.selected) return;
    view::select_event(tab, *place.event);
    state.timeline.reveal(tab, *place.event);
  });
}

void save_active(AppState& state, bool ask_for_path) {
  const std::size_t index = *state.workspace.active_index();
  session::SessionTab& tab = state.workspace.tab(index);
  if (ask_for_path || tab.path.empty() || tab.store->is_read_only()) return state.show_save_dialog(index);
  if (!tab.modified && session::writes_to_its_file(tab)) {
    return view::keep_view(tab, [&state](const Result<void>& retained) {
      retained ? state.inform("Saved the view") : state.workspace.notify(Severity::error, retained.message());
    });
  }
  state.workspace.save(index, tab.path);
}

bool has_source(AppState& state) { return has_tab(state) && !state.tab()->selected_source.empty(); }

// With the user's command, which is asked for first where there is none.
void open_in_editor(AppState& state) {
  std::string_view path;
  std::uint32_t line = 0;
  if (!parse_source_location(state.tab()->selected_source, path, line)) return;
  std::string command = state.workspace.settings().value(plan::kEditorSetting);
  if (command.empty()) return state.open_dialog("editor_command");
  state.opening = state.workspace.pool().start(
      [command = std::move(command), file = std::string(path), line](TaskControl&) -> Result<std::string> {
        TRY(plan::start_editor(command, file, line));
        return "Opened " + file_name(file) + ":" + std::to_string(line) + " in the editor";
      });
}

// Of dialogs that have a page of their own; of the others what they change is in the timeline's.
constexpr std::array kDialogPages = std::to_array<std::pair<std::string_view, const char*>>(
    {{"connect", "hosts.html"}, {"keys", "keys.html"}, {"about", "index.html"}});

// The page of the guide for the dialog that is open, else for the part of the window that has the keyboard, or for the
// panel that the user brought forward: each panel has one of its name.
std::string guide_page(const AppState& state) {
  if (state.file_dialog.is_open()) return "formats.html";
  const auto page = std::ranges::find(kDialogPages, state.dialog, &decltype(kDialogPages)::value_type::first);
  if (page != kDialogPages.end()) return page->second;
  if (state.tab() == nullptr) return "index.html";
  const std::string_view pane = state.focused ? std::string_view(state.focused->pane) : "";
  std::optional<PanelId> panel = state.layout.maximised();
  if (!panel && pane == kBottomPane.name) panel = state.layout.front(Place::bottom);
  if (!panel && pane == kRightPane.name) panel = state.layout.front(Place::right);
  if (!panel && pane != kTimelinePane.name) panel = state.layout.chosen(Place::bottom);
  return panel ? fmt::format("panels/{}.html", *panel) : "timeline.html";
}

void open_guide(AppState& state) {
  state.opening = state.workspace.pool().start([opener = state.options.page_opener, folder = state.options.guide_folder,
                                                page = guide_page(state)](TaskControl&) -> Result<std::string> {
    TRY(plan::open_guide_page(opener, folder, page));
    return "Opened " + page + " of the guide";
  });
}

bool selected(AppState& state) { return has_tab(state) && state.tab()->selected.has_value(); }
bool searches(AppState& state) { return has_tab(state) && !state.command_box.text().empty(); }
bool filters(AppState& state) { return has_tab(state) && !state.tab()->choices.filter.empty(); }
bool is_paused(AppState& state) {
  return is_recording(state) && state.tab()->capture.phase == capture::client::CapturePhase::paused;
}

void step_hit(AppState& state, bool forward) {
  state.command_box.step(*state.tab(), forward, state.actions.inform, state.actions.reveal);
}

void copy_search(AppState& state) {
  state.to_copy = state.tab()->choices.search;
  state.inform("Copied the search");
}

void add_timeline_commands(AppState& state) {
  for (const timeline::TimelineCommand& command : timeline::timeline_commands()) {
    state.commands.add({.id = command.id,
                        .title = command.title,
                        .menu = command.menu,
                        .submenu = command.submenu,
                        .key = command.key,
                        .second_key = command.second_key,
                        .run = [&state, &command] { state.timeline_queue.push_back(&command); },
                        .enabled =
                            [&state, &command] {
                              return has_tab(state) && (command.enabled == nullptr ||
                                                        command.enabled(session::in_progress(*state.tab())));
                            }});
  }
}

constexpr const char* kPanelMenu = "Panels";

// Which question a panel answers, or why it is no page of the session in front.
std::string note_on(AppState& state, const PanelInfo& panel) {
  const std::string question(question_info(panel.question).title);
  if (!has_tab(state) || !state.panels_of(*state.tab()).empty.contains(panel.name)) return question;
  return question + ": " + std::string(panel.missing);
}

void add_panel_commands(AppState& state) {
  bool first = true;
  for (const PanelInfo& panel : all_panels()) {
    state.commands.add({.id = "panel_" + std::string(panel.name),
                        .title = std::string(panel.title),
                        .menu = palette::MenuId::view,
                        .submenu = kPanelMenu,
                        .run = [&state, id = panel.name] { state.layout.toggle(id); },
                        .enabled = [&state] { return has_tab(state); },
                        .checked = [&state, id = panel.name] { return state.layout.is_seen(id); },
                        .separator_before = std::exchange(first, false),
                        .note = [&state, &panel] { return note_on(state, panel); }});
  }
}

// Part of a panel: the command never closes it, as more than the part would go.
void add_part_commands(AppState& state) {
  for (const PanelPart& part : panel_parts()) {
    state.commands.add({.id = "panel_" + std::string(part.name),
                        .title = std::string(part.title),
                        .menu = palette::MenuId::view,
                        .submenu = kPanelMenu,
                        .run = [&state, id = part.name] { state.layout.show(id); },
                        .enabled = [&state] { return has_tab(state); },
                        .note = [&state, &part] { return note_on(state, panel_info(part.panel)); }});
  }
}

void add_question_commands(AppState& state) {
  for (std::size_t i = 0; i < kQuestionCount; ++i) {
    const auto question = static_cast<Question>(i);
    const QuestionInfo& info = question_info(question);
    const auto is_in_front = [&state, question] {
      const std::optional<PanelId> front = state.layout.front(Place::bottom);
      return front && panel_info(*front).question == question;
    };
    state.commands.add(
        {.id = "question_" + std::string(info.name),
         .title = std::string(info.title),
         .menu = palette::MenuId::analyse,
         .run = [&state, question] { state.wanted_question = question; },
         .enabled = [&state, question] { return has_tab(state) && !state.layout.pages_of(question).empty(); },
         .checked = is_in_front});
  }
}

constexpr std::size_t kNumberedSessions = 9;

// Of the sessions that are open; while none is, of those that were opened last.
std::string numbered_session(AppState& state, std::size_t index) {
  if (any_tab(state)) return index < state.workspace.tab_count() ? state.workspace.tab(index).title : "";
  const auto& recent = state.workspace.recent().list();
  return index < recent.size() ? recent[index].title : "";
}

void add_session_commands(AppState& state) {
  for (std::size_t i = 0; i < kNumberedSessions; ++i) {
    const std::string number = std::to_string(i + 1);
    state.commands.add({.id = "session_" + number,
                        .title = "Session " + number,
                        .menu = palette::MenuId::file,
                        .submenu = "Sessions",
                        .key = "Ctrl+" + number,
                        .run =
                            [&state, i] {
                              if (any_tab(state)) return state.workspace.activate(i);
                              state.workspace.open(std::string(state.workspace.recent().list()[i].path));
                            },
                        .enabled = [&state, i] { return !numbered_session(state, i).empty(); },
                        .note = [&state, i] { return numbered_session(state, i); }});
  }
}

// The palette knows every listing and each of its columns: SQL shows the rows, by the column.
void add_listing_commands(AppState& state) {
  const auto kinds = listing::listing_kinds();
  const auto& columns = listing::listing_columns();
  const auto add_one = [&](const std::string& id, std::string title, std::string words, std::string note,
                           std::string query) {
    state.commands.add({.id = id,
                        .title = std::move(title),
                        .menu = palette::MenuId::analyse,
                        .run =
                            [&state, query = std::move(query)] {
                              session::in_progress(*state.tab()).asked_query = query;
                              state.layout.show("sql");
                            },
                        .enabled = [&state] { return has_tab(state); },
                        .words = std::move(words),
                        .only_typed = true,
                        .note = [note = std::move(note)] { return note; }});
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string name(kinds[i].name), select = "SELECT * FROM " + listing::table_name(kinds[i]);
    add_one("listing_" + name, "Table " + name, "listing " + std::string(kinds[i].summary), "Rows in SQL", select);
    for (const listing::ListingColumn& column : columns[i]) {
      add_one("column_" + name + "." + column.name, column.title + " of " + name, "column " + column.name, column.name,
              select + " ORDER BY \"" + column.name + "\" DESC");
    }
  }
}

// Other words for what commands are called, as users type them.
struct Synonyms {
  const char* id;
  const char* words;
};
constexpr std::array kSynonyms = std::to_array<Synonyms>({
    {"panel_compare", "divergence diverge difference diff regression versus two runs"},
    {"compare_with", "divergence diverge difference diff regression versus baseline"},
    {"panel_warnings", "advice problems issues bottleneck recommendations warnings"},
    {"panel_why", "critical path bottleneck what-if slack bound"},
    {"panel_hotspots", "top kernels slowest self time profile"},
    {"panel_statistics", "group by histogram summary average percentile"},
    {"panel_iterations", "steps loop epochs turns"},
    {"panel_layers", "flame graph icicle tree modules operators"},
    {"panel_memory", "allocations leak peak out of memory oom tensors"},
    {"panel_collectives", "all-reduce ranks stragglers skew nccl"},
    {"panel_roofline", "arithmetic intensity peak flops bandwidth"},
    {"panel_core-grid", "heat map tiles chip cores"},
    {"panel_quality", "lost dropped skipped data loss warnings"},
    {"panel_tables", "glossary columns metadata explain"},
    {"panel_sql", "query database console"},
    {"panel_search", "find hits results"},
    {"panel_markers", "bookmarks annotations notes"},
    {"panel_source", "code lines file"},
    {"panel_stack", "call stack backtrace python"},
    {"panel_details", "properties attributes event arguments"},
    {"panel_metrics", "figures numbers utilisation mfu"},
    {"panel_output", "log stdout stderr console"},
    {"panel_compilation", "compile jit cache graph"},
    {"search", "find grep"},
    {"guide", "help manual documentation handbook"},
    {"keys", "shortcuts help keyboard bindings cheat sheet"},
    {"commands", "palette"},
    {"view_settings", "preferences options colours semaphores"},
    {"theme", "appearance light mode dark mode"},
    {"larger", "zoom font scale"},
    {"smaller", "zoom font scale"},
    {"connect", "capture attach agent remote host ssh profile"},
    {"demo", "example sample"},
    {"open", "load import file trace"},
    {"save", "store write"},
    {"picture", "screenshot image export"},
    {"copy_link", "share url permalink"},
    {"reset_layout", "panel layout default windows arrange"},
    {"fit_all", "zoom all overview home"},
    {"fit_selection", "zoom to selection frame"},
    {"drop_marker", "bookmark measure annotate"},
    {"filter_by_region", "isolate focus crop"},
    {"predecessor", "dependency cause before"},
    {"successor", "dependency effect after"},
    {"undo", "revert back"},
    {"redo", "again forward"},
});

void add_export_commands(AppState& state) {
  for (const exporting::ExportFormat* each : output::offered_formats()) {
    const exporting::ExportFormat& format = *each;
    state.commands.add({.id = "export_" + std::string(format.name),
                        .title = std::string(format.title) + "...",
                        .menu = palette::MenuId::file,
                        .submenu = kExportMenu,
                        .run = [&state, &format] { export_session(state, format); },
                        .enabled =
                            [&state, &format] {
                              return state.tab() != nullptr &&
                                     exporting::check_export(format, *state.tab()->snapshot).ok() &&
                                     (format.applies == nullptr || format.applies(*state.tab()->snapshot));
                            }});
  }
}

void copy_link(AppState& state) {
  session::SessionTab& tab = *state.tab();
  std::vector<EventId> in_link;
  if (tab.selected) in_link.push_back(*tab.selected);
  tab.events->when_known(session::EventIntent::link, std::move(in_link), [&state, &tab] {
    state.to_copy = view::to_text(view::link_to_view(tab));
    state.inform("Copied a link to this view");
  });
}

void export_marker_sets(AppState& state) {
  session::SessionTab& tab = *state.tab();
  state.export_text(
      {"marker-sets.txt", [text = state.panels_of(tab).marker_sets().of(tab).to_text()] { return text; }});
}

bool has_marker_sets(AppState& state) {
  session::SessionTab* tab = state.tab();
  return tab != nullptr && !state.panels_of(*tab).marker_sets().of(*tab).all().empty();
}

void import_marker_sets(AppState& state) {
  state.show_import_dialog([&state](const std::string& path) {
    state.importing = state.workspace.pool().start([path](TaskControl&) { return read_text(path); });
  });
}

void undo(AppState& state, bool forward) {
  const std::string done = session::undo_edit(session::in_progress(*state.tab()), forward);
  state.inform(!done.empty() ? done : forward ? "Nothing was undone" : "Nothing to undo");
}

using State = AppState&;
struct ViewerCommand {
  const char* id;
  const char* title = "";
  palette::MenuId menu = palette::MenuId::file;
  const char* key = "";
  void (*run)(State) = nullptr;
  bool (*enabled)(State) = nullptr;  // null: always
  bool (*checked)(State) = nullptr;  // null: not a switch
  bool separator_before = false;
  const char* submenu = "";
  const char* second_key = "";
  void (*adds)(State) = nullptr;  // in place of a command: those of another table
};

constexpr palette::MenuId kFile = palette::MenuId::file, kView = palette::MenuId::view,
                          kRecord = palette::MenuId::record, kAnalyse = palette::MenuId::analyse,
                          kHelp = palette::MenuId::help;
constexpr bool kLineAbove = true;
constexpr const char* kSets = "Marker sets";

// In the order of the menus.
const std::array kCommands = std::to_array<ViewerCommand>({
    {"open", "Open a file or folder...", kFile, "Ctrl+O", [](State s) { s.show_open_dialog(); }},
    {"save", "Save", kFile, "Ctrl+S", [](State s) { save_active(s, false); }, has_tab},
    {"save_as", "Save as...", kFile, "Ctrl+Shift+S", [](State s) { save_active(s, true); }, has_tab},
    {"close", "Close the session", kFile, "Ctrl+W",
     [](State s) { s.workspace.close(*s.workspace.active_index()); }, has_tab},
    {"start_page", "Start page", kFile, "Ctrl+T", [](State s) { s.workspace.show_start_page(); }, nullptr, nullptr,
     kLineAbove},
    {"compare_with", "Compare with another session...", kFile, "", compare_with_other, has_tab},
    {"compare_file", "Compare with a file...", kFile, "", compare_with_file, has_tab},
    {"swap_compared", "Swap A and B of the comparison", kFile, "",
     [](State s) { session::exchange_base(*s.tab(), 1); }, compares},
    {"next_tab", "Next session", kFile, "Ctrl+Tab", [](State s) { switch_tab(s, 1); }, any_tab, nullptr, false, "",
     "Ctrl+PageDown"},
    {"previous_tab", "Previous session", kFile, "Ctrl+Shift+Tab", [](State s) { switch_tab(s, -1); }, any_tab, nullptr,
     false, "", "Ctrl+PageUp"},
    {.id = "sessions", .adds = add_session_commands},
    {.id = "exports", .adds = add_export_commands},
    {"export_filtered", "Export what is filtered...", kFile, "", [](State s) { s.show_filtered_export(); }, filters,
     nullptr, kLineAbove},
    {"picture", "Picture of the window (PNG)", kFile, "F12", [](State s) { s.picture_wanted = true; }, nullptr, nullptr,
     kLineAbove},
    {"quit", "Quit", kFile, "Ctrl+Q", [](State s) { s.quitting = true; }, nullptr, nullptr, kLineAbove},
    {"undo", "Undo", kView, "Ctrl+Z", [](State s) { undo(s, false); }, has_tab},
    {"redo", "Do again", kView, "Ctrl+Shift+Z", [](State s) { undo(s, true); }, has_tab, nullptr, false, "", "Ctrl+Y"},
    {.id = "timeline", .adds = add_timeline_commands},
    {"theme", "Dark or light", kView, "Ctrl+Shift+L", toggle_theme, nullptr, nullptr, kLineAbove},
    {"high_contrast", "High contrast", kView, "", toggle_high_contrast, nullptr, has_high_contrast},
    {"reduced_motion", "Reduced motion", kView, "", toggle_reduced_motion, nullptr,
     [](State s) { return s.reduced_motion; }},
    {"frame_times", "Frame times", kView, "", [](State s) { s.shows_frame_times = !s.shows_frame_times; }, nullptr,
     [](State s) { return s.shows_frame_times; }},
    {"larger", "Larger", kView, "Ctrl++", [](State s) { change_zoom(s, 1); }, nullptr, nullptr, false, "",
     "Ctrl+Shift++"},
    {"smaller", "Smaller", kView, "Ctrl+-", [](State s) { change_zoom(s, -1); }},
    {"normal_size", "Normal size", kView, "Ctrl+0", [](State s) { s.zoom = 1; }},
    {"verdict", "What bounds it, in a line", kView, "",
     [](State s) {
       bool& closed = s.panels_of(*s.tab()).verdict_closed;
       closed = !closed;
     },
     has_tab, [](State s) { return has_tab(s) && !s.panels_of(*s.tab()).verdict_closed; }, kLineAbove},
    {"view_settings", "View settings...", kView, "Ctrl+,", [](State s) { s.open_dialog("view_settings"); }, has_tab,
     nullptr, kLineAbove},
    {"minimal_view", "Minimal view: what executes, and its use", kView, "",
     [](State s) { view::choose_rows(*s.tab(), view::minimal_view(s.tab()->choices.rows)); }, has_tab,
     [](State s) { return has_tab(s) && s.tab()->choices.rows.minimal; }},
    {"platform_view", "Platform view: host threads, calls, queues, engines, transfers and counters", kView, "",
     [](State s) { view::choose_rows(*s.tab(), view::platform_view(s.tab()->choices.rows)); }, has_tab,
     [](State s) { return has_tab(s) && s.tab()->choices.rows.platform; }},
    {"full_view", "Full view: every lane", kView, "",
     [](State s) { view::choose_rows(*s.tab(), view::full_view(s.tab()->choices.rows)); }, has_tab},
    {.id = "panels", .adds = add_panel_commands},
    {.id = "panel_parts", .adds = add_part_commands},
    {"restore", "Restore the maximised panel", kView, "", [](State s) { s.layout.restore(); },
     [](State s) { return s.layout.maximised().has_value(); }, nullptr, kLineAbove, kPanelMenu},
    {"reset_layout", "Reset the panels", kView, "", [](State s) { s.layout.reset(); }, nullptr, nullptr, false,
     kPanelMenu},
    {"copy_link", "Copy link to this view", kView, "Ctrl+Shift+C", copy_link, has_tab, nullptr, kLineAbove},
    {"go_to_link", "Go to link...", kView, "Ctrl+Shift+G", [](State s) { s.open_dialog("go_to_link"); }, has_tab},
    {.id = "layouts", .adds = add_layout_commands},
    {.id = "questions", .adds = add_question_commands},
    {.id = "listings", .adds = add_listing_commands},
    {"copy_search", "Copy the search as text", kAnalyse, "", copy_search,
     [](State s) { return has_tab(s) && !s.tab()->choices.search.empty(); }, nullptr, kLineAbove},
    {"connect", "Connect and record...", kRecord, "Ctrl+K", [](State s) { s.show_connect_form(); }},
    {"demo", "Start the demo (simulated accelerator)", kRecord, "", [](State s) { s.workspace.start_demo(); }},
    {"pause", "Pause or resume the capture", kRecord, "Ctrl+Shift+E",
     [](State s) { s.workspace.pause_capture(*s.workspace.active_index(), !is_paused(s)); }, can_pause, is_paused,
     kLineAbove},
    {"stop", "Stop the capture", kRecord, "Ctrl+E",
     [](State s) { s.workspace.stop_capture(*s.workspace.active_index()); }, is_recording},
    {"search", "Search events", kAnalyse, "Ctrl+F", [](State s) { s.command_box.focus(palette::CommandBox::Mode::search); },
     has_tab},
    {"next_hit", "Next hit", kAnalyse, "F3", [](State s) { step_hit(s, true); }, searches},
    {"previous_hit", "Previous hit", kAnalyse, "Shift+F3", [](State s) { step_hit(s, false); }, searches},
    {"open_in_editor", "Open the source line in an editor", kAnalyse, "F4", open_in_editor, has_source,
     nullptr, kLineAbove},
    {"editor_command", "Command of the editor...", kAnalyse, "", [](State s) { s.open_dialog("editor_command"); }},
    {"go_to_time", "Go to time...", kAnalyse, "Ctrl+G", [](State s) { s.open_dialog("go_to_time"); }, has_tab},
    {"predecessor", "To what it waited for", kAnalyse, "[", [](State s) { follow_dependency(s, true); }, selected,
     nullptr, kLineAbove},
    {"successor", "To what waited for it", kAnalyse, "]", [](State s) { follow_dependency(s, false); }, selected},
    {"explain_operands", "Take the operands apart", kAnalyse, "Shift+O",
     [](State s) {
       s.layout.show("details");
       s.panels_of(*s.tab()).details().explain_operands();
     },
     selected},
    {"save_marker_set", "Save the markers as a set...", kAnalyse, "", [](State s) { s.open_dialog("save_markers"); },
     [](State s) { return has_tab(s) && !s.tab()->markers.empty(); }, nullptr, false, kSets},
    {"load_marker_set", "Load a set of markers...", kAnalyse, "", [](State s) { s.open_dialog("load_markers"); },
     has_marker_sets, nullptr, false, kSets},
    {"export_marker_sets", "Export the sets of markers...", kAnalyse, "", export_marker_sets, has_marker_sets, nullptr,
     false, kSets},
    {"import_marker_sets", "Import sets of markers...", kAnalyse, "", import_marker_sets, has_tab, nullptr, false,
     kSets},
    {"commands", "Run a command", kHelp, "Ctrl+P", [](State s) { s.command_box.focus(palette::CommandBox::Mode::command); }},
    {"guide", "Guide to the part in use", kHelp, "F1", open_guide},
    {"keys", "Keys", kHelp, "?", [](State s) { s.open_dialog("keys"); }},
    {"about", "About Accelscope", kHelp, "", [](State s) { s.open_dialog("about"); }, nullptr, nullptr, kLineAbove},
});

bool chord_pressed(render::Ui& ui, const std::string& text) {
  const auto chord = palette::parse_chord(text);
  if (!chord || (ui.typing() && !palette::works_while_typing(*chord))) return false;
  return !ui.focus_takes(chord->key, chord->modifiers) && ui.pressed(chord->key, chord->modifiers);
}

}  // namespace

std::string keys_page() {
  std::array<std::string, palette::kMenuCount> rows;
  const auto add = [&rows](palette::MenuId menu, std::string_view title, std::string_view key,
                           std::string_view second) {
    if (key.empty()) return;
    // A stroke would end the cell.
    const auto cell = [](std::string_view text) {
      return text == "|" ? std::string("`\\|`") : fmt::format("`{}`", text);
    };
    rows[static_cast<std::size_t>(menu)] +=
        fmt::format("| {}{} | {} |\n", cell(key), second.empty() ? "" : ", " + cell(second), title);
  };
  for (const ViewerCommand& each : kCommands) add(each.menu, each.title, each.key, each.second_key);
  for (const timeline::TimelineCommand& each : timeline::timeline_commands()) {
    add(each.menu, each.title, each.key, each.second_key);
  }
  std::string page = "# Keys\n\nIn the viewer `?` shows those that hold where the keyboard is.\n";
  for (std::size_t menu = 0; menu < rows.size(); ++menu) {
    if (rows[menu].empty()) continue;
    page += fmt::format("\n## {}\n\n| key | what it does |\n|---|---|\n{}",
                        palette::menu_title(static_cast<palette::MenuId>(menu)), rows[menu]);
  }
  return page;
}

// The commands that arrange the panels: presets, and the layouts that the user saved.

void add_layout_commands(AppState& state) {
  state.commands.remove(kPrefix);
  add(state, "minimal", "Timeline and Details only", [&state] { arrange(state, minimal_layout()); });
  add(state, "full", "All panels", [&state] { arrange(state, PanelLayout()); });
  add(
      state, "save", "Save layout as...", [&state] { state.open_dialog("save_layout"); }, true);
  bool line = true;
  for (const persist::SavedLayout& saved : state.layouts.all()) {
    add(
        state, "restore." + saved.name, "Restore layout: " + saved.name,
        [&state, text = saved.text] { arrange(state, PanelLayout::from_text(text)); }, std::exchange(line, false));
  }
  line = true;
  for (const persist::SavedLayout& saved : state.layouts.all()) {
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

bool go_to_link(AppState& state, const std::string& text) {
  const Result<view::ViewLink> link = view::read_view_link(text);
  if (!link) {
    state.workspace.notify(Severity::error, link.message());
    return false;
  }
  session::SessionTab& tab = *state.tab();
  view::follow_link(
      tab, *link, [&state](std::string reported) { state.workspace.notify(Severity::note, std::move(reported)); },
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
  inform(*count == 1 ? "Imported one set of markers" : "Imported " + std::to_string(*count) + " sets of markers");
  layout.show("markers");
}

// What can be done with the viewer, a row each: its key, when it can be done, what does it.

void add_commands(AppState& state) {
  const auto bound = [&state](bool (*ask)(State)) -> std::function<bool()> {
    if (ask == nullptr) return {};
    return [&state, ask] { return ask(state); };
  };
  for (const ViewerCommand& row : kCommands) {
    if (row.adds != nullptr) {
      row.adds(state);
      continue;
    }
    state.commands.add({.id = row.id,
                        .title = row.title,
                        .menu = row.menu,
                        .submenu = row.submenu,
                        .key = row.key,
                        .second_key = row.second_key,
                        .run = [&state, run = row.run] { run(state); },
                        .enabled = bound(row.enabled),
                        .checked = bound(row.checked),
                        .separator_before = row.separator_before});
  }
  for (const Synonyms& row : kSynonyms) state.commands.add_words(row.id, row.words);
}

void run_key_commands(AppState& state, render::Ui& ui) {
  constexpr std::string_view kGuide = "guide";  // in dialogs, too
  if (chord_pressed(ui, state.commands.find(kGuide)->key)) return void(state.commands.run(kGuide));
  if (state.file_dialog.is_open() || !state.dialog.empty() || state.workspace.question() || state.asked_id != 0) {
    return;
  }
  const bool escapes = ui.pressed(render::Key::escape, {}, false) && !ui.typing();
  if (escapes && render::any_popup_open()) return;  // closes it
  if (escapes && state.layout.maximised()) {
    state.layout.restore();
    return;
  }
  if (ui.input().keys.none()) return;
  for (const palette::Command& command : state.commands.all()) {
    if (!chord_pressed(ui, command.key) && (command.second_key.empty() || !chord_pressed(ui, command.second_key))) {
      continue;
    }
    if (palette::CommandTable::can_run(command)) command.run();
    return;
  }
}

}  // namespace accelscope::app::frame
