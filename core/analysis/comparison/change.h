// What became of a figure from one configuration to another, each told by its captures: the ratio, how far it may lie
// from the truth, and whether noise explains it.
//
//   const Change change = change_of(base, other);    // a value per capture
//   if (change.told == Told::more) ... *change.ratio, change.interval->low
//
// The interval is of 95 %: a bootstrap of the captures, which are drawn again kResamples times from a fixed seed, its
// quantiles moved outward for small samples (the expanded percentiles of Hesterberg, What Teachers Should Know About
// the Bootstrap, 2015); of fewer than kLeastResampled captures a side, where drawing again tells too little, that of
// Student's t.
//
// A difference is told only where Welch's t test gives equal configurations a chance of 0.1 % for it, so that of a
// hundred comparisons of equals all are quiet in 95 of 100 cases (a change for the worse is half of that chance), and
// where it is at least kLeastTold. With one capture on one side its noise is taken to be that of the other; with one on
// each nothing is known of noise, and nothing is told unless the caller states it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace accelscope {

enum class Told : std::uint8_t {
  no_sample,  // one capture a side: what is noise is not known
  same,       // nothing that noise does not explain
  less,
  more,
};

struct RatioInterval {
  double low = 0, high = 0;
};

struct Change {
  std::size_t base_count = 0, other_count = 0;     // captures
  std::size_t pair_count = 1;                      // problems of which both have captures
  bool is_geometric = false;                       // base and other are geometric means over the problems
  double base = 0, other = 0;                      // their means
  double base_deviation = 0, other_deviation = 0;  // of the captures (n - 1)
  std::optional<double> ratio;                     // other / base; none of a base of 0
  std::optional<RatioInterval> interval;           // of the ratio; none without a sample
  double chance = 1;                               // that equal configurations differ this much
  // The smallest share of the base that would have been told with this noise; none without a sample.
  std::optional<double> least_visible;
  Told told = Told::no_sample;

  [[nodiscard]] double difference() const noexcept { return other - base; }
  [[nodiscard]] bool is_told() const noexcept { return told == Told::less || told == Told::more; }
};

struct ChangeOptions {
  static constexpr double kConfidence = 0.999;  // of what is told
  static constexpr double kShown = 0.95;        // of the interval
  static constexpr double kLeastTold = 0.005;   // share of the base
  static constexpr std::size_t kResamples = 2000, kLeastResampled = 4;
  static constexpr std::uint64_t kSeed = 0x5ca1ab1e;

  bool resamples = true;        // else the interval is that of Student's t
  std::optional<double> noise;  // deviation between captures as a share of the mean, known from elsewhere
};

// One value or more on each side.
[[nodiscard]] Change change_of(std::span<const double> base, std::span<const double> other,
                               const ChangeOptions& options = {});

// Captures of one problem, such as a batch size, on each side.
struct SamplePair {
  std::vector<double> base, other;
};
enum class Pooling : std::uint8_t { geometric, arithmetic };
// Several problems, each side's captures of a problem set against the other's of the same first, so that how problems
// differ is no noise. Geometric: the mean of the logarithms of the ratios, where all values are above 0; arithmetic,
// for what adds up: the difference of the means of the problems. The noise is that within the problems alone, Welch's
// degrees of freedom over all of them; where one has a single capture on a side, the deviation as a share of the mean
// that the others have in common. Without any repeated capture nothing is told. Of one problem it is change_of.
[[nodiscard]] Change pooled_change(std::span<const SamplePair> pairs, Pooling pooling,
                                   const ChangeOptions& options = {});

}  // namespace accelscope
