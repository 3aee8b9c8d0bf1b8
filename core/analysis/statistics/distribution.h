// The values of one group and what they come to: sum, mean, deviation, least, greatest, quantiles. One or two values
// take no memory of their own; a few are kept as they are; of many whole numbers that lie close together each is
// counted (value_counts.h), others are put into bins (value_sketch.h), so that memory does not grow with their number.
//
//   Distribution values;
//   values.add(value, most_kept);           // counts or bins them once there are so many
//   values.merge(std::move(of_another_worker), most_kept);
//   const ValueFigures figures = values.figures();
//
// Quantiles interpolate linearly between the order statistics beside (n - 1) q, as R's type 7 and NumPy do (Hyndman and
// Fan, Sample Quantiles in Statistical Packages, 1996). They are exact unless there are bins, and then for whole
// numbers below 512; else an order statistic is known to 1/256 of its size (0.4 %). Sums of whole numbers are exact
// below 2^53.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/analysis/statistics/value_counts.h"
#include "core/analysis/statistics/value_sketch.h"

namespace accelscope {

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

  // Values must be finite. most_kept: at least kFolded; so many are kept before there are bins.
  // True: counters() may be others.
  bool add(double value, std::size_t most_kept) {
    if (many_ || few_count_ == kFew) return add_to_many(value, most_kept);
    few_[few_count_++] = value;
    return false;
  }
  void merge(const Distribution& other, std::size_t most_kept);
  void merge(Distribution&& other, std::size_t most_kept);
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
    std::vector<double> kept;
    std::size_t next_look = kFirstLook;  // so many kept ones are looked at
    ValueCounts counts;
    std::unique_ptr<ValueSketch> sketch;
  };
  Many& many();
  bool add_to_many(double value, std::size_t most_kept);
  void settle(std::size_t most_kept);
  void put_into_bins();
  [[nodiscard]] ValueMoments moments() const;
  void set_quantiles(const ValueMoments& of_all, ValueFigures& figures);

  std::array<double, kFew> few_{};
  std::uint32_t few_count_ = 0;  // 0 once there are many
  std::unique_ptr<Many> many_;
};

}  // namespace accelscope
