// How both sides of a connection show each other that they know the token without sending it. Each makes a nonce and
// sends it in its hello; then the viewer sends a mac, and the agent answers with its own (agent_gate.h and
// ViewerProof keep the order):
//
//   HMAC-SHA256(token, side || agent's nonce || viewer's nonce || channel binding),   side: "viewer" or "agent"
//
// A mac fits one connection only: the nonces are new each time, and the binding (Link::channel_binding, empty without
// TLS) differs for somebody in between, who has two connections. The side keeps one from being sent back as the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "capture/security/token.h"
#include "core/base/bytes.h"
#include "core/base/result.h"

namespace accelscope::capture::security {

inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kMacBytes = 32;

// Bytes, as messages carry them. Fails if the system has no random numbers.
[[nodiscard]] Result<std::string> make_nonce();

enum class ProofSide : std::uint8_t { agent, viewer };

struct ProofInput {
  std::string agent_nonce;
  std::string viewer_nonce;
  Bytes channel_binding;
};

// Fails if a nonce has not its length, since then the parts could be cut in more than one way.
[[nodiscard]] Result<std::string> make_mac(const Token& token, ProofSide side, const ProofInput& input);
// Takes as long for a wrong mac as for the right one.
[[nodiscard]] Result<bool> check_mac(const Token& token, ProofSide side, const ProofInput& input, std::string_view mac);

// The viewer's side of the proof that both know the token; agent_gate.h is the other.
//
//   ViewerProof proof = *ViewerProof::begin(token);
//   hello.nonce = proof.nonce();
//   ... the agent's hello came, with the capability "token" ...
//   Result<std::string> mac = proof.prove(agent_hello.nonce, link->channel_binding());   // to send
//   ... the agent's welcome came ...
//   Result<void> genuine = proof.check_welcome(welcome.mac);
class ViewerProof {
 public:
  // Fails if the system has no random numbers.
  [[nodiscard]] static Result<ViewerProof> begin(std::optional<Token> token);

  [[nodiscard]] const std::string& nonce() const noexcept { return input_.viewer_nonce; }
  // Fails if there is no token, with what to try.
  [[nodiscard]] Result<std::string> prove(const std::string& agent_nonce, const Bytes& channel_binding);
  // The agent has been asked to prove itself: check_welcome() tells.
  [[nodiscard]] bool proved() const noexcept { return proved_; }
  // Fails if the agent, which took the proof, does not know the token itself. Anything is right if nothing was proved.
  [[nodiscard]] Result<void> check_welcome(std::string_view mac) const;

 private:
  ViewerProof(std::optional<Token> token, std::string nonce)
      : token_(std::move(token)), input_{"", std::move(nonce), {}} {}

  std::optional<Token> token_;
  ProofInput input_;
  bool proved_ = false;
};

}  // namespace accelscope::capture::security
