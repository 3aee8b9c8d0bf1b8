// The parts of the viewer and how they hang together: shared by the files that draw the frame (app.cpp, bars.cpp,
// window_frame.cpp) and that fill the command table (commands.cpp). Private to them.
#pragma once

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "app/connect/file_dialog.h"
#include "app/connect/form.h"
#include "app/connect/start_page.h"
#include "app/frame/app.h"
#include "app/frame/places.h"
#include "app/library/library.h"
#include "app/palette/command_box.h"
#include "app/panels/compare/sides.h"
#include "app/panels/details/panel.h"
#include "app/panels/markers/panel.h"
#include "app/persist/persist.h"
#include "app/timeline/panel.h"
#include "app/view/selection.h"

namespace accelscope::app {

// Wakes the shell from any thread, once the shell has said how.
class WakeBell {
 public:
  void set(std::function<void()> wake);
  void ring();

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
};

using TurnsRetained = SessionAnalysis::Retained<SharedTurns>;

// The panels of one session; each keeps its own place (scroll, file, pool) while another tab is in front.
struct TabPanels {
  TabPanels(WorkerPool& pool, QueryHistory& queries, PeakBook& peaks) : follower(pool) {
    for (const PanelInfo& panel : all_panels()) panels.push_back(panel.make({pool, queries, peaks}));
  }
  std::vector<std::unique_ptr<Panel>> panels;  // of all_panels()
  SelectionFollower follower;
  bool verdict_closed = false;
  std::set<PanelId> older;   // the panels that showed answers of older data in the last frame
  CompareRetained compared;  // with the session below
  ResultsRetained results;   // likewise
  TurnsRetained turns;       // of the loop that both run
  ViewRange below;           // as it was drawn last
  bool moved_below = false;
  bool has_lines = true;  // until it is known that no event names a source line
  bool lines_known = false;
  std::size_t line_count = 0;  // once it is known
  std::set<PanelId> stays;     // in front: what the user brought there, and what had something to say of this session
  std::optional<EventId> noticed;  // the selection that Details has come forward for, or left in front what was there

  [[nodiscard]] Panel& of(PanelId id) const { return *panels[panel_index(id)]; }
  [[nodiscard]] DetailsPanel& details() const { return dynamic_cast<DetailsPanel&>(of("details")); }
  [[nodiscard]] SessionMarkerSets& marker_sets() const { return dynamic_cast<MarkersPanel&>(of("markers")).sets(); }
  // Of those that are seen: others take their answers when they come to the front.
  [[nodiscard]] bool pending(const PanelLayout& layout) const {
    return follower.pending() || std::any_of(all_panels().begin(), all_panels().end(), [&](const PanelInfo& panel) {
             return layout.is_seen(panel.name) && of(panel.name).pending();
           });
  }
};

struct AppState {
  explicit AppState(AppOptions app_options);

  AppOptions options;
  std::shared_ptr<WakeBell> bell = std::make_shared<WakeBell>();
  Workspace workspace;
  QueryHistory queries;
  QueryHistory searches;  // of events
  PeakBook peaks;         // of devices, as the user entered them
  PanelLayout layout;
  CommandTable commands;
  PanelActions actions;
  TimelinePanel timeline;
  TimelinePanel timeline_below{"timeline_below", false};  // of the other session of a comparison
  std::unordered_map<const SessionTab*, std::unique_ptr<TabPanels>> panels;
  Library library;
  StartPage start_page;
  ConnectForm connect_form{workspace};
  FileDialog file_dialog;
  CommandBox command_box;
  const SessionTab* arranged_for = nullptr;  // the session in front in the last frame
  std::optional<PanelId> dragged_tab;        // that follows the pointer, and perhaps to another place

