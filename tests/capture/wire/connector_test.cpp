// Ways to an agent that fail say what is wrong and what to try; certificates are asked about once.
#include "capture/wire/connector.h"

#include <doctest/doctest.h>
#include <openssl/ssl.h>

#include <array>
#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl.hpp>
#include <atomic>

#include "capture/security/identities.h"
#include "link_support.h"

namespace accelscope::capture {
namespace {

struct AskedUser {
  std::function<void(const wire::SeenCertificate&, std::function<void(bool)>)> answer(bool trusted) {
    return [this, trusted](const wire::SeenCertificate& certificate, const std::function<void(bool)>& trust) {
      ++times;
      seen = certificate;
      trust(trusted);
    };
  }
  int times = 0;
  wire::SeenCertificate seen;
};

// The agent's end of a connection that has said hello; others ended without a word.
LinkPeer& greeted(TestWire& wire) {
  for (;;) {
    LinkPeer& peer = wire.accepted();
    if (peer.receive()) return peer;
  }
}

TEST_CASE("a new agent's certificate is asked about once, pinned, and then trusted without a question") {
  const auto identity = new_identity();
  TestWire wire({.identity = identity});
  const LinkFolder folder;
  AskedUser user;
  const wire::TlsClientOptions options{.known_agents_path = folder.file("known_agents"), .decide = user.answer(true)};
  const Result<LinkPeer*> first = wire.connect(wire::tcp_connector(wire.address(true), options));
  REQUIRE_MESSAGE(first.ok(), first.message());
  (void)greeted(wire);
  CHECK(user.times == 1);
  CHECK(user.seen.fingerprint == identity->fingerprint);
  CHECK(user.seen.address == wire.address().text());
  CHECK(first.value()->link().tls_fingerprint() == identity->fingerprint);
  CHECK(mode_of(folder.file("known_agents")) == 0600);
  CHECK(content_of(folder.file("known_agents")) == wire.address().text() + " " + identity->fingerprint + "\n");
  REQUIRE(wire.connect(wire::tcp_connector(wire.address(true), options)).ok());
  (void)greeted(wire);
  CHECK(user.times == 1);
}

TEST_CASE("the user may think for as long as it takes, on any thread, and saying no ends the attempt") {
  wire::LinkLimits limits = quick_limits();
  limits.hello = limits.handshake = std::chrono::milliseconds(1500);
  TestWire wire({.identity = new_identity()}, limits);
  std::thread thinking;
  wire::TlsClientOptions options;
  options.decide = [&](const wire::SeenCertificate&, std::function<void(bool)> trust) {
    thinking = std::thread([&wire, trust = std::move(trust)] {
      // The agent lets go of the connection that showed the certificate; the user answers after that.
      (void)wire.accepted().wait_closed();
      trust(false);
    });
  };
  const Result<LinkPeer*> refused = wire.connect(wire::tcp_connector(wire.address(true), options));
  thinking.join();
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.message(), "was not trusted"));
}

TEST_CASE("an answer that comes after the connection was given up, or never, harms nobody") {
  std::function<void(bool)> late;
  {
    TestWire wire({.identity = new_identity()});
    wire::TlsClientOptions options;
    options.decision = std::chrono::milliseconds(30);
    options.decide = [&late](const wire::SeenCertificate&, std::function<void(bool)> trust) {
      late = std::move(trust);
    };
    const Result<LinkPeer*> refused = wire.connect(wire::tcp_connector(wire.address(true), options));
    REQUIRE_FALSE(refused.ok());
    CHECK(contains(refused.message(), "nobody said whether to trust"));
    late(true);
  }
  late(true);
}

TEST_CASE("a changed certificate is refused without a question, with both fingerprints and the line to remove") {
  const auto identity = new_identity();
  const auto other = new_identity();
  TestWire wire({.identity = identity});
  const LinkFolder folder;
  security::KnownAgents known(folder.file("known_agents"));
  REQUIRE(known.remember("trn1-07:7420", other->fingerprint).ok());
  REQUIRE(known.remember(wire.address().text(), other->fingerprint).ok());
  AskedUser user;
  const Result<LinkPeer*> refused = wire.connect(
      wire::tcp_connector(wire.address(true), {.known_agents_path = known.path(), .decide = user.answer(true)}));
  REQUIRE_FALSE(refused.ok());
  CHECK(user.times == 0);
  for (const std::string& part : {wire.address().text(), identity->fingerprint, other->fingerprint, known.path(),
                                  std::string("line 2 of"), std::string("certificate has changed")}) {
    CHECK_MESSAGE(contains(refused.message(), part), refused.message());
  }
}

