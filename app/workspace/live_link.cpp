#include "app/workspace/live_link.h"

#include <thread>

#include "capture/agent/viewers/agent.h"
#include "capture/sim/output/simulator.h"

namespace accelscope::app {

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
    auto session = capture::client::CaptureSession::begin(std::move(plan), std::move(store), options);
    if (!session) return session.error();
    session_ = std::move(*session);
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
  if (auto begun = link->begin(std::move(store), session_options); !begun) return begun.error();
  return std::unique_ptr<LiveLink>(std::move(link));
}

}  // namespace accelscope::app
