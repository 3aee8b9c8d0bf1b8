// Brings into order what consists of a few long runs that are sorted already, such as the events of several lanes one
// lane after another: runs are merged pair by pair, which looks at every element log2(runs) times. Stretches of time
// are joined where they touch; those of many runs are spread over the time first.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace accelscope::analysis {

template <typename T>
void sort_runs(std::vector<T>& values) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] < values[i - 1]) ends.push_back(i);
  }
  if (ends.empty()) return;
  constexpr std::size_t kFew = 8;  // elements of a run, in the mean: sorting costs less than merging so many
  if (ends.size() > values.size() / kFew) {
    std::sort(values.begin(), values.end());
    return;
  }
  ends.push_back(values.size());
  std::vector<T> merged(values.size());
  while (ends.size() > 1) {
    std::vector<std::size_t> next;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const auto at = [&](std::size_t index) { return values.begin() + static_cast<std::ptrdiff_t>(index); };
      const std::size_t middle = ends[i], end = i + 1 < ends.size() ? ends[i + 1] : middle;
      std::merge(at(begin), at(middle), at(middle), at(end), merged.begin() + static_cast<std::ptrdiff_t>(begin));
      next.push_back(end);
      begin = end;
    }
    values.swap(merged);
    ends.swap(next);
  }
}

using TimeStretch = std::pair<std::int64_t, std::int64_t>;  // begin, end

// Behind the last one of `out`, or joined with it. Whether it touches cannot be foretold, so nothing is decided by it.
inline void join_stretch(TimeStretch*& out, const TimeStretch& stretch) {
  const bool apart = stretch.first > out->second;
  const std::int64_t begin = apart ? stretch.first : out->first;
  const std::int64_t end = apart ? stretch.second : std::max(out->second, stretch.second);
  out += static_cast<std::ptrdiff_t>(apart);
  *out = {begin, end};
}

// By begin: each goes to the part of the whole time that it begins in, of which there are about as many as stretches,
// so that hardly any part has many. That looks at every element three times, however many runs there were.
inline void sort_by_begin(std::vector<TimeStretch>& stretches) {
  const auto [least, greatest] = std::minmax_element(
      stretches.begin(), stretches.end(), [](const TimeStretch& a, const TimeStretch& b) { return a.first < b.first; });
  const auto origin = static_cast<std::uint64_t>(least->first);
  const std::uint64_t span = static_cast<std::uint64_t>(greatest->first) - origin;
  const auto shift =
      std::max(0, static_cast<int>(std::bit_width(span)) - static_cast<int>(std::bit_width(stretches.size())));
  const auto part_of = [origin, shift](const TimeStretch& each) {
    return (static_cast<std::uint64_t>(each.first) - origin) >> shift;
  };
  std::vector<std::uint32_t> places((span >> shift) + 2, 0);
  for (const TimeStretch& each : stretches) ++places[part_of(each) + 1];
  constexpr std::uint32_t kMostOfPart = 64;
  if (*std::max_element(places.begin(), places.end()) > kMostOfPart) {
    std::sort(stretches.begin(), stretches.end());
    return;
  }
  for (std::size_t i = 1; i < places.size(); ++i) places[i] += places[i - 1];
  std::vector<TimeStretch> sorted(stretches.size());
  for (const TimeStretch& each : stretches) sorted[places[part_of(each)]++] = each;
  // None is farther from its place than its part is long.
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const TimeStretch moved = sorted[i];
    std::size_t at = i;
    for (; at > 0 && moved.first < sorted[at - 1].first; --at) sorted[at] = sorted[at - 1];
    sorted[at] = moved;
  }
  stretches.swap(sorted);
}

// Sorted, and joined where they touch or overlap.
inline void join_runs(std::vector<TimeStretch>& stretches) {
  constexpr std::size_t kFewRuns = 4, kFewStretches = 64;
  std::size_t runs = 1;
  for (std::size_t i = 1; i < stretches.size(); ++i) runs += stretches[i] < stretches[i - 1] ? 1U : 0U;
  if (runs > kFewRuns && stretches.size() > kFewStretches) {
    sort_by_begin(stretches);
  } else if (runs > 1) {
    sort_runs(stretches);
  }
  if (stretches.empty()) return;
  TimeStretch* out = stretches.data();
  for (const TimeStretch& each : stretches) join_stretch(out, each);
  stretches.resize(static_cast<std::size_t>(out + 1 - stretches.data()));
}

// Sorts many numbers faster than by comparing: by their digits, least significant first. Stable.
struct DigitKey {
  std::uint64_t key = 0;
  std::uint32_t value = 0;
};

// By key. As many passes as there are digits in which the keys differ; needs as much memory again.
inline void sort_by_digits(std::vector<DigitKey>& keys) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigitBits;
  std::uint64_t differ = 0;
  for (const DigitKey& each : keys) differ |= each.key ^ keys.front().key;
  std::vector<DigitKey> other(differ == 0 ? 0 : keys.size());
  for (unsigned shift = 0; shift < 64; shift += kDigitBits) {
    if ((differ >> shift & (kDigits - 1)) == 0) continue;
    std::array<std::size_t, kDigits + 1> places{};
    const auto digit = [shift](const DigitKey& each) {
      return static_cast<std::size_t>(each.key >> shift & (kDigits - 1));
    };
    for (const DigitKey& each : keys) ++places[digit(each) + 1];
    for (std::size_t i = 1; i < places.size(); ++i) places[i] += places[i - 1];
    for (const DigitKey& each : keys) other[places[digit(each)]++] = each;
    keys.swap(other);
  }
}

}  // namespace accelscope::analysis
