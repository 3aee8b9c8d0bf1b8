#include "capture/security/proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace accelscope::capture::security {

Result<std::string> make_nonce() {
  std::string nonce(kNonceBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size())) != 1) {
    return Error{"the system has no random numbers, without which no token can be proved"};
  }
  return nonce;
}

Result<std::string> make_mac(const Token& token, ProofSide side, const ProofInput& input) {
  if (input.agent_nonce.size() != kNonceBytes || input.viewer_nonce.size() != kNonceBytes) {
    return Error{"a hello without a nonce of 32 bytes"};
  }
  std::string message = side == ProofSide::viewer ? "viewer" : "agent";
  message += input.agent_nonce;
  message += input.viewer_nonce;
  message.append(reinterpret_cast<const char*>(input.channel_binding.data()), input.channel_binding.size());
  std::string mac(kMacBytes, '\0');
  const unsigned char* done = HMAC(EVP_sha256(), token.secret().data(), static_cast<int>(token.secret().size()),
                                   reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                   reinterpret_cast<unsigned char*>(mac.data()), nullptr);
  if (done == nullptr) return Error{"the proof of the token cannot be computed"};
  return mac;
}

Result<bool> check_mac(const Token& token, ProofSide side, const ProofInput& input, std::string_view mac) {
  const Result<std::string> expected = make_mac(token, side, input);
  if (!expected) return expected.error();
  return mac.size() == kMacBytes && CRYPTO_memcmp(expected.value().data(), mac.data(), kMacBytes) == 0;
}

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
