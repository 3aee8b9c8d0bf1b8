#include "core/analysis/statistics/distribution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace accelscope::analysis {
namespace {

constexpr double kMostExact = 9007199254740992.0;  // 2^53: below it every whole number is a double

bool can_be_counted(double value) noexcept { return std::abs(value) < kMostExact && std::trunc(value) == value; }

std::uint64_t apart(std::int64_t low, std::int64_t high) noexcept {
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

// The low bits in which no value differs from the first.
std::int32_t common_shift(const std::vector<std::int64_t>& sorted) noexcept {
  std::uint64_t bits = 0;
  for (const std::int64_t value : sorted) bits |= apart(sorted.front(), value);
  return bits == 0 ? 0 : std::countr_zero(bits);
}

// The stretch of values with a counter each that holds most of them: indices [first, last).
std::pair<std::size_t, std::size_t> fullest_stretch(const std::vector<std::int64_t>& sorted, std::int32_t shift) {
  std::pair<std::size_t, std::size_t> best{0, 0};
  for (std::size_t first = 0, last = 0; last < sorted.size();) {
    if ((apart(sorted[first], sorted[last]) >> shift) >= ValueCounts::kMost) {
      ++first;
      continue;
    }
    ++last;
    if (last - first > best.second - best.first) best = {first, last};
  }
  return best;
}

}  // namespace

std::uint64_t ValueCounts::total() const noexcept {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

bool ValueCounts::any() const noexcept {
  return std::ranges::any_of(counts_, [](std::uint32_t count) { return count != 0; });
}

std::pair<std::int64_t, std::int64_t> ValueCounts::extent() const noexcept {
  const auto counted = [](std::uint32_t count) { return count != 0; };
  const auto first = std::ranges::find_if(counts_, counted) - counts_.begin();
  const auto last = counts_.rend() - std::find_if(counts_.rbegin(), counts_.rend(), counted);
  if (first >= last) return {value_at(0), value_at(0)};
  return {value_at(static_cast<std::size_t>(first)), value_at(static_cast<std::size_t>(last) - 1)};
}

// With room on both sides, so that values that come later need no other counters.
void ValueCounts::move_to(std::int64_t least, std::int64_t greatest, std::int32_t shift) {
  const std::uint64_t used = (apart(least, greatest) >> shift) + 1;
  const std::uint64_t wanted = std::min<std::uint64_t>((used + used / 4 + 63) / 64 * 64, kMost);
  const std::uint64_t base = static_cast<std::uint64_t>(least) - ((wanted - used) / 2 << shift);
  std::vector<std::uint32_t> counts(wanted, 0);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0) counts[(static_cast<std::uint64_t>(value_at(i)) - base) >> shift] += counts_[i];
  }
  counts_ = std::move(counts);
  base_ = base;
  shift_ = shift;
}

bool ValueCounts::count(double value) noexcept {
  return can_be_counted(value) && counters().count(static_cast<std::int64_t>(value));
}

bool ValueCounts::cover(std::vector<double>& values) {
  std::vector<std::int64_t> sorted;
  sorted.reserve(values.size() + 2);
  for (const double value : values) {
    if (can_be_counted(value)) sorted.push_back(static_cast<std::int64_t>(value));
  }
  if (sorted.empty() || sorted.size() < values.size() - values.size() / 8) return false;
  if (!empty()) {
    const auto [least, greatest] = extent();
    sorted.push_back(least);
    sorted.push_back(greatest);
  }
  std::ranges::sort(sorted);
  std::int32_t shift = common_shift(sorted);
  if (!empty()) shift = std::min(shift, shift_);
  auto [first, last] = fullest_stretch(sorted, shift);
  // What was counted must keep its counters, so then all must have one.
  const bool enough = empty() ? last - first >= sorted.size() - sorted.size() / 8 : last - first == sorted.size();
  if (!enough) return false;
  // Counters that take several times the room of the values wait until there are more of them.
  constexpr std::uint64_t kMostRoom = 4;
  const std::uint64_t span = (apart(sorted[first], sorted[last - 1]) >> shift) + 1;
  if (span * sizeof(std::uint32_t) > kMostRoom * sizeof(double) * (values.size() + total())) return false;
  move_to(sorted[first], sorted[last - 1], shift);
  std::erase_if(values, [this](double value) { return count(value); });
  return true;
}

