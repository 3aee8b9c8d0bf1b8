// The tokens of a statement, as far as sql_native_reader needs to tell them apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::sql {

enum class TokenKind : std::uint8_t {
  word,    // a name or a keyword; its text is in lower case
  quoted,  // "name", `name` or [name]; its text is the name
  number,
  text,  // 'literal'; its text is the content
  mark,  // an operator, a bracket, a comma
};

struct Token {
  TokenKind kind = TokenKind::mark;
  std::string text;
  std::size_t begin = 0;  // [begin, end) of the statement
  std::size_t end = 0;

  [[nodiscard]] bool is_word(std::string_view word) const noexcept { return kind == TokenKind::word && text == word; }
  [[nodiscard]] bool is_mark(std::string_view mark) const noexcept { return kind == TokenKind::mark && text == mark; }
  [[nodiscard]] bool is_name() const noexcept { return kind == TokenKind::word || kind == TokenKind::quoted; }
};

// Nothing for a statement with something that simple queries do not have: blobs, variables, unclosed quotes.
[[nodiscard]] std::optional<std::vector<Token>> tokens_of(std::string_view sql);

}  // namespace accelscope::sql
