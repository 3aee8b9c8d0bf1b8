#include "core/query/sql_end_column.h"

#include <algorithm>
#include <array>

#include "core/query/sql_tokens.h"

namespace accelscope::sql {
namespace {

constexpr std::array<std::string_view, 3> kConditions = {"where", "on", "having"};
constexpr std::array<std::string_view, 8> kJoins = {"from", "join",  "left",  "right",
                                                    "full", "inner", "cross", "natural"};
constexpr std::array<std::string_view, 9> kOthers = {"group",  "order",  "limit",  "window",   "union",
                                                     "except", "values", "offset", "intersect"};
// What binds as tightly as a sum, or tighter: next to it the sum is not an operand of its own.
constexpr std::array<std::string_view, 10> kTightBefore = {"*", "/", "%", "||", "->", "->>", "~", "-", "+", "."};
constexpr std::array<std::string_view, 8> kTightAfter = {"*", "/", "%", "||", "->", "->>", ".", "("};

template <std::size_t N>
bool is_one_of(const SqlToken& token, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is_word(word); });
}
template <std::size_t N>
bool is_symbol_of(const SqlToken& token, const std::array<std::string_view, N>& symbols) {
  return std::any_of(symbols.begin(), symbols.end(), [&](std::string_view symbol) { return token.is_symbol(symbol); });
}

// A column, perhaps with the name of its table before it.
struct ColumnName {
  std::string table;
  std::string column;
  std::size_t tokens = 0;  // 0: none here
};

ColumnName column_at(const std::vector<SqlToken>& tokens, std::size_t at) {
  ColumnName found;
  if (at >= tokens.size()) return found;
  found.column = tokens[at].name();
  if (found.column.empty()) return found;
  found.tokens = 1;
  if (at + 2 < tokens.size() && tokens[at + 1].is_symbol(".")) {
    found.table = std::move(found.column);
    found.column = tokens[at + 2].name();
    found.tokens = found.column.empty() ? 0 : 3;
  }
  return found;
}

// Follows clauses and parentheses through a query.
class Reader {
 public:
  Reader(std::string_view sql, const std::vector<EventTableSpec>& tables)
      : sql_(sql), tables_(tables), tokens_(sql_tokens(sql)) {}

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

  [[nodiscard]] bool is_event_table(const SqlToken& token) const {
    const std::string name = token.name();
    return !name.empty() && std::any_of(tables_.begin(), tables_.end(), [&](const EventTableSpec& table) {
      return lower_case(table.name) == name && std::any_of(table.columns.begin(), table.columns.end(),
                                                           [](const EventColumn& column) { return column.expression; });
    });
  }
  // WITH slice AS (...): the name is not ours then.
  [[nodiscard]] bool hides_a_table() const {
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      const bool query =
          tokens_[i + 1].is_word("as") &&
          (tokens_[i + 2].is_symbol("(") || tokens_[i + 2].is_word("not") || tokens_[i + 2].is_word("materialized"));
      if ((query || tokens_[i + 1].is_symbol("(")) && is_event_table(tokens_[i])) return true;
    }
    return false;
  }

  void follow(const SqlToken& token) {
    Scope& scope = scopes_.back();
    if (token.is_symbol("(")) {
      scopes_.push_back(Scope(scope));
    } else if (token.is_symbol(")")) {
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
    if (plus >= tokens_.size() || !tokens_[plus].is_symbol("+")) return 0;
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
    const auto begin = static_cast<std::size_t>(tokens_[first].text.data() - sql_.data());
    const SqlToken& last = tokens_[first + count - 1];
    result_.append(sql_.substr(copied_, begin - copied_));
    if (tokens_[first + 1].is_symbol(".")) result_.append(tokens_[first].text).append(".");
    result_.append("[").append(kEndExpression).append("]");
    copied_ = static_cast<std::size_t>(last.text.data() - sql_.data()) + last.text.size();
  }

  std::string_view sql_;
  const std::vector<EventTableSpec>& tables_;
  std::vector<SqlToken> tokens_;
  std::vector<Scope> scopes_{Scope()};
  std::string result_;
  std::size_t copied_ = 0;  // bytes of the query that are in the result
};

}  // namespace

std::string with_end_column(std::string_view sql, const std::vector<EventTableSpec>& tables) {
  return Reader(sql, tables).rewritten();
}

}  // namespace accelscope::sql
