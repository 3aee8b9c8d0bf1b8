// Where an agent listens and a viewer connects: HOST:PORT, with HOST one of this machine's own addresses. Anything
// else is refused with the reason, since what is streamed is not encrypted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::capture {

inline constexpr std::uint16_t kDefaultPort = 7420;

struct Address {
  std::string host = "127.0.0.1";  // numeric
  std::uint16_t port = kDefaultPort;
  [[nodiscard]] std::string text() const;  // "127.0.0.1:7420", "[::1]:7420"
  bool operator==(const Address&) const = default;
};

// "127.0.0.1:7420", "localhost:7420", "[::1]:7420"; without a port the default one. Port 0, any free one, is for
// listening only.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

}  // namespace accelscope::capture
