#include "core/analysis/statistics/distribution.h"

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

double between_ranks(double below, double above, double part) noexcept {
  return part == 0 || below == above ? below : below + (above - below) * part;
}

}  // namespace

void Distribution::Moments::add(const double* values, std::size_t size) {
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

void Distribution::Moments::merge(const Moments& other) noexcept {
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

// Most values of a group lie within a few powers of two: those pages lie side by side, so that a bin is found without
// a branch. Others are found one by one.
void Distribution::widen(std::uint32_t first, std::uint32_t last) {
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

void Distribution::count_bin(std::uint32_t bin, std::uint32_t times) {
  const std::uint32_t place = bin - dense_first_ * static_cast<std::uint32_t>(kBins);
  if (place < dense_.size()) {
    dense_[place] += times;
  } else {
    far_[bin] += times;
  }
}

void Distribution::fold() {
  if (kept_.empty()) return;
  moments_.add(kept_.data(), kept_.size());
  const auto [least, greatest] = std::pair{bin_of(moments_.min), bin_of(moments_.max)};
  widen(least, greatest);
  const std::uint32_t base = dense_first_ * static_cast<std::uint32_t>(kBins);
  if (least >= base && greatest - base < dense_.size()) {
    for (const double value : kept_) ++dense_[bin_of(value) - base];
  } else {
    for (const double value : kept_) {
      const std::uint32_t bin = bin_of(value);
      widen(bin, bin);
      count_bin(bin, 1);
    }
  }
  kept_.clear();
}

void Distribution::merge(Distribution&& other) {
  if (count() == 0) {
    *this = std::move(other);
  } else {
    merge(static_cast<const Distribution&>(other));
  }
}

void Distribution::merge(const Distribution& other) {
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  moments_.merge(other.moments_);
  if (other.moments_.count == 0) return;
  other.for_each_bin([this](std::uint32_t bin, std::uint32_t count) {
    widen(bin, bin);
    count_bin(bin, count);
    return true;
  });
}

template <typename Body>
void Distribution::for_each_bin(Body&& body) const {
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

double Distribution::kept_quantile(double share, std::size_t& sorted_until) {
  const double place = static_cast<double>(kept_.size() - 1) * share;
  const auto rank = static_cast<std::size_t>(place);
  const auto at = kept_.begin() + static_cast<std::ptrdiff_t>(rank);
  // What lies before the last rank asked for is less than all behind it.
  std::nth_element(kept_.begin() + static_cast<std::ptrdiff_t>(std::min(sorted_until, rank)), at, kept_.end());
  sorted_until = rank;
  const double part = place - static_cast<double>(rank);
  if (part == 0) return *at;
  return between_ranks(*at, *std::min_element(at + 1, kept_.end()), part);
}

double Distribution::counted_quantile(const std::vector<std::uint32_t>& counts, const Moments& of_all, double share) {
  const double place = static_cast<double>(of_all.count - 1) * share;
  const auto rank = static_cast<std::uint64_t>(place);
  std::uint64_t before = 0;
  std::size_t at = 0;
  while (rank >= before + counts[at]) before += counts[at++];
  std::size_t next = at;
  if (rank + 1 >= before + counts[at] && rank + 1 < of_all.count) {
    do ++next;
    while (counts[next] == 0);
  }
  return between_ranks(of_all.min + static_cast<double>(at), of_all.min + static_cast<double>(next),
                       place - static_cast<double>(rank));
}

// Within its bin, as if the bin's values were spread evenly.
double Distribution::order_statistic(std::uint64_t rank) const {
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

double Distribution::binned_quantile(double share) const {
  const double place = static_cast<double>(moments_.count - 1) * share;
  const auto rank = static_cast<std::uint64_t>(place);
  const double part = place - static_cast<double>(rank);
  const double below = order_statistic(rank);
  return part == 0 ? below : between_ranks(below, order_statistic(rank + 1), part);
}

// Whole numbers that lie close together are counted: each has a bin of its own.
bool Distribution::count_kept(const Moments& of_all, std::vector<std::uint32_t>& counts) const {
  constexpr double kMostCounts = 1U << 20U;
  const double span = of_all.max - of_all.min;
  if (!of_all.whole || span >= kMostCounts || span > static_cast<double>(kept_.size())) return false;
  counts.assign(static_cast<std::size_t>(span) + 1, 0);
  for (const double value : kept_) ++counts[static_cast<std::size_t>(value - of_all.min)];
  return true;
}

ValueFigures Distribution::figures() {
  const bool binned = moments_.count > 0;
  if (binned) fold();
  Moments of_all = moments_;
  if (!binned) of_all.add(kept_.data(), kept_.size());
  ValueFigures figures;
  figures.count = of_all.count;
  if (figures.count == 0) return figures;
  const auto count = static_cast<double>(of_all.count);
  figures.total = of_all.sum;
  figures.mean = of_all.sum / count;
  const double offset = of_all.offset_sum / count;
  figures.deviation = std::sqrt(std::max(0.0, of_all.offset_squares / count - offset * offset));
  figures.min = of_all.min;
  figures.max = of_all.max;
  std::size_t sorted_until = 0;
  std::vector<std::uint32_t> counts;
  const bool counted = !binned && count_kept(of_all, counts);
  for (const auto& [share, value] : {std::pair{0.25, &figures.q1},
                                     {0.5, &figures.median},
                                     {0.75, &figures.q3},
                                     {0.9, &figures.p90},
                                     {0.99, &figures.p99}}) {
    if (counted) {
      *value = counted_quantile(counts, of_all, share);
    } else {
      *value = binned ? binned_quantile(share) : kept_quantile(share, sorted_until);
    }
  }
  constexpr double kExactBelow = 512;  // where a bin holds one whole number
  figures.exact =
      !binned || of_all.min == of_all.max || (of_all.whole && of_all.min > -kExactBelow && of_all.max < kExactBelow);
  return figures;
}

}  // namespace accelscope
