// What an agent needs before it listens: a certificate if viewers are to reach it encrypted, a token if they are to
// prove that they may.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/security/agent_identity.h"
#include "capture/security/token.h"
#include "capture/system/address.h"

namespace accelscope::capture::security {

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
