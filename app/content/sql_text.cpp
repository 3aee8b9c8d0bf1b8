#include "app/content/sql_text.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/base/text_match.h"

namespace accelscope::app {
namespace {

constexpr std::array<std::string_view, 34> kSqlTextKeywords = {
    "SELECT",    "FROM", "WHERE", "GROUP BY",  "ORDER BY", "LIMIT",  "OFFSET", "HAVING",  "JOIN",
    "LEFT JOIN", "ON",   "AS",    "AND",       "OR",       "NOT",    "IN",     "IS NULL", "IS NOT NULL",
    "BETWEEN",   "LIKE", "GLOB",  "REGEXP",    "DISTINCT", "CASE",   "WHEN",   "THEN",    "ELSE",
    "END",       "DESC", "ASC",   "UNION ALL", "WITH",     "EXISTS", "OVER"};
constexpr std::array<std::string_view, 16> kFunctions = {
    "count",  "sum",   "avg",   "min",    "max",    "total",    "round",        "abs",
    "length", "lower", "upper", "substr", "printf", "coalesce", "group_concat", "json_extract"};
constexpr std::array<std::string_view, 3> kParameters = {":begin", ":end", ":selected"};
constexpr std::size_t kMostCandidates = 60;

bool is_sql_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// The end of a text in quotes that begins at `at`; doubled quotes stand for one.
std::size_t quoted_end(std::string_view sql, std::size_t at) noexcept {
  const char close = sql[at] == '[' ? ']' : sql[at];
  for (++at; at < sql.size(); ++at) {
    if (sql[at] != close) continue;
    if (close == ']' || at + 1 >= sql.size() || sql[at + 1] != close) return at + 1;
    ++at;
  }
  return sql.size();
}

// The end of a comment that begins at `at`, or `at` if none does.
std::size_t comment_end(std::string_view sql, std::size_t at) noexcept {
  const std::string_view rest = sql.substr(at);
  if (rest.starts_with("--")) return std::min(sql.size(), sql.find('\n', at));
  if (!rest.starts_with("/*")) return at;
  const std::size_t close = sql.find("*/", at + 2);
  return close == std::string_view::npos ? sql.size() : close + 2;
}

std::size_t word_end(std::string_view sql, std::size_t at) noexcept {
  while (at < sql.size() && (is_sql_letter(sql[at]) || is_digit(sql[at]) || sql[at] == '$')) ++at;
  return at;
}

SqlToken token_at(std::string_view sql, std::size_t at) noexcept {
  const char c = sql[at];
  if (c == '\'' || c == '"' || c == '`' || c == '[') return {at, quoted_end(sql, at), SqlTokenKind::quoted};
  if (is_sql_letter(c)) return {at, word_end(sql, at), SqlTokenKind::word};
  if (c == ':' && at + 1 < sql.size() && is_sql_letter(sql[at + 1])) {
    return {at, word_end(sql, at + 1), SqlTokenKind::parameter};
  }
  if (is_digit(c)) {
    std::size_t end = at;
    while (end < sql.size() && (is_digit(sql[end]) || is_sql_letter(sql[end]) || sql[end] == '.')) ++end;
    return {at, end, SqlTokenKind::number};
  }
  return {at, at + 1, SqlTokenKind::symbol};
}

std::string_view text_of(std::string_view sql, const SqlToken& token) noexcept {
  return sql.substr(token.begin, token.end - token.begin);
}

// A name as SQL compares it: without its quotes, in lower case.
std::string name_of(std::string_view sql, const SqlToken& token) {
  std::string_view text = text_of(sql, token);
  if (token.kind == SqlTokenKind::quoted && text.size() >= 2) text = text.substr(1, text.size() - 2);
  return lower_case(text);
}

const SqlTable* find_table(std::span<const SqlTable> tables, const std::string& lower_name) {
  for (const SqlTable& table : tables) {
    if (lower_case(table.name) == lower_name) return &table;
  }
  return nullptr;
}

// The table behind a name in front of a dot: a table, or an alias ("slice s", "slice AS s").
const SqlTable* table_or_alias(std::string_view sql, std::span<const SqlToken> tokens, std::span<const SqlTable> tables,
                               const std::string& lower_name) {
  if (const SqlTable* table = find_table(tables, lower_name)) return table;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const SqlTable* table = find_table(tables, name_of(sql, tokens[i]));
    if (table == nullptr) continue;
    std::size_t alias = i + 1;
    if (name_of(sql, tokens[alias]) == "as" && alias + 1 < tokens.size()) ++alias;
    if (name_of(sql, tokens[alias]) == lower_name) return table;
  }
  return nullptr;
}

// Names that are no plain words need quotes.
std::string as_name(const std::string& name) {
  const bool plain = !name.empty() && is_sql_letter(name.front()) && word_end(name, 0) == name.size();
  return plain ? name : '"' + name + '"';
}

class Candidates {
 public:
  explicit Candidates(std::string_view prefix) : prefix_(lower_case(prefix)) {}

