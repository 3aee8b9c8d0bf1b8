// What is gathered of values: counts, sums, least and greatest, for any number of groups, and the best of many. One of
// each per thread, merged at the end. Sums know whether they are what adding in any order gives.
//
//   Groups groups(1, {{AggregateKind::sum, ValueKind::integer}}, text_of);
//   groups.add_value(groups.find(keys), 0, value);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace accelscope {

// How a value lies in 64 bits: two's complement, unsigned, the bits of a double, the code of a string, or the place of
// a text in its chunk.
enum class ValueKind : std::uint8_t { integer, unsigned_integer, real, string, text };

enum class AggregateKind : std::uint8_t { rows, count, sum, total, average, min, max };

[[nodiscard]] constexpr bool is_sum(AggregateKind kind) noexcept {
  return kind == AggregateKind::sum || kind == AggregateKind::total || kind == AggregateKind::average;
}

struct Aggregate {
  AggregateKind kind = AggregateKind::rows;
  ValueKind value = ValueKind::integer;
};

// What an aggregate comes to; none where no event had a value. A total of none is 0.
struct AggregateAnswer {
  bool none = false;
  ValueKind kind = ValueKind::integer;
  std::uint64_t value = 0;
};

class Groups {
 public:
  using TextOf = std::function<std::string_view(std::uint64_t code)>;  // equal texts have equal codes
  Groups(std::size_t key_count, std::vector<Aggregate> aggregates, TextOf text_of)
      : aggregates_(std::move(aggregates)),
        text_of_(std::move(text_of)),
        words_(key_count + 1),
        slots_(kFirstSlots, 0) {}

  // keys: one word per key, after a word with a bit for each that has no value, whose own word is 0.
  [[nodiscard]] std::size_t words() const noexcept { return words_; }
  [[nodiscard]] std::size_t find(const std::uint64_t* keys);  // made if it is new
  [[nodiscard]] std::optional<std::size_t> find_known(const std::uint64_t* keys) const;
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size() / words_; }
  [[nodiscard]] const std::uint64_t* keys(std::size_t group) const noexcept { return keys_.data() + group * words_; }

  void add_value(std::size_t group, std::size_t aggregate, std::uint64_t value) {
    add_value(place(group, aggregate), aggregate, value);
  }
  // The same for the sum of an integer.
  void add_integer(std::size_t group, std::size_t aggregate, std::int64_t value) noexcept {
    Accumulator& sum = place(group, aggregate);
    ++sum.count;
    sum.value += static_cast<std::uint64_t>(value);
    sum.magnitude += std::abs(static_cast<double>(value));
  }
  void add_count(std::size_t group, std::size_t aggregate, std::uint64_t count) noexcept {
    place(group, aggregate).count += count;
  }
  // `count` values of no sign whose sum is known.
  void add_sum(std::size_t group, std::size_t aggregate, std::uint64_t count, std::uint64_t of_values) noexcept {
    Accumulator& sum = place(group, aggregate);
    sum.count += count;
    sum.value += of_values;
    sum.magnitude += static_cast<double>(of_values);
  }
  void merge(const Groups& other);

  // Nothing if a sum depends on the order of the values.
  [[nodiscard]] std::optional<AggregateAnswer> answer(std::size_t group, std::size_t aggregate) const;

 private:
  // 32 bytes. For sum, total and average: value is the sum, for min and max the value so far.
  struct Accumulator {
    std::uint64_t count = 0;  // of events with a value
    std::uint64_t value = 0;
    double magnitude = 0;  // sum of the absolute values, roughly
    int exponent = 2000;   // real sums: 2 to its power divides every value
  };
  static constexpr std::size_t kFirstSlots = 1024;  // a power of two
  [[nodiscard]] Accumulator& place(std::size_t group, std::size_t aggregate) noexcept {
    return accumulators_[group * aggregates_.size() + aggregate];
  }
  void add_value(Accumulator& place, std::size_t aggregate, std::uint64_t value);
  void merge(Accumulator& place, std::size_t aggregate, const Accumulator& other);
  [[nodiscard]] bool comes_before(ValueKind kind, std::uint64_t a, std::uint64_t b) const;
  void grow();

  std::vector<Aggregate> aggregates_;
  TextOf text_of_;
  std::size_t words_;
  std::vector<std::uint32_t> slots_;  // group + 1, by hash
  std::vector<std::uint64_t> keys_;
  std::vector<Accumulator> accumulators_;
};

// The least so many of what is added.
template <typename T>
class Best {
 public:
  // False: a value that comes after those there are need not be added.
  [[nodiscard]] bool has_room(std::size_t wanted) const noexcept { return heap_.size() < wanted; }
  [[nodiscard]] const T& worst() const noexcept { return heap_.front(); }
  void add(const T& value, std::size_t wanted) {
    if (wanted == 0) return;
    if (has_room(wanted)) {
      heap_.push_back(value);
    } else {
      if (!(value < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = value;
    }
    std::push_heap(heap_.begin(), heap_.end());
  }
  [[nodiscard]] const std::vector<T>& values() const noexcept { return heap_; }  // in no order

 private:
  std::vector<T> heap_;  // the worst in front
};

}  // namespace accelscope
