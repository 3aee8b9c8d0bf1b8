#include "core/base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace accelscope {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  // Fails for want of memory only; an empty name then says that there is none.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) return {};
  return fmt::format("{:02x}", fmt::join(digest.data(), digest.data() + length, ""));
}

}  // namespace accelscope