  render::ThemeKind theme = render::ThemeKind::dark;
  float zoom = 1;
  std::string_view dialog;      // the one that is open, as the table in dialogs.cpp names it
  bool dialog_focused = false;  // its field has had the keyboard
  std::string dialog_text;      // typed into the dialogs of one line and the filters of keys and semaphores
  SavedLayouts layouts;
  bool layouts_changed = false;  // their commands are made anew with the next frame
  bool dialog_must_open = false;
  bool question_shown = false;
  std::uint64_t asked_id = 0;  // the question of a capture that is shown; 0: none
  std::string typed_answer;    // to it; overwritten once it is given
  bool quitting = false;       // asked to quit; questions may still be open
  bool quit = false;
  bool first_session_prepared = false;
  std::weak_ptr<const Store> compare_base;             // that the session which is being opened is to be compared with
  std::vector<const TimelineCommand*> timeline_queue;  // run inside the next frame, where the Ui is at hand
  std::string toast;
  double toast_until_s = 0;
  Task<Result<std::string>> exporting;  // ends with what is said of it
  Task<Result<std::string>> importing;  // ends with the text of a file of marker sets
  Task<Result<std::string>> copying;    // makes what goes to the clipboard
  std::optional<std::string> to_copy;   // at the end of the frame
  double now_s = 0;
  std::uint64_t frames = 0;
  bool picture_wanted = false;

  [[nodiscard]] SessionTab* tab() const noexcept { return workspace.active(); }
  [[nodiscard]] TimelinePanel& timeline_of(const SessionTab& session) noexcept {
    return tab() != nullptr && tab()->beside.get() == &session ? timeline_below : timeline;
  }
  TabPanels& panels_of(SessionTab& tab);
  void inform(std::string text);
  void open_dialog(std::string_view which);
  void show_connect_form();  // on the start page where it stands there, else as a dialog
  void show_open_dialog();
  [[nodiscard]] std::string start_folder();  // where file dialogs begin
  void show_save_dialog(std::size_t index, bool then_close = false);
  void show_import_dialog(FileDialog::Chosen chosen);  // of a text file
  void show_filtered_export();                         // app/export/session_export.cpp writes it
  void copy_made(std::function<std::string()> text);   // makes it on a worker
  void take_copied();
  void export_text(render::FileOffer offer);  // asks where to, and writes it on a worker
  void take_exported();
  void take_imported();
  void remember_settings();
};

void add_commands(AppState& state);                                    // frame/commands.cpp
void run_key_commands(AppState& state, render::Ui& ui);                // frame/commands.cpp
void draw_top_bar(AppState& state, render::Ui& ui, render::Rect bar);  // bars.cpp
// What is recorded now, from the left of the row, which shrinks.
void draw_capture_bar(AppState& state, render::Ui& ui, render::Rect& row);     // capture.cpp
void draw_status_bar(AppState& state, render::Ui& ui, render::Rect bar);       // bars.cpp
void draw_session(AppState& state, render::Ui& ui, const render::Rect& area);  // window_frame.cpp
// Two sessions below each other on one axis, with the verdict above: comparison.cpp.
void draw_comparison_head(AppState& state, render::Ui& ui, render::Rect& area);
void draw_comparison(AppState& state, render::Ui& ui, const render::Rect& area);
void compare_with_other(AppState& state);   // of the command
void compare_with_opened(AppState& state);  // once what it asked for is open
// The one line of what bounds the session, its worst source line and what its data lack, from the top of the area.
void draw_verdict(AppState& state, render::Ui& ui, render::Rect& area);  // bars.cpp
// Draws progress rows and notices from the top of the area, which shrinks.
void draw_notices(AppState& state, render::Ui& ui, render::Rect& area);     // window_frame.cpp
void draw_dialogs(AppState& state, render::Ui& ui);                         // dialogs.cpp
void add_layout_commands(AppState& state);                                  // commands.cpp
[[nodiscard]] std::vector<NamedPlace> dialog_places(Workspace& workspace);  // of file dialogs; app.cpp
// In the session in front; what cannot be shown is told. False: the text is no link.
bool go_to_link(AppState& state, const std::string& text);    // commands.cpp
void draw_capture_question(AppState& state, render::Ui& ui);  // capture.cpp

// What the status bar says of a session, without drawing it.
[[nodiscard]] std::string events_text(const SessionTab& tab);              // "38,412 events"
[[nodiscard]] std::string active_text(const SessionTab& tab);              // "active 393.2 µs of 2.254 ms"
[[nodiscard]] std::string saved_text(const SessionTab& tab, bool saving);  // "Saved  mlp_fwd.accel"

}  // namespace accelscope::app
