#include "capture/security/viewer_proof.h"

namespace accelscope::capture::security {

Result<ViewerProof> ViewerProof::begin(std::optional<Token> token) {
  Result<std::string> nonce = make_nonce();
  if (!nonce) return nonce.error();
  return ViewerProof(std::move(token), std::move(nonce).value());
}

Result<std::string> ViewerProof::prove(const std::string& agent_nonce, const Bytes& channel_binding) {
  if (!token_) {
    return Error{
        "the agent wants a token; give the file that holds it with --token-file (the agent keeps its own in "
        "~/.config/accelscope/token on its host)"};
  }
  input_.agent_nonce = agent_nonce;
  input_.channel_binding = channel_binding;
  proved_ = true;
  return make_mac(*token_, ProofSide::viewer, input_);
}

Result<void> ViewerProof::check_welcome(std::string_view mac) const {
  if (!proved_) return {};
  const Result<bool> right = check_mac(*token_, ProofSide::agent, input_, mac);
  if (!right) return right.error();
  if (!right.value()) {
    return Error{"it does not know the token itself, so it is not the agent that it says it is; check the address"};
  }
  return {};
}

}  // namespace accelscope::capture::security
