// The values of one group and what they come to: sum, mean, deviation, least, greatest, quantiles. Few values are kept
// as they are; of many it keeps counts in bins of 1/256 of a power of two, so that memory does not grow with them.
//
//   Distribution values;
//   values.add(value, most_kept);           // folds them into bins once there are so many
//   values.merge(std::move(of_another_worker));
//   const ValueFigures figures = values.figures();
//
// Quantiles interpolate linearly between the order statistics beside (n - 1) q, as R's type 7 and NumPy do (Hyndman and
// Fan, Sample Quantiles in Statistical Packages, 1996). They are exact while the values are kept, and for whole numbers
// below 512; else an order statistic is known to 1/256 of its size (0.4 %). Sums of whole numbers are exact below 2^53.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

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
  static constexpr std::size_t kFolded = 512;  // values that are folded into bins at once

  // Values must be finite.
  void add(double value, std::size_t most_kept) {
    kept_.push_back(value);
    if (kept_.size() >= most_kept) fold();
  }
  void merge(const Distribution& other);
  void merge(Distribution&& other);
  [[nodiscard]] std::uint64_t count() const noexcept { return moments_.count + kept_.size(); }
  // Puts the kept values into another order.
  [[nodiscard]] ValueFigures figures();

 private:
  // Sums about a value of their own, so that the deviation of large values that differ little does not get lost.
  struct Moments {
    std::uint64_t count = 0;
    double sum = 0;
    double centre = 0;
    double offset_sum = 0, offset_squares = 0;  // of value - centre
    double min = 0, max = 0;
    bool whole = true;  // all of them are whole numbers
    void add(const double* values, std::size_t count);
    void merge(const Moments& other) noexcept;
  };
  static constexpr std::size_t kBins = 256;        // of one power of two
  static constexpr std::uint32_t kMostDense = 64;  // powers of two

  void fold();
  void widen(std::uint32_t first_bin, std::uint32_t last_bin);
  void count_bin(std::uint32_t bin, std::uint32_t times);
  // Smallest first, those with values; until the body says false.
  template <typename Body>
  void for_each_bin(Body&& body) const;
  [[nodiscard]] bool count_kept(const Moments& of_all, std::vector<std::uint32_t>& counts) const;
  [[nodiscard]] static double counted_quantile(const std::vector<std::uint32_t>& counts, const Moments& of_all,
                                               double share);
  [[nodiscard]] double kept_quantile(double share, std::size_t& sorted_until);
  [[nodiscard]] double binned_quantile(double share) const;
  [[nodiscard]] double order_statistic(std::uint64_t rank) const;

  std::vector<double> kept_;
  Moments moments_;                             // of those that are folded
  std::uint32_t dense_first_ = 0;               // page of the first of dense_
  std::vector<std::uint32_t> dense_;            // counts of neighbouring bins
  std::map<std::uint32_t, std::uint32_t> far_;  // of bins that lie far from those
};

}  // namespace accelscope
