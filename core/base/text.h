// Small things done with text, in ASCII: names and words of formats and commands, whatever the user's language.
#pragma once

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

[[nodiscard]] std::string file_name(std::string_view path);  // what follows the last /
[[nodiscard]] std::string with_blanks(std::string name);     // "tensor_copy" -> "tensor copy"

[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view between = ", ");

// The names of a list as it is typed: "name,dma.size". One that holds a comma stands in double quotes, as texts of
// searches do, and a quote inside them is written twice. Fails where a quote has no end, or something follows it.
[[nodiscard]] Result<std::vector<std::string>> names_of_list(std::string_view list);

// How typed text finds things in short lists (commands, recent sessions, files): every word must occur, whatever the
// case. Searching events is another matter: see core/search.
[[nodiscard]] bool matches_words(std::string_view text, std::string_view words);

// How good a match is, for ordering: 0 no match; higher when the text, then a word of it, begins with the words.
[[nodiscard]] int match_score(std::string_view text, std::string_view words);

}  // namespace accelscope
