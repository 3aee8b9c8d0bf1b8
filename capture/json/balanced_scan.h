// Finds where a JSON object or array ends, 64 bytes at a time. It looks at quotes, backslashes and brackets only:
// whether the text between them is well formed is for the row parser to say.
#pragma once

#include <cstddef>
#include <cstdint>

namespace accelscope::capture::json {

// Retained between calls for a value that comes in pieces.
struct BalancedScan {
  std::uint32_t depth = 0;  // brackets open after the bytes seen so far
  std::uint32_t max_depth = 0;
  bool in_string = false;
  bool escaped = false;  // the next byte follows a backslash
};

// Goes on through the next piece; the first one begins at the opening bracket. Returns the number of bytes up to and
// with its partner, 0 if it is not in this piece. kScanPadding bytes after the piece may be read.
[[nodiscard]] std::size_t scan_balanced(BalancedScan& scan, const char* text, std::size_t size) noexcept;

// The length of the string literal that begins at `text`, quotes included; 0: the text ends before.
[[nodiscard]] std::size_t scan_string(const char* text, std::size_t size) noexcept;

inline constexpr std::size_t kScanPadding = 64;

}  // namespace accelscope::capture::json
