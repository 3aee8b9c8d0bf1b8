#include "core/query/sql_tokens.h"

#include <algorithm>
#include <array>

#include "core/query/sql_context.h"

namespace accelscope::sql {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Length of the blanks or the comment that the text begins with.
std::size_t blank_length(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f";
  if (const std::size_t blanks = text.find_first_not_of(kBlanks); blanks != 0) return std::min(blanks, text.size());
  if (text.starts_with("--")) return std::min(text.find('\n'), text.size());
  if (text.starts_with("/*")) {
    const std::size_t end = text.find("*/", 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  return 0;
}

// A doubled quote stands for itself, except in brackets.
std::size_t quoted_length(std::string_view text) {
  const char close = text.front() == '[' ? ']' : text.front();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != close) continue;
    if (close == ']' || i + 1 >= text.size() || text[i + 1] != close) return i + 1;
    ++i;
  }
  return text.size();
}

std::size_t symbol_length(std::string_view text) {
  constexpr std::array<std::string_view, 10> kLong = {"->>", "->", "||", "<=", ">=", "<>", "<<", ">>", "==", "!="};
  for (const std::string_view symbol : kLong) {
    if (text.starts_with(symbol)) return symbol.size();
  }
  return 1;
}

std::size_t number_length(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size()) {
    const bool exponent_sign = (text[length] == '+' || text[length] == '-') &&
                               (text[length - 1] == 'e' || text[length - 1] == 'E') && !text.starts_with("0x");
    if (!is_word_part(text[length]) && text[length] != '.' && !exponent_sign) break;
    ++length;
  }
  return length;
}

SqlToken first_token(std::string_view text) {
  using Kind = SqlToken::Kind;
  const char c = text.front();
  if (c == '\'') return {Kind::string, text.substr(0, quoted_length(text))};
  if (c == '"' || c == '`' || c == '[') return {Kind::quoted_name, text.substr(0, quoted_length(text))};
  if (is_digit(c) || (c == '.' && text.size() > 1 && is_digit(text[1])))
    return {Kind::number, text.substr(0, number_length(text))};
  if (!is_word_part(c)) return {Kind::symbol, text.substr(0, symbol_length(text))};
  const auto end = std::find_if_not(text.begin(), text.end(), is_word_part);
  return {Kind::word, text.substr(0, static_cast<std::size_t>(end - text.begin()))};
}

}  // namespace

bool SqlToken::is_word(std::string_view lower) const {
  return kind == Kind::word && text.size() == lower.size() && lower_case(text) == lower;
}

std::string SqlToken::name() const {
  if (kind == Kind::word) return lower_case(text);
  if (kind != Kind::quoted_name || text.size() < 2) return {};
  const char close = text.back();
  std::string name;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    name += text[i];
    if (text[i] == close && close != ']') ++i;
  }
  return lower_case(name);
}

std::vector<SqlToken> sql_tokens(std::string_view sql) {
  std::vector<SqlToken> tokens;
  while (!sql.empty()) {
    if (const std::size_t blanks = blank_length(sql); blanks > 0) {
      sql.remove_prefix(blanks);
      continue;
    }
    tokens.push_back(first_token(sql));
    sql.remove_prefix(tokens.back().text.size());
  }
  return tokens;
}

}  // namespace accelscope::sql
