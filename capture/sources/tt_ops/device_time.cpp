#include "capture/sources/tt_ops/device_time.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/statistics/middle.h"

namespace accelscope::capture::sources::tt_ops {

void DeviceTime::add(std::int64_t first_cycle, std::optional<std::int64_t> last_cycle,
                     std::optional<double> duration_ns, std::optional<std::int64_t> host_begin_ns) {
  first_cycle_ = std::min(first_cycle_, first_cycle);
  // The duration may be that of one core, and the cycles those of all: the median passes over such rows.
  if (last_cycle && duration_ns && *duration_ns > 0 && *last_cycle > first_cycle) {
    rates_.push_back(static_cast<double>(*last_cycle - first_cycle) / *duration_ns);
  }
  operations_.push_back({first_cycle, std::max(first_cycle, last_cycle.value_or(first_cycle)), host_begin_ns});
}

std::optional<double> DeviceTime::ticks_per_ns() const {
  if (rates_.empty()) return std::nullopt;
  const double middle = middle_value(rates_);
  constexpr double kMhz = 1000;
  constexpr double kRounded = 1e-3;
  const double whole = std::round(middle * kMhz) / kMhz;
  return whole > 0 && std::abs(whole - middle) < kRounded * whole ? whole : middle;
}

std::vector<ClockAnchor> DeviceTime::anchors(double ticks_per_ns) const {
  std::vector<ClockAnchor> following = following_anchors(ticks_per_ns);
  if (following.empty()) return following;
  const auto elapsed = [&](std::int64_t cycle) {
    return static_cast<std::int64_t>(static_cast<double>(cycle - first_cycle_) / ticks_per_ns);
  };
  const std::int64_t slack =
      following.back().ns - following.front().ns - elapsed(following.back().ticks) + elapsed(following.front().ticks);
  if (slack > kMostSlack) return following;
  std::int64_t latest = INT64_MIN;
  for (const Operation& operation : operations_) {
    if (operation.host_ns) latest = std::max(latest, *operation.host_ns - elapsed(operation.first_cycle));
  }
  return {{first_cycle_, latest}};
}

std::vector<ClockAnchor> DeviceTime::following_anchors(double ticks_per_ns) const {
  constexpr std::int64_t kLeastStep = 10'000;  // ns; what is less adds up until it is that much
  std::vector<Operation> sorted = operations_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Operation& a, const Operation& b) { return a.first_cycle < b.first_cycle; });
  // An end that was stamped far too late says nothing of what ran.
  constexpr std::int64_t kTooLong = 1024;  // times the usual length
  std::vector<std::int64_t> lengths;
  for (const Operation& operation : sorted) lengths.push_back(operation.last_cycle - operation.first_cycle);
  const std::int64_t usual = std::max<std::int64_t>(middle_value(lengths), 1);
  for (Operation& operation : sorted) {
    if ((operation.last_cycle - operation.first_cycle) / usual >= kTooLong)
      operation.last_cycle = operation.first_cycle;
  }
  std::vector<ClockAnchor> anchors;
  std::int64_t busy_until = 0;  // the last cycle of the operations so far
  for (const Operation& operation : sorted) {
    if (anchors.empty() && operation.host_ns) {
      anchors.push_back({operation.first_cycle, *operation.host_ns});
    } else if (operation.host_ns) {
      const auto at = [&](std::int64_t cycle) {
        return anchors.back().ns +
               static_cast<std::int64_t>(static_cast<double>(cycle - anchors.back().ticks) / ticks_per_ns);
      };
      // The clock rested after all that ran before. Where something still runs, there is no place for a rest.
      const ClockAnchor rest{busy_until, at(busy_until)};
      if (busy_until < operation.first_cycle && *operation.host_ns - at(operation.first_cycle) >= kLeastStep) {
        if (rest.ticks > anchors.back().ticks && rest.ns > anchors.back().ns) anchors.push_back(rest);
        anchors.push_back({operation.first_cycle, *operation.host_ns});
      }
    }
    busy_until = std::max(busy_until, operation.last_cycle);
  }
  // What follows the last anchor goes on as the line before it, which would be that of a rest.
  if (anchors.size() > 1) {
    const ClockAnchor last = anchors.back();
    const std::int64_t end = std::max(busy_until, last.ticks + 1'000);
    const auto length = static_cast<std::int64_t>(static_cast<double>(end - last.ticks) / ticks_per_ns);
    anchors.push_back({end, last.ns + std::max<std::int64_t>(length, 1)});
  }
  return anchors;
}

}  // namespace accelscope::capture::sources::tt_ops
