#include "capture/wire/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace accelscope::capture::wire {
Result<void> check_versions(const Hello& own, const Hello& peer) {
  if (own.major == peer.major) return {};
  const Hello& older = own.major < peer.major ? own : peer;
  const auto name = [](const Hello& hello) {
    return fmt::format("{} {}", printable(hello.program, 64), printable(hello.program_version, 64));
  };
  return Error{fmt::format("{} speaks protocol {}.{}, {} speaks {}.{}; update {}", name(own), own.major, own.minor,
                           name(peer), peer.major, peer.minor, printable(older.program, 64))};
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string shown = plain_text(text.substr(0, max_bytes));
  std::size_t end = std::min(shown.size(), max_bytes);
  while (end < shown.size() && end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0U) == 0x80U) --end;
  shown.resize(end);
  return shown;
}

bool safe_relative_path(std::string_view path) {
  if (path.empty() || path.size() > 4'096) return false;
  const bool plain = std::none_of(
      path.begin(), path.end(), [](char c) { return c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!plain) return false;
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace accelscope::capture::wire