TEST_CASE("a certificate that changes between two connections of one capture is refused even if nothing was pinned") {
  wire::TlsClientOptions options;
  AskedUser user;
  options.decide = user.answer(true);
  system::Address address;
  wire::Connector connector;
  {
    TestWire first({.identity = new_identity()});
    address = first.address(true);
    connector = wire::tcp_connector(address, options);
    REQUIRE(first.connect(connector).ok());
    (void)greeted(first);
  }
  wire::Loop loop;
  Result<std::unique_ptr<wire::Listener>> impostor =
      wire::Listener::open(loop, {"127.0.0.1", address.port}, quick_limits(), {.identity = new_identity()});
  REQUIRE_MESSAGE(impostor.ok(), impostor.message());
  impostor.value()->accept([](const std::unique_ptr<wire::Link>&) {});
  Result<std::unique_ptr<wire::Link>> refused = Error{""};
  connector(loop, quick_limits(), [&](Result<std::unique_ptr<wire::Link>> link) {
    refused = std::move(link);
    loop.stop();
  });
  loop.run();
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.message(), "has changed during the session"));
  CHECK(user.times == 1);
}

TEST_CASE(
    "without anybody to ask, a fingerprint given beforehand is trusted, and any other is an error that names both") {
  const auto identity = new_identity();
  TestWire wire({.identity = identity});
  const LinkFolder folder;
  wire::TlsClientOptions options{.known_agents_path = folder.file("known_agents")};
  const Result<LinkPeer*> unknown = wire.connect(wire::tcp_connector(wire.address(true), options));
  REQUIRE_FALSE(unknown.ok());
  CHECK(contains(unknown.message(), wire.address().text() + " " + identity->fingerprint));
  options.trusted = new_identity()->fingerprint;
  const Result<LinkPeer*> wrong = wire.connect(wire::tcp_connector(wire.address(true), options));
  REQUIRE_FALSE(wrong.ok());
  CHECK(contains(wrong.message(), identity->fingerprint));
  CHECK(contains(wrong.message(), options.trusted));
  CHECK_FALSE(std::filesystem::exists(folder.file("known_agents")));
  options.trusted = identity->fingerprint;
  CHECK(wire.connect(wire::tcp_connector(wire.address(true), options)).ok());
}

TEST_CASE("a host that is not found, does not answer, or refuses is told apart") {
  TestWire wire;
  const Result<LinkPeer*> nameless = wire.connect(wire::tcp_connector({"no-such-host.invalid", 7420}, {}));
  REQUIRE_FALSE(nameless.ok());
  CHECK(contains(nameless.message(), "no-such-host.invalid:7420: cannot find host 'no-such-host.invalid'"));
  std::optional<RawListener> gone;
  gone.emplace();
  const system::Address closed = gone->address();
  gone.reset();
  CHECK(contains(wire.connect(wire::tcp_connector(closed, {})).message(), "start accelscope-agent there"));
}

TEST_CASE("a viewer that wants TLS from a peer that speaks none, or says nothing, gives up with what it is") {
  TestWire wire;
  const Result<LinkPeer*> no_certificate = wire.connect(wire::tcp_connector(wire.address(true), {}));
  REQUIRE_FALSE(no_certificate.ok());
  CHECK(contains(no_certificate.message(), "no encrypted connection"));
  CHECK(contains(no_certificate.message(), "without tls://"));
  CHECK(contains(wire.wait_log("speaks TLS"), "has no certificate"));

  RawListener listener;
  system::Address address = listener.address();
  address.tls = true;
  std::optional<RawPeer> server;
  std::thread answering([&] {
    server.emplace(listener.accept());
    server->send(std::as_bytes(std::span("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")));
  });
  const Result<LinkPeer*> http = wire.connect(wire::tcp_connector(address, {}));
  answering.join();
  REQUIRE_FALSE(http.ok());
  CHECK_MESSAGE(contains(http.message(), "the other side does not speak TLS"), http.message());

  RawListener silent;
  address.port = silent.address().port;
  wire::LinkLimits limits = quick_limits();
  limits.handshake = std::chrono::milliseconds(100);
  TestWire hasty({}, limits);
  const Result<LinkPeer*> nothing = hasty.connect(wire::tcp_connector(address, {}));
  REQUIRE_FALSE(nothing.ok());
  CHECK_MESSAGE(contains(nothing.message(), "has not answered in TLS within 0.1 s"), nothing.message());
}

