#include "capture/agent/viewers/agent.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "capture/agent/viewers/kinds_lookup.h"
#include "capture/agent/viewers/viewer_session.h"
#include "capture/security/secrets.h"
#include "capture/system/address.h"
#include "core/base/format.h"
#include "core/base/own_files.h"

namespace accelscope::capture::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWatchInterval{250};
constexpr std::chrono::milliseconds kContinueInterval{10};
constexpr std::size_t kMostWithoutCapture = 256;  // connections: enough that a flood of them leaves time to say hello
// A viewer whose connection broke is back sooner; after that, one without a spool to come back to loses its capture
// to the next viewer that asks.
constexpr std::chrono::seconds kOrphanGrace{5};

std::string system_name() {
  utsname facts{};
  return ::uname(&facts) == 0 ? fmt::format("{} {}", facts.sysname, facts.machine) : "";
}

// Memory of this process; 0 if the system does not tell.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  const long page = ::sysconf(_SC_PAGESIZE);
  return file && page > 0 ? resident * static_cast<std::uint64_t>(page) : 0;
}

// Chunks that ended threads had made stay in their arenas, each capture's in others.
void give_memory_back() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

std::uint64_t bytes_of_files(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::uintmax_t size = entry.is_regular_file(failure) ? entry.file_size(failure) : 0;
    if (!failure) bytes += size;
  }
  return bytes;
}

std::uint64_t unix_now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

// What a viewer that asks for a capture names it by, that it may ask again. "": the viewer gives none.
std::string intent_of(const wire::Start& start, const ViewerSession& session) {
  if (session.viewer_id().empty() || start.capture_id.empty()) return "";
  return session.viewer_id() + "/" + wire::printable(start.capture_id, 64);
}

}  // namespace

struct Agent::Implementation final : SessionHost {
  Implementation(AgentOptions agent_options, SourceFunction function)
      : options_(std::move(agent_options)),
        source_(std::move(function)),
        session_id_(system::random_id()),
        gate_(options_.secrets.token) {}
  ~Implementation() override {
    spool_reader_ = {};  // waits for it
    sessions_.clear();
    runs_.clear();
  }

  // A capture and what the agent knows of its viewer.
  struct Held {
    std::unique_ptr<CaptureRun> run;
    ViewerSession* controller = nullptr;
    SteadyClock::time_point orphan_since;
    std::string intent;  // by which its viewer asked for it; "": none
    bool controlled_once = false;
    bool unwanted = false;  // nobody will come back for it
  };

  // What another process of the agent spooled, before it is read.
  struct Unread {
    std::string folder;
    log::FrameLogFacts facts;
    std::uint64_t bytes = 0;  // of its files
    bool unwanted = false;
  };

  [[nodiscard]] const AgentOptions& options() const override { return options_; }
  [[nodiscard]] security::AgentGate& gate() override { return gate_; }
  [[nodiscard]] wire::Hello hello() const override;
  void welcome(ViewerSession& session) override;
  [[nodiscard]] bool has_to_wait(const wire::Start& start) const override;
  Result<CaptureRun*> start(const wire::Start& start, ViewerSession& session, wire::ErrorCode& code) override;
  void discard(const std::string& capture_id, const ViewerSession& session) override;
  void on_delivery(CaptureRun& run) override;
  [[nodiscard]] wire::StateReport state_of(const CaptureRun& run) const override;
  Result<std::filesystem::path> new_work_folder() override;
  [[nodiscard]] CaptureRun* find_run(const std::string& capture_id) override {
    Held* held = find(capture_id);
    return held == nullptr ? nullptr : held->run.get();
  }
  void continue_soon() override;
  void log(const std::string& line) override {
    if (options_.log) options_.log(line);
  }
  void on_done(ViewerSession& session) override {
    loop_.post([this, &session] { remove(session); });
  }

  [[nodiscard]] wire::Welcome make_welcome() const;
  void make_room_for_connection();
  Result<CaptureRun*> begin_capture(const wire::Start& start, ViewerSession& session, wire::ErrorCode& code);
  Result<CaptureRun*> take_up(const wire::Start& start, ViewerSession& session, wire::ErrorCode& code);
  Result<CaptureRun*> handoff(Held& held, const wire::Start& start, ViewerSession& session, wire::ErrorCode& code);
  Result<CaptureRun*> watch(const wire::Start& start);
  Result<std::vector<SourcePart>> parts_for(const request::CaptureRequest& request, const std::string& work_folder,
                                            SteadyClock::time_point origin);
  Result<void> make_room_for_capture();
  void reopen_spools();
  void read_spool(const Unread& unread, const std::stop_token& stop);  // on a thread of its own
  void take_over(const std::string& folder, Result<std::unique_ptr<CaptureRun>> run);
  [[nodiscard]] std::string unread_in_words() const;
  void on_accept(std::unique_ptr<wire::Link> link);
  void remove(ViewerSession& session);
  void give_up(Held& held, const std::string& why);
  void sweep();
  void watch_over();
  void on_run_changed(const std::string& id);
  void tie_to_loop(CaptureRun::Options& run, const std::string& id);
  void wire_up(CaptureRun& run);
  void begin_stop(const std::string& reason);
  void stop_if_over();
  Result<std::string> obey(ControlCommand what);
  Result<std::string> inform_held();
  [[nodiscard]] std::string metrics() const;
  [[nodiscard]] std::string held_captures() const;
  [[nodiscard]] Held* find(const std::string& id);
  [[nodiscard]] const Held* holder_of(const CaptureRun& run) const;
  [[nodiscard]] Held* running();
  [[nodiscard]] bool has_sessions(const CaptureRun& run) const;
  [[nodiscard]] std::string unique_name(const request::CaptureRequest& request) const;

