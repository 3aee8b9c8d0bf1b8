#include "capture/agent/viewers/agent.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "capture/agent/viewers/kinds_lookup.h"
#include "capture/agent/viewers/viewer_session.h"
#include "capture/security/private_files.h"
#include "capture/system/host_identity.h"
#include "core/base/format.h"
#include "core/base/own_files.h"

namespace accelscope::capture::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWatchInterval{250};
constexpr std::chrono::milliseconds kCarryInterval{10};
constexpr std::size_t kMostWithoutCapture = 256;  // connections: enough that a flood of them leaves time to say hello
// A viewer whose connection broke is back sooner; after that, one without a spool to come back to loses its capture
// to the next viewer that asks.
constexpr std::chrono::seconds kOrphanGrace{5};

std::string system_name() {
  utsname facts{};
  return ::uname(&facts) == 0 ? fmt::format("{} {}", facts.sysname, facts.machine) : "";
}

std::uint64_t unix_now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

// What a viewer that asks for a capture names it by, that it may ask again. "": the viewer gives none.
std::string wish_of(const wire::Start& start, const ViewerSession& session) {
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
    sessions_.clear();
    runs_.clear();
  }

  // A capture and what the agent knows of its viewer.
  struct Held {
    std::unique_ptr<CaptureRun> run;
    ViewerSession* controller = nullptr;
    SteadyClock::time_point orphan_since;
    std::string wish;  // by which its viewer asked for it; "": none
    bool controlled_once = false;
    bool unwanted = false;  // nobody will come back for it
  };

  [[nodiscard]] const AgentOptions& options() const override { return options_; }
  [[nodiscard]] security::AgentGate& gate() override { return gate_; }
  [[nodiscard]] wire::Hello hello() const override;
  void welcome(ViewerSession& session) override;
  Result<CaptureRun*> start(const wire::Start& start, ViewerSession& session, wire::ErrorCode& code) override;
  void discard(const std::string& capture_id, const ViewerSession& session) override;
  void on_delivery(CaptureRun& run) override;
  [[nodiscard]] wire::StateReport state_of(const CaptureRun& run) const override;
  Result<std::filesystem::path> new_work_folder() override;
  [[nodiscard]] CaptureRun* find_run(const std::string& capture_id) override {
    Held* held = find(capture_id);
    return held == nullptr ? nullptr : held->run.get();
  }
  void carry_on_soon() override;
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
  Result<CaptureRun*> hand_over(Held& held, const wire::Start& start, ViewerSession& session, wire::ErrorCode& code);
  Result<CaptureRun*> watch(const wire::Start& start);
  Result<std::vector<SourcePart>> parts_for(const request::CaptureRequest& request, const std::string& work_folder,
                                            SteadyClock::time_point origin);
  Result<void> make_room_for_capture();
  void reopen_spools();
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
  Result<std::string> say_held();
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
  Result<void> verdict_;
  bool once_over_ = false;
  bool stopping_ = false;
  bool interrupted_ = false;
  bool watching_ = false;
  bool crowded_ = false;
  bool carrying_on_ = false;
  SteadyClock::time_point idle_since_ = SteadyClock::now();
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
  return welcome;
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
  const std::string wish = wish_of(start, session);
  // A viewer whose connection broke before it heard that its capture had begun asks for it once more.
  for (const auto& held : runs_) {
    if (!wish.empty() && held->wish == wish) return hand_over(*held, start, session, code);
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
    Result<std::filesystem::path> folder = new_work_folder();
    if (!folder) return folder.error();
    run.work_folder = folder->string();
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
  Result<std::unique_ptr<CaptureRun>> begun = CaptureRun::begin(std::move(run));
  if (!begun) return begun.error();
  runs_.push_back(std::make_unique<Held>());
  Held& held = *runs_.back();
  held.run = std::move(begun).value();
  held.controller = &session;
  held.controlled_once = true;
  held.wish = wish;
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
  return hand_over(*held, start, session, code);
}

