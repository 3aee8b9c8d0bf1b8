// The parts of the viewer and how they hang together: shared by the files that draw the frame (app.cpp, bars.cpp,
// window_frame.cpp) and that fill the command table (commands.cpp). Private to them.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
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

namespace accelscope::app::frame {

// The parts of the window that F6 goes through.
struct Pane {
  const char* name;
  const char* title;
  int order;
};
inline constexpr Pane kTopPane{"top", "Top bar", 0}, kTabsPane{"tabs", "Sessions", 1},
    kNoticesPane{"notices", "Notices", 2}, kStartPane{"start", "Start page", 3},
    kTimelinePane{"timeline", "Timeline", 4}, kBottomPane{"bottom", "Panels below the timeline", 5},
    kRightPane{"right", "Right column", 6}, kStatusPane{"status", "Status bar", 7};
inline constexpr std::array kPanes = {kTopPane,      kTabsPane,   kNoticesPane, kStartPane,
                                      kTimelinePane, kBottomPane, kRightPane,   kStatusPane};

// Wakes the shell from any thread, once the shell has said how.
class WakeBell {
 public:
  void set(std::function<void()> wake);
  void ring();

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
};

using TurnsRetained = session::SessionAnalysis::Retained<analysis::SharedTurns>;

// The panels of one session; each keeps its own place (scroll, file, pool) while another tab is in front.
struct TabPanels {
  TabPanels(WorkerPool& pool, persist::QueryHistory& queries, persist::PeakBook& peaks) : follower(pool) {
    for (const PanelInfo& panel : all_panels()) panels.push_back(panel.make({pool, queries, peaks}));
  }
  std::vector<std::unique_ptr<panels::Panel>> panels;  // of all_panels()
  view::SelectionFollower follower;
  bool verdict_closed = false;
  std::set<PanelId> older;                       // the panels that showed answers of older data in the last frame
  panels::CompareRetained compared;              // the sessions of a comparison
  std::deque<panels::ResultsRetained> results;   // of each against A
  std::deque<TurnsRetained> turns;               // of the loop that both run, by SessionTab::beside
  std::vector<session::ViewRange> drawn_beside;  // likewise, as it was drawn last
  bool moved_beside = false;
  bool has_lines = true;  // until it is known that no event names a source line
  bool lines_known = false;
  std::size_t line_count = 0;                        // once it is known
  panels::RetainedAnswer<content::PageFacts> facts;  // what it may have pages for
  std::set<PanelId> empty;                           // that have nothing to say of this session
  std::set<PanelId> stays;  // in front: what the user brought there, and what had something to say of this session
  std::optional<EventId> noticed;  // the selection that Details has come forward for, or left in front what was there

  [[nodiscard]] panels::Panel& of(PanelId id) const { return *panels[panel_index(id)]; }
  [[nodiscard]] panels::DetailsPanel& details() const { return dynamic_cast<panels::DetailsPanel&>(of("details")); }
  [[nodiscard]] view::SessionMarkerSets& marker_sets() const {
    return dynamic_cast<panels::MarkersPanel&>(of("markers")).sets();
  }
  // Of those that are seen: others take their answers when they come to the front.
  [[nodiscard]] bool pending(const PanelLayout& layout) const {
    return follower.pending() || facts.task.valid() ||
           std::any_of(all_panels().begin(), all_panels().end(),
                       [&](const PanelInfo& panel) { return layout.is_seen(panel.name) && of(panel.name).pending(); });
  }
};

// "on" or "off"; unset: as the desktop has it.
inline constexpr const char* kReducedMotionSetting = "reduced_motion";

struct AppState {
  explicit AppState(AppOptions app_options);

  AppOptions options;
  std::shared_ptr<WakeBell> bell = std::make_shared<WakeBell>();
  workspace::Workspace workspace;
  persist::QueryHistory queries;
  persist::QueryHistory searches;  // of events
  persist::PeakBook peaks;         // of devices, as the user entered them
  PanelLayout layout;
  palette::CommandTable commands;
  panels::PanelActions actions;
  timeline::TimelinePanel timeline;
  std::deque<timeline::TimelinePanel> timelines_below;  // of a comparison, by place from B on
  std::unordered_map<const session::SessionTab*, std::unique_ptr<TabPanels>> panels;
  library::Library library;
  connect::StartPage start_page;
  connect::ConnectForm connect_form{workspace};
  connect::FileDialog file_dialog;
  palette::CommandBox command_box;
  const session::SessionTab* arranged_for = nullptr;  // the session in front in the last frame
  std::optional<Question> wanted_question;            // by a command: it comes forward with the next frame
  std::optional<PanelId> dragged_tab;                 // that follows the pointer, and perhaps to another place

