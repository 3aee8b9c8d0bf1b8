// Conditions of a WHERE clause as the scan applies them: inclusive integer ranges and tests of dictionary strings
// that look at each distinct string once. A condition keeps every row that SQLite would keep.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/sql/base/context.h"

namespace re2 {
class RE2;
}

namespace accelscope::sql {

// Values min to max, both included; empty once min > max.
template <typename T>
struct Bounds {
  static constexpr bool kReal = std::numeric_limits<T>::has_infinity;
  static constexpr T kLeast = kReal ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  static constexpr T kGreatest = kReal ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  T min = kLeast;
  T max = kGreatest;

  [[nodiscard]] bool empty() const noexcept { return min > max; }
  [[nodiscard]] bool unbounded() const noexcept { return min == kLeast && max == kGreatest; }
  [[nodiscard]] bool holds(T value) const noexcept { return min <= value && value <= max; }
  void at_least(T value) noexcept { min = std::max(min, value); }
  void at_most(T value) noexcept { max = std::min(max, value); }
  void clear() noexcept {
    min = kGreatest;
    max = kLeast;
  }
};
using IntegerBounds = Bounds<std::int64_t>;
using RealBounds = Bounds<double>;

// Narrow the bounds by `column <op> value`, op being SQLITE_INDEX_CONSTRAINT_EQ, GT, LE, LT or GE. The integer form
// is exact for every value; the real form may keep a row too many, which SQLite sorts out.
void narrow(IntegerBounds& bounds, int op, sqlite3_value* value);
void narrow(RealBounds& bounds, int op, sqlite3_value* value);
// For columns of unsigned 64-bit values, where SQLite sees text from 2^63 on; keeps rows too many where unsure.
void narrow(Bounds<std::uint64_t>& bounds, int op, sqlite3_value* value);

// One test of a dictionary column. Remembers its answer per scope and string.
class StringTest {
 public:
  // EQ with one value or several (IN); NE, LT, LE, GT, GE by the bytes; LIKE, GLOB, REGEXP. Without an operand (NULL)
  // it keeps no row.
  StringTest(int op, std::vector<std::string> operands);
  ~StringTest();
  StringTest(const StringTest&) = delete;
  StringTest& operator=(const StringTest&) = delete;

  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }  // a bad regular expression
  [[nodiscard]] bool keeps(std::string_view text) const;
  // The answers for one scope, by local string id: 0 unknown, 1 keep, 2 leave out. Two threads that ask for the same
  // string at the same time find the same answer.
  class Answers {
   public:
    Answers(const StringTest& test, const StringPool& pool, const ScopeStrings& strings)
        : test_(test), pool_(pool), strings_(strings), known_(strings.size() + 1) {}
    [[nodiscard]] bool keeps(std::uint64_t local) {
      const std::atomic_ref<std::uint8_t> answer(known_[std::min<std::uint64_t>(local, known_.size() - 1)]);
      std::uint8_t known = answer.load(std::memory_order_relaxed);
      if (known == 0) answer.store(known = find_out(local), std::memory_order_relaxed);
      return known == 1;
    }

   private:
    [[nodiscard]] std::uint8_t find_out(std::uint64_t local) const;
    const StringTest& test_;
    const StringPool& pool_;
    const ScopeStrings& strings_;
    std::vector<std::uint8_t> known_;
  };
  // To be asked for by one thread.
  [[nodiscard]] Answers& answers(Context& context, std::uint32_t scope);
  // The same for session-wide ids below the pool's size, as the totals by name have them.
  void prepare_for(const StringPool& pool);
  [[nodiscard]] bool keeps_session_string(const StringPool& pool, StringId id);

 private:
  int op_;
  std::vector<std::string> operands_;  // sorted for EQ
  std::unique_ptr<re2::RE2> expression_;
  std::string failure_;
  std::map<std::uint32_t, std::unique_ptr<Answers>> answers_;
  std::vector<std::uint8_t> session_answers_;
};

}  // namespace accelscope::sql
