#include "core/sql/planned/reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "core/sql/base/context.h"
#include "core/sql/base/tokens.h"
#include "core/sql/planned/scope.h"

namespace accelscope::sql {
namespace {

// A SELECT taken apart into its clauses, its items and their aliases, by tokens. Knows no columns.
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

bool read_count(const std::string& text, std::uint64_t& value) {
  return read_number(text, value) && value < (std::uint64_t{1} << 62);
}

std::optional<PlannedStatement> PlannedStatement::read(std::string_view sql) {
  auto tokens = tokens_of(sql);
  if (!tokens) return std::nullopt;
  PlannedStatement statement;
  statement.tokens_ = std::move(*tokens);
  while (!statement.tokens_.empty() && statement.tokens_.back().is_mark(";")) statement.tokens_.pop_back();
  if (!statement.find_clauses() || !statement.read_items()) return std::nullopt;
  return statement;
}

bool PlannedStatement::find_clauses() {
  if (tokens_.size() < 4 || !tokens_[0].is_word("select")) return false;
  std::size_t depth = 0;
  Clause last = kSelect;
  for (std::size_t i = 1; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.is_mark("(")) ++depth;
    if (token.is_mark(")") && depth-- == 0) return false;
    if (token.is_word("select")) return false;
    if (depth != 0 || token.kind != TokenKind::word) continue;
    const bool by = i + 1 < tokens_.size() && tokens_[i + 1].is_word("by");
    Clause clause = kSelect;
    if (token.text == "from") clause = kFrom;
    if (token.text == "where") clause = kWhere;
    if (token.text == "group" && by) clause = kGroup;
    if (token.text == "having") clause = kHaving;
    if (token.text == "order" && by) clause = kOrder;
    if (token.text == "limit") clause = kLimit;
    if (clause == kSelect) continue;
    if (clause <= last || (last == kSelect && clause != kFrom)) return false;
    starts_[clause] = i;
    last = clause;
  }
  return depth == 0 && last != kSelect;
}

std::size_t PlannedStatement::end(Clause clause) const noexcept {
  for (std::size_t next = clause + std::size_t{1}; next < kClauses; ++next) {
    if (starts_[next] != 0) return starts_[next];
  }
  return tokens_.size();
}

std::vector<std::size_t> PlannedStatement::part_ends(std::size_t begin, std::size_t end) const {
  std::vector<std::size_t> ends;
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens_[i].is_mark("(")) ++depth;
    if (tokens_[i].is_mark(")")) --depth;
    if (depth == 0 && tokens_[i].is_mark(",")) ends.push_back(i);
  }
  ends.push_back(end);
  return ends;
}

std::size_t PlannedStatement::closing(std::size_t open, std::size_t end) const {
  std::size_t depth = 0;
  for (std::size_t i = open; i < end; ++i) {
    if (tokens_[i].is_mark("(")) ++depth;
    if (tokens_[i].is_mark(")") && --depth == 0) return i;
  }
  return end;
}

bool PlannedStatement::read_items() {
  std::size_t begin = this->begin(kSelect);
  distinct_ = tokens_[begin].is_word("distinct");
  if (distinct_ || tokens_[begin].is_word("all")) ++begin;
  for (const std::size_t end : part_ends(begin, start(kFrom))) {
    if (end <= begin) return false;
    items_.push_back(read_alias(begin, end));
    begin = end + 1;
  }
  return true;
}

PlannedStatement::Item PlannedStatement::read_alias(std::size_t begin, std::size_t end) const {
  if (end - begin < 2) return {begin, end, ""};
  const Token& last = tokens_[end - 1];
  const Token& before = tokens_[end - 2];
  if (!last.is_name() && last.kind != TokenKind::text) return {begin, end, ""};
  if (before.is_word("as")) return {begin, end - 2, lower_case(last.text)};
  const bool operand_ends = before.kind == TokenKind::number || before.kind == TokenKind::text ||
                            before.kind == TokenKind::quoted || before.is_mark(")") || before.is_word("end") ||
                            before.is_word("null") ||
                            (before.kind == TokenKind::word && !contains(kExpressionWords, before.text));
  if (!operand_ends || (last.kind == TokenKind::word && contains(kExpressionWords, last.text))) return {begin, end, ""};
  return {begin, end - 1, lower_case(last.text)};
}