bool ValueCounts::merge(const ValueCounts& other) {
  if (!other.any()) return true;
  if (!any()) {
    *this = other;
    return true;
  }
  const auto [least, greatest] = extent();
  const auto [others_least, others_greatest] = other.extent();
  const std::int64_t low = std::min(least, others_least), high = std::max(greatest, others_greatest);
  std::int32_t shift = std::min(shift_, other.shift_);
  if (const std::uint64_t between = apart(low, least) | apart(low, others_least); between != 0)
    shift = std::min(shift, std::countr_zero(between));
  if ((apart(low, high) >> shift) >= kMost) return false;
  ValueCounters to = counters();
  const bool fits = shift == shift_ && (static_cast<std::uint64_t>(low) - base_) >> shift_ < to.span &&
                    (static_cast<std::uint64_t>(high) - base_) >> shift_ < to.span;
  if (!fits) move_to(low, high, shift);
  to = counters();
  for (std::size_t i = 0; i < other.counts_.size(); ++i) {
    if (other.counts_[i] != 0) to.count(other.value_at(i), other.counts_[i]);
  }
  return true;
}

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

namespace {

double between_ranks(double below, double above, double part) noexcept {
  return part == 0 || below == above ? below : below + (above - below) * part;
}

// Values in order, of which some are counted and others lie in a list: what lies at ascending ranks.
class OrderedValues {
 public:
  OrderedValues(const ValueCounts& counts, std::vector<double>& retained) {
    std::ranges::sort(retained);
    auto next = retained.begin();
    counts.for_each([&](double value, std::uint32_t times) {
      for (; next != retained.end() && *next < value; ++next) add(*next, 1);
      add(value, times);
      return true;
    });
    for (; next != retained.end(); ++next) add(*next, 1);
  }
  [[nodiscard]] double at(std::uint64_t rank) const {
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), rank);
    return values_[static_cast<std::size_t>(found - ends_.begin())];
  }

 private:
  void add(double value, std::uint32_t times) {
    values_.push_back(value);
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + times);
  }
  std::vector<double> values_;
  std::vector<std::uint64_t> ends_;  // how many values are there up to each
};

// What lies at ascending ranks of a list without an order.
class RankedValues {
 public:
  explicit RankedValues(std::vector<double>& values) : values_(values), is_sorted_(values.size() <= kFewToSort) {
    if (is_sorted_) std::ranges::sort(values_);
  }
  [[nodiscard]] double at(std::uint64_t rank) {
    if (is_sorted_) return values_[rank];
    const auto place = values_.begin() + static_cast<std::ptrdiff_t>(rank);
    // What lies before the last rank asked for is less than all behind it.
    std::nth_element(values_.begin() + static_cast<std::ptrdiff_t>(std::min(sorted_until_, rank)), place,
                     values_.end());
    sorted_until_ = rank;
    return *place;
  }

 private:
  static constexpr std::size_t kFewToSort = 1024;
  std::vector<double>& values_;
  bool is_sorted_;
  std::uint64_t sorted_until_ = 0;
};

}  // namespace

Distribution::Many& Distribution::many() {
  if (!many_) {
    many_ = std::make_unique<Many>();
    many_->retained.assign(few_.begin(), few_.begin() + few_count_);
    few_count_ = 0;
  }
  return *many_;
}

bool Distribution::add_to_many(double value, std::size_t most_retained) {
  Many& all = many();
  if (!all.counts.empty() && all.counts.count(value)) return false;
  all.retained.push_back(value);
  if (all.retained.size() < all.next_look) return false;
  settle(most_retained);
  return true;
}

// Of values that cannot be counted a list is looked at again when it is four times as long.
void Distribution::settle(std::size_t most_retained) {
  Many& all = *many_;
  if (all.sketch || !all.counts.cover(all.retained)) {
    if (all.retained.size() >= most_retained) put_into_bins();
  }
  all.next_look = std::min(std::max(kFirstLook, 4 * all.retained.size()), std::max(most_retained, kFolded));
}