// One TLS handshake with the agent, as a program with other habits makes it.
asio::error_code perform_handshake(const system::Address& address, int highest_version) {
  asio::io_context context;
  asio::ssl::context tls(asio::ssl::context::tls_client);
  SSL_CTX_set_max_proto_version(tls.native_handle(), highest_version);
  asio::ssl::stream<asio::ip::tcp::socket> stream(context, tls);
  stream.next_layer().connect({asio::ip::make_address(address.host), address.port});
  asio::error_code failure;
  stream.handshake(asio::ssl::stream_base::client, failure);
  return failure;
}

TEST_CASE("an agent speaks TLS 1.3 and nothing older, and its log says who came with what") {
  TestWire wire({.identity = new_identity()});
  CHECK_FALSE(perform_handshake(wire.address(), TLS1_3_VERSION));
  CHECK(perform_handshake(wire.address(), TLS1_2_VERSION));
  const std::string log = wire.wait_log("TLS 1.3");
  CHECK(contains(log, "127.0.0.1:"));
  CHECK(contains(log, "one side does not speak TLS 1.3"));
}

TEST_CASE("a peer that stops in the middle of the handshake, or never says a word, holds up nobody and is let go") {
  wire::LinkLimits limits = quick_limits();
  limits.hello = limits.handshake = std::chrono::milliseconds(600);  // the sound one takes a few
  TestWire wire({.identity = new_identity()}, limits);
  RawPeer half = RawPeer::connect_to(wire.address());
  half.send(std::as_bytes(std::span("\x16\x03\x01")));
  RawPeer mute = RawPeer::connect_to(wire.address());
  REQUIRE(wire.connect(wire::tcp_connector(wire.address(), {})).ok());
  (void)wire.wait_log("has not finished the TLS handshake within 0.6 s");
  (void)wire.wait_log("has not said hello within 0.6 s");
  CHECK_FALSE(half.receive());
  CHECK_FALSE(mute.receive());
}

TEST_CASE("connections that say nothing make room for a viewer, however many they are") {
  TestWire wire;
  std::vector<RawPeer> mute;
  for (int i = 0; i < 300; ++i) mute.push_back(RawPeer::connect_to(wire.address()));
  (void)wire.wait_log("closed for others: too many connections");
  REQUIRE(wire.connect(wire::tcp_connector(wire.address(), {})).ok());
  CHECK(wire.accepted().receive());
}

TEST_CASE("a plain viewer from another machine is told why it is refused, and an encrypted one is served") {
  // What comes from or goes to 127.0.0.1 counts as another machine here.
  TestWire wire({.identity = new_identity(), .is_local = [](const std::string& ip) { return ip != "127.0.0.1"; }});
  RawPeer plain = RawPeer::connect_to(wire.address());
  plain.send(wire::encode(viewer_hello()));
  const auto error = plain.receive(wire::FrameType::error);
  REQUIRE(error);
  CHECK(wire::decode<wire::ErrorMessage>(error->body).value().code == wire::ErrorCode::refused);
  CHECK(contains(wire::decode<wire::ErrorMessage>(error->body).value().text, "encrypted connections only"));
  CHECK_FALSE(plain.receive());
  CHECK(contains(wire.log(), "does not encrypt"));
  AskedUser user;
  wire::TlsClientOptions options;
  options.decide = user.answer(true);
  REQUIRE(wire.connect(wire::tcp_connector(wire.address(true), options)).ok());
  CHECK_FALSE(greeted(wire).link().loopback());
}

TEST_CASE("an agent listens beyond this machine only with a certificate") {
  wire::Loop loop;
  for (const system::Address& address : {system::Address{"0.0.0.0", 0}, system::Address{"::", 0},
                                         system::Address{"192.0.2.1", 0}, system::Address{"trn1", 0}}) {
    const Result<std::unique_ptr<wire::Listener>> listener = wire::Listener::open(loop, address, {});
    REQUIRE_FALSE(listener.ok());
    CHECK(contains(listener.message(), "not encrypted"));
    CHECK(contains(listener.message(), "ssh -L"));
  }
  CHECK(wire::Listener::open(loop, {"127.3.2.1", 0}, {}).ok());
  const auto unknown = wire::Listener::open(loop, {"trn1.invalid", 0}, {}, {.identity = new_identity()});
  REQUIRE_FALSE(unknown.ok());
  CHECK(contains(unknown.message(), "cannot find host"));
}

}  // namespace
}  // namespace accelscope::capture
