// Any number of values in little memory: their moments, and counts in bins of 1/256 of a power of two. What an order
// statistic is, it tells to that size (0.4 %); of whole numbers below 512 exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace accelscope {

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

}  // namespace accelscope
