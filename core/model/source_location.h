// Source locations as events carry them, in columns with Role::source_location: "dir/file.py:33", a column number
// behind it is allowed and left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/definitions.h"

namespace accelscope {

// Its path and line; false if the text names no line.
[[nodiscard]] bool parse_source_location(std::string_view text, std::string_view& path, std::uint32_t& line) noexcept;

// Equal, or one ends with the other at a folder's edge.
[[nodiscard]] bool same_source(std::string_view a, std::string_view b) noexcept;

// Index into the sources of the file that the path of a location means.
[[nodiscard]] std::optional<std::size_t> find_source(const std::vector<std::shared_ptr<const SourceFile>>& sources,
                                                     std::string_view path);

// "file.py:33", "file.py:33 in gelu", "gelu (file.py:33)", "file.py(33): gelu" as a stack names them.
struct StackFrame {
  std::string text;      // as recorded
  std::string function;  // "" if it names none
  std::string path;      // "" if it names no line
  std::uint32_t line = 0;
};
[[nodiscard]] StackFrame parse_stack_frame(std::string_view text);

}  // namespace accelscope
