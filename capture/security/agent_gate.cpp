#include "capture/security/agent_gate.h"

#include <fmt/format.h>

#include <utility>

namespace accelscope::capture {
namespace {

constexpr const char* kWhereTheTokenIs =
    "use the one in the file 'token' of the agent's folder, ~/.config/accelscope on its host, or the one that it was "
    "started with";

// "10.0.0.5" of "10.0.0.5:40112"; what is no address, such as a socketpair's name, stands for itself.
std::string ip_of(const std::string& peer_address) {
  const Result<Address> address = parse_address(peer_address);
  return address ? address.value().host : peer_address;
}

}  // namespace

bool must_want_token(const Address& listen, bool may_run) { return may_run || !is_loopback(listen); }

AgentGate::AgentGate(std::optional<Token> token, FailureLimit limit)
    : token_(std::move(token)), limit_(std::move(limit)) {}

Result<AgentGate::Visit> AgentGate::visit(const std::string& peer_address, const Bytes& channel_binding) {
  Result<std::string> nonce = make_nonce();
  if (!nonce) return nonce.error();
  return Visit(*this, ip_of(peer_address), {std::move(nonce).value(), "", channel_binding});
}

Result<std::string> AgentGate::Visit::check(const std::string& viewer_nonce, std::string_view mac) {
  if (!gate_->token_) return std::string();
  if (std::exchange(checked_, true)) return Error{"a token is proved once; connect again"};
  if (const auto wait = gate_->limit_.wait_time(ip_); wait.count() > 0) {
    return Error{fmt::format("too many wrong tokens came from {}; try again in {} s", ip_, wait.count())};
  }
  if (mac.empty()) return Error{fmt::format("this agent wants a token; {}", kWhereTheTokenIs)};
  input_.viewer_nonce = viewer_nonce;
  const Result<bool> right = check_mac(*gate_->token_, ProofSide::viewer, input_, mac);
  if (!right) return right.error();
  if (!right.value()) {
    gate_->limit_.failed(ip_);
    return Error{fmt::format("the viewer's token is not this agent's; {}", kWhereTheTokenIs)};
  }
  gate_->limit_.succeeded(ip_);
  return make_mac(*gate_->token_, ProofSide::agent, input_);
}

}  // namespace accelscope::capture
