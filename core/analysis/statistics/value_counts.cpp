#include "core/analysis/statistics/value_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace accelscope {
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
  return std::any_of(counts_.begin(), counts_.end(), [](std::uint32_t count) { return count != 0; });
}

std::pair<std::int64_t, std::int64_t> ValueCounts::extent() const noexcept {
  const auto counted = [](std::uint32_t count) { return count != 0; };
  const auto first = std::find_if(counts_.begin(), counts_.end(), counted) - counts_.begin();
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
  std::sort(sorted.begin(), sorted.end());
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

}  // namespace accelscope