void Distribution::put_into_bins() {
  Many& all = *many_;
  if (!all.sketch) all.sketch = std::make_unique<ValueSketch>();
  all.sketch->add(all.retained);
  all.retained.clear();
}

std::uint64_t Distribution::count() const noexcept {
  if (!many_) return few_count_;
  return many_->retained.size() + many_->counts.total() + (many_->sketch ? many_->sketch->moments().count : 0);
}

void Distribution::merge(Distribution&& other, std::size_t most_retained) {
  if (empty()) {
    *this = std::move(other);
  } else {
    merge(static_cast<const Distribution&>(other), most_retained);
  }
}

void Distribution::merge(const Distribution& other, std::size_t most_retained) {
  for (std::uint32_t i = 0; i < other.few_count_; ++i) add(other.few_[i], most_retained);
  if (!other.many_) return;
  Many& all = many();
  all.next_look = std::max(all.next_look, kFolded);  // a few of another thread are no reason to count
  if (!all.counts.merge(other.many_->counts)) {
    other.many_->counts.for_each([&](double value, std::uint32_t times) {
      if (times < kFolded || most_retained > kFolded) {
        for (std::uint32_t i = 0; i < times; ++i) add_to_many(value, most_retained);
      } else {
        if (!all.sketch) all.sketch = std::make_unique<ValueSketch>();
        all.sketch->add_many(value, times);
      }
      return true;
    });
  }
  for (const double value : other.many_->retained) add_to_many(value, most_retained);
  if (!other.many_->sketch) return;
  if (!all.sketch) all.sketch = std::make_unique<ValueSketch>();
  all.sketch->merge(*other.many_->sketch);
}

ValueMoments Distribution::moments() const {
  ValueMoments of_all;
  if (!many_) {
    of_all.add(few_.data(), few_count_);
    return of_all;
  }
  many_->counts.for_each([&](double value, std::uint32_t times) {
    of_all.add_many(value, times);
    return true;
  });
  of_all.add(many_->retained.data(), many_->retained.size());
  if (many_->sketch) of_all.merge(many_->sketch->moments());
  return of_all;
}

void Distribution::set_quantiles(const ValueMoments& of_all, ValueFigures& figures) {
  Many& all = many();
  std::function<double(std::uint64_t)> at;
  if (all.sketch) {
    put_into_bins();
    all.counts.for_each([&](double value, std::uint32_t times) {
      all.sketch->add_many(value, times);
      return true;
    });
    all.counts = {};
    at = [&all](std::uint64_t rank) { return all.sketch->order_statistic(rank); };
  } else if (all.counts.empty()) {
    at = [ranked = RankedValues(all.retained)](std::uint64_t rank) mutable { return ranked.at(rank); };
  } else {
    at = [ordered = OrderedValues(all.counts, all.retained)](std::uint64_t rank) { return ordered.at(rank); };
  }
  const auto last = of_all.count - 1;
  for (const auto& [share, value] : {std::pair{0.25, &figures.q1},
                                     {0.5, &figures.median},
                                     {0.75, &figures.q3},
                                     {0.9, &figures.p90},
                                     {0.99, &figures.p99}}) {
    const double place = static_cast<double>(last) * share;
    const auto rank = static_cast<std::uint64_t>(place);
    const double part = place - static_cast<double>(rank);
    const double below = at(rank);
    *value = part == 0 || rank >= last ? below : between_ranks(below, at(rank + 1), part);
  }
}

ValueFigures Distribution::figures() {
  const bool binned = many_ && many_->sketch;
  const ValueMoments of_all = moments();
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
  if (of_all.min == of_all.max) {
    figures.q1 = figures.median = figures.q3 = figures.p90 = figures.p99 = of_all.min;
    return figures;
  }
  set_quantiles(of_all, figures);
  constexpr double kExactBelow = 512;  // where a bin holds one whole number
  figures.exact = !binned || (of_all.whole && of_all.min > -kExactBelow && of_all.max < kExactBelow);
  return figures;
}

}  // namespace accelscope::analysis
