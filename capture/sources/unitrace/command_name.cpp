#include "capture/sources/unitrace/command_name.h"

#include "capture/sources/base/csv_table.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::unitrace {
namespace {

// "[1, 1024, 1]" of "{1; 1024; 1}" at the place, which moves behind it; "" if there is none.
[[nodiscard]] std::string take_extents(std::string_view text, std::size_t& at) {
  const std::size_t begin = text.find('{', at);
  const std::size_t end = text.find('}', begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  std::string extents = "[";
  for (const char character : text.substr(begin + 1, end - begin - 1)) {
    extents += character == ';' ? ',' : character;
  }
  at = end + 1;
  return extents + "]";
}

}  // namespace

CommandName read_command_name(std::string_view text) {
  CommandName found;
  found.name = text;
  const bool copy = text.find("MemoryCopy") != std::string_view::npos;
  const bool fill = text.find("MemoryFill") != std::string_view::npos;
  if (copy || fill) {
    found.kind = copy ? CommandKind::copy : CommandKind::fill;
  } else if (text.starts_with("zeCommandList")) {
    found.kind = CommandKind::other;
  }
  const std::size_t open = text.rfind('[');
  if (open == std::string_view::npos || !text.ends_with(']')) return found;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  if (copy || fill) {
    found.bytes = csv_integer(inside);
    if (found.bytes) found.name = text.substr(0, open);
    return found;
  }
  constexpr std::string_view kSimd = "SIMD";
  if (!inside.starts_with(kSimd)) return found;
  found.name = text.substr(0, open);
  std::size_t at = inside.find(' ');
  found.simd = csv_integer(inside.substr(kSimd.size(), at == std::string_view::npos ? at : at - kSimd.size()));
  if (at == std::string_view::npos) return found;
  found.groups = take_extents(inside, at);
  found.group_size = take_extents(inside, at);
  return found;
}

}  // namespace accelscope::capture::sources::unitrace