  wire::Loop loop_;  // outlives what runs on it
  AgentOptions options_;
  KindsLookup kinds_{loop_, options_.kinds.list};
  SourceFunction source_;
  std::string session_id_;
  security::AgentGate gate_;
  system::Address address_;
  std::unique_ptr<wire::Listener> listener_;
  std::vector<std::unique_ptr<Held>> runs_;  // outlive the sessions that use them
  std::vector<std::unique_ptr<ViewerSession>> sessions_;
  std::vector<Unread> unread_;                      // the first of them is being read
  std::atomic<std::uint64_t> spool_bytes_read_{0};  // of that one; twice as much as it has
  std::mutex read_mutex_;
  std::deque<Result<std::unique_ptr<CaptureRun>>> read_;  // under read_mutex_; whose turn on the loop has not come
  Result<void> verdict_;
  bool once_over_ = false;
  bool stopping_ = false;
  bool interrupted_ = false;
  bool watching_ = false;
  bool crowded_ = false;
  bool carrying_on_ = false;
  SteadyClock::time_point idle_since_ = SteadyClock::now();
  // Of captures and connections that are gone, for counts that only rise; and how many there were with those of today.
  struct Past {
    std::uint64_t connections = 0, captures = 0, events = 0, dropped_events = 0, sent_bytes = 0;
  };
  Past past_;
  std::chrono::system_clock::time_point begun_ = std::chrono::system_clock::now();
  std::jthread spool_reader_;
};

wire::Hello Agent::Implementation::hello() const {
  wire::Hello hello;
  hello.role = wire::PeerRole::agent;
  hello.program = "accelscope-agent";
  hello.program_version = ACCELSCOPE_VERSION;
  hello.session_id = session_id_;
  hello.description = options_.description;
  hello.window_bytes = options_.window_bytes;
  hello.capabilities = {"stop", "progress", "durable", "resume", "watch", "pause", "clock"};
  if (options_.may_run) hello.capabilities.emplace_back("run");
  if (gate_.wants_token()) hello.capabilities.emplace_back("token");
  return hello;
}

void Agent::Implementation::welcome(ViewerSession& session) {
  kinds_.ask(&session, [this, &session] { session.welcome(make_welcome()); });
}

wire::Welcome Agent::Implementation::make_welcome() const {
  wire::Welcome welcome;
  welcome.host = system::host_name();
  welcome.system = system_name();
  welcome.may_run = options_.may_run;
  if (source_ || !options_.fixed.empty())
    welcome.fixed = options_.description.empty() ? "a capture" : options_.description;
  welcome.kinds = kinds_.known();
  for (const auto& held : runs_) {
    welcome.captures.push_back(held->run->offer());
    if (held->controller != nullptr) welcome.captures.back().controller = held->controller->viewer();
  }
  for (const Unread& unread : unread_) {
    const log::FrameLogFacts& facts = unread.facts;
    const wire::StreamEnd& known = facts.end ? *facts.end : facts.released;
    welcome.captures.push_back({facts.capture_id, facts.name, facts.description + " (its spool is being read)",
                                facts.end ? wire::CaptureState::ended : wire::CaptureState::interrupted,
                                facts.released.last_sequence + 1, known.last_sequence, known.events,
                                facts.begun_unix_ns, ""});
  }
  return welcome;
}

// A capture that begins must not meet one that goes on.
bool Agent::Implementation::has_to_wait(const wire::Start& start) const {
  if (start.mode != wire::StartMode::begin) {
    const bool is_there = std::any_of(runs_.begin(), runs_.end(), [&](const auto& held) {
      return start.capture_id.empty() ? !held->run->over() : held->run->facts().id == start.capture_id;
    });
    return !unread_.empty() && !is_there;
  }
  return std::any_of(unread_.begin(), unread_.end(),
                     [&](const Unread& unread) { return CaptureRun::would_go_on(unread.facts, options_.repeats); });
}

