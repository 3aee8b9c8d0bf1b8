// The proxy that tests of broken connections rely on does what it says, to the byte; and what a link makes of it.
#include "tests/support/cutting_proxy.h"

#include <doctest/doctest.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <future>
#include <thread>

#include "capture/security/identities.h"
#include "link_support.h"

namespace accelscope::capture {
namespace {

using test::CuttingProxy;
using test::ProxyPlan;
using test::Trouble;

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

struct CutOutcome {
  std::string received;
  asio::error_code end;
};

// A server sends the pattern to a client behind the proxy and closes.
CutOutcome send_through(const ProxyPlan& plan, std::size_t bytes) {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  CuttingProxy proxy(acceptor.local_endpoint().port());
  proxy.plan(plan);
  asio::ip::tcp::socket client(context);
  client.connect({asio::ip::address_v4::loopback(), proxy.port()});
  asio::ip::tcp::socket server = acceptor.accept();
  std::thread sending([&server, bytes] {
    asio::error_code ignored;  // the proxy may cut the server off too
    asio::write(server, asio::buffer(pattern(bytes)), ignored);
    server.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  });
  CutOutcome outcome;
  std::array<char, 4096> piece{};
  while (!outcome.end) {
    const std::size_t count = client.read_some(asio::buffer(piece), outcome.end);
    outcome.received.append(piece.data(), count);
  }
  sending.join();
  return outcome;
}

TEST_CASE("the proxy passes everything on, throttled or not, when it has no other plan") {
  for (const std::uint64_t rate : {std::uint64_t{0}, std::uint64_t{50'000'000}}) {
    const CutOutcome outcome = send_through({.bytes_per_second = rate}, 1'000'000);
    CHECK(outcome.received == pattern(1'000'000));
    CHECK(outcome.end == asio::error::eof);
  }
}

TEST_CASE("the proxy ends, resets and corrupts a stream at exactly the byte that it was told") {
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{65'536}, std::size_t{123'457}}) {
    const CutOutcome ended = send_through({.trouble = Trouble::fin, .after_bytes = at}, 300'000);
    CHECK(ended.received == pattern(at));
    CHECK(ended.end == asio::error::eof);
    const CutOutcome broken = send_through({.trouble = Trouble::reset, .after_bytes = at}, 300'000);
    CHECK(broken.received.size() <= at);  // a reset may overtake what is on its way
    CHECK(broken.end == asio::error::connection_reset);
    const CutOutcome altered = send_through({.trouble = Trouble::corrupt, .after_bytes = at}, 300'000);
    std::string expected = pattern(300'000);
    expected[at] = static_cast<char>(expected[at] ^ 1);
    CHECK(altered.received == expected);
    CHECK(altered.end == asio::error::eof);
  }
}

// A viewer behind the proxy, and what its link says in the end.
std::pair<wire::Closed, std::string> watch_through(const ProxyPlan& plan, bool tls) {
  const auto identity = new_identity();
  wire::LinkLimits limits = quick_limits();
  limits.silence = std::chrono::milliseconds(1900);  // many heartbeats
  TestWire wire({.identity = identity}, limits);
  const LinkFolder folder;
  CuttingProxy proxy(wire.address().port);
  const system::Address address{"127.0.0.1", proxy.port(), tls};
  // Known already, so that the first connection, which has the plan, is the one.
  const std::string pins = folder.file("known_agents");
  REQUIRE(security::KnownAgents(pins).remember(address.host_and_port(), identity->fingerprint).ok());
  proxy.plan(plan);
  const Result<LinkPeer*> viewer = wire.connect(wire::tcp_connector(address, {.known_agents_path = pins}));
  REQUIRE_MESSAGE(viewer.ok(), viewer.message());
  LinkPeer& agent = wire.accepted();
  REQUIRE(agent.receive());
  agent.link().send(wire::encode(agent_hello()));
  // One frame, so that wherever a reset overtakes it the cut is within it.
  agent.link().send(wire::make_frame(wire::FrameType::chunk, Bytes(std::size_t{4} << 20, std::byte{0x5a}), 1));
  return viewer.value()->wait_closed();
}

TEST_CASE(
    "a link over TLS or plain TCP notices a cut, a stall and an altered bit within a frame, and never takes one in") {
  for (const bool tls : {false, true}) {
    CAPTURE(tls);
    const auto [cut, cut_text] = watch_through({.trouble = Trouble::fin, .after_bytes = 500'000}, tls);
    CHECK(cut == wire::Closed::broken);
    CHECK_MESSAGE(contains(cut_text, "closed the connection in the middle of a chunk frame"), cut_text);
    const auto [reset, reset_text] = watch_through({.trouble = Trouble::reset, .after_bytes = 500'000}, tls);
    CHECK(reset == wire::Closed::broken);
    CHECK_MESSAGE(contains(reset_text, "in the middle of a chunk frame"), reset_text);
    const auto [stalled, stalled_text] = watch_through({.trouble = Trouble::stall, .after_bytes = 500'000}, tls);
    CHECK(stalled == wire::Closed::given_up);
    CHECK_MESSAGE(contains(stalled_text, "has sent nothing for 1.9 s in the middle of a chunk frame"), stalled_text);
    const auto [altered, altered_text] = watch_through({.trouble = Trouble::corrupt, .after_bytes = 500'000}, tls);
    CHECK(altered == (tls ? wire::Closed::broken : wire::Closed::given_up));
    CHECK_MESSAGE(contains(altered_text, tls ? "altered on its way" : "wrong checksum"), altered_text);
  }
}

}  // namespace
}  // namespace accelscope::capture
