#include "core/sql/base/tokens.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace accelscope::sql {
namespace {

bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_sql_blank(char c) { return is_blank(c) || c == '\f'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view sql) : sql_(sql) {}

  std::vector<Token> run() {
    while (at_ < sql_.size()) {
      if (is_sql_blank(peek())) {
        ++at_;
        continue;
      }
      Token& token = tokens_.emplace_back();
      token.begin = at_;
      read(token);
      token.end = at_;
    }
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }

  void read(Token& token) {
    const char c = peek();
    if ((c == '-' && peek(1) == '-') || (c == '/' && peek(1) == '*')) return read_comment(token);
    if (is_word_start(c)) return read_word(token, TokenKind::word);
    if (c == ':' && is_word_start(peek(1))) return read_word(token, TokenKind::parameter);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number(token);
    if (c == '\'') return read_quoted(token, TokenKind::text, '\'');
    if (c == '"' || c == '`') return read_quoted(token, TokenKind::quoted, c);
    if (c == '[') return read_quoted(token, TokenKind::quoted, ']');
    read_mark(token);
  }

  void read_comment(Token& token) {
    token.kind = TokenKind::comment;
    if (peek() == '-') {
      at_ = std::min(sql_.find('\n', at_), sql_.size());
      return;
    }
    const std::size_t close = sql_.find("*/", at_ + 2);
    token.plain = close != std::string_view::npos;
    at_ = token.plain ? close + 2 : sql_.size();
  }

  void read_word(Token& token, TokenKind kind) {
    const std::size_t begin = at_++;
    while (is_word_start(peek()) || is_digit(peek()) || peek() == '$') ++at_;
    token.kind = kind;
    token.text = lower_case(sql_.substr(begin, at_ - begin));
    const bool blob = peek() == '\'' && at_ == begin + 1;  // x'00'
    token.plain = kind == TokenKind::word && !blob;
  }

  void read_number(Token& token) {
    const std::size_t begin = at_;
    while (is_digit(peek()) || is_word_start(peek()) || peek() == '.' ||
           ((peek() == '+' || peek() == '-') && (sql_[at_ - 1] == 'e' || sql_[at_ - 1] == 'E') && !is_hex(begin))) {
      ++at_;
    }
    token.kind = TokenKind::number;
    token.text = sql_.substr(begin, at_ - begin);
  }
  [[nodiscard]] bool is_hex(std::size_t begin) const {
    return sql_[begin] == '0' && begin + 1 < sql_.size() && (sql_[begin + 1] == 'x' || sql_[begin + 1] == 'X');
  }

  // A doubled closing quote stands for itself, except in brackets.
  void read_quoted(Token& token, TokenKind kind, char close) {
    token.kind = kind;
    ++at_;
    while (at_ < sql_.size()) {
      const char c = sql_[at_++];
      if (c == '\0') token.plain = false;
      if (c == close) {
        if (close == ']' || peek() != close) return;
        ++at_;
      }
      token.text += c;
    }
    token.plain = false;
  }

  void read_mark(Token& token) {
    constexpr std::array<std::string_view, 8> kPairs{"<=", ">=", "<>", "!=", "==", "||", "<<", ">>"};
    constexpr std::string_view kSingles = "()+-*/%,.;<>=&|~";
    const bool pair = std::find(kPairs.begin(), kPairs.end(), sql_.substr(at_, 2)) != kPairs.end();
    token.plain = pair || (peek() != '\0' && kSingles.find(peek()) != std::string_view::npos);
    token.text = sql_.substr(at_, pair ? 2 : 1);
    at_ += token.text.size();
  }

  std::string_view sql_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> all_tokens(std::string_view sql) { return Tokenizer(sql).run(); }

std::optional<std::vector<Token>> tokens_of(std::string_view sql) {
  std::vector<Token> tokens = all_tokens(sql);
  if (!std::all_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.plain; })) return std::nullopt;
  std::erase_if(tokens, [](const Token& token) { return token.kind == TokenKind::comment; });
  return tokens;
}

}  // namespace accelscope::sql