Result<CaptureRun*> Agent::Implementation::start(const wire::Start& start, ViewerSession& session,
                                                 wire::ErrorCode& code) {
  switch (start.mode) {
    case wire::StartMode::take_up:
      return take_up(start, session, code);
    case wire::StartMode::watch:
      return watch(start);
    default:
      return begin_capture(start, session, code);
  }
}

Result<std::vector<SourcePart>> Agent::Implementation::parts_for(const request::CaptureRequest& request,
                                                                 const std::string& work_folder,
                                                                 SteadyClock::time_point origin) {
  if (request.kinds.empty() && source_) {
    const auto write = [this](EventSink& sink, const request::OpenScope& /*open_scope*/,
                              const request::AskCapture& /*ask*/) { return source_(sink); };
    return std::vector<SourcePart>{{options_.description, write, true, options_.own_time}};
  }
  if (request.kinds.empty() && !options_.fixed.empty()) {
    request::CaptureRequest whole = request;
    whole.kinds = options_.fixed;
    return options_.kinds.parts(whole, work_folder, origin);
  }
  if (request.kinds.empty()) {
    return Error{"the agent has no capture of its own; choose a kind of capture, such as program"};
  }
  if (!options_.kinds.parts) return Error{"the agent captures only what it was started with; leave the kind out"};
  if ((!request.program.empty() || !request.script.empty()) && !options_.may_run) {
    return Error{"the agent may not start programs; start it with --allow-run, or capture without a program"};
  }
  return options_.kinds.parts(request, work_folder, origin);
}

// At most one capture is held in memory: the agent's memory has one limit.
Result<void> Agent::Implementation::make_room_for_capture() {
  for (const auto& held : runs_) {
    const CaptureRun& run = *held->run;
    const bool running = !run.over();
    if (held->controller != nullptr && (running || !run.delivered())) {
      return Error{
          fmt::format("the agent at {} serves another viewer, {}; watch its capture, or try again when that "
                      "one is done",
                      address_.text(), held->controller->viewer())};
    }
    if (!running || held->controller != nullptr) continue;
    if (!options_.spool_folder.empty() || SteadyClock::now() - held->orphan_since < kOrphanGrace) {
      return Error{
          fmt::format("the agent at {} still captures {} for a viewer that broke off; take it up, or end it "
                      "with accelscope-agent stop",
                      address_.text(), run.facts().name)};
    }
  }
  for (const auto& held : runs_) {
    if (held->controller == nullptr && options_.spool_folder.empty()) give_up(*held, "another capture begins");
  }
  sweep();
  return {};
}

std::string Agent::Implementation::unique_name(const request::CaptureRequest& request) const {
  if (!request.name.empty()) return wire::printable(request.name, 64);
  if (!request.program.empty()) return std::filesystem::path(request.program).filename().string();
  return options_.name;
}

Result<CaptureRun*> Agent::Implementation::begin_capture(const wire::Start& start, ViewerSession& session,
                                                         wire::ErrorCode& code) {
  const request::CaptureRequest& request = start.request;
  const std::string intent = intent_of(start, session);
  // A viewer whose connection broke before it heard that its capture had begun asks for it once more.
  for (const auto& held : runs_) {
    if (!intent.empty() && held->intent == intent) return handoff(*held, start, session, code);
  }
  if (Result<void> room = make_room_for_capture(); !room) {
    code = wire::ErrorCode::busy;
    return room.error();
  }
  CaptureRun::Options run;
  run.facts = {system::random_id(), request.kinds.empty() ? options_.repeats : "", unique_name(request),
               options_.description, unix_now_ns()};
  run.outbox = options_.outbox;
  if (!options_.spool_folder.empty()) run.spool_folder = options_.spool_folder + "/" + run.facts.id;
  run.paused = request.paused;
  run.duration_seconds = request.duration_seconds;
  run.origin = SteadyClock::now();
  run.work_folder = session.take_work_folder();
  if (run.work_folder.empty() && !request.kinds.empty()) {
    std::filesystem::path folder = TRY(new_work_folder());
    run.work_folder = folder.string();
  }
  run.results_base = request.directory.empty() ? run.work_folder : request.directory;
  Result<std::vector<SourcePart>> parts = parts_for(request, run.work_folder, run.origin);
  if (!parts) {
    std::error_code ignored;  // a temporary folder that stays behind
    if (!run.work_folder.empty()) std::filesystem::remove_all(run.work_folder, ignored);
    return parts.error();
  }
  run.parts = std::move(parts).value();
  if (!request.kinds.empty() && options_.kinds.describe) {
    run.facts.description = options_.kinds.describe(request, run.work_folder);
  }
  tie_to_loop(run, run.facts.id);
  std::unique_ptr<CaptureRun> begun = TRY(CaptureRun::begin(std::move(run)));
  runs_.push_back(std::make_unique<Held>());
  ++past_.captures;
  Held& held = *runs_.back();
  held.run = std::move(begun);
  held.controller = &session;
  held.controlled_once = true;
  held.intent = intent;
  wire_up(*held.run);
  watch_over();
  return held.run.get();
}

