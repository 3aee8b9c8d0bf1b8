// The viewer's side of the proof that both know the token; agent_gate.h is the other.
//
//   ViewerProof proof = *ViewerProof::begin(token);
//   hello.nonce = proof.nonce();
//   ... the agent's hello came, with the capability "token" ...
//   Result<std::string> mac = proof.prove(agent_hello.nonce, link->channel_binding());   // to send
//   ... the agent's welcome came ...
//   Result<void> genuine = proof.check_welcome(welcome.mac);
#pragma once

#include <optional>
#include <string>

#include "capture/security/proof.h"
#include "capture/security/token.h"

namespace accelscope::capture::security {

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
