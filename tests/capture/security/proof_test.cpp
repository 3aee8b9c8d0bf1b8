// Who knows the token gets in, from one connection only; who does not learns nothing and is slowed down.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "capture/security/agent_gate.h"
#include "capture/security/identities.h"
#include "capture/security/secrets.h"
#include "tests/capture/wire/link_support.h"

namespace accelscope::capture {
namespace {

const Bytes kBinding(32, std::byte{7});

security::Token token_of(const std::string& text) {
  const Result<security::Token> token = security::Token::parse(text);
  REQUIRE(token.ok());
  return token.value();
}

const security::Token& right_token() {
  static const security::Token token = token_of("a-token-that-is-long-enough");
  return token;
}

security::AgentGate::Visit visit_of(security::AgentGate& gate, const Bytes& binding = kBinding) {
  Result<security::AgentGate::Visit> visit = gate.visit(binding);
  REQUIRE(visit.ok());
  return visit.value();
}

security::ViewerProof proof_of(const security::Token& token) { return security::ViewerProof::begin(token).value(); }

// A whole connection of a viewer with this token.
Result<std::string> knock(security::AgentGate& gate, const security::Token& token) {
  security::AgentGate::Visit visit = visit_of(gate);
  security::ViewerProof viewer = proof_of(token);
  return visit.check(viewer.nonce(), viewer.prove(visit.nonce(), kBinding).value());
}

TEST_CASE("both sides that know the token prove it to each other") {
  security::AgentGate gate(right_token());
  CHECK(gate.wants_token());
  security::AgentGate::Visit visit = visit_of(gate);
  security::ViewerProof viewer = proof_of(right_token());
  const Result<std::string> mac = viewer.prove(visit.nonce(), kBinding);
  REQUIRE(mac.ok());
  const Result<std::string> answer = visit.check(viewer.nonce(), mac.value());
  REQUIRE_MESSAGE(answer.ok(), answer.message());
  CHECK(viewer.check_welcome(answer.value()).ok());
  CHECK(answer.value() != mac.value());
}

TEST_CASE("the mac is HMAC-SHA256 over side, nonces and binding, as the protocol says") {
  // Computed with another implementation of HMAC-SHA256.
  const security::ProofInput input{std::string(32, 'a'), std::string(32, 'v'), Bytes(32, std::byte{'b'})};
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) {
      std::array<char, 3> digits{};
      std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      text += digits.data();
    }
    return text;
  };
  const security::Token token = token_of("0123456789abcdef");
  CHECK(hex(security::make_mac(token, security::ProofSide::viewer, input).value()) ==
        "016c9c7c68594f8557bc8fe7b822b99661ab7e4e3956394a43ab402f0dd34efd");
  CHECK(hex(security::make_mac(token, security::ProofSide::agent, input).value()) ==
        "2a72ef11df12e462bb96d8490e04fd91e2a253adaf0457241b4ecf681633c3c4");
}

TEST_CASE("a proof is good for its own connection only: not replayed, not passed on, not sent back") {
  security::AgentGate gate(right_token());
  security::AgentGate::Visit visit = visit_of(gate);
  security::ViewerProof viewer = proof_of(right_token());
  const std::string mac = viewer.prove(visit.nonce(), kBinding).value();

  // Recorded, and sent again on another connection.
  CHECK_FALSE(visit_of(gate).check(viewer.nonce(), mac).ok());
  // Passed on by somebody who has a TLS connection to each side, or plain TCP to the agent.
  for (const Bytes& binding : {Bytes(32, std::byte{8}), Bytes()}) {
    security::AgentGate::Visit other = visit_of(gate, binding);
    CHECK_FALSE(other.check(viewer.nonce(), viewer.prove(other.nonce(), kBinding).value()).ok());
  }
  // With the nonce of another viewer.
  CHECK_FALSE(visit_of(gate).check(proof_of(right_token()).nonce(), mac).ok());
  // On the connection that it was made for it is good all the same.
  CHECK(visit.check(viewer.nonce(), mac).ok());
}

TEST_CASE("an agent that does not know the token cannot answer with what it was sent") {
  security::AgentGate gate(right_token());
  security::AgentGate::Visit visit = visit_of(gate);
  security::ViewerProof viewer = proof_of(right_token());
  const std::string mac = viewer.prove(visit.nonce(), kBinding).value();
  for (const std::string& answer : {mac, std::string(), std::string(32, '\0'), mac + mac}) {
    const Result<void> genuine = viewer.check_welcome(answer);
    REQUIRE_FALSE(genuine.ok());
    CHECK(contains(genuine.message(), "does not know the token"));
  }
}

TEST_CASE("wrong, cut, missing and repeated proofs are refused with what to try, and no secret is said") {
  security::AgentGate gate(right_token());
  const security::Token wrong = token_of("another-token-of-mine");
  const Result<std::string> refused = knock(gate, wrong);
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.message(), "token is not this agent's"));
  CHECK(contains(refused.message(), "file 'token'"));
  security::ViewerProof viewer = proof_of(right_token());
  security::AgentGate::Visit visit = visit_of(gate);
  CHECK(contains(visit.check(viewer.nonce(), "").message(), "wants a token"));
  CHECK(contains(visit.check(viewer.nonce(), viewer.prove(visit.nonce(), kBinding).value()).message(), "once"));
  security::AgentGate::Visit odd = visit_of(gate);
  const std::string mac = viewer.prove(odd.nonce(), kBinding).value();
  CHECK(contains(odd.check("short", mac).message(), "nonce of 32 bytes"));
  CHECK_FALSE(visit_of(gate).check(viewer.nonce(), mac.substr(0, 31)).ok());
  for (const std::string& secret : {std::string(wrong.secret()), std::string(right_token().secret())}) {
    CHECK_FALSE(contains(refused.message(), secret));
  }
  CHECK(contains(security::ViewerProof::begin({}).value().prove(odd.nonce(), {}).message(), "--token-file"));
}

