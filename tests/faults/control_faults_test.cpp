// A viewer that pauses, resumes and stops a capture while its connection breaks at each of these messages and at the
// agent's answers: what the user asked for holds, and every event that was made is there.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "capture/ingest/stream_ingest.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/cutting_proxy.h"

namespace accelscope::capture {
namespace {

using std::chrono::milliseconds;
using test::CuttingProxy;
using test::FrameStep;
using test::ProxyPlan;
using test::Towards;
using test::Trouble;

// At a device's pace, not as fast as it goes.
class SteadySink final : public EventSink {
 public:
  explicit SteadySink(EventSink& sink) : sink_(sink) {}
  Result<void> define(const Definition& definition) override { return sink_.define(definition); }
  Result<void> append(SealedChunk chunk) override {
    std::this_thread::sleep_for(milliseconds(5));
    return sink_.append(std::move(chunk));
  }
  [[nodiscard]] bool cancelled() const override { return sink_.cancelled(); }

 private:
  EventSink& sink_;
};

agent::SourceFunction steady_source() {
  return [](EventSink& sink) {
    SteadySink steady(sink);
    return write_stream({.events = ~std::uint64_t{0}, .lanes = 1}, steady);
  };
}

template <typename Condition>
bool await(const client::Connection& connection, Condition&& holds) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    if (holds(connection.status())) return true;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

void control_with_break(const ProxyPlan& plan) {
  agent::AgentOptions options;
  options.limits = quick_limits();
  RunningAgent agent(steady_source(), options);
  CuttingProxy proxy(agent.address().port);
  proxy.plan(plan);
  proxy.plan_rest({.delay = plan.delay});
  const std::unique_ptr<Store> store = Store::create().value();
  ingest::StoreScopes scopes(*store);
  client::AgentFeed feed(scopes, {.clock = std::make_shared<ingest::SessionClock>()});
  system::Address address = agent.address();
  address.port = proxy.port();
  client::Connection connection(connection_to(address), feed);
  connection.begin();
  const auto streams = [](std::uint64_t events) {
    return [events](const client::AgentStatus& status) {
      return status.phase == client::CapturePhase::streaming && status.events > events;
    };
  };
  REQUIRE(await(connection, streams(0)));
  connection.set_paused(true);
  REQUIRE(await(connection,
                [](const client::AgentStatus& status) { return status.phase == client::CapturePhase::paused; }));
  connection.set_paused(false);
  REQUIRE(await(connection, streams(connection.status().events)));
  connection.stop();
  REQUIRE(connection.wait_for(kPatience));
  const client::AgentStatus ended = connection.status();
  CHECK_MESSAGE(ended.phase == client::CapturePhase::ended, ended.message);
  CHECK(ended.outcome == wire::Outcome::stopped);
  CHECK(ended.lost_events == 0);
  CHECK(ended.events > 0);
  CHECK(store->snapshot()->event_count == ended.events);
  CHECK(ended.reconnects > 0);
  CHECK(proxy.troubles() == 1);
}

TEST_CASE("pause, resume and stop hold, at whatever step of theirs the connection breaks") {
  struct Step {
    wire::FrameType type;
    Towards towards;
    std::uint32_t nth;
  };
  for (const Step& step :
       {Step{wire::FrameType::pause, Towards::server, 1}, Step{wire::FrameType::resume, Towards::server, 1},
        Step{wire::FrameType::stop, Towards::server, 1}, Step{wire::FrameType::state, Towards::client, 1},
        Step{wire::FrameType::state, Towards::client, 2}, Step{wire::FrameType::state, Towards::client, 3}}) {
    for (const FrameStep::At at : {FrameStep::At::before, FrameStep::At::inside, FrameStep::At::after}) {
      for (const Trouble trouble : {Trouble::reset, Trouble::fin}) {
        CAPTURE(wire::frame_type_name(step.type));
        CAPTURE(step.nth);
        CAPTURE(static_cast<int>(at));
        CAPTURE(static_cast<int>(trouble));
        ProxyPlan plan{.trouble = trouble, .towards = step.towards};
        plan.delay = milliseconds(trouble == Trouble::fin ? 10 : 0);
        plan.step = FrameStep{static_cast<std::uint16_t>(step.type), step.nth, at};
        control_with_break(plan);
      }
    }
  }
}

}  // namespace
}  // namespace accelscope::capture
