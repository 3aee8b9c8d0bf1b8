// The values of one group and what they come to: sum, mean, deviation, least, greatest, quantiles. One or two values
// take no memory of their own; a few are kept as they are; of many whole numbers that lie close together each is
// counted, others are put into bins, so that memory does not grow with their number.
//
//   Distribution values;
//   values.add(value, most_retained);           // counts or bins them once there are so many
//   values.merge(std::move(of_another_worker), most_retained);
//   const ValueFigures figures = values.figures();
//
// Quantiles interpolate linearly between the order statistics beside (n - 1) q, as R's type 7 and NumPy do (Hyndman and
// Fan, Sample Quantiles in Statistical Packages, 1996). They are exact unless there are bins, and then for whole
// numbers below 512; else an order statistic is known to 1/256 of its size (0.4 %). Sums of whole numbers are exact
// below 2^53.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace accelscope::analysis {

// How often each of some whole numbers came that lie close together: durations of one kind of event, sizes that are all
// multiples of a page. Counting one takes an addition, and everything that statistics tell follows from the counts
// exactly, however many values there were.
//
//   ValueCounts counts;
//   if (counts.cover(values)) ...             // begins to count where most of them lie
//   if (!counts.counters().count(value)) ...  // it lies elsewhere

// The counters as they are when asked for: value base + (i << shift) has counters[i].
struct ValueCounters {
  std::uint64_t base = 0;  // two's complement
  std::uint32_t span = 0;  // counters; 0: no value has one
  std::int32_t shift = 0;
  std::uint32_t* counters = nullptr;

  // False: the value has no counter. Low bits that all others lack become high ones, beyond every counter.
  bool count(std::int64_t value, std::uint32_t times = 1) noexcept {
    const std::uint64_t at = std::rotr(static_cast<std::uint64_t>(value) - base, shift);
    if (at >= span) return false;
    counters[at] += times;
    return true;
  }
};

class ValueCounts {
 public:
  static constexpr std::uint32_t kMost = 4096;  // counters, 16 KiB of them

  // Makes counters so that at least seven in eight of the values have one, and all that were counted keep theirs. Takes
  // those of the values that have one out of them and counts them; false: they lie too far apart, nothing has changed.
  [[nodiscard]] bool cover(std::vector<double>& values);
  // False: it has no counter.
  [[nodiscard]] bool count(double value) noexcept;
  [[nodiscard]] ValueCounters counters() noexcept {
    return {base_, static_cast<std::uint32_t>(counts_.size()), shift_, counts_.data()};
  }
  [[nodiscard]] bool empty() const noexcept { return counts_.empty(); }
  [[nodiscard]] std::uint64_t total() const noexcept;  // how many values were counted
  [[nodiscard]] bool any() const noexcept;
  // Values with their counts, the least first. The body may say false to stop.
  template <typename Body>
  void for_each(Body&& body) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] != 0 && !body(static_cast<double>(value_at(i)), counts_[i])) return;
    }
  }
  // False: not all values of the other can have a counter beside those of this one; nothing has changed.
  [[nodiscard]] bool merge(const ValueCounts& other);

 private:
  [[nodiscard]] std::int64_t value_at(std::size_t i) const noexcept {
    return static_cast<std::int64_t>(base_ + (std::uint64_t{i} << shift_));
  }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> extent() const noexcept;  // of what was counted
  void move_to(std::int64_t least, std::int64_t greatest, std::int32_t shift);

  std::uint64_t base_ = 0;
  std::int32_t shift_ = 0;
  std::vector<std::uint32_t> counts_;
};

// Any number of values in little memory: their moments, and counts in bins of 1/256 of a power of two. What an order
// statistic is, it tells to that size (0.4 %); of whole numbers below 512 exactly.

// Sums about a value of their own, so that the deviation of large values that differ little does not get lost.
struct ValueMoments {
  std::uint64_t count = 0;
  double sum = 0;
  double centre = 0;
  double offset_sum = 0, offset_squares = 0;  // of value - centre
  double min = 0, max = 0;
  bool whole = true;  // all of them are whole numbers
  void add(const double* values, std::size_t count);
  void add_many(double value, std::uint64_t times);
  void merge(const ValueMoments& other) noexcept;
};

class ValueSketch {
 public:
  void add(const std::vector<double>& values);
  void add_many(double value, std::uint32_t times);
  void merge(const ValueSketch& other);
  [[nodiscard]] const ValueMoments& moments() const noexcept { return moments_; }
  // The value of a rank, from 0 on.
  [[nodiscard]] double order_statistic(std::uint64_t rank) const;

 private:
  static constexpr std::size_t kBins = 256;        // of one power of two
  static constexpr std::uint32_t kMostDense = 16;  // powers of two
  void widen(std::uint32_t first_bin, std::uint32_t last_bin);
  void count_bin(std::uint32_t bin, std::uint32_t times);
  // Smallest first, those with values; until the body says false.
  template <typename Body>
  void for_each_bin(Body&& body) const;

  ValueMoments moments_;
  std::uint32_t dense_first_ = 0;               // page of the first of dense_
  std::vector<std::uint32_t> dense_;            // counts of neighbouring bins
  std::map<std::uint32_t, std::uint32_t> far_;  // of bins that lie far from those
};

struct ValueFigures {
  std::uint64_t count = 0;  // all others mean nothing while it is 0
  double total = 0, mean = 0;
  double deviation = 0;  // of the values as a whole population (n, not n - 1)
  double min = 0, q1 = 0, median = 0, q3 = 0, p90 = 0, p99 = 0, max = 0;
  bool exact = true;  // of the quantiles
};

class Distribution {
 public:
  static constexpr std::size_t kFolded = 512;  // values that are counted or put into bins at once

  // Values must be finite. most_retained: at least kFolded; so many are kept before there are bins.
  // True: counters() may be others.
  bool add(double value, std::size_t most_retained) {
    if (many_ || few_count_ == kFew) return add_to_many(value, most_retained);
    few_[few_count_++] = value;
    return false;
  }
  void merge(const Distribution& other, std::size_t most_retained);
  void merge(Distribution&& other, std::size_t most_retained);
  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return !many_ && few_count_ == 0; }
  // To count most values by at once; none before there are some of them. Valid until the next call of another member.
  [[nodiscard]] ValueCounters counters() noexcept { return many_ ? many_->counts.counters() : ValueCounters{}; }
  // Puts the kept values into another order.
  [[nodiscard]] ValueFigures figures();

 private:
  static constexpr std::uint32_t kFew = 2;
  static constexpr std::size_t kFirstLook = 128;  // kept values
  struct Many {
    std::vector<double> retained;
    std::size_t next_look = kFirstLook;  // so many kept ones are looked at
    ValueCounts counts;
    std::unique_ptr<ValueSketch> sketch;
  };
  Many& many();
  bool add_to_many(double value, std::size_t most_retained);
  void settle(std::size_t most_retained);
  void put_into_bins();
  [[nodiscard]] ValueMoments moments() const;
  void set_quantiles(const ValueMoments& of_all, ValueFigures& figures);

  std::array<double, kFew> few_{};
  std::uint32_t few_count_ = 0;  // 0 once there are many
  std::unique_ptr<Many> many_;
};

}  // namespace accelscope::analysis
