#include "core/analysis/time/work_kind.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/analysis/time/executors.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope::analysis {
namespace {

// Tables on a host's threads that name stretches of a program or tell of the profiler: nothing works because of them.
constexpr std::string_view kAnnotations = "user_annotation";
constexpr std::array<std::string_view, 4> kMarks = {kAnnotations, "overhead", "trace_span", "thread_state"};
constexpr std::array<std::string_view, 2> kZoneTables = {"zone", "tracy_gpu_zone"};
constexpr std::string_view kProfilerHost = "profiler";  // as sources call it

}  // namespace

WorkKind work_kind_of(const TrackSnapshot& track) noexcept {
  if (!track.schema || track.schema->kind != EventKind::slice) return WorkKind::none;
  const WorkKind work = track_kind_of(track.track->kind).work;
  if (work != WorkKind::host) return work;
  const bool marks = std::find(kMarks.begin(), kMarks.end(), track.schema->name) != kMarks.end();
  return marks || is_of_profiler(*track.track) ? WorkKind::none : WorkKind::host;
}

bool is_annotation(const TrackSnapshot& track) noexcept {
  return track.schema && track.schema->kind == EventKind::slice && track.schema->name == kAnnotations &&
         track_kind_of(track.track->kind).work == WorkKind::host && !is_of_profiler(*track.track);
}

bool only_fills(const TrackSnapshot& track) noexcept { return track.schema && track.schema->name == "memset"; }

bool nests_zones(WorkKind work, const Schema& schema) noexcept {
  return is_device_work(work) && std::find(kZoneTables.begin(), kZoneTables.end(), schema.name) != kZoneTables.end();
}

bool is_of_profiler(const Track& track) noexcept { return track.host == kProfilerHost; }
bool tells_of_capture(const Track& track) noexcept { return track.kind == "capture" || is_of_profiler(track); }

bool names_collective(std::string_view name) noexcept {
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name.starts_with("nccl") || name.starts_with("rccl") || name.starts_with("oneccl");
}

WorkKinds::WorkKinds(const Snapshot& snapshot)
    : kinds_(snapshot.lanes.size(), WorkKind::none),
      covers_(snapshot.lanes.size(), true),
      zones_(snapshot.lanes.size(), false),
      threads_(snapshot.lanes.size(), 0),
      ranks_(snapshot.lanes.size(), 0) {
  const TrackDevices devices(snapshot);
  const HostThreads host_threads(snapshot);
  thread_count_ = host_threads.count();
  std::set<std::pair<std::size_t, std::string_view>> tables;  // with events, of each device
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const TrackSnapshot& track = snapshot.tracks[t];
    const WorkKind kind = work_kind_of(track);
    for (const std::uint32_t lane : track.lanes) {
      kinds_[lane] = kind;
      if (snapshot.lanes[lane].event_count == 0) continue;
      any_[static_cast<std::size_t>(kind)] = true;
      if (kind != WorkKind::none) tables.emplace(devices.of_track(t), track.schema->name);
    }
    const bool zones = track.schema && nests_zones(kind, *track.schema);
    const auto on_host = kind == WorkKind::host ? host_threads.of_track(track.track->number) : std::nullopt;
    if (!zones && !on_host) continue;
    const auto thread = zones ? thread_count_++ : on_host.value_or(0);
    for (const std::uint32_t lane : track.lanes) {
      zones_[lane] = zones;
      threads_[lane] = thread;
      ranks_[lane] = track.track->order * 4096 + snapshot.lanes[lane].data->lane.depth;
    }
  }
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const TrackSnapshot& track = snapshot.tracks[t];
    if (!track.schema) continue;
    const auto here = [&](std::string_view table) { return tables.contains({devices.of_track(t), table}); };
    if (!has_detail(track.schema->name, here)) continue;
    for (const std::uint32_t lane : track.lanes) covers_[lane] = false;
  }
}

}  // namespace accelscope::analysis