const PlannedStatement::Item* PlannedStatement::item_of_alias(const Token& token) const {
  if (!token.is_name()) return nullptr;
  const std::string name = lower_case(token.text);
  const auto found =
      std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return !name.empty() && item.alias == name; });
  return found == items_.end() ? nullptr : &*found;
}

const PlannedStatement::Item* PlannedStatement::item_of_position(const Token& token) const {
  std::uint64_t position = 0;
  const bool number = token.kind == TokenKind::number && read_count(token.text, position);
  return number && position > 0 && position <= items_.size() ? &items_[position - 1] : nullptr;
}

// LIMIT a, LIMIT a OFFSET b, LIMIT b, a
bool PlannedStatement::read_limit(std::uint64_t& limit, std::uint64_t& offset) const {
  const std::size_t at = begin(kLimit);
  const std::size_t count = end(kLimit) - at;
  if ((count != 1 && count != 3) || !read_count(tokens_[at].text, limit)) return false;
  if (count == 1) return true;
  if (!read_count(tokens_[at + 2].text, offset)) return false;
  if (tokens_[at + 1].is_mark(",")) std::swap(limit, offset);
  return tokens_[at + 1].is_mark(",") || tokens_[at + 1].is_word("offset");
}

// Reads a WHERE clause that is a list of comparisons of columns with constants.
class PlannedConditionReader {
 public:
  PlannedConditionReader(std::string_view sql, const std::vector<Token>& tokens, const PlannedTables& tables,
                         PlannedScope& scope, PlannedQuery& query)
      : sql_(sql), tokens_(tokens), tables_(tables), scope_(scope), query_(query) {}

  // Tokens [begin, end) after WHERE. False if not all of them were understood.
  bool read(std::size_t begin, std::size_t end);

 private:
  bool read_term(std::size_t begin, std::size_t end);
  bool read_test(std::size_t input, std::size_t at, std::size_t end);
  bool read_comparison(std::size_t input, std::string_view op, std::size_t at, std::size_t end);
  bool read_between(std::size_t input, bool negated, std::size_t at, std::size_t end);
  bool read_list(std::size_t input, bool negated, std::size_t at, std::size_t end);
  bool read_pattern(std::size_t input, bool negated, std::string_view op, std::size_t at, std::size_t end);
  bool read_regexp_call(std::size_t begin, std::size_t end);
  bool add_comparison(std::size_t input, std::string_view op, const Constant& constant);
  bool add_strings(std::size_t input, bool negated, int op, std::vector<std::string> operands);
  // The constant that begins at `at`, which is moved behind it.
  [[nodiscard]] std::optional<Constant> constant(std::size_t& at, std::size_t end) const;
  [[nodiscard]] bool is_word(std::size_t at, std::size_t end, std::string_view word) const {
    return at < end && tokens_[at].is_word(word);
  }

  std::string_view sql_;
  const std::vector<Token>& tokens_;
  const PlannedTables& tables_;
  PlannedScope& scope_;
  PlannedQuery& query_;
};

constexpr std::size_t kMaxPattern = 1000;  // longer ones SQLite may refuse

struct Operator {
  std::string_view mark;
  int op;  // SQLITE_INDEX_CONSTRAINT_..., the positive form
  bool negated;
  std::string_view swapped;  // the operator with its sides changed
};
constexpr std::array<Operator, 8> kOperators{{{"=", SQLITE_INDEX_CONSTRAINT_EQ, false, "="},
                                              {"==", SQLITE_INDEX_CONSTRAINT_EQ, false, "="},
                                              {"<>", SQLITE_INDEX_CONSTRAINT_EQ, true, "<>"},
                                              {"!=", SQLITE_INDEX_CONSTRAINT_EQ, true, "<>"},
                                              {"<", SQLITE_INDEX_CONSTRAINT_LT, false, ">"},
                                              {"<=", SQLITE_INDEX_CONSTRAINT_LE, false, ">="},
                                              {">", SQLITE_INDEX_CONSTRAINT_GT, false, "<"},
                                              {">=", SQLITE_INDEX_CONSTRAINT_GE, false, "<="}}};

const Operator* find_operator(const Token& token) {
  for (const Operator& op : kOperators) {
    if (token.is_mark(op.mark)) return &op;
  }
  return nullptr;
}

bool is_number(const Constant& constant) {
  return constant.type() == SQLITE_INTEGER || constant.type() == SQLITE_FLOAT;
}

