#include "core/base/checksum.h"

#include <xxhash.h>

namespace accelscope {

std::uint64_t checksum(ByteView bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace accelscope
