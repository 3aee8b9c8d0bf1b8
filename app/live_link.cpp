#include "app/live_link.h"

#include <thread>

#include "capture/agent/agent.h"
#include "capture/client/connection.h"
#include "capture/sim/simulator.h"

namespace accelscope::app {

namespace {

constexpr std::uint64_t kDemoSeed = 7;
constexpr double kDemoEventsPerSecond = 40'000;  // several kernels a second: enough to watch, few enough to read
constexpr double kDemoSeconds = 60;              // unless the user stops it before

capture::CapturePhase phase_of(capture::ConnectionState state) {
  switch (state) {
    case capture::ConnectionState::connecting:
      return capture::CapturePhase::preparing;
    case capture::ConnectionState::streaming:
      return capture::CapturePhase::streaming;
    case capture::ConnectionState::stopping:
      return capture::CapturePhase::stopping;
    case capture::ConnectionState::ended:
      return capture::CapturePhase::ended;
    case capture::ConnectionState::failed:
      return capture::CapturePhase::failed;
  }
  return capture::CapturePhase::failed;
}

// One agent over one connection.
class WireLink final : public LiveLink {
 public:
  WireLink(const capture::Address& address, std::shared_ptr<Store> store)
      : place_(address.text()), store_(std::move(store)), sink_(*store_), connection_(options_for(address), sink_) {}

  [[nodiscard]] capture::CaptureStatus status() const override {
    const capture::ConnectionStatus now = connection_.status();
    capture::AgentStatus agent;
    agent.place = place_;
    agent.peer = now.peer.empty() ? place_ : now.peer;
    agent.phase = phase_of(now.state);
    agent.message = now.message;
    agent.description = now.description;
    agent.controls = true;
    agent.events = now.events;
    agent.chunks = now.chunks;
    agent.bytes = now.bytes;
    agent.lost_events = now.lost_events;
    agent.doubled_frames = now.doubled_frames;
    agent.last_sequence = now.last_sequence;
    agent.waiting_bytes = now.agent.queued_bytes;
    agent.events_per_second = now.events_per_second;
    agent.bytes_per_second = now.bytes_per_second;
    agent.streaming_seconds = now.streaming_seconds;
    agent.outcome = now.outcome;
    capture::CaptureStatus status;
    status.phase = agent.phase;
    status.events = agent.events;
    status.events_per_second = agent.events_per_second;
    status.bytes_per_second = agent.bytes_per_second;
    status.message = agent.message;
    status.agents.push_back(std::move(agent));
    return status;
  }
  void add(const std::string& /*place*/) override {}
  void leave(const std::string& /*place*/) override {}
  void pause() override {}
  void resume() override {}
  void stop() override { connection_.stop(); }
  [[nodiscard]] std::optional<capture::CaptureQuestion> question() const override { return std::nullopt; }
  void answer(std::uint64_t /*id*/, const std::optional<std::string>& /*answer*/) override {}
  void saved() override {}
  void discard() override {}

 private:
  static capture::ConnectionOptions options_for(const capture::Address& address) {
    capture::ConnectionOptions options;
    options.address = address;
    options.version = ACCELSCOPE_VERSION;
    options.description = "Accelscope viewer";
    return options;
  }

  std::string place_;
  std::shared_ptr<Store> store_;
  StoreSink sink_;
  capture::Connection connection_;  // closes before what it feeds
};

// A link to an agent in this process.
class DemoLink final : public LiveLink {
 public:
  DemoLink(std::unique_ptr<capture::Agent> agent, std::shared_ptr<Store> store)
      : agent_(std::move(agent)), serving_([this] { served_ = agent_->run(); }) {
    link_ = std::make_unique<WireLink>(agent_->address(), std::move(store));
  }
  ~DemoLink() override {
    link_.reset();
    agent_->stop();
    serving_.join();
  }
  DemoLink(const DemoLink&) = delete;
  DemoLink& operator=(const DemoLink&) = delete;

  [[nodiscard]] capture::CaptureStatus status() const override { return link_->status(); }
  void add(const std::string& place) override { link_->add(place); }
  void leave(const std::string& place) override { link_->leave(place); }
  void pause() override { link_->pause(); }
  void resume() override { link_->resume(); }
  void stop() override { link_->stop(); }
  [[nodiscard]] std::optional<capture::CaptureQuestion> question() const override { return link_->question(); }
  void answer(std::uint64_t id, const std::optional<std::string>& answer) override { link_->answer(id, answer); }
  void saved() override { link_->saved(); }
  void discard() override { link_->discard(); }

 private:
  std::unique_ptr<capture::Agent> agent_;
  Result<void> served_;  // what failed here fails the link too
  std::thread serving_;
  std::unique_ptr<LiveLink> link_;
};

}  // namespace

CaptureServices real_capture_services() {
  CaptureServices services;
  services.begin = [](const capture::CapturePlan& plan, std::shared_ptr<Store> store,
                      const capture::CaptureSessionOptions&) -> Result<std::unique_ptr<LiveLink>> {
    if (plan.places.size() != 1) return Error{"one agent at a time can be reached"};
    auto address = capture::parse_address(plan.places.front());
    if (!address) return address.error();
    return std::unique_ptr<LiveLink>(std::make_unique<WireLink>(*address, std::move(store)));
  };
  services.kinds = capture::declared_kinds;
  return services;
}

Result<std::unique_ptr<LiveLink>> make_demo_link(std::shared_ptr<Store> store,
                                                 const capture::CaptureSessionOptions& /*options*/) {
  capture::AgentOptions options;
  options.listen.port = 0;
  options.version = ACCELSCOPE_VERSION;
  options.description = "simulated accelerator";
  auto agent = capture::Agent::listen(std::move(options), [](EventSink& sink) {
    capture::SimulationOptions simulation;
    simulation.seed = kDemoSeed;
    simulation.seconds = kDemoSeconds;
    simulation.rate_events_per_second = kDemoEventsPerSecond;
    return capture::simulate(simulation, sink);
  });
  if (!agent) return agent.error();
  return std::unique_ptr<LiveLink>(std::make_unique<DemoLink>(std::move(*agent), std::move(store)));
}

}  // namespace accelscope::app
