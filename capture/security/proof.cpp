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

}  // namespace accelscope::capture::security
