#include <algorithm>
#include <filesystem>
#include <thread>

#include "app/plan/form_model.h"
#include "app/session/analysis.h"
#include "app/workspace/workspace.h"
#include "capture/agent/viewers/agent.h"
#include "capture/sim/output/simulator.h"
#include "core/base/format.h"

namespace accelscope::app::workspace {

using capture::client::CapturePhase;

namespace {

constexpr std::uint64_t kDemoSeed = 7;
constexpr double kDemoEventsPerSecond = 40'000;  // several kernels a second: enough to watch, few enough to read
constexpr double kDemoSeconds = 60;              // unless the user stops it before

class SessionLink : public LiveLink {
 public:
  explicit SessionLink(std::unique_ptr<capture::client::CaptureSession> session) : session_(std::move(session)) {}

  [[nodiscard]] capture::client::CaptureStatus status() const override { return session_->status(); }
  void add(const std::string& place) override { session_->add(place); }
  void leave(const std::string& place) override { session_->leave(place); }
  void pause() override { session_->pause(); }
  void resume() override { session_->resume(); }
  void stop() override { session_->stop(); }
  [[nodiscard]] std::optional<capture::client::CaptureQuestion> question() const override {
    return session_->question();
  }
  void answer(std::uint64_t id, const std::optional<std::string>& answer) override { session_->answer(id, answer); }
  void saved() override { session_->saved(); }
  void discard() override { session_->discard(); }

 protected:
  std::unique_ptr<capture::client::CaptureSession> session_;
};

Result<std::unique_ptr<LiveLink>> link_of(Result<std::unique_ptr<capture::client::CaptureSession>> session) {
  if (!session) return session.error();
  return std::unique_ptr<LiveLink>(std::make_unique<SessionLink>(std::move(session).value()));
}

// To an agent in this process.
class DemoLink final : public SessionLink {
 public:
  explicit DemoLink(std::unique_ptr<capture::agent::Agent> agent)
      : SessionLink(nullptr), agent_(std::move(agent)), serving_([this] { served_ = agent_->run(); }) {}
  Result<void> begin(std::shared_ptr<Store> store, const capture::client::CaptureSessionOptions& options) {
    capture::client::CapturePlan plan;
    plan.places = {agent_->address().text()};
    auto session = TRY(capture::client::CaptureSession::begin(std::move(plan), std::move(store), options));
    session_ = std::move(session);
    return {};
  }
  ~DemoLink() override {
    session_.reset();
    agent_->stop();
    serving_.join();
  }

