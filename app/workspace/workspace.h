// What is open: the tabs, the work under way, the live captures, recent sessions and settings. No drawing in here.
// update() runs once per frame on the UI thread and never waits; everything slow runs on background jobs whose
// results it takes over.
//
//   Workspace workspace({.state_directory = dir});
//   workspace.open("run.accel");           // returns at once; a tab appears when it is ready
//   workspace.update(now_s);               // each frame
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "app/persist/persist.h"
#include "app/plan/configurations.h"
#include "app/session/background_job.h"
#include "app/session/tab.h"
#include "app/workspace/opening.h"
#include "capture/client/capture_session.h"
#include "core/base/result.h"
#include "core/base/worker_pool.h"
#include "core/store/store.h"

namespace accelscope::app::workspace {

// A running capture that feeds the store of a tab, and all else that the viewer wants of the capture side: behind an
// interface and a struct of functions, so that the viewer can be driven without sockets. The real ones are
// CaptureSession and its neighbours (capture/client/capture_session.h); the words mean the same here.

class LiveLink {
 public:
  LiveLink() = default;
  LiveLink(const LiveLink&) = delete;
  LiveLink& operator=(const LiveLink&) = delete;
  virtual ~LiveLink() = default;  // hangs up; the recovery folder stays

  [[nodiscard]] virtual capture::client::CaptureStatus status() const = 0;
  virtual void add(const std::string& place) = 0;
  virtual void leave(const std::string& place) = 0;
  virtual void pause() = 0;
  virtual void resume() = 0;
  virtual void stop() = 0;  // asks for the orderly end: all sealed data still arrives
  [[nodiscard]] virtual std::optional<capture::client::CaptureQuestion> question() const = 0;
  virtual void answer(std::uint64_t id, const std::optional<std::string>& answer) = 0;
  virtual void saved() = 0;
  virtual void discard() = 0;
};

struct CaptureServices {
  std::function<Result<std::unique_ptr<LiveLink>>(const capture::client::CapturePlan&, std::shared_ptr<Store>,
                                                  const capture::client::CaptureSessionOptions&)>
      begin;
  // Waits until the folder is read.
  std::function<Result<std::unique_ptr<LiveLink>>(const capture::client::Recoverable&, std::shared_ptr<Store>,
                                                  const capture::client::CaptureSessionOptions&)>
      recover;
  // Waits; any thread.
  std::function<Result<capture::client::Reached>(const std::string& place, const std::string& token_file,
                                                 const std::function<bool()>& cancelled)>
      reach;
  // Waits; any thread.
  std::function<capture::client::HostCheck(const std::string& place, const capture::client::HostCheckOptions& options,
                                           const std::function<bool()>& cancelled)>
      check_host;
  std::function<std::vector<capture::client::Recoverable>(const std::string& recovery_directory)> find_recoverable;
  std::function<Result<void>(const capture::client::Recoverable&)> discard;
  std::function<std::vector<capture::request::KindFacts>()>
      kinds;  // that this program knows: what a form offers at first
};

[[nodiscard]] CaptureServices real_capture_services();

// Starts an agent with the simulated accelerator in this process and connects to it over TCP.
[[nodiscard]] Result<std::unique_ptr<LiveLink>> make_demo_link(std::shared_ptr<Store> store,
                                                               const capture::client::CaptureSessionOptions& options);

struct WorkspaceOptions {
  std::string state_directory;  // "" remembers nothing
  std::vector<std::string> source_roots;
  std::function<void()> wake;  // from any thread: something is new, draw a frame
  CaptureServices services = real_capture_services();
};

// Said to the user above the content until dismissed.
struct Notice {
  Severity severity = Severity::note;
  std::string text;
  std::string subject = {};  // a later notice on the same subject takes its place
};

// What a tab shows of a session that another has as a whole: a rank.
struct TabPart {
  std::set<std::tuple<std::uint32_t, std::string, std::string>> devices;  // by source, host and device
  std::vector<TrackNumber> tracks;
  std::size_t known_tracks = 0;  // of the session
  std::string session_title;     // of the whole when it was last open: what is saved and asked about is all of it
  std::string session_device;
};

class Workspace {
 public:
  explicit Workspace(WorkspaceOptions options = {});
  ~Workspace();  // cancels the work and hangs up
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void update(double now_s);

