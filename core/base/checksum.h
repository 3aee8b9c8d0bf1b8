// The one checksum of the product: XXH3, 64 bits. Guards chunks, definitions and wire frames against damage,
// not against an adversary.
#pragma once

#include <optional>

#include "core/base/bytes.h"

namespace accelscope {

[[nodiscard]] std::uint64_t checksum(ByteView bytes) noexcept;

// What is kept as a whole ends with the checksum of what is before it.
void append_checksum(Bytes& content);
// What is before it; nothing if it is wrong.
[[nodiscard]] std::optional<ByteView> checked_content(ByteView bytes) noexcept;

}  // namespace accelscope
