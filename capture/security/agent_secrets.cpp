#include "capture/security/agent_secrets.h"

#include <fmt/format.h>

#include <utility>

#include "capture/security/agent_gate.h"
#include "capture/security/private_files.h"

namespace accelscope::capture::security {
namespace {

Result<AgentIdentity> identity_in(const Result<std::string>& folder) {
  if (!folder) return folder.error();
  return load_or_make_identity(folder.value());
}

Result<std::optional<Token>> choose_token(const AgentSecretOptions& options, const Result<std::string>& folder,
                                          std::vector<std::string>& notes) {
  const auto chosen = [](Result<Token> token) -> Result<std::optional<Token>> {
    if (!token) return token.error();
    return std::optional<Token>(std::move(token).value());
  };
  if (options.token_descriptor >= 0) return chosen(read_token(options.token_descriptor));
  if (!options.token_file.empty()) return chosen(load_token(options.token_file));
  if (!must_want_token(options.listen, options.may_run)) return std::optional<Token>();
  if (!folder) return folder.error();
  notes.push_back(fmt::format("viewers need the token in {}/token", folder.value()));
  return chosen(load_or_make_token(folder.value()));
}

}  // namespace

Result<AgentSecrets> prepare_agent_secrets(const AgentSecretOptions& options) {
  const Result<std::string> folder = options.folder.empty() ? private_folder() : Result<std::string>(options.folder);
  AgentSecrets secrets;
  Result<AgentIdentity> identity = identity_in(folder);
  if (identity) {
    secrets.notes.push_back(fmt::format("certificate {}", identity.value().fingerprint));
    secrets.identity = std::make_shared<const AgentIdentity>(std::move(identity).value());
  } else if (!system::is_loopback(options.listen)) {
    return identity.error();
  } else {
    secrets.notes.push_back(fmt::format("no encrypted connections: {}", identity.message()));
  }
  Result<std::optional<Token>> token = choose_token(options, folder, secrets.notes);
  if (!token) return token.error();
  secrets.token = std::move(token).value();
  return secrets;
}

}  // namespace accelscope::capture::security
