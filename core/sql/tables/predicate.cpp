#include "core/sql/tables/predicate.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace accelscope::sql {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

// `column <op> value` for a column of integers and a value that sorts after every integer (text, blobs).
template <typename T>
void narrow_by_later_type(Bounds<T>& bounds, int op) {
  if (op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE) bounds.clear();
}

void narrow_by_integer(IntegerBounds& bounds, int op, std::int64_t value) {
  const bool strict = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_LT;
  const bool lower = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  const bool upper = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
  if (strict &&
      value == (lower ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min())) {
    bounds.clear();
    return;
  }
  if (!upper) bounds.at_least(strict ? value + 1 : value);
  if (!lower) bounds.at_most(strict ? value - 1 : value);
}

// The same condition with the whole numbers next to `value`.
void narrow_by_real(IntegerBounds& bounds, int op, double value) {
  const bool lower = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  if (value >= kTwoTo63 || value < -kTwoTo63) {
    const bool keeps_all = op != SQLITE_INDEX_CONSTRAINT_EQ && lower == (value < 0);
    if (!keeps_all) bounds.clear();
    return;
  }
  const double whole = std::floor(value);
  const auto below = static_cast<std::int64_t>(whole);
  if (whole == value) {
    narrow_by_integer(bounds, op, below);
  } else if (op == SQLITE_INDEX_CONSTRAINT_EQ) {
    bounds.clear();
  } else {
    narrow_by_integer(bounds, lower ? SQLITE_INDEX_CONSTRAINT_GT : SQLITE_INDEX_CONSTRAINT_LE, below);
  }
}

}  // namespace

void narrow(IntegerBounds& bounds, int op, sqlite3_value* value) {
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
      return narrow_by_integer(bounds, op, sqlite3_value_int64(value));
    case SQLITE_FLOAT:
      return narrow_by_real(bounds, op, sqlite3_value_double(value));
    case SQLITE_NULL:
      return bounds.clear();
    default:
      return narrow_by_later_type(bounds, op);
  }
}

void narrow(RealBounds& bounds, int op, sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_NULL) return bounds.clear();
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return narrow_by_later_type(bounds, op);
  // An integer may lie between two doubles: widen by one step.
  const double number = sqlite3_value_double(value);
  const bool lower = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  const bool upper = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
  const double infinity = std::numeric_limits<double>::infinity();
  if (!upper) bounds.at_least(std::nextafter(number, -infinity));
  if (!lower) bounds.at_most(std::nextafter(number, infinity));
}

void narrow(Bounds<std::uint64_t>& bounds, int op, sqlite3_value* value) {
  const bool lower = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  const bool upper = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) return bounds.clear();
  if (type == SQLITE_TEXT && !lower && !upper) {
    // Equal texts can only be values from 2^63 on, or a number that SQLite converts.
    const std::string_view text(reinterpret_cast<const char*>(sqlite3_value_text(value)),
                                static_cast<std::size_t>(sqlite3_value_bytes(value)));
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) {
      bounds.at_least(number);
      bounds.at_most(number);
    }
    return;
  }
  if (type != SQLITE_INTEGER) return;
  const std::int64_t number = sqlite3_value_int64(value);
  if (number < 0) {
    if (!lower) bounds.clear();
    return;
  }
  if (!upper) bounds.at_least(static_cast<std::uint64_t>(number));
  if (!lower) bounds.at_most(static_cast<std::uint64_t>(number));
}

StringTest::StringTest(int op, std::vector<std::string> operands) : op_(op), operands_(std::move(operands)) {
  std::sort(operands_.begin(), operands_.end());
  if (op_ == SQLITE_INDEX_CONSTRAINT_REGEXP && !operands_.empty()) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    expression_ = std::make_unique<re2::RE2>(operands_.front(), options);
    if (!expression_->ok())
      failure_ = fmt::format("regular expression \"{}\": {}", operands_.front(), expression_->error());
  }
}
StringTest::~StringTest() = default;

bool StringTest::keeps(std::string_view text) const {
  if (operands_.empty()) return false;
  switch (op_) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return std::binary_search(operands_.begin(), operands_.end(), text, std::less<>());
    case SQLITE_INDEX_CONSTRAINT_NE:
      return text != operands_.front();
    case SQLITE_INDEX_CONSTRAINT_LT:
      return text < operands_.front();
    case SQLITE_INDEX_CONSTRAINT_LE:
      return text <= operands_.front();
    case SQLITE_INDEX_CONSTRAINT_GT:
      return text > operands_.front();
    case SQLITE_INDEX_CONSTRAINT_GE:
      return text >= operands_.front();
    // SQLite's matchers end at a NUL byte, so does the copy's c_str().
    case SQLITE_INDEX_CONSTRAINT_LIKE:
      return sqlite3_strlike(operands_.front().c_str(), std::string(text).c_str(), 0) == 0;
    case SQLITE_INDEX_CONSTRAINT_GLOB:
      return sqlite3_strglob(operands_.front().c_str(), std::string(text).c_str()) == 0;
    default:
      return expression_->ok() && re2::RE2::PartialMatch({text.data(), text.size()}, *expression_);
  }
}

void StringTest::prepare_for(const StringPool& pool) {
  if (session_answers_.empty()) session_answers_.resize(pool.size());
}

bool StringTest::keeps_session_string(const StringPool& pool, StringId id) {
  if (id >= session_answers_.size()) return keeps(pool.text(id));
  const std::atomic_ref<std::uint8_t> answer(session_answers_[id]);
  std::uint8_t known = answer.load(std::memory_order_relaxed);
  if (known == 0) answer.store(known = keeps(pool.text(id)) ? 1 : 2, std::memory_order_relaxed);
  return known == 1;
}

std::uint8_t StringTest::Answers::find_out(std::uint64_t local) const {
  return test_.keeps(pool_.text(strings_.session_id(local))) ? 1 : 2;
}

StringTest::Answers& StringTest::answers(Context& context, std::uint32_t scope) {
  std::unique_ptr<Answers>& answers = answers_[scope];
  if (!answers) answers = std::make_unique<Answers>(*this, *context.snapshot->strings, context.strings(scope));
  return *answers;
}

}  // namespace accelscope::sql