void Agent::Implementation::tie_to_loop(CaptureRun::Options& run, const std::string& id) {
  run.post = [this](std::function<void()> function) { loop_.post(std::move(function)); };
  run.on_change = [this, id] { on_run_changed(id); };
}

// Readers that have found nothing are told when there is more, on the loop.
void Agent::Implementation::wire_up(CaptureRun& run) {
  run.outbox().on_more([this, id = run.facts().id] {
    loop_.post([this, id] {
      const Held* held = find(id);
      if (held == nullptr) return;
      for (const auto& session : sessions_) {
        if (session->run() == held->run.get()) session->pump();
      }
    });
  });
}

Result<CaptureRun*> Agent::Implementation::take_up(const wire::Start& start, ViewerSession& session,
                                                   wire::ErrorCode& code) {
  Held* held = start.capture_id.empty() ? running() : find(start.capture_id);
  // One that has ended waits as well for the viewer that takes it.
  if (held == nullptr && start.capture_id.empty() && !runs_.empty()) held = runs_.back().get();
  if (held == nullptr) {
    return Error{start.capture_id.empty()
                     ? fmt::format("the agent at {} holds no capture; start one", address_.text())
                     : fmt::format("the agent at {} does not have the capture {} any more; it was saved or given up, "
                                   "or the agent was started anew without --spool{}",
                                   address_.text(), wire::printable(start.capture_id, 64), held_captures())};
  }
  return handoff(*held, start, session, code);
}

Result<CaptureRun*> Agent::Implementation::handoff(Held& held, const wire::Start& start, ViewerSession& session,
                                                   wire::ErrorCode& code) {
  const Outbox::Totals totals = held.run->outbox().totals();
  if (start.after_sequence > totals.frames) {
    return Error{fmt::format("the capture {} has {} frames, frame {} was never made; begin a new capture",
                             held.run->facts().name, totals.frames, start.after_sequence)};
  }
  if (held.controller != nullptr && held.controller != &session) {
    // The same viewer may be back before its old connection is known to be dead.
    if (session.viewer_id().empty() || session.viewer_id() != held.controller->viewer_id()) {
      code = wire::ErrorCode::busy;
      return Error{fmt::format("the agent at {} serves another viewer, {}; watch its capture instead", address_.text(),
                               held.controller->viewer())};
    }
    held.controller->drop("came back on another connection");
  }
  held.controller = &session;
  held.controlled_once = true;
  return held.run.get();
}

Result<CaptureRun*> Agent::Implementation::watch(const wire::Start& start) {
  const auto watchers = std::count_if(sessions_.begin(), sessions_.end(), [](const auto& session) {
    return session->run() != nullptr && !session->controls() && !session->closed();
  });
  if (static_cast<std::size_t>(watchers) >= options_.max_watchers) {
    return Error{
        fmt::format("the agent at {} has {} viewers that watch; no more are taken", address_.text(), watchers)};
  }
  Held* held = start.capture_id.empty() ? running() : find(start.capture_id);
  if (held == nullptr && start.capture_id.empty() && !runs_.empty()) held = runs_.back().get();
  if (held != nullptr) return held->run.get();
  return Error{fmt::format("the agent at {} captures nothing that could be watched; start a capture", address_.text())};
}

void Agent::Implementation::discard(const std::string& capture_id, const ViewerSession& session) {
  for (Unread& unread : unread_) unread.unwanted = unread.unwanted || unread.facts.capture_id == capture_id;
  Held* held = find(capture_id);
  if (held == nullptr || (held->controller != nullptr && held->controller != &session)) return;
  if (!held->run->delivered())
    log(fmt::format("{}: does not want {} any more", session.viewer(), held->run->facts().name));
  held->unwanted = true;
  held->run->stop("discarded by the viewer");
  sweep();
}

void Agent::Implementation::on_delivery(CaptureRun& run) {
  if (run.over() && run.saved()) run.remove_spool();
}

Result<std::filesystem::path> Agent::Implementation::new_work_folder() {
  const Result<std::shared_ptr<OwnTemporaryFolder>> folder = OwnTemporaryFolder::make("run", options_.scratch_folder);
  if (!folder) return Error{folder.message() + ", or name one with --scratch"};
  std::filesystem::path path = (*folder)->path();
  (*folder)->keep();  // it goes with the capture
  return path;
}

