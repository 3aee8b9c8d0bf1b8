// Links over every kind of stream: what one side sends arrives, frames are shared, and the ends are told apart.
#include "capture/wire/link.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "link_support.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

struct Pair {
  LinkPeer* viewer = nullptr;
  LinkPeer* agent = nullptr;
};

Pair connected(TestWire& wire, const wire::Connector& connector) {
  const Result<LinkPeer*> viewer = wire.connect(connector);
  REQUIRE_MESSAGE(viewer.ok(), viewer.message());
  // A certificate that is seen for the first time costs a connection of its own, which ends without a word.
  for (;;) {
    LinkPeer& agent = wire.accepted();
    if (agent.receive()) return {viewer.value(), &agent};
    CHECK(agent.wait_closed().first == wire::Closed::by_peer);
  }
}

wire::Connector plain_to(const TestWire& wire) { return wire::tcp_connector(wire.address(), {}); }

wire::Connector trusting(const TestWire& wire) {
  wire::TlsClientOptions options;
  options.decide = [](const wire::SeenCertificate&, const std::function<void(bool)>& trust) { trust(true); };
  return wire::tcp_connector(wire.address(true), options);
}

void check_stream_arrives(LinkPeer& from, LinkPeer& to) {
  const std::vector<wire::Frame> frames = frames_of({.events = 300'000, .lanes = 3});
  from.link().send(wire::encode(agent_hello()));
  for (const wire::Frame& frame : frames) from.link().send(std::make_shared<const wire::Frame>(frame));
  REQUIRE(to.receive());
  for (const wire::Frame& sent : frames) {
    const auto came = to.receive();
    REQUIRE(came);
    CHECK(came->header.sequence == sent.header.sequence);
    CHECK(came->body == sent.body);
  }
}

TEST_CASE("frames arrive whole and in order over plain TCP, over TLS and over a socketpair") {
  TestWire wire({.identity = new_identity()});
  const Pair plain = connected(wire, plain_to(wire));
  check_stream_arrives(*plain.agent, *plain.viewer);
  CHECK(plain.viewer->link().loopback());
  CHECK(plain.viewer->link().channel_binding().empty());
  CHECK(plain.viewer->link().tls_fingerprint() == "");

  const Pair encrypted = connected(wire, trusting(wire));
  check_stream_arrives(*encrypted.agent, *encrypted.viewer);
  check_stream_arrives(*encrypted.viewer, *encrypted.agent);
  CHECK(encrypted.agent->link().loopback());

  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const Result<LinkPeer*> first = wire.adopt_descriptor(ends[0], "ssh to trn1");
  const Result<LinkPeer*> second = wire.adopt_descriptor(ends[1], "the viewer");
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  REQUIRE(first.value()->receive());
  REQUIRE(second.value()->receive());
  check_stream_arrives(*first.value(), *second.value());
  CHECK(first.value()->link().peer_address() == "ssh to trn1");
  CHECK(first.value()->link().loopback());
}

TEST_CASE("one frame may be queued for many links, and each says how much of it still waits") {
  TestWire wire;
  const Pair pair = connected(wire, plain_to(wire));
  pair.agent->link().send(wire::encode(agent_hello()));
  const auto frame = std::make_shared<const wire::Frame>(frames_of({.events = 16'384, .lanes = 1}).back());
  // More than the system buffers, while the reader's loop is held up.
  std::size_t waiting = 0;
  wire.on_loop([&] {
    for (int i = 0; i < 64; ++i) pair.agent->link().send(frame);
    waiting = pair.agent->link().queued_bytes();
  });
  CHECK(waiting >= 64 * frame->wire_bytes());
  REQUIRE(pair.viewer->receive());
  for (int i = 0; i < 64; ++i) {
    const auto came = pair.viewer->receive();
    REQUIRE(came);
    CHECK(came->body == frame->body);
  }
  std::size_t left = waiting;
  CHECK(test::step_until([&] { return left == 0; },
                         [&] { wire.on_loop([&] { left = pair.agent->link().queued_bytes(); }); }));
}

TEST_CASE("both ends of a TLS connection derive the same binding, and no two connections the same") {
  TestWire wire({.identity = new_identity()});
  const Pair first = connected(wire, trusting(wire));
  const Pair second = connected(wire, trusting(wire));
  CHECK(first.viewer->link().channel_binding().size() == 32);
  CHECK(first.viewer->link().channel_binding() == first.agent->link().channel_binding());
  CHECK(second.viewer->link().channel_binding() == second.agent->link().channel_binding());
  CHECK(first.viewer->link().channel_binding() != second.viewer->link().channel_binding());
}

// The agent says why it closes while the viewer floods it: the last words must not be lost with what was not read.
TEST_CASE("last words arrive although the other side goes on sending, over plain TCP and over TLS") {
  TestWire wire({.identity = new_identity()});
  for (const wire::Connector& connector : {plain_to(wire), trusting(wire)}) {
    const Pair pair = connected(wire, connector);
    const auto chunk = std::make_shared<const wire::Frame>(frames_of({.events = 16'384, .lanes = 1}).back());
    for (int i = 0; i < 200; ++i) pair.viewer->link().send(chunk);
    wire.on_loop([&] {
      pair.agent->link().send(wire::encode(wire::ErrorMessage{wire::ErrorCode::refused, "this is why"}));
      pair.agent->link().finish();
    });
    const auto words = pair.viewer->receive();
    REQUIRE(words);
    CHECK(wire::decode<wire::ErrorMessage>(words->body).value().text == "this is why");
    const auto [how, text] = pair.viewer->wait_closed();
    CHECK_MESSAGE(how == wire::Closed::by_peer, text);
    CHECK(pair.agent->wait_closed().first == wire::Closed::finished);
  }
}

TEST_CASE("a side that takes its time to say hello does not begin with a heartbeat") {
  wire::LinkLimits limits = quick_limits();
  limits.heartbeat = limits.tick;
  TestWire wire({}, limits);
  const Pair pair = connected(wire, plain_to(wire));
  // The viewer's heartbeats show that the agent's ticks, which are as long, have passed too.
  const std::uint64_t before = pair.agent->link().received_bytes();
  const auto patience_ends = std::chrono::steady_clock::now() + kPatience;
  while (pair.agent->link().received_bytes() < before + 5 * wire::kFrameHeaderBytes) {
    REQUIRE(std::chrono::steady_clock::now() < patience_ends);
    std::this_thread::yield();
  }
  pair.agent->link().send(wire::encode(agent_hello()));
  const auto hello = pair.viewer->receive();
  REQUIRE(hello);
  CHECK(hello->header.type == wire::FrameType::hello);
}

TEST_CASE("a descriptor that is no connection is an error with the peer's name, and is closed all the same") {
  TestWire wire;
  std::array<int, 2> pipe{};
  REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
  const Result<LinkPeer*> refused = wire.adopt_descriptor(pipe[0], "ssh to trn1");
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.message(), "ssh to trn1"));
  CHECK(::fcntl(pipe[0], F_GETFD) == -1);
  ::close(pipe[1]);
  CHECK_FALSE(wire.adopt_descriptor(-1, "nobody").ok());
}

}  // namespace
}  // namespace accelscope::capture