  // Tabs. active() is null while the start page is in front.
  [[nodiscard]] std::size_t tab_count() const noexcept { return tabs_.size(); }
  [[nodiscard]] session::SessionTab& tab(std::size_t index) const { return *tabs_[index]->session; }
  [[nodiscard]] session::SessionTab* active() const noexcept;
  [[nodiscard]] std::optional<std::size_t> active_index() const noexcept { return active_; }
  void activate(std::size_t index);
  void show_start_page();
  [[nodiscard]] bool start_page_open() const noexcept { return start_page_open_ || tabs_.empty(); }
  void close_start_page();
  // Asks first (see question()) when there is something to lose, unless told to discard it. The last tab
  // of a session that is saving goes once that is done.
  void close(std::size_t index, bool discard = false);
  // Asks of the first session that has unsaved changes, once for all tabs that show it. False: there is none.
  bool ask_of_unsaved();

  // Opening; all return at once. A path that is open already comes to the front.
  void open(const std::string& path);
  // Files of one run - its ranks, or several sides of it - become one session in one tab; others a tab each.
  void open(const std::vector<std::string>& paths);
  // from: the configuration that the plan comes from, which the session is tagged with.
  void connect(const capture::client::CapturePlan& plan, const plan::ConfigurationName& from = {});
  // The tab appears when the capture has begun.
  void connect(const std::string& places);  // "127.0.0.1:7420", several with commas: whatever they were started for
  void start_demo();
  // Another tab on the session of this one, of some of its tracks: a rank of many, with what else comes of their
  // devices. Both have one store and one capture; what is saved from either is all of it, with the view of each.
  session::SessionTab& open_part(std::size_t index, std::string title, std::string device,
                                 const std::vector<TrackNumber>& tracks);
  // A tab with the sessions of these tabs below each other, which have one hand and one axis. A, what the others are
  // set against, is the one that was opened first. Their own tabs stay as they are.
  session::SessionTab& open_comparison(std::vector<std::size_t> tabs);
  // The session of a tab as the last of a comparison.
  void add_to_comparison(session::SessionTab& comparison, std::size_t tab);
  // The first tab with the store; comparisons aside, where it has one of its own.
  [[nodiscard]] std::optional<std::size_t> tab_of(const std::shared_ptr<const Store>& store) const;
  session::SessionTab& adopt(OpenedSession session);  // made elsewhere: tests, other commands
  session::SessionTab& adopt_live(std::shared_ptr<LiveLink> link, std::shared_ptr<Store> store, std::string title);

  // The capture of a tab.
  [[nodiscard]] const LiveLink* link(std::size_t index) const noexcept { return tabs_[index]->link.get(); }
  [[nodiscard]] bool grows(const Store& store) const;   // a capture goes on into it
  [[nodiscard]] bool is_live(std::size_t index) const;  // it may still grow
  void stop_capture(std::size_t index);
  void pause_capture(std::size_t index, bool paused);
  void add_agents(std::size_t index, const std::vector<std::string>& places);
  void remove_agent(std::size_t index, const std::string& place);

  // What a capture wants to know of the user, of any tab: the first that asks.
  struct CaptureAsks {
    std::size_t tab = 0;
    capture::client::CaptureQuestion question;
  };
  [[nodiscard]] std::optional<CaptureAsks> capture_question() const;
  void answer_capture(const CaptureAsks& asked, const std::optional<std::string>& answer);

  // What former runs left behind; looked for off the UI thread when the workspace is made.
  [[nodiscard]] const std::vector<capture::client::Recoverable>& recoverable() const noexcept { return recoverable_; }
  void recover(std::size_t index);
  void discard_recoverable(std::size_t index);

  // What a tab is called for as long as it is open; its place in the list changes when others close.
  using TabId = std::uint64_t;
  [[nodiscard]] TabId id_of(std::size_t index) const noexcept { return tabs_[index]->id; }
  [[nodiscard]] std::optional<std::size_t> index_of(TabId id) const noexcept;  // nothing: it is closed

