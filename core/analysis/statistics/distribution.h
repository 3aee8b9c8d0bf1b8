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

#include <array>
#include <cstdint>
#include <memory>
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
  static constexpr std::size_t kBins = 256;
  using Page = std::array<std::uint32_t, kBins>;  // of one power of two

  void fold();
  [[nodiscard]] Page& page(std::uint32_t number);
  [[nodiscard]] double kept_quantile(double share, std::size_t& sorted_until);
  [[nodiscard]] double binned_quantile(double share) const;
  [[nodiscard]] double order_statistic(std::uint64_t rank) const;

  std::vector<double> kept_;
  Moments moments_;  // of those that are folded
  std::uint32_t first_page_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace accelscope
