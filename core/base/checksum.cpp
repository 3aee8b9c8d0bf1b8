#include "core/base/checksum.h"

#include <xxhash.h>

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

}  // namespace accelscope
