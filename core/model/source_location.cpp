#include "core/model/source_location.h"

#include <charconv>

namespace accelscope {

bool parse_source_location(std::string_view text, std::string_view& path, std::uint32_t& line) noexcept {
  const auto split = [](std::string_view whole, std::string_view& before, std::uint32_t& number) {
    const std::size_t colon = whole.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const char* end = whole.data() + whole.size();
    const auto [last, code] = std::from_chars(whole.data() + colon + 1, end, number);
    before = whole.substr(0, colon);
    return code == std::errc() && last == end;
  };
  if (!split(text, path, line)) return false;
  std::string_view shorter;
  std::uint32_t number = 0;
  if (split(path, shorter, number)) {  // what was read is the column
    path = shorter;
    line = number;
  }
  return true;
}

}  // namespace accelscope