  // Saving; the path of a session that has one is the default.
  void save(std::size_t index, const std::string& path);
  // And all its tabs close once it is saved. A capture ends first. A save that fails leaves them open.
  void save_and_close(std::size_t index, const std::string& path);
  // The session, from whichever of its tabs.
  [[nodiscard]] bool saving(std::size_t index) const;
  // It closes by itself once it is saved.
  [[nodiscard]] bool closes_when_saved(std::size_t index) const noexcept { return tabs_[index]->close_when_saved; }
  [[nodiscard]] std::string suggested_path(std::size_t index) const;
  // Of all that is saved: a tab that shows a part of it has another title.
  [[nodiscard]] std::string session_title(std::size_t index) const;

  // Work that takes its time and is no tab's: its progress is shown, and it can be cancelled. `done` is called on the
  // UI thread once it has ended, unless it was cancelled.
  void start_job(std::string title, session::BackgroundJob::Work work, std::function<void(const Result<void>&)> done);

  [[nodiscard]] std::vector<session::BackgroundJob*> jobs() const;
  [[nodiscard]] bool opening() const noexcept { return !opening_.empty(); }
  // Nothing under way: no job and no capture that still delivers.
  [[nodiscard]] bool settled() const;

  // Closing a session with unsaved changes waits for an answer.
  [[nodiscard]] std::optional<std::size_t> question() const noexcept { return question_; }
  enum class Answer : std::uint8_t { save, discard, cancel };
  // For all tabs of the session.
  void answer(Answer answer);  // save needs a path: without one it fails over to cancel

  [[nodiscard]] const std::vector<Notice>& notices() const noexcept { return notices_; }
  void notify(Severity severity, std::string text, std::string subject = {});
  void dismiss_notice(std::size_t index);
  void withdraw(std::string_view subject);  // what it told of is over
  [[nodiscard]] const std::string& last_error() const noexcept { return last_error_; }

  [[nodiscard]] WorkerPool& pool() noexcept { return pool_; }
  [[nodiscard]] persist::RecentSessions& recent() noexcept { return recent_; }
  [[nodiscard]] persist::Settings& settings() noexcept { return settings_; }
  [[nodiscard]] plan::Configurations& configurations() noexcept { return configurations_; }
  [[nodiscard]] const CaptureServices& services() const noexcept { return options_.services; }
  [[nodiscard]] const std::function<void()>& wake() const noexcept { return options_.wake; }
  [[nodiscard]] const std::vector<capture::request::KindFacts>& known_kinds() const noexcept { return known_kinds_; }
  void write_settings();

 private:
  static constexpr std::string_view kConnecting = "connecting";  // subject of what kept a capture from beginning
  // What was broken the last time that a tab's agents were looked at.
  struct Broken {
    double since_s = 0;
    std::string what;
  };
  // How fast the time of a live session goes, for the width of a view that follows it. A capture's time may be the
  // host's, or a device's that passes through a millisecond in a second.
  struct Pace {
    double wall_s = 0;      // in which data came
    double session_ns = 0;  // and how much of the session's time that was
    std::int64_t end_ns = 0;
    double span_ns = 0;  // of the view that was set last; the user's own width is another
  };
  // The tracks of a tab that shows a part of a session.
  struct OpenTab {
    std::unique_ptr<session::SessionTab> session;
    TabId id = 0;
    std::optional<TabPart> part;  // nothing: all of it
    std::shared_ptr<LiveLink> link;
    std::map<std::string, Broken> broken;  // by place, while it reconnects
    std::set<std::string> failed;          // places of which the user was told
    std::unique_ptr<session::BackgroundJob> saving;
    std::string saving_path;
    bool close_when_saved = false;
    std::string save_when_over;  // the path at which it is saved once its capture has ended; "": it is not
    bool fitted = false;         // the first view has been chosen
    Pace pace;
    std::uint64_t saved_version = 0;
    std::shared_ptr<std::atomic<std::uint64_t>> saving_version;  // of the store, when what was wanted before is written
    double rate_since_s = -1;  // window in which the ingest rate is counted; below 0: none yet
    std::uint64_t rate_since_events = 0;
  };
  // Ending its threads and freeing what it holds may take a while.
  struct Closing {
    std::string path;
    std::shared_ptr<Task<bool>> task;
    std::optional<capture::client::Recoverable> left = {};  // is to be offered again, once nobody holds it
  };
  struct Opening {
    std::vector<std::string> paths;
    std::unique_ptr<session::BackgroundJob> job;
    std::shared_ptr<std::optional<OpenedSession>> result;  // nothing: each of the paths is a session of its own
  };
  struct Started {
    std::shared_ptr<LiveLink> link;
    std::shared_ptr<Store> store;
  };
  // A capture on its way to its tab: its store and its link are made by a job. Or what was left and is discarded: no
  // link.
  struct Starting {
    std::string title;
    plan::ConfigurationName from = {};
    std::optional<capture::client::Recoverable> left = {};  // what it takes up
    bool is_new = false;                                    // begun here: nobody else wants it
    std::unique_ptr<session::BackgroundJob> job = {};
    std::shared_ptr<Started> result = std::make_shared<Started>();
  };
  struct PlainJob {
    std::unique_ptr<session::BackgroundJob> job;
    std::function<void(const Result<void>&)> done;
  };
  using BeginLink = std::function<Result<std::unique_ptr<LiveLink>>(std::shared_ptr<Store>)>;