  render::ThemeKind theme = render::ThemeKind::dark;
  float zoom = 1;
  bool theme_chosen = false;  // by the user, now or earlier
  bool reduced_motion = false;
  Task<system::DesktopSettings> desktop;  // being asked
  bool shows_frame_times = false;
  std::optional<render::FocusPlace> focused;  // where the keyboard was in the window, before any dialog
  std::string_view dialog;                    // the one that is open, as the table in dialogs.cpp names it
  bool dialog_focused = false;                // its field has had the keyboard
  std::string dialog_text;  // typed into the dialogs of one line and the filters of keys and semaphores
  persist::SavedLayouts layouts;
  bool layouts_changed = false;  // their commands are made anew with the next frame
  bool dialog_must_open = false;
  bool question_shown = false;
  std::uint64_t asked_id = 0;  // the question of a capture that is shown; 0: none
  std::string typed_answer;    // to it; overwritten once it is given
  bool quitting = false;       // asked to quit; questions may still be open
  bool quit = false;
  bool first_session_prepared = false;
  std::weak_ptr<const Store> compared_with;  // that the session which is being opened is to be compared with
  std::optional<std::size_t> removed_side;   // of the comparison in front: its number, until the next frame
  bool comparison_grows = false;             // it becomes one more of the comparison whose own session that is
  std::vector<const timeline::TimelineCommand*> timeline_queue;  // run inside the next frame, where the Ui is at hand
  std::string toast;
  double toast_until_s = 0;
  Task<Result<std::string>> exporting;  // ends with what is said of it
  Task<Result<std::string>> opening;    // the same of an editor or a page of the guide; the next need not wait for it
  Task<Result<std::string>> importing;  // ends with the text of a file of marker sets
  Task<Result<std::string>> copying;    // makes what goes to the clipboard
  std::optional<std::string> to_copy;   // at the end of the frame
  double now_s = 0;
  std::uint64_t frames = 0;
  bool picture_wanted = false;

  [[nodiscard]] session::SessionTab* tab() const noexcept { return workspace.active(); }
  [[nodiscard]] timeline::TimelinePanel& timeline_of(const session::SessionTab& session);
  TabPanels& panels_of(session::SessionTab& tab);
  void inform(std::string text);
  void open_dialog(std::string_view which);
  void show_connect_form();  // on the start page where it stands there, else as a dialog
  void show_open_dialog();
  [[nodiscard]] std::string start_folder();  // where file dialogs begin
  void show_save_dialog(std::size_t index, bool then_close = false);
  void show_import_dialog(connect::FileDialog::Chosen chosen);  // of a text file
  void show_filtered_export();                                  // app/output/session_export.cpp writes it
  void copy_made(std::function<std::string()> text);            // makes it on a worker
  void take_copied();
  void export_text(render::FileOffer offer);  // asks where to, and writes it on a worker
  void take_exported();
  void take_imported();
  void take_desktop();
  void remember_settings();
};

void add_commands(AppState& state);                                    // frame/commands.cpp
void run_key_commands(AppState& state, render::Ui& ui);                // frame/commands.cpp
void draw_top_bar(AppState& state, render::Ui& ui, render::Rect bar);  // bars.cpp
// What is recorded now, from the left of the row, which shrinks.
void draw_capture_bar(AppState& state, render::Ui& ui, render::Rect& row);     // capture.cpp
void draw_status_bar(AppState& state, render::Ui& ui, render::Rect bar);       // bars.cpp
void draw_session(AppState& state, render::Ui& ui, const render::Rect& area);  // window_frame.cpp
// Sessions below each other on one axis, with their verdicts above: comparison.cpp.
void draw_comparison_head(AppState& state, render::Ui& ui, render::Rect& area);
void draw_comparison(AppState& state, render::Ui& ui, const render::Rect& area);
void compare_with_other(AppState& state);   // of the command
void compare_with_file(AppState& state);    // likewise
void compare_with_opened(AppState& state);  // once what it asked for is open
void take_removed_side(AppState& state);    // out of the comparison in front
// The one line of what bounds the session, its worst source line and what its data lack, from the top of the area.
void draw_verdict(AppState& state, render::Ui& ui, render::Rect& area);  // bars.cpp
// Draws progress rows and notices from the top of the area, which shrinks.
void draw_notices(AppState& state, render::Ui& ui, render::Rect& area);  // window_frame.cpp
void draw_dialogs(AppState& state, render::Ui& ui);                      // dialogs.cpp
void add_layout_commands(AppState& state);                               // commands.cpp
[[nodiscard]] std::vector<system::NamedPlace> dialog_places(
    workspace::Workspace& workspace);  // of file dialogs; app.cpp
// In the session in front; what cannot be shown is told. False: the text is no link.
bool go_to_link(AppState& state, const std::string& text);    // commands.cpp
void draw_capture_question(AppState& state, render::Ui& ui);  // capture.cpp

// What the status bar says of a session, without drawing it.
[[nodiscard]] std::string events_text(const session::SessionTab& tab);              // "38,412 events"
[[nodiscard]] std::string active_text(const session::SessionTab& tab);              // "active 393.2 µs of 2.254 ms"
[[nodiscard]] std::string saved_text(const session::SessionTab& tab, bool saving);  // "Saved  mlp_fwd.accel"

}  // namespace accelscope::app::frame
