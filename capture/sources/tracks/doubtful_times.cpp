#include "capture/sources/tracks/doubtful_times.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

namespace accelscope::capture::sources::tracks {
namespace {

constexpr std::size_t kSketchStarts = 256;
constexpr double kDayNs = 24.0 * 3600 * 1e9;  // no run is recorded for so long with nothing in between
constexpr double kFarther = 100;              // times the length of all else: orders of magnitude
constexpr std::uint64_t kFewest = 4;          // events; of fewer none is the rule
constexpr std::uint64_t kMostShare = 3;       // at most one of so many is an exception
constexpr std::uint32_t kLongerClasses = 7;  // of lengths: 64 times as long at least, where the name says what is usual
constexpr std::uint32_t kMuchLongerClasses = 11;  // where only the track does: 1024 times
constexpr std::uint64_t kNameIsCommon = 3;        // events from which a name says what is usual
constexpr std::uint32_t kShortest = 7;            // 64 ticks: what is shorter is a moment
constexpr std::uint64_t kMostCandidates = 1024;

[[nodiscard]] std::uint32_t class_of(std::int64_t duration) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(duration, 0))));
}

[[nodiscard]] std::uint64_t total(const LengthCounts& counts) noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

[[nodiscard]] std::uint32_t middle_class(const LengthCounts& counts) noexcept {
  const std::uint64_t half = (total(counts) + 1) / 2;
  std::uint64_t below = 0;
  for (std::uint32_t i = 0; i < kLengthClasses; ++i) {
    below += counts[i];
    if (below >= half) return i;
  }
  return 0;
}

struct Point {
  std::int64_t start = 0;
  std::uint64_t weight = 0;
  bool on_host = false;
};

[[nodiscard]] std::vector<Point> points_of(std::span<const SketchedTrack> tracks) {
  std::vector<Point> points;
  for (const SketchedTrack& track : tracks) {
    if (track.times->count() == 0) continue;
    for (const std::int64_t start : track.times->starts())
      points.push_back({start, track.times->stride(), track.on_host});
    points.push_back({track.times->first_start(), 0, track.on_host});
    points.push_back({track.times->last_start(), 0, track.on_host});
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.start < b.start; });
  return points;
}

// Differences of times may be larger than their type.
[[nodiscard]] double distance(std::int64_t from, std::int64_t to) noexcept {
  return static_cast<double>(to) - static_cast<double>(from);
}

// A trace of a few events says nothing of less than this.
[[nodiscard]] double span_of(std::span<const Point> points, double ticks_per_ns) noexcept {
  constexpr double kLeastNs = 1e6;
  return std::max(distance(points.front().start, points.back().start), kLeastNs * ticks_per_ns);
}

[[nodiscard]] std::uint64_t weight_of(std::span<const Point> points) noexcept {
  return std::accumulate(points.begin(), points.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Point& point) { return sum + point.weight; });
}

[[nodiscard]] bool any_on_host(std::span<const Point> points) noexcept {
  return std::any_of(points.begin(), points.end(), [](const Point& point) { return point.on_host; });
}

// Whether these few lie so far from the others that their times are none: a day away, or before any host was at work
// that could have asked for them.
[[nodiscard]] bool is_stray(std::span<const Point> few, std::span<const Point> others, double gap,
                            double ticks_per_ns) {
  if (weight_of(few) * kMostShare > weight_of(few) + weight_of(others)) return false;
  if (gap < kFarther * span_of(others, ticks_per_ns)) return false;
  const bool unasked = few.back().start < others.front().start && any_on_host(others) && !any_on_host(few);
  return gap > kDayNs * ticks_per_ns || unasked;
}

}  // namespace

void TimeSketch::add(std::int64_t start, std::int64_t duration) {
  if (count_++ % stride_ == 0) {
    if (starts_.size() == kSketchStarts) {
      for (std::size_t i = 0; i < kSketchStarts / 2; ++i) starts_[i] = starts_[2 * i];
      starts_.resize(kSketchStarts / 2);
      stride_ *= 2;
    }
    starts_.push_back(start);
  }
  first_start_ = std::min(first_start_, start);
  last_start_ = std::max(last_start_, start);
  last_end_ = std::max(last_end_, start + duration);
  ++lengths_[class_of(duration)];
}

