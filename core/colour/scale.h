// Steps for the numbers of a column, so that colours show which are larger: at most eight, with cuts at round numbers,
// equally far apart or, where the numbers span more than a factor of 16, by powers. The cuts follow from a histogram
// alone, and a histogram only adds up, so they are the same in whatever order the events came.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope {

inline constexpr std::size_t kMostSteps = 8;

// How many numbers lie between each eighth of an octave. 256 KiB.
class NumberHistogram {
 public:
  NumberHistogram();
  void add(double value) noexcept;  // finite
  void merge(const NumberHistogram& other) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double min() const noexcept { return min_; }  // needs count() > 0
  [[nodiscard]] double max() const noexcept { return max_; }

  struct Span {
    double low = 0;
    double high = 0;
  };
  // Bounds, at most an eighth of an octave too wide, of all but a share of the numbers at each end; of those above zero
  // if `positive`. {0, 0} if there are none.
  [[nodiscard]] Span span(double left_out, bool positive) const noexcept;

 private:
  std::vector<std::uint64_t> counts_;  // by sign, exponent and first three bits of the fraction
  std::uint64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
};

// What the numbers are, which decides where cuts are round.
struct NumberKind {
  bool whole = false;
  bool binary = false;  // bytes: powers of two
};

// Ascending, at most seven: step i holds the numbers from cuts[i - 1] to below cuts[i]. None where all are equal.
[[nodiscard]] std::vector<double> scale_cuts(const NumberHistogram& histogram, NumberKind kind);

// "1 KiB – 4 KiB", "< 10 µs", "≥ 5", or the number where the step can hold but one. The unit is that of a column ("ns",
// "B", "").
[[nodiscard]] std::string step_text(const std::vector<double>& cuts, std::size_t step, NumberKind kind,
                                    std::string_view unit);

}  // namespace accelscope
