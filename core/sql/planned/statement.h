// A SELECT taken apart into its clauses, its items and their aliases, by tokens. Knows no columns.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sql/base/tokens.h"

namespace accelscope::sql {

template <std::size_t N>
[[nodiscard]] bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  for (const std::string_view known : words) {
    if (known == word) return true;
  }
  return false;
}

// What may stand in an expression beside names, with no influence on which rows there are.
inline constexpr std::array<std::string_view, 30> kExpressionWords{
    "and",  "or",   "not",  "is",   "null", "in",    "between", "like",   "glob",    "regexp",
    "case", "when", "then", "else", "end",  "asc",   "desc",    "last",   "escape",  "nulls",
    "cast", "as",   "int",  "real", "text", "first", "integer", "isnull", "notnull", "numeric"};

class PlannedStatement {
 public:
  enum Clause : std::uint8_t { kSelect, kFrom, kWhere, kGroup, kHaving, kOrder, kLimit, kClauses };
  struct Item {
    std::size_t begin = 0;  // tokens, without the alias
    std::size_t end = 0;
    std::string alias;  // in lower case; empty: none
  };

  // Nothing for a statement of another shape: subqueries, compounds, clauses that are not in the list.
  [[nodiscard]] static std::optional<PlannedStatement> read(std::string_view sql);

  [[nodiscard]] const std::vector<Token>& tokens() const noexcept { return tokens_; }
  [[nodiscard]] bool has(Clause clause) const noexcept { return clause == kSelect || starts_[clause] != 0; }
  // The clause's keyword; its content [begin, end).
  [[nodiscard]] std::size_t start(Clause clause) const noexcept { return starts_[clause]; }
  [[nodiscard]] std::size_t begin(Clause clause) const noexcept {
    return starts_[clause] + (clause == kGroup || clause == kOrder ? 2 : 1);
  }
  [[nodiscard]] std::size_t end(Clause clause) const noexcept;
  [[nodiscard]] bool distinct() const noexcept { return distinct_; }
  [[nodiscard]] const std::vector<Item>& items() const noexcept { return items_; }
  [[nodiscard]] const Item* item_of_alias(const Token& token) const;
  // The item of that number, counted from one; null if the token is no such number.
  [[nodiscard]] const Item* item_of_position(const Token& token) const;
  // False unless the clause is made of one or two whole numbers.
  [[nodiscard]] bool read_limit(std::uint64_t& limit, std::uint64_t& offset) const;

  // Ends of the parts of [begin, end) between commas that are in no brackets.
  [[nodiscard]] std::vector<std::size_t> part_ends(std::size_t begin, std::size_t end) const;
  // The bracket that closes the one at `open`; `end` if there is none.
  [[nodiscard]] std::size_t closing(std::size_t open, std::size_t end) const;

 private:
  bool find_clauses();
  bool read_items();
  [[nodiscard]] Item read_alias(std::size_t begin, std::size_t end) const;

  std::vector<Token> tokens_;
  std::array<std::size_t, kClauses> starts_{};
  bool distinct_ = false;
  std::vector<Item> items_;
};

}  // namespace accelscope::sql