void Agent::Implementation::continue_soon() {
  if (std::exchange(carrying_on_, true)) return;
  loop_.after(kContinueInterval, [this] {
    carrying_on_ = false;
    for (const auto& session : sessions_) {
      session->embed_files();
      session->pump();
    }
  });
}

wire::StateReport Agent::Implementation::state_of(const CaptureRun& run) const {
  wire::StateReport report;
  report.state = run.state();
  report.reason = run.state_reason();
  report.dropped_events = run.outbox().totals().dropped_events;
  if (const Held* held = holder_of(run); held != nullptr && held->controller != nullptr) {
    report.controller = held->controller->viewer();
  }
  report.watchers =
      static_cast<std::uint32_t>(std::count_if(sessions_.begin(), sessions_.end(), [&run](const auto& session) {
        return session->run() == &run && !session->controls();
      }));
  return report;
}

const Agent::Implementation::Held* Agent::Implementation::holder_of(const CaptureRun& run) const {
  const auto found =
      std::find_if(runs_.begin(), runs_.end(), [&run](const auto& held) { return held->run.get() == &run; });
  return found == runs_.end() ? nullptr : found->get();
}

Agent::Implementation::Held* Agent::Implementation::find(const std::string& id) {
  const auto found =
      std::find_if(runs_.begin(), runs_.end(), [&id](const auto& held) { return held->run->facts().id == id; });
  return found == runs_.end() ? nullptr : found->get();
}

Agent::Implementation::Held* Agent::Implementation::running() {
  const auto found = std::find_if(runs_.begin(), runs_.end(), [](const auto& held) { return !held->run->over(); });
  return found == runs_.end() ? nullptr : found->get();
}

bool Agent::Implementation::has_sessions(const CaptureRun& run) const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [&run](const auto& session) { return session->run() == &run; });
}

void Agent::Implementation::on_run_changed(const std::string& id) {
  const Held* held = find(id);
  if (held == nullptr) return;  // it has only just begun
  for (const auto& session : sessions_) {
    if (session->run() != held->run.get()) continue;
    session->send_state();
    session->pump();
  }
  if (stopping_) stop_if_over();
}

void Agent::Implementation::on_accept(std::unique_ptr<wire::Link> link) {
  if (stopping_) return;  // dropping the link closes it
  make_room_for_connection();
  ++past_.connections;
  sessions_.push_back(std::make_unique<ViewerSession>(*this, std::move(link)));
  sessions_.back()->begin();
}

// Nobody is turned away: too many that have no capture cost one of themselves its place. First those that have proved
// nothing, of the address that has the most of them, the oldest.
void Agent::Implementation::make_room_for_connection() {
  std::map<std::string, std::size_t> unproved;
  std::vector<ViewerSession*> idle;
  for (const auto& session : sessions_) {
    if (session->run() != nullptr || session->closed()) continue;
    idle.push_back(session.get());
    if (!session->proved()) ++unproved[session->peer_ip()];
  }
  if (idle.size() < kMostWithoutCapture) return;
  const auto weight = [&](const ViewerSession* session) {
    return session->proved() ? 0 : unproved[session->peer_ip()];
  };
  ViewerSession& out =
      **std::max_element(idle.begin(), idle.end(), [&](auto* a, auto* b) { return weight(a) < weight(b); });
  if (!std::exchange(crowded_, true)) {
    log(fmt::format("{}: closed for others: too many connections, most of them from {}, do nothing", out.viewer(),
                    out.peer_ip()));
  }
  out.make_room();
}

void Agent::Implementation::remove(ViewerSession& session) {
  kinds_.forget(&session);
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [&session](const auto& known) { return known.get() == &session; });
  if (found == sessions_.end()) return;
  for (const auto& held : runs_) {
    if (held->controller != &session) continue;
    held->controller = nullptr;
    held->orphan_since = SteadyClock::now();
  }
  past_.sent_bytes += session.sent_bytes();
  sessions_.erase(found);
  crowded_ = crowded_ && sessions_.size() > kMostWithoutCapture / 2;
  idle_since_ = SteadyClock::now();
  sweep();
  watch_over();
  stop_if_over();
}

// Nobody will come back for it.
void Agent::Implementation::give_up(Held& held, const std::string& why) {
  if (std::exchange(held.unwanted, true)) return;
  const Outbox::Totals totals = held.run->outbox().totals();
  const std::string lost = fmt::format(
      "{}: {} before the capture was delivered: {} events were made, {} frames were "
      "not acknowledged",
      held.run->facts().name, why, format_count(totals.events), totals.frames - totals.received);
  if (!held.run->over() || !held.run->delivered()) {
    log(lost);
    if (options_.once) verdict_ = Error{lost};
  }
  held.run->stop(why);
}

