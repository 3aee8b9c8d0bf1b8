#include "core/analysis/figures/launch_queues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/analysis/dependencies/launches.h"
#include "core/analysis/time/track_devices.h"

namespace accelscope {
namespace {

[[nodiscard]] std::vector<double> running_sums(const std::vector<std::int64_t>& times, std::int64_t origin_ns) {
  std::vector<double> sums(times.size() + 1);
  for (std::size_t i = 0; i < times.size(); ++i) sums[i + 1] = sums[i] + static_cast<double>(times[i] - origin_ns);
  return sums;
}

// How long those that came before `at_ns` are in, added up over all: the integral of their number up to there.
[[nodiscard]] double time_in(const std::vector<std::int64_t>& times, const std::vector<double>& sums, double at_ns,
                             std::int64_t origin_ns) {
  const auto before = std::lower_bound(times.begin(), times.end(), at_ns,
                                       [](std::int64_t time, double at) { return static_cast<double>(time) < at; });
  const auto count = static_cast<std::size_t>(before - times.begin());
  return static_cast<double>(count) * (at_ns - static_cast<double>(origin_ns)) - sums[count];
}

}  // namespace

LaunchQueue::LaunchQueue(std::vector<std::pair<std::int64_t, std::int64_t>> launched_begun) {
  if (launched_begun.empty()) return;
  for (auto& [launched, begun] : launched_begun) launched = std::min(launched, begun);
  std::sort(launched_begun.begin(), launched_begun.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  wait_sums_.push_back(0);
  for (const auto& [launched, begun] : launched_begun) {
    launched_.push_back(launched);
    begun_.push_back(begun);
    wait_sums_.push_back(wait_sums_.back() + static_cast<double>(begun - launched));
  }
  std::sort(launched_.begin(), launched_.end());
  origin_ns_ = launched_.front();
  launched_sums_ = running_sums(launched_, origin_ns_);
  begun_sums_ = running_sums(begun_, origin_ns_);
}

void LaunchQueue::add_depth(const TimeRange& range, std::span<double> stretches) const {
  if (begun_.empty() || stretches.empty()) return;
  const double step = static_cast<double>(range.length_ns()) / static_cast<double>(stretches.size());
  const auto waited_up_to = [&](double at_ns) {
    return time_in(launched_, launched_sums_, at_ns, origin_ns_) - time_in(begun_, begun_sums_, at_ns, origin_ns_);
  };
  double last = waited_up_to(static_cast<double>(range.begin_ns));
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const double next = waited_up_to(static_cast<double>(range.begin_ns) + step * static_cast<double>(i + 1));
    stretches[i] += std::max(0.0, (next - last) / step);
    last = next;
  }
}

void LaunchQueue::add_latency(const TimeRange& range, std::span<double> stretches) const {
  const double step = static_cast<double>(range.length_ns()) / static_cast<double>(stretches.size());
  const auto first_from = [&](double at_ns) {
    const auto found = std::lower_bound(begun_.begin(), begun_.end(), at_ns,
                                        [](std::int64_t time, double at) { return static_cast<double>(time) < at; });
    return static_cast<std::size_t>(found - begun_.begin());
  };
  std::size_t first = first_from(static_cast<double>(range.begin_ns));
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::size_t last = first_from(static_cast<double>(range.begin_ns) + step * static_cast<double>(i + 1));
    stretches[i] = last > first ? (wait_sums_[last] - wait_sums_[first]) / static_cast<double>(last - first)
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
