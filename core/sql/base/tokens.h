// The tokens of a statement: for those who understand it in full, and for those who read what is being typed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sql/base/sql.h"

namespace accelscope::sql {

enum class TokenKind : std::uint8_t {
  word,    // a name or a keyword; its text is in lower case
  quoted,  // "name", `name` or [name]; its text is the name
  number,
  text,       // 'literal'; its text is the content
  parameter,  // :begin; its text is in lower case
  mark,       // an operator, a bracket, a comma, or any other character
  comment,
};

struct Token {
  TokenKind kind = TokenKind::mark;
  std::string text;
  std::size_t begin = 0;  // [begin, end) of the statement
  std::size_t end = 0;
  bool plain = true;  // false: simple queries do not have it, such as blobs, parameters, what is never closed

  [[nodiscard]] bool is_word(std::string_view word) const noexcept { return kind == TokenKind::word && text == word; }
  [[nodiscard]] bool is_mark(std::string_view mark) const noexcept { return kind == TokenKind::mark && text == mark; }
  [[nodiscard]] bool is_name() const noexcept { return kind == TokenKind::word || kind == TokenKind::quoted; }
};

// Of any text, comments too. A quote or a comment that is never closed ends with it.
[[nodiscard]] std::vector<Token> all_tokens(std::string_view sql);
// Those without the comments; nothing if one of them is not plain.
[[nodiscard]] std::optional<std::vector<Token>> tokens_of(std::string_view sql);

// What to try when SQLite does not know a table or a column.

// "; did you mean dur_ns?" or what there is, or that a name must be quoted, for SQLite's message; "" for messages about
// other things.
[[nodiscard]] std::string hint_for(std::string_view message, std::string_view sql,
                                   const std::vector<ListedTable>& tables);

}  // namespace accelscope::sql
