#include "capture/system/address.h"

#include <fmt/format.h>
#include <asio/ip/address.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <random>

#include "core/base/text.h"

namespace accelscope::capture::system {
namespace {

constexpr std::string_view kTlsPrefix = "tls://";
constexpr std::size_t kAddressLongestName = 253;  // RFC 1035, 2.3.4

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

bool may_be_name(std::string_view host) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  };
  return !host.empty() && host.size() <= kAddressLongestName && host.front() != '-' &&
         std::all_of(host.begin(), host.end(), allowed);
}

}  // namespace

std::string Address::host_and_port() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string Address::text() const { return tls ? fmt::format("{}{}", kTlsPrefix, host_and_port()) : host_and_port(); }

Result<Address> parse_address(std::string_view text) {
  Address address;
  address.tls = text.starts_with(kTlsPrefix);
  const HostAndPort parts = split(address.tls ? text.substr(kTlsPrefix.size()) : text);
  if (parts.port) {
    const char* const end = parts.port->data() + parts.port->size();
    const auto [parsed, failure] = std::from_chars(parts.port->data(), end, address.port);
    if (failure != std::errc{} || parsed != end) {
      return Error{
          fmt::format("{}: '{}' is not a port; write HOST:PORT with a port from 1 to 65535", text, *parts.port)};
    }
  }
  address.host = lower_case(parts.host);
  if (address.host == "localhost") address.host = "127.0.0.1";
  asio::error_code failure;
  const asio::ip::address ip = asio::ip::make_address(address.host, failure);
  if (!failure) {
    address.host = ip.to_string();
  } else if (!may_be_name(parts.host)) {
    return Error{fmt::format(
        "{}: '{}' is neither a host's name nor an IP address; write HOST:PORT, such as 127.0.0.1:{} or [::1]:{}", text,
        parts.host, kDefaultPort, kDefaultPort)};
  }
  return address;
}

bool is_loopback(std::string_view text) {
  asio::error_code failure;
  const asio::ip::address ip = asio::ip::make_address(text, failure);
  if (failure) return false;
  if (ip.is_v6() && ip.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, ip.to_v6()).is_loopback();
  }
  return ip.is_loopback();
}

bool is_loopback(const Address& address) { return is_loopback(std::string_view(address.host)); }

bool needs_tls(const Address& address) { return address.tls || !is_loopback(address); }

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string random_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace accelscope::capture::system
