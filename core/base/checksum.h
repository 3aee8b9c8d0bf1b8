// The one checksum of the product: XXH3, 64 bits. Guards chunks, definitions and wire frames against damage,
// not against an adversary.
#pragma once

#include "core/base/bytes.h"

namespace accelscope {

[[nodiscard]] std::uint64_t checksum(ByteView bytes) noexcept;

}  // namespace accelscope
