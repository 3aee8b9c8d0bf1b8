#include "core/base/checksum.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include <array>

namespace accelscope {

std::uint64_t checksum(ByteView bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

void append_checksum(Bytes& content) {
  const std::uint64_t sum = checksum(content);
  const ByteView raw = std::as_bytes(std::span(&sum, 1));
  content.insert(content.end(), raw.begin(), raw.end());
}

std::optional<ByteView> checked_content(ByteView bytes) noexcept {
  if (bytes.size() < sizeof(std::uint64_t)) return {};
  const ByteView content = bytes.first(bytes.size() - sizeof(std::uint64_t));
  if (ByteReader(bytes.subspan(content.size())).number<std::uint64_t>() != checksum(content)) return {};
  return content;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  // Fails for want of memory only; an empty name then says that there is none.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) return {};
  return fmt::format("{:02x}", fmt::join(digest.data(), digest.data() + length, ""));
}

}  // namespace accelscope
