#include "core/analysis/statistics/value_sketch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace accelscope {
namespace {

constexpr unsigned kBinBits = 8;
constexpr unsigned kDroppedBits = 52 - kBinBits;
constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63U;

// The bits of a double, so that they order as the numbers do.
std::uint64_t ordered_bits(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kTopBit) != 0 ? ~bits : bits | kTopBit;
}

double of_ordered_bits(std::uint64_t bits) noexcept {
  return std::bit_cast<double>((bits & kTopBit) != 0 ? bits & ~kTopBit : ~bits);
}

std::uint32_t bin_of(double value) noexcept { return static_cast<std::uint32_t>(ordered_bits(value) >> kDroppedBits); }

double least_of_bin(std::uint32_t bin) noexcept { return of_ordered_bits(std::uint64_t{bin} << kDroppedBits); }

}  // namespace

void ValueMoments::add(const double* values, std::size_t size) {
  if (size == 0) return;
  if (count == 0) centre = min = max = values[0];
  // Sums of their own for every fourth value, so that one need not wait for the other.
  constexpr std::size_t kLanes = 4;
  std::array<double, kLanes> totals{}, offsets{}, squares{}, leasts{}, greatests{};
  leasts.fill(min);
  greatests.fill(max);
  const auto add_one = [&](std::size_t lane, double value) {
    const double from_centre = value - centre;
    totals[lane] += value;
    offsets[lane] += from_centre;
    squares[lane] += from_centre * from_centre;
    leasts[lane] = value < leasts[lane] ? value : leasts[lane];
    greatests[lane] = value > greatests[lane] ? value : greatests[lane];
  };
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    add_one(0, values[i]);
    add_one(1, values[i + 1]);
    add_one(2, values[i + 2]);
    add_one(3, values[i + 3]);
  }
  for (; i < size; ++i) add_one(0, values[i]);
  const double least = *std::min_element(leasts.begin(), leasts.end());
  const double greatest = *std::max_element(greatests.begin(), greatests.end());
  bool all_whole = whole;
  constexpr double kMost = 9e18;  // what an int64 holds
  if (!(least > -kMost && greatest < kMost)) all_whole = false;
  for (std::size_t v = 0; v < size && all_whole; ++v)
    all_whole = static_cast<double>(static_cast<std::int64_t>(values[v])) == values[v];
  count += size;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sum += totals[lane];
    offset_sum += offsets[lane];
    offset_squares += squares[lane];
  }
  min = least;
  max = greatest;
  whole = all_whole;
}

void ValueMoments::merge(const ValueMoments& other) noexcept {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  // The other's sums about this one's centre.
  const double apart = other.centre - centre;
  const auto others = static_cast<double>(other.count);
  offset_squares += other.offset_squares + 2 * apart * other.offset_sum + others * apart * apart;
  offset_sum += other.offset_sum + others * apart;
  count += other.count;
  sum += other.sum;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  whole = whole && other.whole;
}

void ValueMoments::add_many(double value, std::uint64_t times) {
  if (times == 0) return;
  if (count == 0) centre = min = max = value;
  const auto weight = static_cast<double>(times);
  const double from_centre = value - centre;
  count += times;
  sum += weight * value;
  offset_sum += weight * from_centre;
  offset_squares += weight * from_centre * from_centre;
  min = std::min(min, value);
  max = std::max(max, value);
  whole = whole && std::trunc(value) == value;
}

// Most values of a group lie within a few powers of two: those pages lie side by side, so that a bin is found without
// a branch. Others are found one by one.
void ValueSketch::widen(std::uint32_t first, std::uint32_t last) {
  const std::uint32_t first_page = first / kBins, last_page = last / kBins;
  if (dense_.empty()) {
    dense_first_ = first_page;
    dense_.resize(kBins);
  }
  const auto end = dense_first_ + static_cast<std::uint32_t>(dense_.size() / kBins);
  const std::uint32_t wanted_first = std::min(dense_first_, first_page), wanted_end = std::max(end, last_page + 1);
  if (wanted_end - wanted_first > kMostDense || (wanted_first == dense_first_ && wanted_end == end)) return;
  std::vector<std::uint32_t> wider(std::size_t{wanted_end - wanted_first} * kBins);
  const std::size_t before = std::size_t{dense_first_ - wanted_first} * kBins;
  std::copy(dense_.begin(), dense_.end(), wider.begin() + static_cast<std::ptrdiff_t>(before));
  dense_ = std::move(wider);
  dense_first_ = wanted_first;
}

void ValueSketch::count_bin(std::uint32_t bin, std::uint32_t times) {
  const std::uint32_t place = bin - dense_first_ * static_cast<std::uint32_t>(kBins);
  if (place < dense_.size()) {
    dense_[place] += times;
  } else {
    far_[bin] += times;
  }
}

template <typename Body>
void ValueSketch::for_each_bin(Body&& body) const {
  auto far = far_.begin();
  const std::uint32_t base = dense_first_ * static_cast<std::uint32_t>(kBins);
  for (; far != far_.end() && far->first < base; ++far) {
    if (!body(far->first, far->second)) return;
  }
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    if (dense_[i] != 0 && !body(base + static_cast<std::uint32_t>(i), dense_[i])) return;
  }
  for (; far != far_.end(); ++far) {
    if (!body(far->first, far->second)) return;
  }
}

void ValueSketch::add(const std::vector<double>& values) {
  if (values.empty()) return;
  moments_.add(values.data(), values.size());
  const auto [least, greatest] = std::pair{bin_of(moments_.min), bin_of(moments_.max)};
  widen(least, greatest);
  const std::uint32_t base = dense_first_ * static_cast<std::uint32_t>(kBins);
  if (least >= base && greatest - base < dense_.size()) {
    for (const double value : values) ++dense_[bin_of(value) - base];
    return;
  }
  for (const double value : values) {
    const std::uint32_t bin = bin_of(value);
    widen(bin, bin);
    count_bin(bin, 1);
  }
}

void ValueSketch::add_many(double value, std::uint32_t times) {
  moments_.add_many(value, times);
  const std::uint32_t bin = bin_of(value);
  widen(bin, bin);
  count_bin(bin, times);
}

void ValueSketch::merge(const ValueSketch& other) {
  moments_.merge(other.moments_);
  other.for_each_bin([this](std::uint32_t bin, std::uint32_t count) {
    widen(bin, bin);
    count_bin(bin, count);
    return true;
  });
}

// Within its bin, as if the bin's values were spread evenly.
double ValueSketch::order_statistic(std::uint64_t rank) const {
  std::uint64_t before = 0;
  double found = moments_.max;
  for_each_bin([&](std::uint32_t bin, std::uint32_t count) {
    if (rank >= before + count) {
      before += count;
      return true;
    }
    const double least = std::max(least_of_bin(bin), moments_.min);
    const double next = std::min(least_of_bin(bin + 1), moments_.max);
    const double part = (static_cast<double>(rank - before) + 0.5) / static_cast<double>(count);
    found = least + (next - least) * part;
    if (moments_.whole) found = std::floor(found);
    found = std::clamp(found, moments_.min, moments_.max);
    return false;
  });
  return found;
}

}  // namespace accelscope
