#include "core/sql/base/tokens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

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

namespace {

std::vector<std::string> all_columns(const ListedTable& table) {
  std::vector<std::string> columns = table.columns;
  columns.insert(columns.end(), table.hidden_columns.begin(), table.hidden_columns.end());
  return columns;
}

// Tables whose names the query holds; all of them if its tokens cannot be read.
std::vector<const ListedTable*> tables_of(std::string_view sql, const std::vector<ListedTable>& tables) {
  const auto tokens = tokens_of(sql);
  std::vector<const ListedTable*> used;
  for (const ListedTable& table : tables) {
    const auto names_it = [&](const Token& token) {
      return token.is_name() && lower_case(token.text) == lower_case(table.name);
    };
    if (!tokens || std::any_of(tokens->begin(), tokens->end(), names_it)) used.push_back(&table);
  }
  return used;
}

bool is_table_or_column(std::string_view word, const std::vector<ListedTable>& tables) {
  const auto is_it = [&](const std::string& name) { return lower_case(name) == lower_case(word); };
  return std::any_of(tables.begin(), tables.end(), [&](const ListedTable& table) {
    const std::vector<std::string> columns = all_columns(table);
    return is_it(table.name) || std::any_of(columns.begin(), columns.end(), is_it);
  });
}

std::string table_hint(std::string_view wanted, const std::vector<ListedTable>& tables) {
  std::vector<std::string> names;
  for (const ListedTable& table : tables) names.push_back(table.name);
  const std::string nearest = nearest_name(wanted, names);
  if (!nearest.empty()) return fmt::format("; did you mean {}?", nearest);
  return fmt::format("; there are {}", fmt::join(names, ", "));
}

std::string column_hint(std::string_view wanted, std::string_view sql, const std::vector<ListedTable>& tables) {
  const std::vector<const ListedTable*> used = tables_of(sql, tables);
  std::vector<std::string> columns;
  for (const ListedTable* table : used) std::ranges::copy(all_columns(*table), std::back_inserter(columns));
  const std::string nearest = nearest_name(wanted, columns);
  if (!nearest.empty() && lower_case(nearest) != lower_case(wanted)) return fmt::format("; did you mean {}?", nearest);
  std::vector<std::string> elsewhere;
  for (const ListedTable& table : tables) {
    const std::vector<std::string> names = all_columns(table);
    const bool has_it = std::any_of(names.begin(), names.end(),
                                    [&](const std::string& name) { return lower_case(name) == lower_case(wanted); });
    if (has_it) elsewhere.push_back(table.name);
  }
  if (!elsewhere.empty()) return fmt::format("; it is a column of {}", fmt::join(elsewhere, ", "));
  std::string hint;
  for (const ListedTable* table : used)
    hint += fmt::format("; {} has {}", table->name, fmt::join(table->columns, ", "));
  return hint;
}

}  // namespace

std::string hint_for(std::string_view message, std::string_view sql, const std::vector<ListedTable>& tables) {
  constexpr std::string_view kTable = "no such table: ";
  constexpr std::string_view kColumn = "no such column: ";
  // Names may come with what they belong to: temp.slyce, s.dur.
  const std::string_view wanted = message.substr(std::max(message.rfind('.') + 1, message.rfind(' ') + 1));
  if (message.starts_with("near \"") && message.ends_with("\": syntax error")) {
    const std::string_view word = message.substr(6, message.size() - 6 - 15);
    return is_table_or_column(word, tables) ? fmt::format("; {0} is a word of SQL too: write \"{0}\"", word) : "";
  }
  if (message.starts_with(kTable)) return table_hint(wanted, tables);
  if (message.starts_with(kColumn)) return column_hint(wanted, sql, tables);
  return {};
}

}  // namespace accelscope::sql
