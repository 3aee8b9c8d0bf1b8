// Who an agent is: a P-256 key and a certificate that it signs itself. Viewers remember the fingerprint of the
// certificate, so it is made once and kept: agent.key and agent.crt in the folder of the agent.
#pragma once

#include <cstdint>
#include <optional>
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

// The viewer's memory of agents: which certificate each had when the user first trusted it. A text file of lines
// "HOST:PORT SHA256:...", mode 0600; lines that begin with # are comments. Several lines of one agent are all trusted.

enum class AgentVerdict : std::uint8_t { known, first_use, changed };

struct AgentCheck {
  AgentVerdict verdict = AgentVerdict::first_use;
  std::string message;  // changed: both fingerprints, what that may mean, and the line to remove
};

class KnownAgents {
 public:
  explicit KnownAgents(std::string path) : path_(std::move(path)) {}

  // Read anew each time: another viewer may have learnt an agent meanwhile. Fails if the file cannot be read or has a
  // line that is neither of the above, since what it was meant to say is then unknown.
  [[nodiscard]] Result<AgentCheck> check(const std::string& address, const std::string& fingerprint) const;
  Result<void> remember(const std::string& address, const std::string& fingerprint);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// known_agents in the user's private folder.
[[nodiscard]] Result<std::string> known_agents_path();

[[nodiscard]] bool is_fingerprint(const std::string& text);  // "SHA256:" and 43 characters of base64

}  // namespace accelscope::capture::security