// Exact for every double; nothing where an integer has no double of its own.
std::optional<RealBounds> real_bounds(int op, const Constant& constant) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const double infinity = std::numeric_limits<double>::infinity();
  if (!is_number(constant)) return std::nullopt;
  if (constant.type() == SQLITE_INTEGER) {
    const std::int64_t whole = sqlite3_value_int64(constant.value());
    if (whole > kExact || whole < -kExact) return std::nullopt;
  }
  const double value = sqlite3_value_double(constant.value());
  if (!std::isfinite(value)) return std::nullopt;
  RealBounds bounds;
  if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE) bounds.at_least(value);
  if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LE) bounds.at_most(value);
  if (op == SQLITE_INDEX_CONSTRAINT_GT) bounds.at_least(std::nextafter(value, infinity));
  if (op == SQLITE_INDEX_CONSTRAINT_LT) bounds.at_most(std::nextafter(value, -infinity));
  return bounds;
}

// For values that SQLite sees as integers below 2^63 and as decimal text, which sorts after integers, above.
std::optional<UnsignedBounds> unsigned_bounds(int op, const Constant& constant) {
  constexpr std::uint64_t kTwoTo63 = std::uint64_t{1} << 63;
  UnsignedBounds bounds;
  if (constant.type() == SQLITE_TEXT && op == SQLITE_INDEX_CONSTRAINT_EQ) {
    const std::string text = constant.text();
    std::uint64_t number = 0;
    if (!read_number(text, number) || number < kTwoTo63 || std::to_string(number) != text) {
      bounds.clear();
      return bounds;
    }
    bounds.at_least(number);
    bounds.at_most(number);
    return bounds;
  }
  if (constant.type() != SQLITE_INTEGER) return std::nullopt;
  IntegerBounds integers;
  narrow(integers, op, constant.value());
  if (integers.empty() || integers.max < 0) {
    bounds.clear();
    return bounds;
  }
  bounds.at_least(static_cast<std::uint64_t>(std::max<std::int64_t>(integers.min, 0)));
  const bool open = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  if (!open) bounds.at_most(static_cast<std::uint64_t>(integers.max));
  return bounds;
}

std::optional<IntegerBounds> integer_bounds(int op, const Constant& constant) {
  if (!is_number(constant)) return std::nullopt;
  IntegerBounds bounds;
  narrow(bounds, op, constant.value());
  return bounds;
}

template <typename T>
bool add_bounds(ValueTest& test, const std::optional<Bounds<T>>& bounds) {
  if (!bounds) return false;
  if (!std::holds_alternative<std::vector<Bounds<T>>>(test)) test = std::vector<Bounds<T>>();
  std::get<std::vector<Bounds<T>>>(test).push_back(*bounds);
  return true;
}

// Adds `column <op> constant` as one more alternative.
bool add_bounds(ValueTest& test, ValueKind kind, int op, const Constant& constant) {
  if (kind == ValueKind::integer) return add_bounds(test, integer_bounds(op, constant));
  if (kind == ValueKind::real) return add_bounds(test, real_bounds(op, constant));
  return add_bounds(test, unsigned_bounds(op, constant));
}

bool PlannedConditionReader::read(std::size_t begin, std::size_t end) {
  std::size_t depth = 0;
  std::size_t first = begin;
  bool between = false;
  for (std::size_t at = begin; at <= end; ++at) {
    if (at < end && tokens_[at].is_mark("(")) ++depth;
    if (at < end && tokens_[at].is_mark(")")) {
      if (depth == 0) return false;
      --depth;
    }
    if (depth != 0) continue;
    if (is_word(at, end, "between")) between = true;
    if (at < end && !tokens_[at].is_word("and")) continue;
    if (at < end && between) {  // the AND of a BETWEEN
      between = false;
      continue;
    }
    if (!read_term(first, at)) return false;
    first = at + 1;
  }
  return depth == 0;
}

bool PlannedConditionReader::read_term(std::size_t begin, std::size_t end) {
  if (begin >= end) return false;
  if (tokens_[begin].is_mark("(") && tokens_[end - 1].is_mark(")")) {
    std::size_t depth = 0;
    std::size_t close = begin;
    for (; close < end; ++close) {
      if (tokens_[close].is_mark("(")) ++depth;
      if (tokens_[close].is_mark(")") && --depth == 0) break;
    }
    if (close == end - 1) return read(begin + 1, end - 1);
  }
  if (tokens_[begin].is_word("regexp")) return read_regexp_call(begin, end);
  if (const auto column = scope_.operand(begin, end)) return read_test(column->input, column->next, end);
  // The constant in front.
  std::size_t at = begin;
  const auto value = constant(at, end);
  if (!value || at >= end) return false;
  const Operator* op = find_operator(tokens_[at]);
  if (op == nullptr) return false;
  const auto column = scope_.operand(at + 1, end);
  return column && column->next == end && add_comparison(column->input, op->swapped, *value);
}