 private:
  std::unique_ptr<capture::agent::Agent> agent_;
  Result<void> served_;  // what failed here fails the link too
  std::thread serving_;
};

constexpr double kRateWindowSeconds = 0.5;
constexpr double kFollowSeconds = 3;   // a view that follows shows what came in so long
constexpr double kFollowEvents = 200;  // or more, where so many have not come in it

session::LiveState live_state(CapturePhase phase) {
  switch (phase) {
    case CapturePhase::preparing:
      return session::LiveState::connecting;
    case CapturePhase::streaming:
    case CapturePhase::paused:
    case CapturePhase::reconnecting:
    case CapturePhase::stopping:
      return session::LiveState::recording;
    case CapturePhase::ended:
      return session::LiveState::ended;
    case CapturePhase::failed:
      return session::LiveState::failed;
  }
  return session::LiveState::failed;
}

std::string shown_host(const capture::client::AgentStatus& agent) {
  return agent.host.empty() ? agent.place : agent.host;
}

}  // namespace

CaptureServices real_capture_services() {
  CaptureServices services;
  services.begin = [](const capture::client::CapturePlan& plan, std::shared_ptr<Store> store,
                      const capture::client::CaptureSessionOptions& options) {
    return link_of(capture::client::CaptureSession::begin(plan, std::move(store), options));
  };
  services.recover = [](const capture::client::Recoverable& left, std::shared_ptr<Store> store,
                        const capture::client::CaptureSessionOptions& options) {
    return link_of(capture::client::CaptureSession::recover(left, std::move(store), options));
  };
  services.reach = [](const std::string& place, const std::string& token_file, const std::function<bool()>& cancelled) {
    return capture::client::reach(place, token_file, {}, cancelled);
  };
  services.check_host = capture::client::check_host;
  services.find_recoverable = capture::client::find_recoverable;
  services.discard = capture::client::discard_recoverable;
  services.kinds = capture::request::declared_kinds;
  return services;
}

Result<std::unique_ptr<LiveLink>> make_demo_link(std::shared_ptr<Store> store,
                                                 const capture::client::CaptureSessionOptions& session_options) {
  capture::agent::AgentOptions options;
  options.listen.port = 0;
  options.description = "simulated accelerator";
  options.own_time = true;
  auto agent = capture::agent::Agent::listen(std::move(options), [](EventSink& sink) {
    capture::sim::SimulationOptions simulation;
    simulation.seed = kDemoSeed;
    simulation.seconds = kDemoSeconds;
    simulation.rate_events_per_second = kDemoEventsPerSecond;
    return capture::sim::simulate(simulation, sink);
  });
  if (!agent) return agent.error();
  auto link = std::make_unique<DemoLink>(std::move(*agent));
  TRY(link->begin(std::move(store), session_options));
  return std::unique_ptr<LiveLink>(std::move(link));
}

// Captures in the workspace: starting, following, pausing, what broke and was mended, what the user is asked, and
// taking up what a former run left behind.

capture::client::CaptureSessionOptions Workspace::session_options() const {
  capture::client::CaptureSessionOptions options;
  options.description = "Accelscope viewer";
  if (!options_.state_directory.empty()) {
    options.recovery_directory = (std::filesystem::path(options_.state_directory) / "recovery").string();
  }
  return options;
}

session::SessionTab& Workspace::adopt_live(std::shared_ptr<LiveLink> link, std::shared_ptr<Store> store,
                                           std::string title) {
  OpenTab& tab = add_tab(std::move(title), std::move(store));
  tab.link = std::move(link);
  tab.session->live = session::LiveState::connecting;  // even if it has failed already: update() tells the user so
  tab.session->capture = tab.link->status();
  tab.session->follow = !tab.session->capture.over();
  return *tab.session;
}

void Workspace::start(Starting starting, const std::string& job_title, BeginLink begin) {
  auto work = [begin = std::move(begin), result = starting.result](session::JobControl&) -> Result<void> {
    auto store =
        Store::create({.memory_budget_bytes = default_memory_budget(), .written_by = "accelscope " ACCELSCOPE_VERSION});
    if (!store) return store.error();
    result->store = std::move(*store);
    auto link = TRY(begin(result->store));
    result->link = std::move(link);
    return {};
  };
  starting.job = std::make_unique<session::BackgroundJob>(job_title, std::move(work), options_.wake);
  starting_.push_back(std::move(starting));
}

void Workspace::connect(const capture::client::CapturePlan& plan, const plan::ConfigurationName& from) {
  const bool is_new = plan.mode == capture::wire::StartMode::begin;
  start({.title = plan::title_of_plan(plan), .from = from, .is_new = is_new}, "Connecting",
        [begin = options_.services.begin, plan, options = session_options()](std::shared_ptr<Store> store) {
          return begin(plan, std::move(store), options);
        });
}

void Workspace::connect(const std::string& places) {
  plan::CaptureForm form;
  form.where = plan::Where::agent;
  form.agent_hosts = places;
  const capture::client::CapturePlan plan = plan::plan_of(form, {});
  for (const std::string& place : plan.places) {
    if (auto good = plan::check_place(place); !good) return notify(Severity::error, good.message());
  }
  connect(plan);
}

void Workspace::start_demo() {
  start({.title = "Demo", .is_new = true}, "Starting the demo",
        [options = session_options()](std::shared_ptr<Store> store) {
          return make_demo_link(std::move(store), options);
        });
}

bool Workspace::is_live(std::size_t index) const {
  return index < tabs_.size() && tabs_[index]->link && session::may_grow(*tabs_[index]->session);
}

void Workspace::stop_capture(std::size_t index) {
  if (index < tabs_.size() && tabs_[index]->link) tabs_[index]->link->stop();
}

void Workspace::pause_capture(std::size_t index, bool paused) {
  if (index >= tabs_.size() || !tabs_[index]->link) return;
  paused ? tabs_[index]->link->pause() : tabs_[index]->link->resume();
}

void Workspace::add_agents(std::size_t index, const std::vector<std::string>& places) {
  if (!is_live(index)) return;
  for (const std::string& place : places) {
    const auto& agents = tabs_[index]->session->capture.agents;
    const bool known = std::ranges::any_of(agents, [&](const auto& a) { return a.place == place; });
    if (known) {
      notify(Severity::warning, place + ": takes part in this session already");
    } else {
      tabs_[index]->link->add(place);
    }
  }
}

void Workspace::remove_agent(std::size_t index, const std::string& place) {
  if (is_live(index)) tabs_[index]->link->leave(place);
}

void Workspace::refresh_link(OpenTab& tab, double now_s) {
  session::SessionTab& session = *tab.session;
  const session::LiveState before = session.live;
  session.capture = tab.link->status();
  session.live = live_state(session.capture.phase);
  if (is_first_of_capture(tab)) tell_of_breaks(tab, now_s);
  if (session.live == session::LiveState::failed && before != session::LiveState::failed && is_first_of_capture(tab)) {
    notify(Severity::error, session.capture.message,
           std::string(before == session::LiveState::connecting ? kConnecting : ""));
  }
  // Shorter ones are over when they are first looked at.
  const bool works = session.live == session::LiveState::recording ||
                     (session.live == session::LiveState::ended && session.snapshot->event_count > 0);
  if (works && before != session.live) withdraw(kConnecting);
  for (const capture::client::AgentStatus& agent : session.capture.agents) {
    session.capture_seconds = std::max(session.capture_seconds, agent.streaming_seconds);
  }

  const std::uint64_t events = session.snapshot->event_count;
  if (tab.rate_since_s < 0) tab.rate_since_s = now_s;
  const double elapsed_s = now_s - tab.rate_since_s;
  if (elapsed_s >= kRateWindowSeconds) {
    session.events_per_second = static_cast<double>(events - tab.rate_since_events) / elapsed_s;
    const std::int64_t end_ns = session.snapshot->end_ns;
    if (events > tab.rate_since_events && tab.rate_since_events > 0) {  // not while it is paused
      tab.pace.wall_s += elapsed_s;
      tab.pace.session_ns += static_cast<double>(std::max<std::int64_t>(end_ns - tab.pace.end_ns, 0));
    }
    tab.pace.end_ns = end_ns;
    tab.rate_since_s = now_s;
    tab.rate_since_events = events;
  }
  if (!session::may_grow(session)) session.events_per_second = 0;
  if (events == 0) return;
  if (tab.saved_version == 0) session.modified = true;  // something came, and it is in no file yet

  if (const auto look = session.analysis->first_look()) {
    session.active = look->active;
    session.first_shown = look->shown;
  }
  if (!tab.fitted) fit_first_view(tab);
  if (!session.follow) return;
  if (session::may_grow(session)) return follow_newest(tab);
  // It is over: what was done is shown, and not the last of it, where there may be nothing at all.
  if (session.analysis->active_known()) session.show(first_view(session));
}

// A capture that was read anew has its activity known a little later; until then all of it is shown.
void Workspace::fit_first_view(OpenTab& tab) {
  session::SessionTab& session = *tab.session;
  session.view = first_view(session);
  if (!session.follow && !session.analysis->active_known()) return;
  session.remember_view();
  tab.pace.span_ns = session.view.span_ns();
  tab.fitted = true;
}

void Workspace::follow_newest(OpenTab& tab) {
  session::SessionTab& session = *tab.session;
  const auto begin = static_cast<double>(analysis::recorded_stretch(*session.snapshot).begin_ns);
  const double end = std::max(static_cast<double>(session.snapshot->end_ns), begin + 1);
  Pace& pace = tab.pace;
  double span = session.view.span_ns();
  if (span == pace.span_ns) {  // else it is the width that the user chose
    const double all = end - begin;
    const double recent = pace.wall_s > 0 ? kFollowSeconds * pace.session_ns / pace.wall_s : all;
    const double enough = kFollowEvents * all / static_cast<double>(session.snapshot->event_count);
    span = std::clamp(std::max(recent, enough), 1.0, all);
  }
  session.view = {std::max(end - span, begin), end};
  pace.span_ns = session.view.span_ns();
}

// One notice per agent: what broke, and in its place when it was mended, or that it was given up.
void Workspace::tell_of_breaks(OpenTab& tab, double now_s) {
  for (const capture::client::AgentStatus& agent : tab.session->capture.agents) {
    const std::string host = shown_host(agent);
    const std::string subject = tab.session->title + " " + agent.place;
    const auto known = tab.broken.find(agent.place);
    if (agent.phase == CapturePhase::reconnecting) {
      if (known != tab.broken.end() && known->second.what == agent.message) continue;
      const double since_s = known != tab.broken.end() ? known->second.since_s : now_s;
      tab.broken[agent.place] = {since_s, agent.message};
      notify(Severity::warning,
             host + ": the connection broke (" + agent.message +
                 "). What comes meanwhile is kept by the agent; connecting again.",
             subject);
    } else if (known != tab.broken.end()) {
      const std::string lasted = format_duration((now_s - known->second.since_s) * 1e9);
      tab.broken.erase(known);
      if (agent.phase == CapturePhase::failed) {
        notify(Severity::error, agent.message, subject);
      } else {
        const std::string lost =
            agent.lost_events == 0 ? "nothing was lost" : format_count(agent.lost_events) + " events are lost";
        notify(Severity::note, host + ": connected again after " + lasted + "; " + lost + ".", subject);
      }
    } else if (agent.phase == CapturePhase::failed && !tab.session->capture.over()) {
      tab.broken.erase(agent.place);
      if (tab.failed.insert(agent.place).second) notify(Severity::error, agent.message, subject);
    }
  }
}

std::optional<Workspace::CaptureAsks> Workspace::capture_question() const {
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    if (!tabs_[i]->link) continue;
    if (auto question = tabs_[i]->link->question()) return CaptureAsks{i, std::move(*question)};
  }
  return std::nullopt;
}