// Forgets captures that nobody needs.
void Agent::Implementation::sweep() {
  const auto over = [this](const std::unique_ptr<Held>& held) {
    CaptureRun& run = *held->run;
    if (!run.over() || has_sessions(run)) return false;
    const bool retained = !options_.spool_folder.empty() && !held->unwanted && !run.saved();
    if (retained) return false;
    if (!held->unwanted && !run.delivered()) return false;
    // Only a viewer that says so is done with it: a connection that ends may have been cut by what lies in between, and
    // the end or the files are still to be had.
    const bool may_come_back = held->controlled_once && SteadyClock::now() - held->orphan_since < options_.orphan_limit;
    if (!held->unwanted && may_come_back) return false;
    if (options_.once && verdict_.ok()) verdict_ = run.outcome();
    run.remove_spool();
    const Outbox::Totals totals = run.outbox().totals();
    past_.events += totals.events;
    past_.dropped_events += totals.dropped_events;
    once_over_ = true;
    return true;
  };
  if (std::erase_if(runs_, over) > 0) give_memory_back();
  if (once_over_ && options_.once) begin_stop("the agent serves one capture only");
}

// While there is something to look after, and only then: an agent at rest takes no time.
void Agent::Implementation::watch_over() {
  if (watching_ || stopping_) return;
  if (runs_.empty() && (options_.idle_exit.count() == 0 || !sessions_.empty())) return;
  watching_ = true;
  loop_.after(kWatchInterval, [this] {
    watching_ = false;
    const auto now = SteadyClock::now();
    for (const auto& held : runs_) {
      held->run->tick();
      if (!options_.spool_folder.empty() || held->controller != nullptr || !held->controlled_once) continue;
      if (now - held->orphan_since > options_.orphan_limit) give_up(*held, "no viewer came back");
    }
    sweep();
    const bool idle = sessions_.empty() && running() == nullptr && unread_.empty();
    if (!idle) idle_since_ = now;
    if (idle && options_.idle_exit.count() > 0 && now - idle_since_ > options_.idle_exit) {
      begin_stop("nobody needs the agent");
    }
    watch_over();
  });
}

// Reading takes as long as there is much of it: viewers are served meanwhile.
void Agent::Implementation::reopen_spools() {
  if (options_.spool_folder.empty()) return;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(options_.spool_folder, failure)) {
    if (!entry.is_directory(failure) || entry.path().extension() == kDamagedSpool) continue;
    Result<log::FrameLogFacts> facts = log::FrameLog::read_facts(entry.path());
    if (facts) {
      unread_.push_back({entry.path().string(), std::move(facts).value(), bytes_of_files(entry.path())});
    } else {
      log(fmt::format("{}: cannot go on with what is spooled there: {}", entry.path().string(), facts.message()));
    }
  }
  if (unread_.empty()) return;
  spool_reader_ = std::jthread([this, all = unread_](const std::stop_token& stop) {
    for (const Unread& unread : all) {
      if (stop.stop_requested()) return;
      read_spool(unread, stop);
    }
  });
}

void Agent::Implementation::read_spool(const Unread& unread, const std::stop_token& stop) {
  spool_bytes_read_ = 0;
  log(fmt::format("{}: reads what is spooled there ({})", unread.folder, format_bytes(unread.bytes)));
  CaptureRun::Options again;
  again.outbox = options_.outbox;
  again.facts.repeats = options_.repeats;
  tie_to_loop(again, std::filesystem::path(unread.folder).filename().string());
  Result<std::unique_ptr<CaptureRun>> run =
      CaptureRun::reopen(unread.folder, std::move(again), [this, &stop](std::uint64_t bytes) {
        spool_bytes_read_ += bytes;
        return !stop.stop_requested();
      });
  {
    const std::lock_guard lock(read_mutex_);
    read_.push_back(std::move(run));
  }
  loop_.post([this, folder = unread.folder] {
    std::unique_lock lock(read_mutex_);
    Result<std::unique_ptr<CaptureRun>> next = std::move(read_.front());
    read_.pop_front();
    lock.unlock();
    take_over(folder, std::move(next));
  });
}

void Agent::Implementation::take_over(const std::string& folder, Result<std::unique_ptr<CaptureRun>> run) {
  const bool unwanted = unread_.front().unwanted;
  unread_.erase(unread_.begin());
  if (!run) {
    log(fmt::format("{}: cannot go on with what is spooled there: {}", folder, run.message()));
  } else {
    const SteadyClock::time_point origin = SteadyClock::now();
    Result<std::vector<SourcePart>> parts = parts_for({}, "", origin);
    const bool free = parts && running() == nullptr && !stopping_ && !unwanted;
    run.value()->settle(free ? std::move(parts).value() : std::vector<SourcePart>{}, origin);
    const wire::CaptureOffer offer = run.value()->offer();
    log(fmt::format("{}: {} events of {} wait for their viewer{}", folder, format_count(offer.events), offer.name,
                    offer.state == wire::CaptureState::interrupted ? " (the capture was interrupted)"
                    : offer.state == wire::CaptureState::running   ? ", and it goes on"
                                                                   : ""));
    runs_.push_back(std::make_unique<Held>());
    ++past_.captures;
    runs_.back()->run = std::move(run).value();
    runs_.back()->unwanted = unwanted;
    wire_up(*runs_.back()->run);
  }
  if (unread_.empty()) {
    for (std::size_t i = 0; i < sessions_.size(); ++i) sessions_[i]->go_on();
  }
  sweep();
  watch_over();
}

