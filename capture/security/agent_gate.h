// Lets viewers in who prove that they know the agent's token. One gate per agent; one visit per connection:
//
//   AgentGate::Visit visit = *gate.visit(link->channel_binding());
//   hello.nonce = visit.nonce();                   // and capability "token" if gate.wants_token()
//   ... the viewer's hello and its proof came ...
//   Result<std::string> mac = visit.check(viewer_hello.nonce, proof.mac);
//   if (!mac) refuse(ErrorCode::refused, mac.message());
//   welcome.mac = *mac;
//
// All of it on the loop's thread. No message holds a secret. A token is too long to be guessed, and what a guess costs
// is its connection: no number of wrong ones, from whichever address, keeps out whoever knows the right one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/security/identities.h"
#include "capture/security/secrets.h"
#include "capture/system/address.h"

namespace accelscope::capture::security {

// An agent that other machines reach, or that starts programs for its viewers, lets in nobody without the token.
[[nodiscard]] bool must_want_token(const system::Address& listen, bool may_run);

class AgentGate {
 public:
  class Visit;

  // Without a token everybody is let in.
  explicit AgentGate(std::optional<Token> token);

  [[nodiscard]] bool wants_token() const noexcept { return token_.has_value(); }
  // The gate outlives its visits. Fails if the system has no random numbers.
  [[nodiscard]] Result<Visit> visit(const Bytes& channel_binding);

 private:
  std::optional<Token> token_;
};

class AgentGate::Visit {
 public:
  [[nodiscard]] const std::string& nonce() const noexcept { return input_.agent_nonce; }

  // The agent's mac for its welcome ("" if no token is wanted), or why the viewer is refused, with what to try. A
  // viewer that sends something else instead of its proof is to be checked with an empty mac. Once per connection.
  [[nodiscard]] Result<std::string> check(const std::string& viewer_nonce, std::string_view mac);

 private:
  friend class AgentGate;
  Visit(AgentGate& gate, ProofInput input) : gate_(&gate), input_(std::move(input)) {}

  AgentGate* gate_;
  ProofInput input_;
  bool checked_ = false;
};

// What an agent needs before it listens: a certificate if viewers are to reach it encrypted, a token if they are to
// prove that they may.
struct AgentSecretOptions {
  system::Address listen;
  bool may_run = false;       // starts programs for its viewers
  std::string token_file;     // --token-file
  int token_descriptor = -1;  // --token-stdin: 0
  std::string folder;         // empty: private_folder()
};

struct AgentSecrets {
  std::shared_ptr<const AgentIdentity> identity;  // none: only loopback, and plain
  std::optional<Token> token;                     // none: everybody on this machine is let in
  std::vector<std::string> notes;                 // for the agent's log: the fingerprint, where the token is; no secret
};

// Makes what is missing. An agent on loopback that has no folder to keep a certificate in goes without one.
[[nodiscard]] Result<AgentSecrets> prepare_agent_secrets(const AgentSecretOptions& options);

}  // namespace accelscope::capture::security