void Workspace::answer_capture(const CaptureAsks& asked, const std::optional<std::string>& answer) {
  if (asked.tab < tabs_.size() && tabs_[asked.tab]->link) tabs_[asked.tab]->link->answer(asked.question.id, answer);
}

void Workspace::look_for_recoverable() {
  const std::string folder = session_options().recovery_directory;
  if (folder.empty() || !options_.services.find_recoverable) return;
  found_recoverable_ = std::make_shared<std::vector<capture::client::Recoverable>>();
  auto work = [find = options_.services.find_recoverable, folder, found = found_recoverable_](session::JobControl&) {
    *found = find(folder);
    return Result<void>{};
  };
  looking_ =
      std::make_unique<session::BackgroundJob>("Looking for unfinished captures", std::move(work), options_.wake);
}

void Workspace::recover(std::size_t index) {
  if (index >= recoverable_.size()) return;
  const capture::client::Recoverable left = take_recoverable(index);
  start({.title = left.title, .left = left}, "Recovering " + left.title,
        [recover = options_.services.recover, left, options = session_options()](std::shared_ptr<Store> store) {
          return recover(left, std::move(store), options);
        });
}

void Workspace::discard_recoverable(std::size_t index) {
  if (index >= recoverable_.size()) return;
  const capture::client::Recoverable left = take_recoverable(index);
  Starting starting{.title = left.title, .left = left};
  auto work = [discard = options_.services.discard, left](session::JobControl&) { return discard(left); };
  starting.job = std::make_unique<session::BackgroundJob>("Discarding " + left.title, std::move(work), options_.wake);
  starting_.push_back(std::move(starting));
}

