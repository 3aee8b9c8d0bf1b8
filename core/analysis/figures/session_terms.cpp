#include "core/analysis/figures/session_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/analysis/time/session_activity.h"
#include "core/scan/event_mask.h"

namespace accelscope::analysis {
namespace {

// The longest of those that the maker's summaries state, one for each device.
std::optional<double> stated_total_ns(const Snapshot& snapshot) {
  constexpr double kNsPerSecond = 1e9;
  std::optional<double> longest;
  for (const Metric& metric : snapshot.metrics) {
    if (metric.name != terms::kVendorTotal || !metric.text.empty() || metric.unit != Unit::seconds ||
        !(metric.value > 0))
      continue;
    longest = std::max(longest.value_or(0), metric.value * kNsPerSecond);
  }
  return longest;
}

void include_lane(TimeRange& stretch, const LaneSnapshot& lane) {
  stretch.begin_ns = std::min(stretch.begin_ns, lane.clock->to_ns(lane.begin_ticks));
  stretch.end_ns = std::max(stretch.end_ns, lane.clock->to_ns(lane.end_ticks));
}

}  // namespace

bool is_program_alone(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.quality,
                             [](const QualityEntry& entry) { return entry.kind == "program_without_trace"; });
}

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
  const QueryContext whole = query.unmasked();
  const auto work = TRY(find_active_stretch(whole));
  found.work = work;
  if (found.work) found.span = span_of(snapshot, kinds, *found.work);
  return found;
}

std::vector<std::size_t> session_devices(const Snapshot& snapshot, const TrackDevices& devices) {
  std::array<std::set<std::size_t>, 3> choices;  // the best first
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const TrackSnapshot& track = snapshot.tracks[t];
    if (track.track->device.empty()) continue;
    const std::size_t device = devices.of_track(t);
    choices[2].insert(device);
    if (!is_device_work(work_kind_of(track))) continue;
    choices[1].insert(device);
    const bool worked =
        std::ranges::any_of(track.lanes, [&](std::uint32_t lane) { return snapshot.lanes[lane].event_count > 0; });
    if (worked) choices[0].insert(device);
  }
  const std::set<std::size_t> named = choices[2];
  std::set<std::size_t>& counted =
      *std::find_if(choices.begin(), choices.end() - 1, [](const auto& choice) { return !choice.empty(); });
  for (std::size_t device = 0; device < devices.count(); ++device) {
    if (!named.contains(device)) continue;
    std::size_t replaced = 0;
    for (const std::size_t part : devices.parts(device)) replaced += counted.erase(part);
    if (replaced > 0) counted.insert(device);
  }
  return {counted.begin(), counted.end()};
}

std::string kind_of_device(const std::string& label) {
  const std::size_t number = label.rfind(' ');
  if (number == std::string::npos || number + 1 == label.size() ||
      label.find_first_not_of("0123456789", number + 1) != std::string::npos) {
    return label;
  }
  const std::size_t owner = number == 0 ? std::string::npos : label.rfind(' ', number - 1);
  const std::size_t begin = owner == std::string::npos ? 0 : owner + 1;
  constexpr std::size_t kLongest = 5;  // beyond it is a name
  if (number - begin > kLongest) return label;
  std::string kind = label.substr(begin, number - begin);
  constexpr std::size_t kAbbreviation = 3;  // "gpu"
  for (char& c : kind) c = kind.size() <= kAbbreviation && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return kind;
}

std::string name_of_devices(const std::vector<std::string>& labels) {
  if (labels.empty()) return "";
  if (labels.size() == 1) return labels.front();
  const std::string kind = kind_of_device(labels.front());
  const bool alike =
      !kind.empty() && kind != labels.front() &&
      std::ranges::all_of(labels, [&](const std::string& label) { return kind_of_device(label) == kind; });
  return fmt::format("{} {}s", labels.size(), alike ? kind : "device");
}

}  // namespace accelscope::analysis
