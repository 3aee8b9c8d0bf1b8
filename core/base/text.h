// Small things done with text, in ASCII: names and words of formats and commands, whatever the user's language.
#pragma once

#include <charconv>
#include <cstddef>
#include <ostream>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

[[nodiscard]] constexpr char lower_case(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string upper_case(std::string_view text);

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;  // without blanks at both ends

// All of the text is a number of this type, in the usual notation of programs.
template <typename T>
[[nodiscard]] bool read_number(std::string_view text, T& number) noexcept {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end;
}

[[nodiscard]] std::string file_name(std::string_view path);  // what follows the last /
[[nodiscard]] std::string with_blanks(std::string name);     // "tensor_copy" -> "tensor copy"
[[nodiscard]] std::string capitalised(std::string text);     // "tensor copy" -> "Tensor copy"

[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view between = ", ");

// The names of a list as it is typed: "name,dma.size". One that holds a comma stands in double quotes, as texts of
// searches do, and a quote inside them is written twice. Fails where a quote has no end, or something follows it.
[[nodiscard]] Result<std::vector<std::string>> names_of_list(std::string_view list);

// How typed text finds things in short lists (commands, recent sessions, files): every word must occur, whatever the
// case. Searching events is another matter: see core/search.
[[nodiscard]] bool matches_words(std::string_view text, std::string_view words);

// How good a match is, for ordering: 0 no match; higher when the text, then a word of it, begins with the words.
[[nodiscard]] int match_score(std::string_view text, std::string_view words);

// Text from files and peers on its way to a terminal: nothing in it may move the cursor, change colours or titles, or
// show letters in another order than they are written (C0 and C1 controls, DEL, the marks that set the direction of
// writing). What is no UTF-8 goes too, since terminals that are not in UTF-8 take single bytes for controls.
//
// A program's own output streams are wrapped once, in a PlainTextStream; data for other programs (JSON, CSV, bytes)
// passes it by with exact_stream().

// On one line. What is no UTF-8, control characters and those that turn the direction of writing become U+FFFD, so that
// it is seen that there was something; line ends and tabs become blanks.
[[nodiscard]] std::string plain_text(std::string_view text);
// The same, with its line ends and tabs.
[[nodiscard]] std::string plain_lines(std::string_view text);

class PlainTextBuffer final : public std::streambuf {
 public:
  explicit PlainTextBuffer(std::ostream& target) : target_(target) {}
  ~PlainTextBuffer() override;  // what was begun of a character is shown as no character
  PlainTextBuffer(const PlainTextBuffer&) = delete;
  PlainTextBuffer& operator=(const PlainTextBuffer&) = delete;
  [[nodiscard]] std::ostream& target() noexcept { return target_; }

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

 private:
  std::ostream& target_;
  std::string begun_;  // of a character whose last bytes are still to come
};

class PlainTextStream final : public std::ostream {
 public:
  explicit PlainTextStream(std::ostream& target) : std::ostream(nullptr), buffer_(target) { rdbuf(&buffer_); }

 private:
  PlainTextBuffer buffer_;
};

// The stream behind a PlainTextStream; any other is given back.
[[nodiscard]] std::ostream& exact_stream(std::ostream& stream);

// UTF-8, checked: text from programs and files need not be what it says it is.

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
[[nodiscard]] std::string repaired_utf8(std::string_view text);

// What files of text may begin with, saying that they are UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

// Names as people sort them (runs of digits count as numbers, so that "rank 2" comes before "rank 10"), and what
// somebody may have meant who wrote one that does not exist.

[[nodiscard]] bool natural_less(std::string_view a, std::string_view b) noexcept;

// The most similar of the names, regardless of case; "" if none is similar. A name that begins or ends like the wanted
// one (dur and dur_ns, duration and dur_ns) counts as similar, as do a few letters more, fewer, other or exchanged.
[[nodiscard]] std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace accelscope
