#include "capture/security/agent_gate.h"

#include <fmt/format.h>

#include <utility>

#include "capture/security/secrets.h"

namespace accelscope::capture::security {
namespace {

constexpr const char* kWhereTheTokenIs =
    "use the one in the file 'token' of the agent's folder, ~/.config/accelscope on its host, or the one that it was "
    "started with";

}  // namespace

bool must_want_token(const system::Address& listen, bool may_run) { return may_run || !system::is_loopback(listen); }

AgentGate::AgentGate(std::optional<Token> token) : token_(std::move(token)) {}

Result<AgentGate::Visit> AgentGate::visit(const Bytes& channel_binding) {
  std::string nonce = TRY(make_nonce());
  return Visit(*this, {std::move(nonce), "", channel_binding});
}

Result<std::string> AgentGate::Visit::check(const std::string& viewer_nonce, std::string_view mac) {
  if (!gate_->token_) return std::string();
  if (std::exchange(checked_, true)) return Error{"a token is proved once; connect again"};
  if (mac.empty()) return Error{fmt::format("this agent wants a token; {}", kWhereTheTokenIs)};
  input_.viewer_nonce = viewer_nonce;
  const bool right = TRY(check_mac(*gate_->token_, ProofSide::viewer, input_, mac));
  if (!right) return Error{fmt::format("the viewer's token is not this agent's; {}", kWhereTheTokenIs)};
  return make_mac(*gate_->token_, ProofSide::agent, input_);
}

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
  std::optional<Token> token = TRY(choose_token(options, folder, secrets.notes));
  secrets.token = std::move(token);
  return secrets;
}

}  // namespace accelscope::capture::security