bool PlannedConditionReader::read_test(std::size_t input, std::size_t at, std::size_t end) {
  if (at >= end) return false;
  const Token& token = tokens_[at];
  const bool is_not_null = token.is_word("notnull") && at + 1 == end;
  if (is_not_null || (token.is_word("isnull") && at + 1 == end)) {
    query_.conditions.push_back({.input = input, .negated = !is_not_null, .test = AnyValue()});
    return true;
  }
  if (token.is_word("is") || token.is_word("not")) {
    const bool negated = is_word(at + 1, end, "not");
    const std::size_t null = negated ? at + 2 : at + 1;
    if (is_word(null, end, "null")) {
      const bool present = negated || token.is_word("not");
      query_.conditions.push_back({.input = input, .negated = !present, .test = AnyValue()});
      return null + 1 == end;
    }
    if (token.is_word("is")) return false;
  }
  if (find_operator(token) != nullptr) return read_comparison(input, token.text, at + 1, end);
  const bool negated = token.is_word("not");
  if (negated) ++at;
  if (is_word(at, end, "between")) return read_between(input, negated, at + 1, end);
  if (is_word(at, end, "in")) return read_list(input, negated, at + 1, end);
  for (const std::string_view op : {"like", "glob", "regexp"}) {
    if (is_word(at, end, op)) return read_pattern(input, negated, op, at + 1, end);
  }
  return false;
}

bool PlannedConditionReader::read_comparison(std::size_t input, std::string_view op, std::size_t at, std::size_t end) {
  const auto value = constant(at, end);
  return value && at == end && add_comparison(input, op, *value);
}

bool PlannedConditionReader::add_comparison(std::size_t input, std::string_view mark, const Constant& constant) {
  Token token;
  token.text = mark;
  const Operator* op = find_operator(token);
  const ValueKind kind = query_.inputs[input].kind;
  if (kind == ValueKind::text) return false;
  if (kind == ValueKind::string) {
    if (op->op != SQLITE_INDEX_CONSTRAINT_EQ || constant.type() != SQLITE_TEXT) return false;
    return add_strings(input, op->negated, op->op, {constant.text()});
  }
  InputCondition condition{.input = input, .negated = op->negated, .test = {}};
  if (!add_bounds(condition.test, kind, op->op, constant)) return false;
  query_.conditions.push_back(std::move(condition));
  return true;
}

bool PlannedConditionReader::read_between(std::size_t input, bool negated, std::size_t at, std::size_t end) {
  const auto low = constant(at, end);
  if (!low || negated || !is_word(at, end, "and")) return false;
  ++at;
  const auto high = constant(at, end);
  return high && at == end && add_comparison(input, ">=", *low) && add_comparison(input, "<=", *high);
}

bool PlannedConditionReader::read_list(std::size_t input, bool negated, std::size_t at, std::size_t end) {
  if (at >= end || !tokens_[at].is_mark("(") || !tokens_[end - 1].is_mark(")")) return false;
  const ValueKind kind = query_.inputs[input].kind;
  if (kind == ValueKind::text) return false;
  InputCondition condition{.input = input, .negated = negated, .test = {}};
  std::vector<std::string> texts;
  for (++at; at < end; ++at) {
    const auto value = constant(at, end);
    if (!value || at >= end || (!tokens_[at].is_mark(",") && at + 1 != end)) return false;
    if (kind == ValueKind::string) {
      if (value->type() != SQLITE_TEXT) return false;
      texts.push_back(value->text());
    } else if (!add_bounds(condition.test, kind, SQLITE_INDEX_CONSTRAINT_EQ, *value)) {
      return false;
    }
  }
  if (kind == ValueKind::string) return add_strings(input, negated, SQLITE_INDEX_CONSTRAINT_EQ, std::move(texts));
  query_.conditions.push_back(std::move(condition));
  return true;
}

