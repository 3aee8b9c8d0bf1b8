// Connections that break before a capture has begun: they are made again, and nothing begins twice.
#include <doctest/doctest.h>

#include "client_support.h"
#include "core/store/store.h"
#include "tests/support/cutting_proxy.h"

namespace accelscope::capture {
namespace {

using accelscope::test::CuttingProxy;
using accelscope::test::Towards;
using accelscope::test::Trouble;

constexpr std::uint64_t kSent = 20'000;

// A capture through a proxy that spoils the first connections.
client::CaptureStatus capture_through(const std::vector<accelscope::test::ProxyPlan>& troubles, std::string& log) {
  RunningAgent agent(synthetic_source({.events = kSent, .lanes = 2}));
  CuttingProxy proxy(agent.address().port);
  for (const auto& trouble : troubles) proxy.plan(trouble);
  client::CapturePlan plan;
  plan.places = {system::Address{"127.0.0.1", proxy.port()}.text()};
  const auto store = empty_store();
  const auto session = begin_session(plan, store, session_options({}));
  REQUIRE(session->wait_for(kPatience));
  CHECK(store->snapshot()->event_count == session->status().events);
  CHECK(proxy.connections() >= troubles.size());
  log = agent.log();
  return session->status();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("a connection that breaks at any byte before the capture has begun is made again, and one capture begins") {
  for (const Trouble trouble : {Trouble::fin, Trouble::reset}) {
    for (const Towards towards : {Towards::client, Towards::server}) {
      for (const std::uint64_t bytes : {0U, 1U, 31U, 40U, 150U, 200U, 260U}) {
        CAPTURE(static_cast<int>(trouble));
        CAPTURE(static_cast<int>(towards));
        CAPTURE(bytes);
        std::string log;
        const client::CaptureStatus status =
            capture_through({{.trouble = trouble, .towards = towards, .after_bytes = bytes}}, log);
        CHECK_MESSAGE(status.phase == client::CapturePhase::ended, status.message);
        CHECK(status.events == kSent);
        CHECK(status.agents[0].lost_events == 0);
      }
    }
  }
}

TEST_CASE("several breaks in a row are taken alike") {
  std::string log;
  const accelscope::test::ProxyPlan early{.trouble = Trouble::reset, .after_bytes = 20};
  const client::CaptureStatus status = capture_through({early, early, early, early}, log);
  CHECK_MESSAGE(status.phase == client::CapturePhase::ended, status.message);
  CHECK(status.events == kSent);
  CHECK(count(log, "the capture begins") == 1);
}

TEST_CASE("an agent that breaks off every time is given up within the limit, with what it did") {
  RawListener listener;
  const auto store = empty_store();
  StoreSink sink(*store);
  client::ConnectionOptions options = connection_to(listener.address());
  options.begin_limit = std::chrono::milliseconds(200);
  TestConnection connection(options, sink);
  {
    RawPeer peer = listener.accept();
    peer.send(wire::encode(agent_hello()));
    peer.close();
  }
  REQUIRE(connection.wait_for(kPatience));
  CHECK(connection.status().phase == client::CapturePhase::failed);
  CHECK_MESSAGE(contains(connection.status().message, listener.address().text()), connection.status().message);
}

TEST_CASE("a viewer that asks twice for the same capture gets the one that has begun") {
  RunningAgent agent(endless_source());
  wire::Hello hello = viewer_hello();
  hello.session_id = "a viewer";
  const auto ask = [&](const std::string& intent) {
    RawPeer peer = RawPeer::connect_to(agent.address());
    peer.send(wire::encode(hello));
    REQUIRE(peer.receive(wire::FrameType::welcome));
    wire::Start start;
    start.mode = wire::StartMode::begin;
    start.capture_id = intent;
    peer.send(wire::encode(start));
    const auto started = peer.receive(wire::FrameType::started);
    REQUIRE(started);
    return std::pair(std::move(peer), wire::decode<wire::Started>(started->body).value().capture_id);
  };
  const auto [first, first_id] = ask("wish 1");
  const auto [second, second_id] = ask("wish 1");
  CHECK(first_id == second_id);
  agent.stop();
}

}  // namespace
}  // namespace accelscope::capture
