#include "capture/reach/place.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace accelscope::capture::reach {
namespace {

constexpr std::string_view kSsh = "ssh://";
constexpr std::string_view kLettersAndDigits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::size_t kPlaceLongestName = 253;  // of a host in the domain name system

[[nodiscard]] bool made_of(std::string_view text, std::string_view marks) {
  for (const char c : text) {
    if (kLettersAndDigits.find(c) == std::string_view::npos && marks.find(c) == std::string_view::npos) return false;
  }
  return true;
}

[[nodiscard]] Error wrong(std::string_view text, std::string_view what) {
  return Error{fmt::format("{}: {}; write ssh://HOST, ssh://USER@HOST or ssh://USER@HOST:PORT", text, what)};
}

// Takes the port behind the last colon, and brackets, off the host.
[[nodiscard]] Result<void> split_port(std::string_view text, std::string_view rest, Place& place) {
  std::string_view port;
  bool has_port = false;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return wrong(text, "the bracket is not closed");
    place.host = rest.substr(1, end - 1);
    if (place.host.find(':') == std::string::npos) return wrong(text, "only an IPv6 address is put in brackets");
    rest.remove_prefix(end + 1);
    if (!rest.empty() && rest.front() != ':') return wrong(text, "only a port may follow the bracket");
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else {
    const std::size_t colon = rest.find(':');
    has_port = colon != std::string_view::npos;
    place.host = rest.substr(0, colon);
    if (has_port) port = rest.substr(colon + 1);
    if (port.find(':') != std::string_view::npos) return wrong(text, "an IPv6 address is put in brackets");
  }
  if (!has_port) return {};
  if (!read_number(port, place.port) || place.port == 0)
    return wrong(text, fmt::format("'{}' is no port from 1 to 65535", port));
  return {};
}

[[nodiscard]] Result<Place> parse_ssh(std::string_view text) {
  Place place{.kind = Place::Kind::ssh};
  std::string_view rest = text.substr(kSsh.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  // Names of users in a directory service hold an @ themselves.
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    place.user = rest.substr(0, at);
    if (place.user.empty()) return wrong(text, "the user before the @ is missing");
    rest.remove_prefix(at + 1);
  }
  TRY(split_port(text, rest, place));
  if (place.host.empty()) return wrong(text, "the host is missing");
  if (place.host.starts_with('-') || place.user.starts_with('-')) {
    return wrong(text, "a host or a user does not begin with '-'");
  }
  if (place.host.size() > kPlaceLongestName || place.user.size() > kPlaceLongestName)
    return wrong(text, "the name is too long");
  if (!made_of(place.host, "._-:%")) return wrong(text, fmt::format("'{}' is no name of a host", place.host));
  if (!made_of(place.user, "._-+@")) return wrong(text, fmt::format("'{}' is no name of a user", place.user));
  return place;
}

}  // namespace

std::string Place::text() const {
  if (kind == Kind::local) return "local";
  if (kind == Kind::address) return address;
  std::string written(kSsh);
  if (!user.empty()) written += user + "@";
  written += host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != 0) written += fmt::format(":{}", port);
  return written;
}

Result<Place> parse_place(std::string_view text) {
  if (text.empty()) return Error{"nothing is named; write local, HOST:PORT or ssh://USER@HOST"};
  if (text == "local") return Place{};
  if (text.starts_with(kSsh)) return parse_ssh(text);
  return Place{.kind = Place::Kind::address, .address = std::string(text)};
}

}  // namespace accelscope::capture::reach
