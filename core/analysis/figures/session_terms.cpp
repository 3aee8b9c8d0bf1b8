#include "core/analysis/figures/session_terms.h"

#include <algorithm>

#include "core/analysis/time/session_activity.h"
#include "core/scan/event_mask.h"

namespace accelscope {
namespace {

// The longest of those that the maker's summaries state, one for each device.
std::optional<double> stated_total_ns(const Snapshot& snapshot) {
  constexpr std::string_view kVendorTotal = "total_time";
  constexpr double kNsPerSecond = 1e9;
  std::optional<double> longest;
  for (const Metric& metric : snapshot.metrics) {
    if (metric.name != kVendorTotal || !metric.text.empty() || metric.unit != "s" || !(metric.value > 0)) continue;
    longest = std::max(longest.value_or(0), metric.value * kNsPerSecond);
  }
  return longest;
}

void include_lane(TimeRange& stretch, const LaneSnapshot& lane) {
  stretch.begin_ns = std::min(stretch.begin_ns, lane.clock->to_ns(lane.begin_ticks));
  stretch.end_ns = std::max(stretch.end_ns, lane.clock->to_ns(lane.end_ticks));
}

}  // namespace

TimeRange span_of(const Snapshot& snapshot, const WorkKinds& kinds, const TimeRange& work) {
  TimeRange span = work;
  TimeRange host{INT64_MAX, INT64_MIN}, compute = host, device = host;
  bool has_streams = false, has_engines = false;
  for (std::size_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    const LaneSnapshot& one = snapshot.lanes[lane];
    if (one.event_count == 0) continue;
    const WorkKind kind = kinds.of_lane(lane);
    if (kind == WorkKind::host) include_lane(host, one);
    if (kind == WorkKind::compute || kind == WorkKind::collective) include_lane(compute, one);
    if (is_device_work(kind)) include_lane(device, one);
    const TrackSnapshot* track = kind == WorkKind::compute ? snapshot.find_track(one.track) : nullptr;
    if (track != nullptr) (track->track->kind == "stream" ? has_streams : has_engines) = true;
  }
  if (has_engines && !has_streams) return span;  // they run a program of their own
  if (span == compute) span = device;            // copies are work of a device too
  constexpr std::int64_t kMuchLonger = 2;
  if (!host.empty() && span.length_ns() > 0 && host.length_ns() / kMuchLonger > span.length_ns()) {
    span = {std::min(host.begin_ns, span.begin_ns), std::max(host.end_ns, span.end_ns)};
  }
  return span;
}

Result<SessionTerms> session_terms(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  SessionTerms found;
  found.session = {snapshot.begin_ns, snapshot.end_ns};
  found.events = count_passing(snapshot, nullptr);
  found.stated_total_ns = stated_total_ns(snapshot);
  const WorkKinds kinds(snapshot);
  if (!kinds.any_device() && !kinds.any(WorkKind::host)) return found;
  QueryContext whole = query;
  whole.mask = nullptr;
  const auto work = find_active_stretch(whole);
  if (!work) return work.error();
  found.work = *work;
  if (found.work) found.span = span_of(snapshot, kinds, *found.work);
  return found;
}

}  // namespace accelscope