bool PlannedConditionReader::read_pattern(std::size_t input, bool negated, std::string_view op, std::size_t at,
                                          std::size_t end) {
  const auto value = constant(at, end);
  if (!value || at != end || value->type() != SQLITE_TEXT) return false;
  int code = SQLITE_INDEX_CONSTRAINT_REGEXP;
  if (op == "like") code = SQLITE_INDEX_CONSTRAINT_LIKE;
  if (op == "glob") code = SQLITE_INDEX_CONSTRAINT_GLOB;
  return add_strings(input, negated, code, {value->text()});
}

// regexp(pattern, column)
bool PlannedConditionReader::read_regexp_call(std::size_t begin, std::size_t end) {
  if (end < begin + 6 || !tokens_[begin + 1].is_mark("(") || !tokens_[end - 1].is_mark(")")) return false;
  std::size_t at = begin + 2;
  const auto value = constant(at, end);
  if (!value || at >= end || !tokens_[at].is_mark(",") || value->type() != SQLITE_TEXT) return false;
  const auto column = scope_.column(at + 1, end);
  return column && column->next + 1 == end &&
         add_strings(column->input, false, SQLITE_INDEX_CONSTRAINT_REGEXP, {value->text()});
}

bool PlannedConditionReader::add_strings(std::size_t input, bool negated, int op, std::vector<std::string> operands) {
  if (query_.inputs[input].kind != ValueKind::string || operands.empty()) return false;
  const bool pattern = op != SQLITE_INDEX_CONSTRAINT_EQ;
  // SQLite's matchers end at a NUL byte.
  if (pattern && (operands.front().size() > kMaxPattern || operands.front().find('\0') != std::string::npos))
    return false;
  auto test = string_test(op, std::move(operands), tables_.strings);
  if (!test) return false;
  query_.conditions.push_back({.input = input, .negated = negated, .test = std::move(*test)});
  return true;
}

std::optional<Constant> PlannedConditionReader::constant(std::size_t& at, std::size_t end) const {
  const std::size_t first = at;
  std::size_t depth = 0;
  for (; at < end; ++at) {
    const Token& token = tokens_[at];
    if (token.kind == TokenKind::number || token.kind == TokenKind::text) continue;
    if (token.is_mark("(")) {
      ++depth;
    } else if (token.is_mark(")")) {
      if (depth == 0) break;
      --depth;
    } else if (token.kind != TokenKind::mark || token.text.find_first_not_of("+-*/%|") != std::string::npos ||
               token.text == "|") {
      break;
    }
  }
  if (at == first || depth != 0) return std::nullopt;
  const std::size_t from = tokens_[first].begin;
  return tables_.evaluate(sql_.substr(from, tokens_[at - 1].end - from));
}

constexpr std::uint64_t kMaxTop = 10'000;  // rows kept for ORDER BY ... LIMIT

constexpr std::array<std::string_view, 30> kScalarFunctions{
    "abs",   "round",  "printf",    "format",  "coalesce", "ifnull", "nullif", "iif",    "length",  "lower",
    "upper", "substr", "substring", "replace", "trim",     "ltrim",  "rtrim",  "instr",  "typeof",  "hex",
    "quote", "min",    "max",       "sign",    "char",     "like",   "glob",   "regexp", "unicode", "cast"};

struct AggregateName {
  std::string_view name;
  AggregateKind kind;
};
constexpr std::array<AggregateName, 6> kAggregates{{{"count", AggregateKind::count},
                                                    {"sum", AggregateKind::sum},
                                                    {"total", AggregateKind::total},
                                                    {"avg", AggregateKind::average},
                                                    {"min", AggregateKind::min},
                                                    {"max", AggregateKind::max}}};

// A stretch of the statement and what takes its place.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

class QueryReader {
 public:
  using Item = PlannedStatement::Item;

  QueryReader(std::string_view sql, const PlannedTables& tables, PlannedStatement statement)
      : sql_(sql),
        tables_(tables),
        statement_(std::move(statement)),
        tokens_(statement_.tokens()),
        scope_(tokens_, tables, query_) {}