std::string Agent::Implementation::unread_in_words() const {
  std::string all;
  for (const Unread& unread : unread_) {
    const std::uint64_t total = std::max<std::uint64_t>(2 * unread.bytes, 1);
    const std::uint64_t read = &unread == &unread_.front() ? spool_bytes_read_.load() : 0;
    all += fmt::format("{}{}: its spool of {} is being read ({} %), record --take-up --capture {}",
                       all.empty() ? "" : "; ", unread.facts.name, format_bytes(unread.bytes),
                       std::min<std::uint64_t>(100 * read / total, 99), unread.facts.capture_id);
  }
  return all;
}

void Agent::Implementation::begin_stop(const std::string& reason) {
  if (std::exchange(stopping_, true)) return;
  listener_.reset();
  for (const auto& held : runs_) held->run->stop(reason);
  for (const auto& session : sessions_) session->stop(reason);
  stop_if_over();
}

void Agent::Implementation::stop_if_over() {
  if (!stopping_ || !sessions_.empty()) return;
  if (running() != nullptr) return;  // on_run_changed comes here again
  for (const auto& held : runs_) {
    const Outbox::Totals totals = held->run->outbox().totals();
    if (!options_.spool_folder.empty() || totals.received == totals.frames) continue;
    log(fmt::format("{}: the agent ends, {} frames that no viewer has taken are lost; with --spool they are kept",
                    held->run->facts().name, totals.frames - totals.received));
  }
  loop_.stop();
}

Result<std::string> Agent::Implementation::obey(ControlCommand what) {
  if (what == ControlCommand::held) return inform_held();
  Held* held = running();
  if (held == nullptr && what == ControlCommand::status && !unread_.empty()) return unread_in_words();
  if (held == nullptr) return Error{"the agent captures nothing at the moment"};
  return held->run->obey(what);
}

Result<std::string> Agent::Implementation::inform_held() {
  std::string all;
  for (const auto& held : runs_) {
    const CaptureRun& run = *held->run;
    all += fmt::format("{}{}: {}, {} events, record --take-up --capture {}", all.empty() ? "" : "; ", run.facts().name,
                       !run.over()                                      ? "running"
                       : run.state() == wire::CaptureState::interrupted ? "interrupted"
                                                                        : "ended",
                       format_count(run.outbox().totals().events), run.facts().id);
  }
  if (!unread_.empty()) all += (all.empty() ? "" : "; ") + unread_in_words();
  if (all.empty()) return Error{"the agent holds no capture"};
  return all;
}

std::string Agent::Implementation::metrics() const {
  std::uint64_t events = past_.events, dropped = past_.dropped_events, sent = past_.sent_bytes;
  std::uint64_t waiting = 0, buffer = 0, spool = 0;
  double waited_s = 0;
  std::map<std::string_view, std::uint64_t> states = {{"running", 0}, {"paused", 0}, {"ended", 0}, {"interrupted", 0}};
  for (const auto& held : runs_) {
    const CaptureRun& run = *held->run;
    const Outbox::Totals totals = run.outbox().totals();
    events += totals.events;
    dropped += totals.dropped_events;
    waiting += totals.waiting_bytes;
    buffer += totals.memory_bytes;
    spool += totals.spool_bytes;
    waited_s += std::chrono::duration<double>(totals.waited).count();
    ++states[!run.over() && run.state() != wire::CaptureState::paused ? "running"
             : run.state() == wire::CaptureState::paused              ? "paused"
             : run.state() == wire::CaptureState::interrupted         ? "interrupted"
                                                                      : "ended"];
  }
  std::uint64_t clients = 0;
  for (const auto& session : sessions_) {
    sent += session->sent_bytes();
    clients += session->closed() ? 0 : 1;
  }
  std::string text;
  const auto head = [&](std::string_view name, std::string_view type, std::string_view help) {
    text += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  };
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    head(name, type, help);
    text += fmt::format("{} {}\n", name, value);
  };
  const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
  head("accelscope_agent_info", "gauge", "Always 1; its labels name the agent.");
  text += fmt::format("accelscope_agent_info{{version=\"{}\",protocol=\"{}.{}\"}} 1\n", ACCELSCOPE_VERSION,
                      wire::kProtocolMajor, wire::kProtocolMinor);
  add("process_start_time_seconds", "gauge", "When the agent began, in seconds since 1970.",
      seconds(begun_.time_since_epoch()));
  add("accelscope_agent_uptime_seconds", "gauge", "For how long the agent has been running.",
      seconds(std::chrono::system_clock::now() - begun_));
  add("process_resident_memory_bytes", "gauge", "Memory of the agent in use.", resident_bytes());
  add("accelscope_agent_clients", "gauge", "Connections of viewers and commands that are open.", clients);
  add("accelscope_agent_connections_total", "counter", "Connections that were accepted.", past_.connections);
  head("accelscope_agent_captures", "gauge", "Captures that the agent holds, by state.");
  for (const auto& [state, count] : states)
    text += fmt::format("accelscope_agent_captures{{state=\"{}\"}} {}\n", state, count);
  add("accelscope_agent_captures_total", "counter", "Captures that were begun or taken over from a spool.",
      past_.captures);
  add("accelscope_agent_events_total", "counter", "Events that were captured.", events);
  add("accelscope_agent_dropped_events_total", "counter", "Events that were lost because there was no room.", dropped);
  add("accelscope_agent_sent_bytes_total", "counter", "Bytes of captures that were sent, those sent again included.",
      sent);
  add("accelscope_agent_waiting_bytes", "gauge", "Bytes that were captured and no viewer has received.", waiting);
  add("accelscope_agent_buffer_bytes", "gauge", "Bytes of captures in memory.", buffer);
  add("accelscope_agent_spool_bytes", "gauge", "Bytes of captures on the disk.", spool);
  add("accelscope_agent_source_wait_seconds", "gauge", "How long sources of the captures waited for room.", waited_s);
  return text;
}