  void offer(const std::string& name, std::string text, std::string detail) {
    const std::string lower = lower_case(name);
    if (lower == prefix_) return;  // nothing is left to be typed
    const bool begins = lower.starts_with(prefix_);
    if (!begins && (prefix_.size() < 2 || lower.find(prefix_) == std::string::npos)) return;
    auto& list = begins ? first_ : later_;
    for (const SqlCandidate& known : list) {
      if (known.text == text) return;
    }
    list.push_back({std::move(text), std::move(detail)});
  }
  void offer_columns(const SqlTable& table) {
    for (const auto* columns : {&table.columns, &table.hidden_columns}) {
      for (const std::string& column : *columns) offer(column, as_name(column), "column of " + table.name);
    }
  }
  void offer_tables(std::span<const SqlTable> tables) {
    for (const SqlTable& table : tables) offer(table.name, as_name(table.name), "table");
  }
  [[nodiscard]] std::vector<SqlCandidate> take() {
    first_.insert(first_.end(), std::make_move_iterator(later_.begin()), std::make_move_iterator(later_.end()));
    if (first_.size() > kMostCandidates) first_.resize(kMostCandidates);
    return std::move(first_);
  }

 private:
  std::string prefix_;
  std::vector<SqlCandidate> first_;
  std::vector<SqlCandidate> later_;
};

// Whether the caret stands in a comment, where nothing is completed.
bool in_comment(std::string_view sql, std::size_t caret) {
  for (std::size_t at = 0; at < caret;) {
    const std::size_t end = comment_end(sql, at);
    if (end > at) {
      if (caret < end || (caret == end && sql[end - 1] != '/')) return true;
      at = end;
    } else {
      at = token_at(sql, at).end;
    }
  }
  return false;
}

}  // namespace

std::vector<SqlToken> sql_tokens(std::string_view sql) {
  std::vector<SqlToken> tokens;
  for (std::size_t at = 0; at < sql.size();) {
    if (is_blank(sql[at])) {
      ++at;
    } else if (const std::size_t end = comment_end(sql, at); end > at) {
      at = end;
    } else {
      tokens.push_back(token_at(sql, at));
      at = tokens.back().end;
    }
  }
  return tokens;
}

std::vector<std::string> named_tables(std::string_view sql, std::span<const SqlTable> tables) {
  const std::vector<SqlToken> tokens = sql_tokens(sql);
  std::vector<std::string> found;
  for (const SqlTable& table : tables) {
    const std::string lower = lower_case(table.name);
    const bool named = std::any_of(tokens.begin(), tokens.end(), [&](const SqlToken& token) {
      const bool can_name = token.kind == SqlTokenKind::word || token.kind == SqlTokenKind::quoted;
      return can_name && sql[token.begin] != '\'' && name_of(sql, token) == lower;
    });
    if (named) found.push_back(table.name);
  }
  return found;
}

SqlCompletion complete_sql(std::string_view sql, std::size_t caret, std::span<const SqlTable> tables) {
  caret = std::min(caret, sql.size());
  SqlCompletion completion{caret, caret, {}};
  if (in_comment(sql, caret)) return completion;
  const std::vector<SqlToken> tokens = sql_tokens(sql);
  std::size_t before = 0;  // tokens that end before the word at the caret
  while (before < tokens.size() && tokens[before].end < caret) ++before;
  if (before < tokens.size() && tokens[before].begin < caret) {
    const SqlToken& token = tokens[before];
    if (token.kind == SqlTokenKind::quoted && caret < token.end) return completion;
    if (token.kind == SqlTokenKind::number) return completion;
    if (token.kind == SqlTokenKind::word || token.kind == SqlTokenKind::parameter) {
      completion.begin = token.begin;
      completion.end = token.end;
    } else {
      ++before;  // a symbol right in front of the caret
    }
  }
  const std::string_view prefix = sql.substr(completion.begin, caret - completion.begin);
  const std::span<const SqlToken> earlier(tokens.data(), before);
  Candidates candidates(prefix);
  const std::string last = earlier.empty() ? "" : name_of(sql, earlier.back());
  if (last == "." && earlier.size() >= 2) {
    if (const SqlTable* table = table_or_alias(sql, tokens, tables, name_of(sql, earlier[earlier.size() - 2]))) {
      candidates.offer_columns(*table);
    }
  } else if (last == "from" || last == "join") {
    candidates.offer_tables(tables);
  } else if (!prefix.empty() && prefix.front() == ':') {
    for (const std::string_view name : kParameters) {
      candidates.offer(std::string(name), std::string(name), "of the view");
    }
  } else {
    for (const std::string& name : named_tables(sql, tables)) {
      candidates.offer_columns(*find_table(tables, lower_case(name)));
    }
    if (!prefix.empty()) {
      for (const std::string_view name : kFunctions) {
        candidates.offer(std::string(name), std::string(name) + "(", "function");
      }
      for (const std::string_view word : kSqlTextKeywords) candidates.offer(std::string(word), std::string(word), "");
      candidates.offer_tables(tables);
    } else if (tokens.empty()) {
      candidates.offer("SELECT", "SELECT", "");
    }
  }
  completion.candidates = candidates.take();
  return completion;
}

std::string with_parameters(std::string_view sql, const SqlParameters& parameters) {
  std::string result;
  std::size_t copied = 0;
  for (const SqlToken& token : sql_tokens(sql)) {
    if (token.kind != SqlTokenKind::parameter) continue;
    const std::string name = lower_case(text_of(sql, token));
    std::string value;
    if (name == ":begin") value = std::to_string(parameters.begin_ns);
    if (name == ":end") value = std::to_string(parameters.end_ns);
    if (name == ":selected") value = parameters.selected ? std::to_string(*parameters.selected) : "NULL";
    if (value.empty()) continue;
    result += sql.substr(copied, token.begin - copied);
    result += value;
    copied = token.end;
  }
  result += sql.substr(copied);
  return result;
}

}  // namespace accelscope::app
