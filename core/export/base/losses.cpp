#include "core/export/base/losses.h"

#include <fmt/format.h>

#include <map>

#include "core/base/format.h"
#include "core/lod/range_statistics.h"
#include "core/scan/event_mask.h"

namespace accelscope {
namespace {

[[nodiscard]] std::uint64_t exported_events(const ExportRequest& request, const TrackSnapshot& track) {
  std::uint64_t events = 0;
  const bool timed = track.schema->kind != EventKind::table;
  for (const std::uint32_t lane : track.lanes) {
    if (timed && request.query.mask != nullptr) {
      events += request.query.mask->count(lane);
    } else if (!timed || request.range == TimeRange{}) {
      events += request.query.snapshot->lanes[lane].event_count;
    } else if (const auto share = lane_share(request.query.store, *request.query.snapshot, lane, request.range)) {
      events += share->event_count;
    }
  }
  return events;
}

}  // namespace

std::vector<std::string> losses_by_kind(const ExportRequest& request, const FormatLimits& limits) {
  const Snapshot& snapshot = *request.query.snapshot;
  std::map<std::string, std::uint64_t> rows, samples, moments;
  std::uint64_t flows = 0;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema == nullptr) continue;
    const EventKind kind = track.schema->kind;
    if (kind == EventKind::table && limits.rows_without_time) {
      rows[track.track->kind == "table" ? track.track->name : track.schema->name] += exported_events(request, track);
    }
    if (kind == EventKind::counter && limits.samples) samples[track.track->name] += exported_events(request, track);
    const bool is_moment = kind == EventKind::instant || kind == EventKind::memory;
    if (is_moment && limits.moments) moments[track.schema->name] += exported_events(request, track);
    if (kind == EventKind::flow && limits.flows) flows += exported_events(request, track);
  }
  std::vector<std::string> losses;
  const auto add = [&](const std::map<std::string, std::uint64_t>& counts, std::string_view what) {
    std::uint64_t all = 0;
    std::string names;
    std::size_t shown = 0;
    for (const auto& [name, count] : counts) {
      if (count == 0) continue;
      all += count;
      if (++shown <= 6) names += (names.empty() ? "" : ", ") + name;
    }
    if (shown > 6) names += fmt::format(" and {} more", shown - 6);
    if (all > 0) losses.push_back(fmt::format("{} {} are left out: {}", format_count(all), what, names));
  };
  add(rows, "rows without time");
  add(samples, "samples of counters");
  add(moments, "moments, allocations and releases");
  if (flows > 0) losses.push_back(fmt::format("{} dependencies between events are left out", format_count(flows)));
  if (limits.source_files && !snapshot.sources.empty()) {
    losses.push_back(fmt::format("the text of {} source files is left out", format_count(snapshot.sources.size())));
  }
  if (limits.markers) {
    if (const std::size_t marks = request.query.store.markers().size(); marks > 0) {
      losses.push_back(fmt::format("{} markers are left out", format_count(marks)));
    }
  }
  return losses;
}

void add_sample_losses(std::uint64_t values_beside, std::uint64_t without_value, std::vector<std::string>& losses) {
  if (values_beside > 0) {
    losses.push_back(fmt::format("{} names and values of further columns of counters' samples are left out",
                                 format_count(values_beside)));
  }
  if (without_value > 0) {
    losses.push_back(fmt::format("{} samples have no value and are left out", format_count(without_value)));
  }
}

void add_flow_losses(const FlowEnds& flows, std::vector<std::string>& losses) {
  if (flows.left_out() > 0) {
    losses.push_back(fmt::format("{} dependencies are left out because an event at their ends is not exported",
                                 format_count(flows.left_out())));
  }
  if (flows.unresolved() > 0) {
    losses.push_back(
        fmt::format("{} dependencies name no event of the session and are left out", format_count(flows.unresolved())));
  }
}

}  // namespace accelscope
