#include "core/colour/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "core/model/unit.h"

namespace accelscope {
namespace {

constexpr std::size_t kMostCuts = kMostSteps - 1;
constexpr unsigned kBucketShift = 49;  // leaves sign, exponent and three bits of the fraction
constexpr std::size_t kBuckets = std::size_t{1} << (64 - kBucketShift);
constexpr std::size_t kFirstNegative = kBuckets / 2;
constexpr double kLeftOut = 0.01;
constexpr double kPowersFrom = 16;  // numbers that span this factor get cuts by powers

// Numbers of a bucket lie from its edge, away from zero, to the next one's.
[[nodiscard]] double edge(std::size_t bucket) noexcept {
  const double value = std::bit_cast<double>(static_cast<std::uint64_t>(bucket) << kBucketShift);
  return std::isfinite(value) ? value : std::copysign(std::numeric_limits<double>::max(), value);
}

// Buckets in the order of their numbers.
[[nodiscard]] std::size_t bucket_at(std::size_t rank) noexcept {
  return rank < kFirstNegative ? kBuckets - 1 - rank : rank - kFirstNegative;
}

// digits * 10^exponent, as near as a double can be: 3 * 0.1 is not.
[[nodiscard]] double decimal(std::int64_t digits, int exponent) {
  const std::string text = fmt::format("{}e{}", digits, exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

[[nodiscard]] std::vector<double> powers_of_ten(double low, double high, std::initializer_list<int> digits,
                                                int stride) {
  std::vector<double> cuts;
  const int first = static_cast<int>(std::floor(std::log10(low))) - 1;
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % stride != 0) continue;
    for (const int digit : digits) {
      const double cut = decimal(digit, exponent);
      if (cut > low && cut <= high) cuts.push_back(cut);
    }
  }
  return cuts;
}

[[nodiscard]] std::vector<double> powers_of_two(double low, double high, int stride) {
  std::vector<double> cuts;
  for (int exponent = 0; exponent < 1024; exponent += stride) {
    const double cut = std::ldexp(1.0, exponent);
    if (cut > high) break;
    if (cut > low) cuts.push_back(cut);
  }
  return cuts;
}

// The finest that are few enough; `low` is above zero.
[[nodiscard]] std::vector<double> cuts_by_powers(double low, double high, NumberKind kind) {
  std::vector<double> cuts;
  const auto few = [&cuts] { return cuts.size() <= kMostCuts; };
  if (kind.binary) {
    for (int stride = 1; stride <= 128; ++stride) {
      cuts = powers_of_two(low, high, stride);
      if (few()) return cuts;
    }
  }
  cuts = powers_of_ten(low, high, {1, 2, 5}, 1);
  if (!few()) cuts = powers_of_ten(low, high, {1, 3}, 1);
  for (int stride = 1; !few(); ++stride) cuts = powers_of_ten(low, high, {1}, stride);
  return cuts;
}

[[nodiscard]] std::vector<double> cuts_of_step(double low, double high, std::int64_t digit, int exponent) {
  const double step = decimal(digit, exponent);
  constexpr double kExact = 1e15;  // beyond, a multiple is no longer told from the next
  if (std::abs(low / step) > kExact || std::abs(high / step) > kExact) return {};
  std::vector<double> cuts;
  const auto first = static_cast<std::int64_t>(std::floor(low / step));
  for (std::int64_t i = first; cuts.size() <= kMostCuts; ++i) {
    const double cut = decimal(i * digit, exponent);
    if (cut > high) break;
    if (cut > low) cuts.push_back(cut);
  }
  return cuts;
}

[[nodiscard]] std::vector<double> cuts_by_distance(double low, double high, NumberKind kind) {
  if (!(high > low) || !std::isfinite(high - low)) return {};
  int exponent = static_cast<int>(std::floor(std::log10((high - low) / kMostSteps)));
  if (kind.whole) exponent = std::max(exponent, 0);
  for (;; ++exponent) {
    for (const int digit : {1, 2, 5}) {
      std::vector<double> cuts = cuts_of_step(low, high, digit, exponent);
      if (cuts.size() <= kMostCuts) return cuts;
    }
  }
}

}  // namespace

NumberHistogram::NumberHistogram() : counts_(kBuckets, 0) {}

void NumberHistogram::add(double value) noexcept {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  ++count_;
  ++counts_[std::bit_cast<std::uint64_t>(value + 0.0) >> kBucketShift];  // -0 becomes 0
}

void NumberHistogram::merge(const NumberHistogram& other) noexcept {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  count_ += other.count_;
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
}

NumberHistogram::Span NumberHistogram::span(double left_out, bool positive) const noexcept {
  const std::size_t begin = positive ? kFirstNegative : 0;
  const auto counted = [&](std::size_t rank) {
    const std::size_t bucket = bucket_at(rank);
    return positive && bucket == 0 ? 0 : counts_[bucket];
  };
  std::uint64_t all = 0;
  for (std::size_t rank = begin; rank < kBuckets; ++rank) all += counted(rank);
  if (all == 0) return {};
  const auto below = static_cast<std::uint64_t>(static_cast<double>(all) * left_out);
  std::size_t low = begin;
  for (std::uint64_t seen = counted(low); seen <= below; seen += counted(low)) ++low;
  std::size_t high = kBuckets - 1;
  for (std::uint64_t seen = counted(high); seen <= below; seen += counted(high)) --high;
  const std::size_t first = bucket_at(low);
  const std::size_t last = bucket_at(high);
  // Towards minus infinity a negative bucket ends at its neighbour's edge; towards plus infinity a positive one does.
  const double low_edge = first >= kFirstNegative ? edge(first + 1 < kBuckets ? first + 1 : first) : edge(first);
  const double high_edge = last < kFirstNegative ? edge(last + 1) : edge(last);
  return {std::max(low_edge, min_), std::min(high_edge, max_)};
}

std::vector<double> scale_cuts(const NumberHistogram& histogram, NumberKind kind) {
  if (histogram.count() == 0 || histogram.min() == histogram.max()) return {};
  // Where nearly all are equal the few others need steps all the same.
  for (const double left_out : {kLeftOut, 0.0}) {
    const NumberHistogram::Span all = histogram.span(left_out, false);
    const NumberHistogram::Span positive = histogram.span(left_out, true);
    std::vector<double> cuts;
    if (all.low >= 0 && positive.low > 0 && positive.high >= positive.low * kPowersFrom) {
      cuts = cuts_by_powers(positive.low, positive.high, kind);
    }
    if (cuts.empty()) cuts = cuts_by_distance(all.low, all.high, kind);
    constexpr double kLargestWhole = 9e18;  // cuts of whole numbers are compared as 64-bit numbers
    std::erase_if(cuts, [&](double cut) {
      return cut <= histogram.min() || cut > histogram.max() || (kind.whole && std::abs(cut) > kLargestWhole);
    });
    if (!cuts.empty()) return cuts;
  }
  return {};
}

std::string step_text(const std::vector<double>& cuts, std::size_t step, NumberKind kind, std::string_view unit) {
  if (cuts.empty()) return "all";
  if (step == 0) return "< " + format_value(cuts.front(), unit);
  if (step >= cuts.size()) return "≥ " + format_value(cuts.back(), unit);
  const bool single = kind.whole && cuts[step] == cuts[step - 1] + 1;
  if (single) return format_value(cuts[step - 1], unit);
  return format_value(cuts[step - 1], unit) + " – " + format_value(cuts[step], unit);
}

}  // namespace accelscope
