// Where an agent listens and a viewer connects: HOST:PORT. HOST is an IP address or a name; names are looked up when a
// connection is made (connector.h), not here.
//
// Who reads what is streamed: between loopback addresses nobody else on the network can, so plain TCP will do; a
// connection to any other host is always encrypted, and one to loopback if it is written tls://HOST:PORT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::capture::system {

inline constexpr std::uint16_t kDefaultPort = 7420;

struct Address {
  std::string host = "127.0.0.1";  // an IP address in its shortest form, or a name
  std::uint16_t port = kDefaultPort;
  bool tls = false;                                 // asked for with tls://
  [[nodiscard]] std::string text() const;           // "127.0.0.1:7420", "[::1]:7420", "tls://127.0.0.1:7420"
  [[nodiscard]] std::string host_and_port() const;  // without tls://
  bool operator==(const Address&) const = default;
};

// "127.0.0.1:7420", "localhost:7420", "[::1]:7420", "trn1-07:7420", "0.0.0.0:7420", "tls://127.0.0.1:7420"; without a
// port the default one. Port 0, any free one, is for listening only. "localhost" becomes 127.0.0.1.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

// One of this machine's own addresses (127.0.0.0/8, ::1), also as IPv6 writes an IPv4 address. Names are not: what
// they stand for may change.
[[nodiscard]] bool is_loopback(std::string_view ip);
[[nodiscard]] bool is_loopback(const Address& address);
[[nodiscard]] bool needs_tls(const Address& address);

// What a host and a process on it are called where captures tell of them.

[[nodiscard]] std::string host_name();  // "" if the system does not say
[[nodiscard]] std::string random_id();  // 16 hex digits, other ones each time

}  // namespace accelscope::capture::system