  std::optional<PlannedQuery> read() {
    using S = PlannedStatement;
    if (!scope_.read_from(statement_.begin(S::kFrom), statement_.end(S::kFrom))) return std::nullopt;
    if (statement_.has(S::kWhere)) {
      PlannedConditionReader conditions(sql_, tokens_, tables_, scope_, query_);
      if (!conditions.read(statement_.begin(S::kWhere), statement_.end(S::kWhere))) return std::nullopt;
    }
    if (statement_.has(S::kLimit) && !statement_.read_limit(query_.limit, query_.offset)) return std::nullopt;
    const bool aggregates = has_aggregate(S::kSelect) || has_aggregate(S::kHaving) || has_aggregate(S::kOrder);
    bool understood = false;
    if (statement_.has(S::kGroup) || aggregates || statement_.distinct()) {
      understood = read_groups(aggregates);
    } else if (!statement_.has(S::kHaving)) {
      understood = read_rows() || read_top();
    }
    if (!understood) return std::nullopt;
    if (query_.shape != PlannedQuery::Shape::rows) write_rest();
    return std::move(query_);
  }

 private:
  // min and max of several values are no aggregates.
  [[nodiscard]] const AggregateName* aggregate_at(std::size_t at, std::size_t end) const {
    if (at + 2 >= end || tokens_[at].kind != TokenKind::word || !tokens_[at + 1].is_mark("(")) return nullptr;
    const auto found = std::find_if(kAggregates.begin(), kAggregates.end(),
                                    [&](const AggregateName& name) { return name.name == tokens_[at].text; });
    if (found == kAggregates.end()) return nullptr;
    return statement_.part_ends(at + 2, statement_.closing(at + 1, end)).size() > 1 ? nullptr : &*found;
  }
  [[nodiscard]] bool has_aggregate(PlannedStatement::Clause clause) const {
    if (!statement_.has(clause)) return false;
    const std::size_t end = statement_.end(clause);
    for (std::size_t i = statement_.begin(clause); i < end; ++i) {
      if (aggregate_at(i, end) != nullptr) return true;
    }
    return false;
  }

  bool read_aggregate(std::size_t& at, std::size_t end) {
    const AggregateName* name = aggregate_at(at, end);
    const std::size_t close = statement_.closing(at + 1, end);
    const std::size_t first = at + 2;
    AggregateCall call{name->kind, 0};
    const bool no_argument =
        close == first ||
        (close == first + 1 && (tokens_[first].is_mark("*") || tokens_[first].kind == TokenKind::number));
    if (no_argument) {
      if (call.kind != AggregateKind::count) return false;
      call.kind = AggregateKind::rows;
    } else {
      const auto operand = scope_.operand(first, close);
      if (!operand || operand->next != close) return false;
      call.input = operand->input;
      const ValueKind kind = query_.inputs[call.input].kind;
      const bool adds =
          call.kind != AggregateKind::count && call.kind != AggregateKind::min && call.kind != AggregateKind::max;
      if (adds && (kind == ValueKind::string || kind == ValueKind::text)) return false;
      if (call.kind != AggregateKind::count && kind == ValueKind::text) return false;
    }
    const auto known = std::find(query_.aggregates.begin(), query_.aggregates.end(), call);
    const auto number = static_cast<std::size_t>(known - query_.aggregates.begin());
    if (known == query_.aggregates.end()) query_.aggregates.push_back(call);
    // The sign takes away the affinity that a column has and a call has not.
    edits_.push_back({tokens_[at].begin, tokens_[close].end, "(+" + made_aggregate(number) + ")"});
    at = close + 1;
    return true;
  }

  enum class Columns : std::uint8_t { keys_only, become_keys, any };

  // Puts the columns of the made table into an expression.
  bool rewrite(std::size_t begin, std::size_t end, Columns columns, bool aliases) {
    for (std::size_t at = begin; at < end;) {
      const Token& token = tokens_[at];
      if (token.kind == TokenKind::mark && (token.text == "." || token.text == ";")) return false;
      if (!token.is_name()) {
        ++at;
        continue;
      }
      const bool keyword = token.kind == TokenKind::word && contains(kExpressionWords, token.text);
      if (keyword && scope_.names_column(token)) return false;
      if (aggregate_at(at, end) != nullptr) {
        if (!read_aggregate(at, end)) return false;
      } else if (keyword) {
        ++at;
      } else if (at + 1 < end && tokens_[at + 1].is_mark("(")) {
        if (token.kind != TokenKind::word || !contains(kScalarFunctions, token.text)) return false;
        ++at;
      } else if (const auto column = scope_.column(at, end)) {
        if (!use_column(column->input, columns)) return false;
        edits_.push_back({tokens_[at].begin, tokens_[column->next - 1].end, "\"" + made_input(column->input) + "\""});
        at = column->next;
      } else if (aliases && is_plain_alias(token)) {
        ++at;
      } else {
        return false;
      }
    }
    return true;
  }
  // In an expression a column goes before an alias of the same name.
  [[nodiscard]] bool is_plain_alias(const Token& token) const {
    return statement_.item_of_alias(token) != nullptr && !scope_.names_column(token) &&
           !lower_case(token.text).starts_with(kMadePrefix);
  }
  bool use_column(std::size_t input, Columns columns) {
    if (columns == Columns::any) return true;
    if (std::find(query_.keys.begin(), query_.keys.end(), input) != query_.keys.end()) return true;
    if (columns == Columns::keys_only || !can_be_key(query_.inputs[input])) return false;
    query_.keys.push_back(input);
    return true;
  }
  // Groups are few: times and ids are better sorted by SQLite, which goes on in a file.
  static bool can_be_key(const Input& input) {
    if (input.kind == ValueKind::real || input.kind == ValueKind::text) return false;
    return input.of_track ||
           (input.field != EventField::id && input.field != EventField::ts_ns && input.field != EventField::end_ns);
  }