  void take_opened();
  void take_jobs();
  void take_saved(OpenTab& tab);
  void refresh(OpenTab& tab, double now_s);
  struct SessionName {
    std::string title, device;
  };
  [[nodiscard]] const OpenTab* whole_of(const OpenTab& tab) const;  // that shows all of its session; null: none does
  [[nodiscard]] SessionName name_of(const OpenTab& tab) const;
  [[nodiscard]] std::int64_t first_marker_beside(const session::SessionTab& session) const;
  OpenTab& add_beside(const OpenTab& origin, SessionName name);  // another tab on the same session
  void open_whole(const OpenTab& part);
  static void refresh_part(TabPart& part, session::SessionTab& session);
  [[nodiscard]] bool is_shared(const OpenTab& tab) const;            // another tab shows the same session
  [[nodiscard]] bool is_first_of_capture(const OpenTab& tab) const;  // tells of what happens to it
  void refresh_link(OpenTab& tab, double now_s);
  void tell_of_breaks(OpenTab& tab, double now_s);
  static void follow_newest(OpenTab& tab);
  static void fit_first_view(OpenTab& tab);
  [[nodiscard]] capture::client::CaptureSessionOptions session_options() const;
  void look_for_recoverable();
  void start(Starting starting, const std::string& job_title, BeginLink begin);
  capture::client::Recoverable take_recoverable(std::size_t index);
  void take_started();
  void drop_started(Starting starting);
  void remember(const OpenTab& tab, const std::string& path);
  void remove_tab(std::size_t index, bool discard);  // discard: what its capture keeps for recovery goes too
  OpenTab& add_tab(std::string title, std::shared_ptr<Store> store, session::RetainedBeside retained = {});

  WorkspaceOptions options_;
  WorkerPool pool_;  // outlives what runs on it
  persist::RecentSessions recent_;
  persist::Settings settings_;
  plan::Configurations configurations_;
  std::vector<capture::request::KindFacts> known_kinds_;
  std::vector<capture::client::Recoverable> recoverable_;
  std::shared_ptr<std::vector<capture::client::Recoverable>> found_recoverable_;  // of the job that looks for them
  std::unique_ptr<session::BackgroundJob> looking_;
  std::vector<Starting> starting_;
  std::vector<PlainJob> plain_jobs_;
  std::vector<std::unique_ptr<OpenTab>> tabs_;
  TabId last_id_ = 0;
  std::vector<Closing> closing_;
  std::vector<Opening> opening_;
  std::optional<std::size_t> active_;
  std::optional<std::size_t> question_;
  bool start_page_open_ = false;
  std::vector<Notice> notices_;
  std::string last_error_;
};

// What a first view shows, with a margin of 1 %: until it is known where the work is, all that was recorded.
[[nodiscard]] session::ViewRange first_view(const session::SessionTab& tab);

}  // namespace accelscope::app::workspace
