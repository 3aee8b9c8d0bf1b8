// SQL as tokens: enough to find the parts of a query without understanding it. Texts point into the query. Comments and
// blanks are left out; what cannot be read (an open quote) ends as one token, and SQLite says what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::sql {

struct SqlToken {
  enum class Kind : std::uint8_t { word, quoted_name, string, number, symbol };
  Kind kind = Kind::symbol;
  std::string_view text;  // with its quotes

  // Words are compared without regard to case, as SQLite does.
  [[nodiscard]] bool is_word(std::string_view lower) const;
  [[nodiscard]] bool is_symbol(std::string_view symbol) const noexcept {
    return kind == Kind::symbol && text == symbol;
  }
  // A word or quoted name without quotes, in lower case; "" for other tokens.
  [[nodiscard]] std::string name() const;
};

[[nodiscard]] std::vector<SqlToken> sql_tokens(std::string_view sql);

}  // namespace accelscope::sql
