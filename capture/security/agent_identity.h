// Who an agent is: a P-256 key and a certificate that it signs itself. Viewers remember the certificate's fingerprint
// (known_agents.h), so it is made once and kept: agent.key and agent.crt in the agent's folder.
#pragma once

#include <string>

#include "core/base/result.h"

struct x509_st;  // OpenSSL's X509

namespace accelscope::capture::security {

struct AgentIdentity {
  std::string key_pem;
  std::string certificate_pem;
  std::string fingerprint;
};

// Makes what is missing. Fails if others than the owner can read the key, with the command that mends it, and if the
// two files do not belong together.
[[nodiscard]] Result<AgentIdentity> load_or_make_identity(const std::string& folder);

// A new one, written nowhere.
[[nodiscard]] Result<AgentIdentity> make_identity();

// "SHA256:" and the certificate's digest in base64 without padding, as ssh writes fingerprints.
[[nodiscard]] std::string certificate_fingerprint(const x509_st& certificate);

}  // namespace accelscope::capture::security
