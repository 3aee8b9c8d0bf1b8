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

LinkState link_state(capture::ConnectionState state) {
  switch (state) {
    case capture::ConnectionState::connecting:
      return LinkState::connecting;
    case capture::ConnectionState::streaming:
      return LinkState::recording;
    case capture::ConnectionState::stopping:
      return LinkState::stopping;
    case capture::ConnectionState::ended:
      return LinkState::ended;
    case capture::ConnectionState::failed:
      return LinkState::failed;
  }
  return LinkState::failed;
}

class WireLink final : public LiveLink {
 public:
  WireLink(const capture::Address& address, std::shared_ptr<Store> store)
      : address_(address.text()), store_(std::move(store)), sink_(*store_), connection_(options_for(address), sink_) {}

  [[nodiscard]] LinkState state() const override { return link_state(connection_.status().state); }
  [[nodiscard]] std::string peer() const override { return address_; }
  [[nodiscard]] std::string error() const override { return connection_.status().message; }
  void stop() override { connection_.stop(); }

 private:
  static capture::ConnectionOptions options_for(const capture::Address& address) {
    capture::ConnectionOptions options;
    options.address = address;
    options.version = ACCELSCOPE_VERSION;
    options.description = "Accelscope viewer";
    return options;
  }

  std::string address_;
  std::shared_ptr<Store> store_;
  StoreSink sink_;
  capture::Connection connection_;  // closes before what it feeds
};

// The main job in one process: the agent listens on any free loopback port, the link connects to it over TCP.
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

  [[nodiscard]] LinkState state() const override { return link_->state(); }
  [[nodiscard]] std::string peer() const override { return link_->peer(); }
  [[nodiscard]] std::string error() const override { return link_->error(); }
  void stop() override { link_->stop(); }

 private:
  std::unique_ptr<capture::Agent> agent_;
  Result<void> served_;  // what failed here fails the link too
  std::thread serving_;
  std::unique_ptr<WireLink> link_;
};

}  // namespace

Result<std::string> check_address(const std::string& typed) {
  auto address = capture::parse_address(typed);
  if (!address) return address.error();
  if (address->port == 0) return Error{typed + ": port 0 is for listening only; type the port that the agent printed"};
  return address->text();
}

Result<std::unique_ptr<LiveLink>> make_live_link(const std::string& address, std::shared_ptr<Store> store) {
  auto parsed = capture::parse_address(address);
  if (!parsed) return parsed.error();
  return std::unique_ptr<LiveLink>(std::make_unique<WireLink>(*parsed, std::move(store)));
}

Result<std::unique_ptr<LiveLink>> make_demo_link(std::shared_ptr<Store> store) {
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
