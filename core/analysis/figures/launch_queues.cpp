#include "core/analysis/figures/launch_queues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/analysis/dependencies/launches.h"
#include "core/analysis/time/track_devices.h"

namespace accelscope {
namespace {

[[nodiscard]] std::vector<std::uint64_t> running_sums(const std::vector<std::int64_t>& times) {
  std::vector<std::uint64_t> sums(times.size() + 1);
  for (std::size_t i = 0; i < times.size(); ++i) sums[i + 1] = sums[i] + static_cast<std::uint64_t>(times[i]);
  return sums;
}

// How many of `times` lie before a place in the range, which is told from its begin so that it keeps its fractions.
[[nodiscard]] std::size_t count_before(const std::vector<std::int64_t>& times, const TimeRange& range,
                                       double from_begin_ns) {
  const auto first = std::lower_bound(times.begin(), times.end(), from_begin_ns, [&](std::int64_t time, double at) {
    return time < range.begin_ns ||
           static_cast<double>(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(range.begin_ns)) < at;
  });
  return static_cast<std::size_t>(first - times.begin());
}

// Of times first..last - 1: how long after `origin_ns` they are, added up, modulo 2^64.
[[nodiscard]] std::uint64_t time_after(const std::vector<std::uint64_t>& sums, std::size_t first, std::size_t last,
                                       std::uint64_t origin_ns) {
  return sums[last] - sums[first] - (last - first) * origin_ns;
}

}  // namespace

LaunchQueue::LaunchQueue(std::vector<std::pair<std::int64_t, std::int64_t>> launched_begun) {
  if (launched_begun.empty()) return;
  for (auto& [launched, begun] : launched_begun) launched = std::min(launched, begun);
  std::sort(launched_begun.begin(), launched_begun.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  wait_sums_.push_back(0);  // wraps, as the others do
  for (const auto& [launched, begun] : launched_begun) {
    launched_.push_back(launched);
    begun_.push_back(begun);
    wait_sums_.push_back(wait_sums_.back() + static_cast<std::uint64_t>(begun) - static_cast<std::uint64_t>(launched));
  }
  std::sort(launched_.begin(), launched_.end());
  launched_sums_ = running_sums(launched_);
  begun_sums_ = running_sums(begun_);
}

// What waits when the stretch begins waits for all of it, but for what begins in it; what is launched in it waits from
// there. Times are told from the whole ns before the stretch, so nothing large is ever subtracted in real numbers.
void LaunchQueue::add_depth(const TimeRange& range, std::span<double> stretches) const {
  if (begun_.empty() || stretches.empty()) return;
  const double step = static_cast<double>(range.length_ns()) / static_cast<double>(stretches.size());
  std::size_t launched = count_before(launched_, range, 0), begun = count_before(begun_, range, 0);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const double from = std::floor(step * static_cast<double>(i)), to = step * static_cast<double>(i + 1);
    const std::size_t launched_end = count_before(launched_, range, to), begun_end = count_before(begun_, range, to);
    const std::uint64_t origin = static_cast<std::uint64_t>(range.begin_ns) + static_cast<std::uint64_t>(from);
    const auto before = static_cast<std::int64_t>(time_after(launched_sums_, launched, launched_end, origin) -
                                                  time_after(begun_sums_, begun, begun_end, origin));
    const auto more = static_cast<std::int64_t>(launched_end - launched) - static_cast<std::int64_t>(begun_end - begun);
    const double waited = static_cast<double>(launched - begun) * step + static_cast<double>(more) * (to - from) -
                          static_cast<double>(before);
    stretches[i] += std::max(0.0, waited / step);
    launched = launched_end;
    begun = begun_end;
  }
}

void LaunchQueue::add_latency(const TimeRange& range, std::span<double> stretches) const {
  const double step = static_cast<double>(range.length_ns()) / static_cast<double>(stretches.size());
  std::size_t first = count_before(begun_, range, 0);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::size_t last = count_before(begun_, range, step * static_cast<double>(i + 1));
    stretches[i] = last > first
                       ? static_cast<double>(wait_sums_[last] - wait_sums_[first]) / static_cast<double>(last - first)
                       : std::numeric_limits<double>::quiet_NaN();
    first = last;
  }
}

Result<std::shared_ptr<const LaunchQueues>> launch_queues(const QueryContext& query, const Dependencies* known) {
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  const auto launches = host_launches(query, kinds, known);
  if (!launches) return launches.error();
  const TrackDevices devices(snapshot);
  std::map<LaneNumber, std::size_t> device_of_lane;
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i)
    device_of_lane[snapshot.lanes[i].number()] = devices.of_lane(i);
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> times(devices.count());
  for (const HostLaunch& launch : *launches) {
    const auto device = device_of_lane.find(lane_of(launch.target));
    if (device != device_of_lane.end()) times[device->second].emplace_back(launch.begin_ns, launch.work.begin_ns);
  }
  auto queues = std::make_shared<LaunchQueues>();
  queues->snapshot_version = snapshot.version;
  for (auto& each : times) queues->devices.emplace_back(std::move(each));
  return std::shared_ptr<const LaunchQueues>(std::move(queues));
}

}  // namespace accelscope
