// How long a name, and how deep a stack, is taken apart: those of real programs stay far below, and one that somebody
// made up must not cost more than it holds. What is longer is shown whole where there is room, and by its front else.
#pragma once

#include <cstddef>
#include <string_view>

namespace accelscope {

struct NameLimits {
  static constexpr std::size_t kName = 65'536;   // bytes of a name whose parts are looked for
  static constexpr std::size_t kFront = 120;     // of a longer one, as its short form
  static constexpr std::size_t kForms = 16;      // of one name, the whole one included
  static constexpr std::size_t kPathSteps = 8;   // "b/c/d", "c/d", "d": from the end
  static constexpr std::size_t kParts = 64;      // words that can tell two names apart
  static constexpr std::size_t kField = 64;      // bytes of a field of a kernel's name: "bf16", "128x64"
  static constexpr std::size_t kFrames = 1'024;  // of a stack, the innermost ones; and steps of a path
};

// The front of a text of frames, innermost first and a line each, with at most so many of them.
[[nodiscard]] constexpr std::string_view innermost_frames(std::string_view stack,
                                                          std::size_t most = NameLimits::kFrames) noexcept {
  std::size_t end = 0;
  for (std::size_t frame = 0; frame < most; ++frame) {
    const std::size_t found = stack.find('\n', end);
    if (found == std::string_view::npos) return stack;
    end = found + 1;
  }
  return stack.substr(0, end);
}

}  // namespace accelscope
