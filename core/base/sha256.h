// SHA-256 (FIPS 180-4), for naming file contents in tables and exports. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace accelscope {

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace accelscope
