#include "core/sql/planned/condition.h"

#include <array>
#include <charconv>
#include <cmath>

namespace accelscope::sql {
namespace {

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
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_shown = error == std::errc() && end == text.data() + text.size() && number >= kTwoTo63 &&
                          std::to_string(number) == text;
    if (!is_shown) {
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

}  // namespace

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

}  // namespace accelscope::sql