  [[nodiscard]] std::optional<std::size_t> plain_column(std::size_t begin, std::size_t end) {
    const auto column = scope_.column(begin, end);
    if (!column || column->next != end) return std::nullopt;
    return column->input;
  }
  bool read_keys() {
    std::size_t begin = statement_.begin(PlannedStatement::kGroup);
    for (const std::size_t end : statement_.part_ends(begin, statement_.end(PlannedStatement::kGroup))) {
      if (end <= begin) return false;
      std::optional<std::size_t> key = plain_column(begin, end);
      if (!key && end == begin + 1) {
        const Item* item = statement_.item_of_position(tokens_[begin]);
        if (item == nullptr && !scope_.names_column(tokens_[begin])) item = statement_.item_of_alias(tokens_[begin]);
        if (item != nullptr) key = plain_column(item->begin, item->end);
      }
      if (!key || !use_column(*key, Columns::become_keys)) return false;
      begin = end + 1;
    }
    return true;
  }

  bool read_groups(bool aggregates) {
    query_.shape = PlannedQuery::Shape::groups;
    using S = PlannedStatement;
    const bool group_by = statement_.has(S::kGroup);
    query_.grouped = group_by || !aggregates;
    if (!query_.grouped && statement_.has(S::kHaving)) return false;
    if (group_by && !read_keys()) return false;
    // DISTINCT alone: the columns that the items read make the groups.
    const Columns columns = group_by || aggregates ? Columns::keys_only : Columns::become_keys;
    for (const Item& item : statement_.items()) {
      if (!rewrite(item.begin, item.end, columns, false)) return false;
    }
    if (statement_.has(S::kHaving)) {
      const Token& keyword = tokens_[statement_.start(S::kHaving)];
      edits_.push_back({keyword.begin, keyword.end, "WHERE"});
      if (!rewrite(statement_.begin(S::kHaving), statement_.end(S::kHaving), Columns::keys_only, true)) return false;
    }
    if (statement_.has(S::kOrder) && !rewrite_order(Columns::keys_only)) return false;
    return !query_.keys.empty() || !query_.aggregates.empty();
  }

  // ASC and DESC left out.
  [[nodiscard]] std::size_t order_term_end(std::size_t begin, std::size_t end, bool& descending) const {
    descending = tokens_[end - 1].is_word("desc");
    return end - begin > 1 && (descending || tokens_[end - 1].is_word("asc")) ? end - 1 : end;
  }
  bool rewrite_order(Columns columns) {
    std::size_t begin = statement_.begin(PlannedStatement::kOrder);
    for (const std::size_t end : statement_.part_ends(begin, statement_.end(PlannedStatement::kOrder))) {
      if (end <= begin) return false;
      bool descending = false;
      const std::size_t stop = order_term_end(begin, end, descending);
      // A term that is nothing but an alias means the item, whatever columns there are.
      const bool alias = stop == begin + 1 && statement_.item_of_alias(tokens_[begin]) != nullptr;
      if (!alias && !rewrite(begin, end, columns, true)) return false;
      begin = end + 1;
    }
    return true;
  }