capture::client::Recoverable Workspace::take_recoverable(std::size_t index) {
  capture::client::Recoverable left = std::move(recoverable_[index]);
  recoverable_.erase(recoverable_.begin() + static_cast<std::ptrdiff_t>(index));
  return left;
}

// What was begun here is given up; what was taken up or watched goes on without this viewer.
void Workspace::drop_started(Starting starting) {
  auto drop = [result = starting.result, is_new = starting.is_new](TaskControl&) {
    if (result->link && is_new) result->link->discard();
    result->link.reset();
    return true;
  };
  closing_.push_back(
      {"", std::make_shared<Task<bool>>(pool_.start(Priority::background, std::move(drop))), std::move(starting.left)});
}

void Workspace::take_started() {
  if (looking_ && looking_->finished()) {
    looking_.reset();
    recoverable_ = std::move(*found_recoverable_);
  }
  for (std::size_t i = starting_.size(); i-- > 0;) {
    if (!starting_[i].job->finished()) continue;
    Starting starting = std::move(starting_[i]);
    starting_.erase(starting_.begin() + static_cast<std::ptrdiff_t>(i));
    if (auto done = starting.job->finish(); !done) {
      if (starting.left) recoverable_.push_back(std::move(*starting.left));  // it is still there
      notify(Severity::error, done.message(), std::string(kConnecting));
      continue;
    }
    if (!starting.result->link) continue;  // what was left is discarded
    if (starting.job->cancelled()) {
      drop_started(std::move(starting));
      continue;
    }
    session::SessionTab& tab =
        adopt_live(std::move(starting.result->link), std::move(starting.result->store), starting.title);
    if (starting.from.empty()) continue;
    tab.project = starting.from.project;
    tab.configuration = starting.from.name;
    session::keep_value(tab, session::kProjectKey, tab.project);
    session::keep_value(tab, session::kConfigurationKey, tab.configuration);
    if (auto used = configurations_.use(starting.from); !used) notify(Severity::warning, used.message());
  }
}

}  // namespace accelscope::app::workspace