std::string Agent::Implementation::held_captures() const {
  std::string ids;
  for (const auto& held : runs_) ids += (ids.empty() ? "; it has " : ", ") + held->run->facts().id;
  for (const Unread& unread : unread_) ids += (ids.empty() ? "; it has " : ", ") + unread.facts.capture_id;
  return ids;
}

Agent::Agent(std::unique_ptr<Implementation> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::listen(AgentOptions options, SourceFunction source) {
  auto impl = std::make_unique<Implementation>(std::move(options), std::move(source));
  if (!impl->options_.secrets.token && security::must_want_token(impl->options_.listen, impl->options_.may_run)) {
    return Error{fmt::format("{}: an agent that other machines reach, or that starts programs, needs a token",
                             impl->options_.listen.text())};
  }
  wire::ListenOptions listening;
  listening.identity = impl->options_.secrets.identity;
  listening.log = impl->options_.log;
  std::unique_ptr<wire::Listener> listener =
      TRY(wire::Listener::open(impl->loop_, impl->options_.listen, impl->options_.limits, std::move(listening)));
  impl->listener_ = std::move(listener);
  impl->address_ = impl->listener_->address();
  impl->listener_->accept(
      [agent = impl.get()](std::unique_ptr<wire::Link> link) { agent->on_accept(std::move(link)); });
  if (!impl->options_.spool_folder.empty()) {
    TRY(security::ensure_private_folder(impl->options_.spool_folder));
  }
  impl->reopen_spools();
  if (impl->options_.stop_on_signals) {  // from now on: whoever sees the address may send one
    impl->loop_.on_signal([agent = impl.get()](int number) {
      agent->interrupted_ = number == SIGINT;
      agent->begin_stop("the agent was stopped");
    });
  }
  return std::make_unique<Agent>(std::move(impl));
}

const system::Address& Agent::address() const noexcept { return impl_->address_; }

Result<void> Agent::run() {
  impl_->watch_over();
  impl_->loop_.run();
  return impl_->verdict_;
}

bool Agent::interrupted() const noexcept { return impl_->interrupted_; }

void Agent::stop() {
  impl_->loop_.post([this] { impl_->begin_stop("the agent was stopped"); });
}

namespace {

// What the loop answers, unless it takes too long.
Result<std::string> ask_loop(wire::Loop& loop, std::function<Result<std::string>()> question) {
  auto answer = std::make_shared<std::promise<Result<std::string>>>();
  std::future<Result<std::string>> answered = answer->get_future();
  loop.post([question = std::move(question), answer] { answer->set_value(question()); });
  if (answered.wait_for(std::chrono::seconds(5)) != std::future_status::ready)
    return Error{"the agent does not answer"};
  return answered.get();
}

}  // namespace

Result<std::string> Agent::command(ControlCommand what) {
  return ask_loop(impl_->loop_, [this, what] { return impl_->obey(what); });
}

std::string Agent::metrics() {
  const Result<std::string> text = ask_loop(impl_->loop_, [this]() -> Result<std::string> { return impl_->metrics(); });
  return text ? *text : std::string();
}

}  // namespace accelscope::capture::agent