  bool read_rows() {
    query_.shape = PlannedQuery::Shape::rows;
    if (query_.joins_tracks) return false;
    std::vector<std::size_t> outputs;
    for (const Item& item : statement_.items()) {
      if (item.end == item.begin + 1 && tokens_[item.begin].is_mark("*")) {
        const auto all = scope_.all_columns();
        if (!all) return false;
        outputs.insert(outputs.end(), all->begin(), all->end());
      } else if (const auto column = plain_column(item.begin, item.end)) {
        outputs.push_back(*column);
      } else {
        return false;
      }
    }
    if (statement_.has(PlannedStatement::kOrder) && !ordered_by_id()) return false;
    query_.outputs = std::move(outputs);
    return true;
  }
  bool ordered_by_id() {
    return read_order() && query_.order.size() == 1 && !query_.order[0].descending &&
           query_.inputs[query_.order[0].input].field == EventField::id;
  }

  bool read_order() {
    query_.order.clear();
    std::size_t begin = statement_.begin(PlannedStatement::kOrder);
    for (const std::size_t end : statement_.part_ends(begin, statement_.end(PlannedStatement::kOrder))) {
      if (end <= begin) return false;
      OrderTerm term;
      const std::size_t stop = order_term_end(begin, end, term.descending);
      std::optional<std::size_t> input;
      const Item* item = stop == begin + 1 ? statement_.item_of_alias(tokens_[begin]) : nullptr;
      if (item == nullptr && stop == begin + 1) item = statement_.item_of_position(tokens_[begin]);
      if (item != nullptr) {
        input = plain_column(item->begin, item->end);
      } else {
        input = plain_column(begin, stop);
      }
      if (!input) return false;
      term.input = *input;
      query_.order.push_back(term);
      begin = end + 1;
    }
    return true;
  }

  bool read_top() {
    query_.shape = PlannedQuery::Shape::top;
    if (query_.joins_tracks || !statement_.has(PlannedStatement::kOrder) || !statement_.has(PlannedStatement::kLimit))
      return false;
    if (query_.offset + query_.limit > kMaxTop) return false;
    if (!read_order() || query_.order.size() > PlannedQuery::kMaxOrderTerms) return false;
    // The tables give rows in the order of time as they are asked for.
    if (query_.order.size() == 1 && !query_.order[0].descending &&
        query_.inputs[query_.order[0].input].field == EventField::ts_ns)
      return false;
    for (const OrderTerm& term : query_.order) {
      const ValueKind kind = query_.inputs[term.input].kind;
      if (kind != ValueKind::integer && kind != ValueKind::real) return false;
    }
    for (const Item& item : statement_.items()) {
      if (item.end == item.begin + 1 && tokens_[item.begin].is_mark("*")) {
        if (!expand_star(tokens_[item.begin])) return false;
      } else if (!rewrite(item.begin, item.end, Columns::any, false)) {
        return false;
      }
    }
    return rewrite_order(Columns::any);
  }
  bool expand_star(const Token& star) {
    const auto all = scope_.all_columns();
    if (!all) return false;
    Edit edit{star.begin, star.end, ""};
    for (const std::size_t input : *all) edit.text += (edit.text.empty() ? " " : ", ") + made_input(input);
    edits_.push_back(edit);
    return true;
  }

  // The statement over the made table.
  void write_rest() {
    const auto cut = [&](PlannedStatement::Clause clause, std::string text) {
      if (!statement_.has(clause)) return;
      edits_.push_back(
          {tokens_[statement_.start(clause)].begin, tokens_[statement_.end(clause) - 1].end, std::move(text)});
    };
    cut(PlannedStatement::kFrom, "FROM " + std::string(kMadeTable));
    cut(PlannedStatement::kWhere, "");
    cut(PlannedStatement::kGroup, "");
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      query_.sql += sql_.substr(at, edit.begin - at);
      query_.sql += edit.text;
      at = edit.end;
    }
    query_.sql += sql_.substr(at, tokens_.back().end - at);
  }

  std::string_view sql_;
  const PlannedTables& tables_;
  PlannedStatement statement_;
  const std::vector<Token>& tokens_;
  PlannedQuery query_;
  PlannedScope scope_;
  std::vector<Edit> edits_;
};

}  // namespace

Constant::Constant(sqlite3_value* copied) : value_(copied, sqlite3_value_free) {}

std::string Constant::text() const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value()));
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value())));
}

std::optional<PlannedQuery> read_planned_query(std::string_view sql, const PlannedTables& tables) {
  auto statement = PlannedStatement::read(sql);
  if (!statement) return std::nullopt;
  return QueryReader(sql, tables, std::move(*statement)).read();
}

}  // namespace accelscope::sql