TEST_CASE("an agent without a token lets everybody in, and a viewer that has one does not mind") {
  security::AgentGate gate(std::nullopt);
  CHECK_FALSE(gate.wants_token());
  security::AgentGate::Visit visit = visit_of(gate);
  const security::ViewerProof viewer = proof_of(right_token());
  const Result<std::string> mac = visit.check(viewer.nonce(), "");
  REQUIRE(mac.ok());
  CHECK(mac.value() == "");
  CHECK(viewer.check_welcome(mac.value()).ok());
}

TEST_CASE("however many wrong tokens came, the right one gets in") {
  security::AgentGate gate(right_token());
  const security::Token wrong = token_of("another-token-of-mine");
  for (int i = 0; i < 100; ++i) CHECK(contains(knock(gate, wrong).message(), "not this agent's"));
  CHECK(knock(gate, right_token()).ok());
}

TEST_CASE("a token is made once for its owner alone, and found by the owner's viewer") {
  const LinkFolder parent;
  const std::string folder = parent.file("agent");
  CHECK_FALSE(security::find_token(folder).value().has_value());
  const Result<security::Token> made = security::load_or_make_token(folder);
  REQUIRE_MESSAGE(made.ok(), made.message());
  CHECK(made.value().secret().size() == 64);
  CHECK(mode_of(folder + "/token") == 0600);
  CHECK(security::load_or_make_token(folder).value() == made.value());
  CHECK(security::find_token(folder).value() == made.value());
  CHECK_FALSE(security::Token::make().value() == made.value());
  std::filesystem::permissions(folder + "/token", std::filesystem::perms(0644));
  CHECK(contains(security::load_or_make_token(folder).message(), "chmod 600"));
  CHECK(contains(security::find_token(folder).message(), "chmod 600"));
}

TEST_CASE("a token that is no secret is refused without repeating it") {
  for (const std::string& text : {std::string(), std::string("hunter2"), std::string("two words are not one token"),
                                  std::string("line one of it\nline two of it"), std::string(2000, 'x')}) {
    const Result<security::Token> token = security::Token::parse(text);
    REQUIRE_FALSE(token.ok());
    if (!text.empty()) CHECK_FALSE(contains(token.message(), text));
  }
  CHECK(security::Token::parse("  0123456789abcdef \r\n").value().secret() == "0123456789abcdef");
}

TEST_CASE("a token is read from standard input up to the end of its line, and no further") {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const std::string input = "0123456789abcdef\nmore";
  REQUIRE(::write(pipe[1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  ::close(pipe[1]);
  CHECK(security::read_token(pipe[0]).value().secret() == "0123456789abcdef");
  std::array<char, 8> rest{};
  CHECK(::read(pipe[0], rest.data(), rest.size()) == 4);
  CHECK(contains(security::read_token(pipe[0]).message(), "the token on standard input"));
  ::close(pipe[0]);
}

TEST_CASE("an agent prepares what its address and its rights ask for, and its notes hold no secret") {
  const LinkFolder parent;
  security::AgentSecretOptions options{.folder = parent.file("agent")};
  const Result<security::AgentSecrets> local = security::prepare_agent_secrets(options);
  REQUIRE(local.ok());
  CHECK(local.value().identity != nullptr);
  CHECK_FALSE(local.value().token.has_value());
  options.listen = {"0.0.0.0", 7420};
  const Result<security::AgentSecrets> open = security::prepare_agent_secrets(options);
  REQUIRE(open.ok());
  REQUIRE(open.value().token.has_value());
  CHECK(open.value().identity->fingerprint == local.value().identity->fingerprint);
  std::string notes;
  for (const std::string& note : open.value().notes) notes += note + '\n';
  CHECK(contains(notes, options.folder + "/token"));
  CHECK(contains(notes, open.value().identity->fingerprint));
  CHECK_FALSE(contains(notes, std::string(open.value().token->secret())));
  CHECK_FALSE(contains(notes, "PRIVATE"));
  options.listen = {};
  options.may_run = true;
  CHECK(security::prepare_agent_secrets(options).value().token == open.value().token);
  options.token_file = parent.file("mine");
  CHECK(contains(security::prepare_agent_secrets(options).message(), options.token_file));
  REQUIRE(security::write_private_file(options.token_file, "0123456789abcdef\n").ok());
  CHECK(security::prepare_agent_secrets(options).value().token->secret() == "0123456789abcdef");
}

TEST_CASE("an agent whose folder cannot be used goes on without TLS on loopback, and not at all elsewhere") {
  const LinkFolder parent;
  REQUIRE(security::write_private_file(parent.file("agent"), "a file, not a folder").ok());
  security::AgentSecretOptions options{.folder = parent.file("agent")};
  const Result<security::AgentSecrets> local = security::prepare_agent_secrets(options);
  REQUIRE(local.ok());
  CHECK(local.value().identity == nullptr);
  CHECK(contains(local.value().notes.front(), "no encrypted connections"));
  options.listen = {"0.0.0.0", 7420};
  CHECK(contains(security::prepare_agent_secrets(options).message(), "is not a folder"));
}

}  // namespace
}  // namespace accelscope::capture
