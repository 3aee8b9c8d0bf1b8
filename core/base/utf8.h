// UTF-8, checked: text from programs and files need not be what it says it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace accelscope {

// Length of the well-formed sequence at the front of the text, which must not be empty; 0 if there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

// At most so many bytes of the text's front, and no character cut in two.
[[nodiscard]] constexpr std::string_view utf8_front(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) --most;
  return text.substr(0, most);
}

[[nodiscard]] bool is_well_formed_utf8(std::string_view text) noexcept;
// A copy in which every byte that is not UTF-8 is U+FFFD.
[[nodiscard]] std::string mended_utf8(std::string_view text);

// What files of text may begin with, saying that they are UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

}  // namespace accelscope
