// What is open: the tabs, the work under way, the live captures, recent sessions and settings. No drawing in here.
// update() runs once per frame on the UI thread and never waits; everything slow runs on background jobs whose
// results it takes over.
//
//   Workspace workspace({.state_directory = dir});
//   workspace.open("run.accel");           // returns at once; a tab appears when it is ready
//   workspace.update(now_s);               // each frame
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/background_job.h"
#include "app/live_link.h"
#include "app/recent_sessions.h"
#include "app/session_opening.h"
#include "app/session_tab.h"
#include "app/settings.h"
#include "core/query/worker_pool.h"

namespace accelscope::app {

struct WorkspaceOptions {
  std::string state_directory;  // "" remembers nothing
  std::vector<std::string> source_roots;
  std::function<void()> wake;  // from any thread: something is new, draw a frame
};

// Said to the user above the content until dismissed.
struct Notice {
  Severity severity = Severity::note;
  std::string text;
};

enum class JobKind : std::uint8_t { open, save };

class Workspace {
 public:
  explicit Workspace(WorkspaceOptions options = {});
  ~Workspace();  // cancels the work and hangs up
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void update(double now_s);

  // Tabs. active() is null while the start page is in front.
  [[nodiscard]] std::size_t tab_count() const noexcept { return tabs_.size(); }
  [[nodiscard]] SessionTab& tab(std::size_t index) const { return *tabs_[index]->session; }
  [[nodiscard]] SessionTab* active() const noexcept;
  [[nodiscard]] std::optional<std::size_t> active_index() const noexcept { return active_; }
  void activate(std::size_t index);
  void show_start_page();
  [[nodiscard]] bool start_page_open() const noexcept { return start_page_open_ || tabs_.empty(); }
  void close_start_page();
  // Asks first (see question()) when there is something to lose, unless told to discard it.
  void close(std::size_t index, bool discard = false);

  // Opening; all return at once. A path that is open already comes to the front.
  void open(const std::string& path);
  void connect(const std::string& address);
  void start_demo();
  SessionTab& adopt(OpenedSession session);  // made elsewhere: tests, other commands
  SessionTab& adopt_live(std::unique_ptr<LiveLink> link, std::shared_ptr<Store> store, std::string title);

  // The capture of a tab.
  [[nodiscard]] const LiveLink* link(std::size_t index) const noexcept { return tabs_[index]->link.get(); }
  void stop_capture(std::size_t index);

  // Saving; the path of a session that has one is the default.
  void save(std::size_t index, const std::string& path);
  [[nodiscard]] bool saving(std::size_t index) const noexcept { return tabs_[index]->saving != nullptr; }
  [[nodiscard]] std::string suggested_path(std::size_t index) const;

  struct JobView {
    const BackgroundJob* job;
    JobKind kind;
  };
  [[nodiscard]] std::vector<JobView> jobs() const;
  void cancel_job(const BackgroundJob* job);
  [[nodiscard]] bool opening() const noexcept { return !opening_.empty(); }
  // Nothing under way: no job and no capture that is still delivering.
  [[nodiscard]] bool settled() const;

  // Closing a session with unsaved changes waits for an answer.
  [[nodiscard]] std::optional<std::size_t> question() const noexcept { return question_; }
  enum class Answer : std::uint8_t { save, discard, cancel };
  void answer(Answer answer);  // save needs a path: without one it fails over to cancel
  [[nodiscard]] bool has_unsaved() const;

  [[nodiscard]] const std::vector<Notice>& notices() const noexcept { return notices_; }
  void notify(Severity severity, std::string text);
  void dismiss_notice(std::size_t index);
  [[nodiscard]] const std::string& last_error() const noexcept { return last_error_; }

  [[nodiscard]] WorkerPool& pool() noexcept { return pool_; }
  [[nodiscard]] RecentSessions& recent() noexcept { return recent_; }
  [[nodiscard]] Settings& settings() noexcept { return settings_; }
  void write_settings();

 private:
  struct OpenTab {
    std::unique_ptr<SessionTab> session;
    std::unique_ptr<LiveLink> link;
    std::unique_ptr<BackgroundJob> saving;
    std::string saving_path;
    bool close_when_saved = false;
    bool fitted = false;  // the first view has been chosen
    std::uint64_t saved_version = 0;
    double markers_read_s = 0;
    double rate_since_s = 0;  // window in which the ingest rate is counted
    std::uint64_t rate_since_events = 0;
  };
  struct Opening {
    std::string path;
    std::unique_ptr<BackgroundJob> job;
    std::shared_ptr<std::optional<OpenedSession>> result;
  };

  void take_opened();
  void take_saved(OpenTab& tab);
  void refresh(OpenTab& tab, double now_s);
  void refresh_link(OpenTab& tab, double now_s);
  void remember(const OpenTab& tab, const std::string& path);
  void remove_tab(std::size_t index);
  OpenTab& add_tab(std::string title, std::shared_ptr<Store> store);

  WorkspaceOptions options_;
  WorkerPool pool_;  // outlives what runs on it
  RecentSessions recent_;
  Settings settings_;
  std::vector<std::unique_ptr<OpenTab>> tabs_;
  std::vector<Opening> opening_;
  std::optional<std::size_t> active_;
  std::optional<std::size_t> question_;
  bool start_page_open_ = false;
  std::vector<Notice> notices_;
  std::string last_error_;
};

// All of the session, and the stretch in which it does its work (all, when unknown), each with a margin of 1 %.
[[nodiscard]] ViewRange whole_session(const Snapshot& snapshot);
[[nodiscard]] ViewRange active_view(const SessionTab& tab);

}  // namespace accelscope::app