Result<CaptureRun*> Agent::Implementation::hand_over(Held& held, const wire::Start& start, ViewerSession& session,
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

void Agent::Implementation::carry_on_soon() {
  if (std::exchange(carrying_on_, true)) return;
  loop_.after(kCarryInterval, [this] {
    carrying_on_ = false;
    for (const auto& session : sessions_) {
      session->carry_files();
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
    const bool kept = !options_.spool_folder.empty() && !held->unwanted && !run.saved();
    if (kept) return false;
    if (!held->unwanted && !run.delivered()) return false;
    // Only a viewer that says so is done with it: a connection that ends may have been cut by what lies in between, and
    // the end or the files are still to be had.
    const bool may_come_back = held->controlled_once && SteadyClock::now() - held->orphan_since < options_.orphan_limit;
    if (!held->unwanted && may_come_back) return false;
    if (options_.once && verdict_.ok()) verdict_ = run.outcome();
    run.remove_spool();
    once_over_ = true;
    return true;
  };
  std::erase_if(runs_, over);
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
    const bool idle = sessions_.empty() && running() == nullptr;
    if (!idle) idle_since_ = now;
    if (idle && options_.idle_exit.count() > 0 && now - idle_since_ > options_.idle_exit) {
      begin_stop("nobody needs the agent");
    }
    watch_over();
  });
}

void Agent::Implementation::reopen_spools() {
  if (options_.spool_folder.empty()) return;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(options_.spool_folder, failure)) {
    if (!entry.is_directory(failure) || entry.path().extension() == kDamagedSpool) continue;
    CaptureRun::Options again;
    again.outbox = options_.outbox;
    again.origin = SteadyClock::now();
    again.facts.repeats = options_.repeats;
    Result<std::vector<SourcePart>> parts = parts_for({}, "", again.origin);
    if (parts && running() == nullptr) again.parts = std::move(parts).value();
    tie_to_loop(again, entry.path().filename().string());
    Result<std::unique_ptr<CaptureRun>> run = CaptureRun::reopen(entry.path().string(), std::move(again));
    if (!run) {
      log(fmt::format("{}: cannot go on with what is spooled there: {}", entry.path().string(), run.message()));
      continue;
    }
    const wire::CaptureOffer offer = run.value()->offer();
    log(fmt::format("{}: {} events of {} wait for their viewer{}", entry.path().string(), format_count(offer.events),
                    offer.name,
                    offer.state == wire::CaptureState::interrupted ? " (the capture was interrupted)"
                    : offer.state == wire::CaptureState::running   ? ", and it goes on"
                                                                   : ""));
    runs_.push_back(std::make_unique<Held>());
    runs_.back()->run = std::move(run).value();
    wire_up(*runs_.back()->run);
  }
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
  if (what == ControlCommand::held) return say_held();
  Held* held = running();
  if (held == nullptr) return Error{"the agent captures nothing at the moment"};
  return held->run->obey(what);
}

Result<std::string> Agent::Implementation::say_held() {
  std::string all;
  for (const auto& held : runs_) {
    const CaptureRun& run = *held->run;
    all += fmt::format("{}{}: {}, {} events, record --take-up --capture {}", all.empty() ? "" : "; ", run.facts().name,
                       !run.over()                                      ? "running"
                       : run.state() == wire::CaptureState::interrupted ? "interrupted"
                                                                        : "ended",
                       format_count(run.outbox().totals().events), run.facts().id);
  }
  if (all.empty()) return Error{"the agent holds no capture"};
  return all;
}

std::string Agent::Implementation::held_captures() const {
  std::string ids;
  for (const auto& held : runs_) ids += (ids.empty() ? "; it has " : ", ") + held->run->facts().id;
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
  Result<std::unique_ptr<wire::Listener>> listener =
      wire::Listener::open(impl->loop_, impl->options_.listen, impl->options_.limits, std::move(listening));
  if (!listener) return listener.error();
  impl->listener_ = std::move(listener).value();
  impl->address_ = impl->listener_->address();
  impl->listener_->accept(
      [agent = impl.get()](std::unique_ptr<wire::Link> link) { agent->on_accept(std::move(link)); });
  if (!impl->options_.spool_folder.empty()) {
    if (Result<void> ready = security::ensure_private_folder(impl->options_.spool_folder); !ready) return ready.error();
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

Result<std::string> Agent::command(ControlCommand what) {
  auto answer = std::make_shared<std::promise<Result<std::string>>>();
  std::future<Result<std::string>> answered = answer->get_future();
  impl_->loop_.post([this, what, answer] { answer->set_value(impl_->obey(what)); });
  if (answered.wait_for(std::chrono::seconds(5)) != std::future_status::ready)
    return Error{"the agent does not answer"};
  return answered.get();
}

}  // namespace accelscope::capture::agent
