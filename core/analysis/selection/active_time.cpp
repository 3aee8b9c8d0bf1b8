#include "core/analysis/selection/active_time.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/selection/summary.h"
#include "core/analysis/time/busy_time.h"
#include "core/analysis/vendors/vendor.h"
#include "core/model/track_kinds.h"
#include "core/scan/event_mask.h"

namespace accelscope {
namespace {

// The tables of a session by device: "nc0 dma".
std::set<std::string> tables_of_devices(const Snapshot& snapshot) {
  std::set<std::string> tables;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema && !track.lanes.empty()) tables.insert(track.track->device + " " + track.schema->name);
  }
  return tables;
}

// Another table of the same device has the same time in more detail.
bool repeats_others(const TrackSnapshot& track, const std::set<std::string>& tables) {
  return has_detail(track.schema->name, [&](std::string_view table) {
    return tables.contains(track.track->device + " " + std::string(table));
  });
}

LaneIndices slices_of(const QueryContext& query, LaneIndices lanes) {
  std::erase_if(lanes, [&](std::uint32_t lane) {
    const bool nothing = query.mask != nullptr && query.mask->count(lane) == 0;
    return nothing || query.snapshot->lanes[lane].data->kind != EventKind::slice;
  });
  return lanes;
}

// Packets run on many rings at once, and what is cut from one the others cover: only instructions are worth it.
bool has_engine(const Snapshot& snapshot, const LaneIndices& lanes) {
  return std::any_of(lanes.begin(), lanes.end(), [&](std::uint32_t lane) {
    const TrackSnapshot* track = snapshot.find_track(snapshot.lanes[lane].track);
    return track != nullptr && track->track->kind == "engine";
  });
}

}  // namespace

bool is_device_work(const Track& track, const Schema* schema) noexcept {
  if (schema == nullptr || schema->kind != EventKind::slice) return false;
  return is_device_work(track_kind_of(track.kind).work);
}

LaneIndices active_lanes(const Snapshot& snapshot, const EventFilter& filter) {
  const std::set<std::string> tables = tables_of_devices(snapshot);
  LaneIndices lanes;
  LaneIndices repeated;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (!filter.has_track(track.track->number) || !is_device_work(*track.track, track.schema.get())) continue;
    LaneIndices& into = repeats_others(track, tables) ? repeated : lanes;
    into.insert(into.end(), track.lanes.begin(), track.lanes.end());
  }
  if (!lanes.empty()) return lanes;
  return repeated.empty() ? working_lanes(snapshot, filter) : repeated;  // transfers alone were asked for
}

bool has_cut_times(const Snapshot& snapshot) noexcept { return !snapshot.meta_value(kCutTimesFact).empty(); }

std::int64_t active_ns(const CoveredTime& covered, bool cut_times) noexcept {
  return covered.length_ns() + (cut_times ? static_cast<std::int64_t>(covered.stretches() / 2) : 0);
}

Result<std::shared_ptr<const ActiveTime>> active_time(const QueryContext& query, const EventFilter& filter) {
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  const TimeRange range{std::max(wanted.begin_ns, snapshot.begin_ns), std::min(wanted.end_ns, snapshot.end_ns)};
  auto answer = std::make_shared<ActiveTime>();
  answer->filter = filter;
  answer->snapshot_version = snapshot.version;
  const LaneIndices lanes = slices_of(query, active_lanes(snapshot, filter));
  if (range.empty() || lanes.empty()) return std::shared_ptr<const ActiveTime>(std::move(answer));
  std::vector<CoveredTime> busy(query.pool.concurrency());
  const auto chunk = [&](const ScannedChunk& scanned, const ScanWindow& window, std::size_t worker) {
    add_busy(scanned, window, *snapshot.strings, busy[worker]);
  };
  const auto end = [&](const ScanWindow&, std::size_t worker) { busy[worker].close_window(); };
  const Result<void> scanned = scan_windows(query, lanes, range, {.chunk = chunk, .end = end});
  if (!scanned) return scanned.error();
  CoveredTime all;
  for (const CoveredTime& each : busy) all.add(each);
  const bool cut = has_cut_times(snapshot) && has_engine(snapshot, lanes);
  answer->active_ns = std::min(active_ns(all, cut), range.length_ns());
  return std::shared_ptr<const ActiveTime>(std::move(answer));
}

}  // namespace accelscope
