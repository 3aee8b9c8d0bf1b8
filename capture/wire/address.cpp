#include "capture/wire/address.h"

#include <fmt/format.h>

#include <asio/ip/address.hpp>
#include <charconv>
#include <optional>

namespace accelscope::capture {
namespace {

struct HostAndPort {
  std::string_view host;
  std::optional<std::string_view> port;
};

HostAndPort split(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return {text, {}};
    const std::string_view rest = text.substr(close + 1);
    if (rest.empty()) return {text.substr(1, close - 1), {}};
    return {text.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : rest};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

std::string Address::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<Address> parse_address(std::string_view text) {
  const HostAndPort parts = split(text);
  Address address;
  if (parts.port) {
    const char* const end = parts.port->data() + parts.port->size();
    const auto [parsed, failure] = std::from_chars(parts.port->data(), end, address.port);
    if (failure != std::errc{} || parsed != end) {
      return Error{
          fmt::format("{}: '{}' is not a port; write HOST:PORT with a port from 1 to 65535", text, *parts.port)};
    }
  }
  address.host = parts.host == "localhost" ? "127.0.0.1" : std::string(parts.host);
  asio::error_code failure;
  const asio::ip::address ip = asio::ip::make_address(address.host, failure);
  if (failure || !ip.is_loopback()) {
    return Error{fmt::format(
        "{}: only this machine's own addresses (127.0.0.1, ::1, localhost) are taken, because the connection is not "
        "encrypted; for another machine open a tunnel, ssh -L {}:127.0.0.1:{} HOST, and connect to 127.0.0.1:{}",
        text, address.port, address.port, address.port)};
  }
  address.host = ip.to_string();
  return address;
}

}  // namespace accelscope::capture
