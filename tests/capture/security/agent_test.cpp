// An agent that wants a token, over real connections: who gets in, who does not, and what its log says of them.
#include <doctest/doctest.h>

#include <algorithm>

#include "capture/agent/viewers/agent.h"
#include "capture/security/secrets.h"
#include "capture/wire/messages.h"
#include "tests/capture/wire/link_support.h"

namespace accelscope::capture {
namespace {

const std::string kRight = "the-right-token-of-this-agent";
const std::string kWrong = "some-other-token-altogether";

agent::AgentOptions guarded(const std::shared_ptr<const security::AgentIdentity>& identity) {
  agent::AgentOptions options;
  options.secrets.identity = identity;
  options.secrets.token = security::Token::parse(kRight).value();
  options.limits = quick_limits();
  return options;
}

agent::SourceFunction short_source() { return synthetic_source({.events = 10, .lanes = 1}); }

wire::Connector trusting(const system::Address& address, const security::AgentIdentity& identity) {
  return wire::tcp_connector(address, {.trusted = identity.fingerprint});
}

system::Address with_tls(system::Address address) {
  address.tls = true;
  return address;
}

// A viewer's side up to the welcome, on a connection that is there.
struct Greeted {
  wire::Hello agent;
  security::ViewerProof proof;
};

Greeted greet(LinkPeer& viewer, security::ViewerProof proof) {
  wire::Hello hello = viewer_hello();
  hello.nonce = proof.nonce();
  viewer.link().send(wire::encode(hello));
  const auto answer = viewer.receive();
  REQUIRE(answer);
  return {wire::decode<wire::Hello>(answer->body).value(), std::move(proof)};
}

security::ViewerProof proof_with(const std::string& token) {
  return security::ViewerProof::begin(security::Token::parse(token).value()).value();
}

// The agent's answer to this viewer: a welcome or an error.
wire::Frame knock(TestWire& wire, const wire::Connector& connector, const std::string& token) {
  const Result<LinkPeer*> viewer = wire.connect(connector, false);
  REQUIRE_MESSAGE(viewer.ok(), viewer.message());
  Greeted greeted = greet(*viewer.value(), proof_with(token));
  const auto& wanted = greeted.agent.capabilities;
  CHECK(std::find(wanted.begin(), wanted.end(), "token") != wanted.end());
  const std::string mac = greeted.proof.prove(greeted.agent.nonce, viewer.value()->link().channel_binding()).value();
  viewer.value()->link().send(wire::encode(wire::ProofMessage{mac}));
  const auto answer = viewer.value()->receive();
  REQUIRE(answer);
  if (answer->header.type == wire::FrameType::welcome) {
    CHECK(greeted.proof.check_welcome(wire::decode<wire::Welcome>(answer->body).value().mac).ok());
  }
  return *answer;
}

TEST_CASE("over TLS and over plain loopback the right token gets in, and a wrong one is refused and never logged") {
  const auto identity = new_identity();
  RunningAgent agent(short_source(), guarded(identity));
  TestWire wire;
  const wire::Connector encrypted = trusting(with_tls(agent.address()), *identity);
  const wire::Connector plain = wire::tcp_connector(agent.address(), {});
  for (const wire::Connector& connector : {encrypted, plain}) {
    CHECK(knock(wire, connector, kRight).header.type == wire::FrameType::welcome);
    const wire::Frame refused = knock(wire, connector, kWrong);
    REQUIRE(refused.header.type == wire::FrameType::error);
    CHECK(wire::decode<wire::ErrorMessage>(refused.body).value().code == wire::ErrorCode::refused);
    CHECK(contains(wire::decode<wire::ErrorMessage>(refused.body).value().text, "token is not this agent's"));
  }
  for (int i = 0; i < 9; ++i) (void)knock(wire, plain, kWrong);
  // The owner, from the same address, is not shut out with those who guess.
  CHECK(knock(wire, plain, kRight).header.type == wire::FrameType::welcome);
  CHECK(contains(agent.log(), "token is not this agent's"));
  for (const std::string& secret : {kRight, kWrong, identity->key_pem}) CHECK_FALSE(contains(agent.log(), secret));
}

TEST_CASE("who says nothing of a token, or asks for things before it is let in, gets nothing and is told what to do") {
  RunningAgent agent(short_source(), guarded(new_identity()));
  for (const wire::Frame& request : {wire::encode(wire::Start{}), wire::encode(wire::Fetch{}),
                                     wire::encode(wire::ClockReport{}), wire::encode(wire::Discard{})}) {
    RawPeer viewer = RawPeer::connect_to(agent.address());
    wire::Hello hello = viewer_hello();
    hello.nonce = proof_with(kRight).nonce();
    viewer.send(wire::encode(hello));
    viewer.send(request);
    const auto answer = viewer.receive(wire::FrameType::error);
    REQUIRE(answer);
    CHECK(contains(wire::decode<wire::ErrorMessage>(answer->body).value().text, "wants a token"));
    CHECK_FALSE(viewer.receive());
  }
  CHECK_FALSE(contains(agent.log(), "connected"));
}

TEST_CASE("a viewer that never proves its token cannot keep a connection for good") {
  agent::AgentOptions options = guarded(new_identity());
  options.limits.hello = std::chrono::milliseconds(1500);
  options.limits.farewell = std::chrono::milliseconds(50);
  RunningAgent agent(short_source(), options);
  TestWire wire;
  const Result<LinkPeer*> viewer = wire.connect(wire::tcp_connector(agent.address(), {}), false);
  REQUIRE(viewer.ok());
  (void)greet(*viewer.value(), proof_with(kRight));  // its heartbeats go on
  const auto answer = viewer.value()->receive();
  REQUIRE(answer);
  CHECK(
      contains(wire::decode<wire::ErrorMessage>(answer->body).value().text, "has not proved that it knows the token"));
  (void)viewer.value()->wait_closed();
}

TEST_CASE("somebody in between, whose certificate the user trusted by mistake, cannot use the viewer's proof") {
  const auto identity = new_identity();
  const auto forged = new_identity();
  RunningAgent agent(short_source(), guarded(identity));
  TestWire between({.identity = forged});
  const Result<LinkPeer*> viewer = between.connect(trusting(between.address(true), *forged), false);
  REQUIRE_MESSAGE(viewer.ok(), viewer.message());
  security::ViewerProof proof = proof_with(kRight);
  wire::Hello hello = viewer_hello();
  hello.nonce = proof.nonce();
  viewer.value()->link().send(wire::encode(hello));
  // The frames of both sides are passed on as they are, over two TLS connections.
  LinkPeer* near = &between.accepted();
  auto passed = near->receive();
  if (!passed) {  // the connection on which the certificate was seen for the first time
    near = &between.accepted();
    passed = near->receive();
  }
  REQUIRE(passed);
  const Result<LinkPeer*> far = between.connect(trusting(with_tls(agent.address()), *identity), false);
  REQUIRE(far.ok());
  far.value()->link().send(*passed);
  const auto agent_hello_frame = far.value()->receive();
  REQUIRE(agent_hello_frame);
  near->link().send(*agent_hello_frame);
  const auto seen = viewer.value()->receive();
  REQUIRE(seen);
  const std::string mac =
      proof.prove(wire::decode<wire::Hello>(seen->body).value().nonce, viewer.value()->link().channel_binding())
          .value();
  far.value()->link().send(wire::encode(wire::ProofMessage{mac}));
  const auto answer = far.value()->receive();
  REQUIRE(answer);
  CHECK(answer->header.type == wire::FrameType::error);
  CHECK(contains(agent.log(), "token is not this agent's"));
}

TEST_CASE("an agent that others could use without a token does not start") {
  agent::AgentOptions options;
  options.may_run = true;
  CHECK(contains(agent::Agent::listen(options, short_source()).message(), "needs a token"));
  options.may_run = false;
  options.listen = {"192.0.2.1", 0};
  options.secrets.identity = new_identity();
  CHECK(contains(agent::Agent::listen(options, short_source()).message(), "needs a token"));
}

}  // namespace
}  // namespace accelscope::capture
