#include "core/sql/base/tokens.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/sql/base/context.h"

namespace accelscope::sql {
namespace {

bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_sql_blank(char c) { return is_blank(c) || c == '\f'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view sql) : sql_(sql) {}

  std::optional<std::vector<Token>> run() {
    while (true) {
      if (!skip_blanks()) return std::nullopt;
      if (at_ >= sql_.size()) return std::move(tokens_);
      const std::size_t begin = at_;
      Token& token = tokens_.emplace_back();
      if (!read(token)) return std::nullopt;
      token.begin = begin;
      token.end = at_;
    }
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }

  // False for a comment that does not end.
  bool skip_blanks() {
    while (at_ < sql_.size()) {
      if (is_sql_blank(peek())) {
        ++at_;
      } else if (peek() == '-' && peek(1) == '-') {
        at_ = std::min(sql_.find('\n', at_), sql_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        const std::size_t close = sql_.find("*/", at_ + 2);
        if (close == std::string_view::npos) return false;
        at_ = close + 2;
      } else {
        return true;
      }
    }
    return true;
  }

  bool read(Token& token) {
    const char c = peek();
    if (is_word_start(c)) return read_word(token);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number(token);
    if (c == '\'') return read_quoted(token, TokenKind::text, '\'');
    if (c == '"' || c == '`') return read_quoted(token, TokenKind::quoted, c);
    if (c == '[') return read_quoted(token, TokenKind::quoted, ']');
    return read_mark(token);
  }

  bool read_word(Token& token) {
    const std::size_t begin = at_;
    while (is_word_start(peek()) || is_digit(peek()) || peek() == '$') ++at_;
    if (peek() == '\'' && at_ == begin + 1) return false;  // x'00'
    token.kind = TokenKind::word;
    token.text = lower_case(sql_.substr(begin, at_ - begin));
    return true;
  }

  bool read_number(Token& token) {
    const std::size_t begin = at_;
    while (is_digit(peek()) || is_word_start(peek()) || peek() == '.' ||
           ((peek() == '+' || peek() == '-') && (sql_[at_ - 1] == 'e' || sql_[at_ - 1] == 'E') && !is_hex(begin))) {
      ++at_;
    }
    token.kind = TokenKind::number;
    token.text = sql_.substr(begin, at_ - begin);
    return true;
  }
  [[nodiscard]] bool is_hex(std::size_t begin) const {
    return sql_[begin] == '0' && begin + 1 < sql_.size() && (sql_[begin + 1] == 'x' || sql_[begin + 1] == 'X');
  }

  // A doubled closing quote stands for itself, except in brackets.
  bool read_quoted(Token& token, TokenKind kind, char close) {
    token.kind = kind;
    ++at_;
    while (at_ < sql_.size()) {
      const char c = sql_[at_++];
      if (c == '\0') return false;
      if (c == close) {
        if (close == ']' || peek() != close) return true;
        ++at_;
      }
      token.text += c;
    }
    return false;
  }

  bool read_mark(Token& token) {
    constexpr std::array<std::string_view, 8> kPairs{"<=", ">=", "<>", "!=", "==", "||", "<<", ">>"};
    constexpr std::string_view kSingles = "()+-*/%,.;<>=&|~";
    const std::string_view pair = sql_.substr(at_, 2);
    std::size_t size = 1;
    if (std::find(kPairs.begin(), kPairs.end(), pair) != kPairs.end()) {
      size = 2;
    } else if (kSingles.find(peek()) == std::string_view::npos || peek() == '\0') {
      return false;
    }
    token.text = sql_.substr(at_, size);
    at_ += size;
    return true;
  }

  std::string_view sql_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::optional<std::vector<Token>> tokens_of(std::string_view sql) { return Tokenizer(sql).run(); }

}  // namespace accelscope::sql