TimeBounds bounds_of(std::span<const SketchedTrack> tracks, double ticks_per_ns) {
  const std::vector<Point> all = points_of(tracks);
  std::span<const Point> points = all;
  TimeBounds bounds;
  while (points.size() > 1 && weight_of(points) >= kFewest) {
    std::size_t widest = 1;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (distance(points[i - 1].start, points[i].start) > distance(points[widest - 1].start, points[widest].start))
        widest = i;
    }
    const double gap = distance(points[widest - 1].start, points[widest].start);
    const auto before = points.first(widest);
    const auto after = points.subspan(widest);
    const std::int64_t middle = std::midpoint(before.back().start, after.front().start);
    if (is_stray(before, after, gap, ticks_per_ns)) {
      bounds.first = middle;
      points = after;
    } else if (is_stray(after, before, gap, ticks_per_ns)) {
      bounds.last = middle;
      points = before;
    } else {
      break;
    }
  }
  if (points.empty()) return bounds;
  const double span = span_of(points, ticks_per_ns);
  const auto beyond = [&](double far) {
    constexpr double kMost = 9.2e18;
    const double end = static_cast<double>(points.back().start) + far;
    return end < kMost ? static_cast<std::int64_t>(end) : std::numeric_limits<std::int64_t>::max();
  };
  bounds.end = beyond(std::max(kFarther * span, kDayNs * ticks_per_ns));
  bounds.end_of_long = beyond(kFarther * span);
  // A host that waits for long work bears it out.
  for (const SketchedTrack& track : tracks) {
    const bool ends = track.on_host && track.times->count() > 0 && track.times->last_end() < bounds.end;
    if (ends) bounds.end_of_long = std::max(bounds.end_of_long, track.times->last_end());
  }
  return bounds;
}

void TimeExtremes::add(std::int64_t start, std::int64_t end) {
  constexpr std::size_t kRetained = 256;  // more than can be doubtful in any file that is worth reading
  const auto keep = [&](std::vector<std::int64_t>& times, std::int64_t time, const auto& before) {
    if (times.size() == kRetained && !before(time, times.front())) return;
    if (times.size() == kRetained) {
      std::pop_heap(times.begin(), times.end(), before);
      times.pop_back();
    }
    times.push_back(time);
    std::push_heap(times.begin(), times.end(), before);
  };
  keep(starts_, start, std::less<>());
  keep(ends_, end, std::greater<>());
}

std::optional<std::int64_t> TimeExtremes::first_within(const TimeBounds& bounds) const {
  std::optional<std::int64_t> first;
  for (const std::int64_t start : starts_) {
    if (bounds.hold(start, 0) && (!first || start < *first)) first = start;
  }
  return first;
}

std::optional<std::int64_t> TimeExtremes::last_within(const TimeBounds& bounds) const {
  std::optional<std::int64_t> last;
  for (const std::int64_t end : ends_) {
    if (bounds.hold(end, 0) && (!last || end > *last)) last = end;
  }
  return last;
}

LengthJudge::LengthJudge(const TimeSketch& sketch, const TimeBounds& bounds)
    : bounds_(bounds), count_(sketch.count()), typical_class_(std::max(middle_class(sketch.lengths()), kShortest)) {
  std::uint64_t longer = 0;
  for (std::uint32_t i = typical_class_ + kLongerClasses; i < kLengthClasses; ++i) longer += sketch.lengths()[i];
  suspects_ = count_ >= kFewest && longer > 0 && longer * kMostShare <= count_ && longer <= kMostCandidates;
}

void LengthJudge::look(std::int64_t start, std::int64_t duration, StringId name) {
  ++by_name_[name][class_of(duration)];
  if (class_of(duration) >= typical_class_ + kLongerClasses) candidates_.push_back({start, duration, name});
}

bool LengthJudge::any_candidate() {
  std::erase_if(candidates_, [&](const Candidate& candidate) {
    const LengthCounts& same = by_name_[candidate.name];
    const std::uint32_t length = class_of(candidate.duration);
    return total(same) >= kNameIsCommon ? length < middle_class(same) + kLongerClasses
                                        : length < typical_class_ + kMuchLongerClasses;
  });
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.start < b.start; });
  for (Candidate& candidate : candidates_) {
    candidate.belied = candidate.start + candidate.duration > bounds_.end_of_long;
  }
  return !candidates_.empty();
}

void LengthJudge::overlap(std::int64_t start, std::int64_t duration) {
  if (class_of(duration) >= typical_class_ + kLongerClasses) return;
  for (Candidate& candidate : candidates_) {
    if (candidate.start >= start) break;
    candidate.belied = candidate.belied || start + duration < candidate.start + candidate.duration;
  }
}

bool LengthJudge::any_belied() const noexcept {
  return std::any_of(candidates_.begin(), candidates_.end(),
                     [](const Candidate& candidate) { return candidate.belied; });
}

bool LengthJudge::is_doubtful(std::int64_t start, std::int64_t duration, StringId name) const noexcept {
  const auto first = std::lower_bound(candidates_.begin(), candidates_.end(), start,
                                      [](const Candidate& candidate, std::int64_t at) { return candidate.start < at; });
  return std::any_of(first, candidates_.end(), [&](const Candidate& candidate) {
    return candidate.start == start && candidate.duration == duration && candidate.name == name && candidate.belied;
  });
}

}  // namespace accelscope::capture::sources::tracks
