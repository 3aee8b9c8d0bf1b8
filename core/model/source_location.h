// Source locations as events carry them, in columns with Role::source_location: "dir/file.py:33", a column number
// behind it is allowed and left out.
#pragma once

#include <cstdint>
#include <string_view>

namespace accelscope {

// Its path and line; false if the text names no line.
[[nodiscard]] bool parse_source_location(std::string_view text, std::string_view& path, std::uint32_t& line) noexcept;

}  // namespace accelscope
