// The one checksum of the product: XXH3, 64 bits. Guards chunks, definitions and wire frames against damage,
// not against an adversary.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace accelscope {

[[nodiscard]] std::uint64_t checksum(ByteView bytes) noexcept;

// What is kept as a whole ends with the checksum of what is before it.
void append_checksum(Bytes& content);
// What is before it; nothing if it is wrong.
[[nodiscard]] std::optional<ByteView> checked_content(ByteView bytes) noexcept;

// SHA-256 (FIPS 180-4), for naming file contents in tables and exports. Not for secrets.

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace accelscope
