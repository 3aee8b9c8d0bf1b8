#include "capture/sources/perfetto/read/trace_clocks.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "capture/sources/perfetto/read/wire.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] std::int64_t wrapping_product(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
[[nodiscard]] std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
[[nodiscard]] std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

struct ClockField {
  std::uint64_t id = 0;
  std::uint64_t timestamp = 0;
  std::int64_t unit = 1;
  bool incremental = false;
};

[[nodiscard]] ClockField read_clock(std::string_view message) {
  ClockField clock;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1:
        clock.id = fields.whole();
        break;
      case 2:
        clock.timestamp = fields.whole();
        break;
      case 3:
        clock.incremental = fields.flag();
        break;
      case 4:
        clock.unit = std::max<std::int64_t>(1, fields.integer());
        break;
      default:
        break;
    }
  }
  return clock;
}

}  // namespace

void TraceClocks::set_trace_clock(std::uint64_t key) noexcept {
  trace_clock_ = key;
  ++epoch_;
}

void TraceClocks::add_snapshot(std::string_view message, std::uint32_t sequence) {
  std::vector<std::uint64_t> keys;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2 && !trace_clock_said_) {
      trace_clock_said_ = true;
      set_trace_clock(fields.whole());
    }
    if (fields.number() != 1) continue;
    const ClockField read = read_clock(fields.bytes());
    if (read.id == 0) continue;
    const std::uint64_t key = clock_key(read.id, sequence);
    ClockState& clock = clocks_[key];
    clock.unit = read.unit;
    clock.incremental = read.incremental;
    const std::int64_t ns = wrapping_product(static_cast<std::int64_t>(read.timestamp), read.unit);
    clock.last = ns;
    if (!clock.readings.empty() && clock.readings.back().snapshot == snapshots_) continue;  // named twice
    clock.rising = clock.rising && (clock.readings.empty() || clock.readings.back().ns <= ns);
    clock.readings.push_back({snapshots_, ns});
    keys.push_back(key);
  }
  for (const std::uint64_t one : keys) {
    for (const std::uint64_t other : keys) {
      if (one != other) beside_[one].insert(other);
    }
  }
  ++snapshots_;
  ++epoch_;
}

std::int64_t TraceClocks::take(std::uint64_t key, std::uint64_t timestamp) {
  const auto found = clocks_.find(key);
  if (found == clocks_.end()) return static_cast<std::int64_t>(timestamp);
  ClockState& clock = found->second;
  std::int64_t ns = wrapping_product(static_cast<std::int64_t>(timestamp), clock.unit);
  if (clock.incremental) clock.last = ns = wrapping_sum(clock.last, ns);
  return ns;
}

std::int64_t TraceClocks::step(const ClockState& from, const ClockState& to, std::int64_t ns, Cached& stretch) const {
  const std::vector<Reading>& readings = from.readings;
  // The last snapshot before that time that has both.
  std::size_t at = readings.size();
  if (from.rising) {
    at = static_cast<std::size_t>(
        std::upper_bound(readings.begin(), readings.end(), ns,
                         [](std::int64_t time, const Reading& reading) { return time < reading.ns; }) -
        readings.begin());
  }
  const auto other = [&](std::size_t index) -> const Reading* {
    const std::uint32_t snapshot = readings[index].snapshot;
    const auto found =
        std::lower_bound(to.readings.begin(), to.readings.end(), snapshot,
                         [](const Reading& reading, std::uint32_t wanted) { return reading.snapshot < wanted; });
    return found != to.readings.end() && found->snapshot == snapshot ? &*found : nullptr;
  };
  std::size_t before = at;
  const Reading* pair = nullptr;
  while (before > 0 && pair == nullptr) pair = other(--before);
  std::size_t next = at;
  if (pair == nullptr) {  // before the first one
    for (before = at; before < readings.size() && pair == nullptr; ++before) pair = other(before);
    --before;
    next = before + 1;
    stretch.first = kLowest;
  } else {
    stretch.first = readings[before].ns;
  }
  while (next < readings.size() && other(next) == nullptr) ++next;
  stretch.last = !from.rising || next >= readings.size() ? kHighest : readings[next].ns - 1;
  if (!from.rising) stretch.first = kLowest;
  return wrapping_difference(pair->ns, readings[before].ns);
}

std::vector<std::uint64_t> TraceClocks::way(std::uint64_t from) const {
  std::map<std::uint64_t, std::uint64_t> came_from = {{from, from}};
  std::deque<std::uint64_t> next = {from};
  while (!next.empty() && !came_from.contains(trace_clock_)) {
    const std::uint64_t clock = next.front();
    next.pop_front();
    const auto beside = beside_.find(clock);
    if (beside == beside_.end()) continue;
    for (const std::uint64_t other : beside->second) {
      if (came_from.try_emplace(other, clock).second) next.push_back(other);
    }
  }
  std::vector<std::uint64_t> clocks;
  if (!came_from.contains(trace_clock_)) return clocks;
  for (std::uint64_t clock = trace_clock_; clock != from; clock = came_from[clock]) clocks.push_back(clock);
  clocks.push_back(from);
  std::reverse(clocks.begin(), clocks.end());
  return clocks;
}

std::optional<std::int64_t> TraceClocks::to_trace(std::uint64_t key, std::int64_t ns) {
  if (key == trace_clock_) return ns;
  const auto found = clocks_.find(key);
  if (found == clocks_.end()) return std::nullopt;
  Cached& cached = found->second.to_trace;
  if (cached.epoch == epoch_ && ns >= cached.first && ns <= cached.last) return wrapping_sum(ns, cached.offset);
  const std::vector<std::uint64_t> clocks = way(key);
  if (clocks.empty()) return std::nullopt;
  Cached whole{kLowest, kHighest, 0, epoch_};
  std::int64_t time = ns;
  for (std::size_t i = 0; i + 1 < clocks.size(); ++i) {
    Cached stretch;
    const std::int64_t offset = step(clocks_.at(clocks[i]), clocks_.at(clocks[i + 1]), time, stretch);
    const auto in_first = [&](std::int64_t edge) {
      return edge == kLowest || edge == kHighest ? edge : wrapping_difference(edge, whole.offset);
    };
    whole.first = std::max(whole.first, in_first(stretch.first));
    whole.last = std::min(whole.last, in_first(stretch.last));
    whole.offset = wrapping_sum(whole.offset, offset);
    time = wrapping_sum(time, offset);
  }
  cached = whole;
  return time;
}

std::optional<std::int64_t> TraceClocks::unix_at_zero() const {
  const auto realtime = clocks_.find(kRealtime);
  const auto trace = clocks_.find(trace_clock_);
  if (trace_clock_ == kRealtime) return 0;
  if (realtime == clocks_.end() || trace == clocks_.end()) return std::nullopt;
  for (const Reading& reading : realtime->second.readings) {
    for (const Reading& other : trace->second.readings) {
      if (other.snapshot == reading.snapshot) return wrapping_difference(reading.ns, other.ns);
    }
  }
  return std::nullopt;
}

}  // namespace accelscope::capture::sources::perfetto
