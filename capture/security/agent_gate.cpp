#include "capture/security/agent_gate.h"

#include <fmt/format.h>

#include <utility>

namespace accelscope::capture::security {
namespace {

constexpr const char* kWhereTheTokenIs =
    "use the one in the file 'token' of the agent's folder, ~/.config/accelscope on its host, or the one that it was "
    "started with";

}  // namespace

bool must_want_token(const system::Address& listen, bool may_run) { return may_run || !system::is_loopback(listen); }

AgentGate::AgentGate(std::optional<Token> token) : token_(std::move(token)) {}

Result<AgentGate::Visit> AgentGate::visit(const Bytes& channel_binding) {
  Result<std::string> nonce = make_nonce();
  if (!nonce) return nonce.error();
  return Visit(*this, {std::move(nonce).value(), "", channel_binding});
}

Result<std::string> AgentGate::Visit::check(const std::string& viewer_nonce, std::string_view mac) {
  if (!gate_->token_) return std::string();
  if (std::exchange(checked_, true)) return Error{"a token is proved once; connect again"};
  if (mac.empty()) return Error{fmt::format("this agent wants a token; {}", kWhereTheTokenIs)};
  input_.viewer_nonce = viewer_nonce;
  const Result<bool> right = check_mac(*gate_->token_, ProofSide::viewer, input_, mac);
  if (!right) return right.error();
  if (!right.value()) return Error{fmt::format("the viewer's token is not this agent's; {}", kWhereTheTokenIs)};
  return make_mac(*gate_->token_, ProofSide::agent, input_);
}

}  // namespace accelscope::capture::security
