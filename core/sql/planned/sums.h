// The groups of one thread: a table from keys to what the aggregates have gathered. Sums know whether they are what
// adding in any order gives; where they are not, SQLite must add up the rows in its own order.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "core/sql/planned/lane.h"

namespace accelscope::sql {

// 32 bytes. For sum, total and average: value is the sum, for min and max the value so far.
struct Accumulator {
  std::uint64_t count = 0;  // of events with a value
  std::uint64_t value = 0;
  double magnitude = 0;  // sum of the absolute values, roughly
  int exponent = 2000;   // real sums: 2 to its power divides every value
};

[[nodiscard]] constexpr bool is_sum(AggregateKind kind) noexcept {
  return kind == AggregateKind::sum || kind == AggregateKind::total || kind == AggregateKind::average;
}

class NativeGroups {
 public:
  NativeGroups(const NativeQuery& query, const TextCodes& texts)
      : query_(query), texts_(texts), words_(query.keys.size() + 1), slots_(kFirstSlots, 0) {}

  // keys: one word per key of the query, after a word with a bit for each that is NULL, whose own word is 0.
  [[nodiscard]] std::size_t words() const noexcept { return words_; }
  [[nodiscard]] std::size_t find(const std::uint64_t* keys);  // made if it is new
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size() / words_; }

  void add_value(std::size_t group, std::size_t aggregate, std::uint64_t value) {
    add_value(accumulators_[group * query_.aggregates.size() + aggregate], aggregate, value);
  }
  // The same for the sum of an integer.
  void add_integer(std::size_t group, std::size_t aggregate, std::int64_t value) noexcept {
    Accumulator& place = accumulators_[group * query_.aggregates.size() + aggregate];
    ++place.count;
    place.value += static_cast<std::uint64_t>(value);
    place.magnitude += std::abs(static_cast<double>(value));
  }
  void add_count(std::size_t group, std::size_t aggregate, std::uint64_t count) noexcept {
    accumulators_[group * query_.aggregates.size() + aggregate].count += count;
  }
  // `count` values of no sign whose sum is known.
  void add_sum(std::size_t group, std::size_t aggregate, std::uint64_t count, std::uint64_t sum) noexcept {
    Accumulator& place = accumulators_[group * query_.aggregates.size() + aggregate];
    place.count += count;
    place.value += sum;
    place.magnitude += static_cast<double>(sum);
  }
  void merge(const NativeGroups& other);

  // Keys, then aggregates. Nothing if a sum depends on the order of the rows.
  [[nodiscard]] std::optional<std::vector<SqlValue>> row(std::size_t group) const;

 private:
  static constexpr std::size_t kFirstSlots = 1024;  // a power of two
  void add_value(Accumulator& place, std::size_t aggregate, std::uint64_t value);
  void merge(Accumulator& place, std::size_t aggregate, const Accumulator& other);
  [[nodiscard]] bool comes_before(ValueKind kind, std::uint64_t a, std::uint64_t b) const;
  [[nodiscard]] std::optional<SqlValue> result(std::size_t aggregate, const Accumulator& place) const;
  void grow();

  const NativeQuery& query_;
  const TextCodes& texts_;
  std::size_t words_;
  std::vector<std::uint32_t> slots_;  // group + 1, by hash
  std::vector<std::uint64_t> keys_;
  std::vector<Accumulator> accumulators_;
};

}  // namespace accelscope::sql
