#include "core/sql/end_column.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/sql/base/tokens.h"

namespace accelscope::sql {
namespace {

constexpr std::array<std::string_view, 3> kConditions = {"where", "on", "having"};
constexpr std::array<std::string_view, 8> kJoins = {"from", "join",  "left",  "right",
                                                    "full", "inner", "cross", "natural"};
constexpr std::array<std::string_view, 9> kOthers = {"group",  "order",  "limit",  "window",   "union",
                                                     "except", "values", "offset", "intersect"};
// What binds as tightly as a sum, or tighter: next to it the sum is not an operand of its own.
constexpr std::array<std::string_view, 8> kTightBefore = {"*", "/", "%", "||", "~", "-", "+", "."};
constexpr std::array<std::string_view, 6> kTightAfter = {"*", "/", "%", "||", ".", "("};

template <std::size_t N>
bool is_one_of(const Token& token, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is_word(word); });
}
template <std::size_t N>
bool is_symbol_of(const Token& token, const std::array<std::string_view, N>& symbols) {
  return std::any_of(symbols.begin(), symbols.end(), [&](std::string_view symbol) { return token.is_mark(symbol); });
}

// A column, perhaps with the name of its table before it.
struct ColumnName {
  std::string table;
  std::string column;
  std::size_t tokens = 0;  // 0: none here
};

ColumnName column_at(const std::vector<Token>& tokens, std::size_t at) {
  ColumnName found;
  if (at >= tokens.size()) return found;
  if (!tokens[at].is_name()) return found;
  found.column = lower_case(tokens[at].text);
  found.tokens = 1;
  if (at + 2 < tokens.size() && tokens[at + 1].is_mark(".")) {
    found.table = std::move(found.column);
    found.column = lower_case(tokens[at + 2].text);
    found.tokens = tokens[at + 2].is_name() ? 3 : 0;
  }
  return found;
}

// Follows clauses and parentheses through a query.
class Reader {
 public:
  Reader(std::string_view sql, std::vector<Token> tokens, const std::vector<EventTableSpec>& tables)
      : sql_(sql), tables_(tables), tokens_(std::move(tokens)) {}

  std::string rewritten() {
    if (hides_a_table()) return {};
    for (std::size_t i = 0; i < tokens_.size();) {
      if (const std::size_t length = sum_length(i); length > 0) {
        replace(i, length);
        i += length;
      } else {
        follow(tokens_[i++]);
      }
    }
    if (copied_ == 0) return {};
    return result_.append(sql_.substr(copied_));
  }

 private:
  enum class Clause : std::uint8_t { other, from, condition };
  struct Scope {
    Clause clause = Clause::other;
    bool reads_events = false;  // its FROM names an event table
  };

  [[nodiscard]] bool is_event_table(const Token& token) const {
    const std::string name = lower_case(token.text);
    return token.is_name() && std::any_of(tables_.begin(), tables_.end(), [&](const EventTableSpec& table) {
             return lower_case(table.name) == name &&
                    std::any_of(table.columns.begin(), table.columns.end(),
                                [](const EventColumn& column) { return column.expression; });
           });
  }
  // WITH slice AS (...): the name is not ours then.
  [[nodiscard]] bool hides_a_table() const {
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      const bool query =
          tokens_[i + 1].is_word("as") &&
          (tokens_[i + 2].is_mark("(") || tokens_[i + 2].is_word("not") || tokens_[i + 2].is_word("materialized"));
      if ((query || tokens_[i + 1].is_mark("(")) && is_event_table(tokens_[i])) return true;
    }
    return false;
  }

  void follow(const Token& token) {
    Scope& scope = scopes_.back();
    if (token.is_mark("(")) {
      scopes_.push_back(Scope(scope));
    } else if (token.is_mark(")")) {
      if (scopes_.size() > 1) scopes_.pop_back();
    } else if (token.is_word("select")) {
      scope = Scope();
    } else if (is_one_of(token, kConditions)) {
      scope.clause = Clause::condition;
    } else if (is_one_of(token, kJoins)) {
      scope.clause = Clause::from;
    } else if (is_one_of(token, kOthers)) {
      scope.clause = Clause::other;
    } else if (scope.clause == Clause::from && is_event_table(token)) {
      scope.reads_events = true;
    }
  }

  // Tokens of a sum that begins here, or 0.
  [[nodiscard]] std::size_t sum_length(std::size_t at) const {
    if (scopes_.back().clause != Clause::condition) return 0;
    const ColumnName left = column_at(tokens_, at);
    if (left.tokens == 0 || (left.column != "ts_ns" && left.column != "dur_ns")) return 0;
    const std::size_t plus = at + left.tokens;
    if (plus >= tokens_.size() || !tokens_[plus].is_mark("+")) return 0;
    const ColumnName right = column_at(tokens_, plus + 1);
    if (right.tokens == 0 || right.column != (left.column == "ts_ns" ? "dur_ns" : "ts_ns") || left.table != right.table)
      return 0;
    if (left.table.empty() && !scopes_.back().reads_events) return 0;
    const std::size_t end = plus + 1 + right.tokens;
    if (at > 0 && is_symbol_of(tokens_[at - 1], kTightBefore)) return 0;
    if (end < tokens_.size() && (is_symbol_of(tokens_[end], kTightAfter) || tokens_[end].is_word("collate"))) return 0;
    return end - at;
  }

  void replace(std::size_t first, std::size_t count) {
    const Token& token = tokens_[first];
    result_.append(sql_.substr(copied_, token.begin - copied_));
    if (tokens_[first + 1].is_mark(".")) result_.append(sql_.substr(token.begin, token.end - token.begin)).append(".");
    result_.append("[").append(kEndExpression).append("]");
    copied_ = tokens_[first + count - 1].end;
  }

  std::string_view sql_;
  const std::vector<EventTableSpec>& tables_;
  std::vector<Token> tokens_;
  std::vector<Scope> scopes_{Scope()};
  std::string result_;
  std::size_t copied_ = 0;  // bytes of the query that are in the result
};

}  // namespace

std::string with_end_column(std::string_view sql, const std::vector<EventTableSpec>& tables) {
  if (sql.find('+') == std::string_view::npos || sql.find("->") != std::string_view::npos) return {};
  std::optional<std::vector<Token>> tokens = tokens_of(sql);
  return tokens ? Reader(sql, std::move(*tokens), tables).rewritten() : std::string();
}

}  // namespace accelscope::sql
