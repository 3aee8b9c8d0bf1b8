#include "core/analysis/hierarchy/path_scan.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "core/analysis/hierarchy/column_paths.h"
#include "core/analysis/hierarchy/nested_paths.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope {
namespace {

// Which devices could have computed what the lane's events did: those whose events have operations.
std::vector<std::uint64_t> device_bits_of(const Snapshot& snapshot, const TrackDevices& devices) {
  std::vector<std::uint64_t> bits(snapshot.lanes.size(), 0);
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (!lane.schema || (vendor_of_work(lane) == nullptr && !lane.schema->find(Role::flops))) continue;
    bits[i] = std::uint64_t{1} << std::min(devices.of_lane(i), kDeviceBits);
  }
  return bits;
}

LaneIndices with_whole_threads(const Snapshot& snapshot, const WorkKinds& works, LaneIndices lanes) {
  std::set<std::size_t> threads;
  for (const std::uint32_t lane : lanes) {
    if (works.of_lane(lane) == WorkKind::host) threads.insert(works.thread_of_lane(lane));
  }
  const std::set<std::uint32_t> known(lanes.begin(), lanes.end());
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (works.of_lane(i) != WorkKind::host || snapshot.lanes[i].event_count == 0 || known.contains(i)) continue;
    if (threads.contains(works.thread_of_lane(i))) lanes.push_back(i);
  }
  return lanes;
}

LaneIndices joined_lanes(LaneIndices lanes, const LaneIndices& others) {
  lanes.insert(lanes.end(), others.begin(), others.end());
  return lanes;
}

template <typename Paths, typename... Arguments>
Result<void> scan_by(const QueryContext& query, const PathScan& scan, const TimeRange& stretch, bool first,
                     Arguments&... arguments) {
  std::vector<std::unique_ptr<Paths>> workers(query.pool.concurrency());
  for (auto& each : workers) each = std::make_unique<Paths>(scan.plan, arguments...);
  const auto as_asked = [first](const ScanWindow& window) { return ScanWindow{window.range, window.first && first}; };
  return scan_windows(query, scan.subject.scanned, stretch,
                      {.chunk = [&](const ScannedChunk& chunk, const ScanWindow& window,
                                    std::size_t worker) { workers[worker]->add(chunk, as_asked(window)); },
                       .end = [&](const ScanWindow& window,
                                  std::size_t worker) { scan.add(workers[worker]->close(as_asked(window))); }},
                      scan.window_events);
}

}  // namespace

PathSubject::PathSubject(const Snapshot& snapshot, const PathKind& of, std::shared_ptr<const BorrowedPaths> borrows)
    : kind(of),
      works(snapshot),
      devices(snapshot),
      borrowed(std::move(borrows)),
      lanes(joined_lanes(lanes_with_paths(snapshot, works, of), borrowed->lanes())),
      scanned(of.is_nested() ? lanes : with_whole_threads(snapshot, works, lanes)),
      units(snapshot, works, lanes),
      device_bits(device_bits_of(snapshot, devices)) {
  if (of.split == PathSplit::function) functions = FunctionNames(snapshot.sources);
}

Result<PathSubject> PathSubject::find(const QueryContext& query, const PathKind& kind,
                                      const std::shared_ptr<const BorrowedPaths>& known) {
  if (known) return PathSubject(*query.snapshot, kind, known);
  if (!kind.borrows) return PathSubject(*query.snapshot, kind);
  const WorkKinds works(*query.snapshot);
  auto borrowed = BorrowedPaths::find(query, kind, works, lanes_with_paths(*query.snapshot, works, kind));
  if (!borrowed) return borrowed.error();
  return PathSubject(*query.snapshot, kind, std::make_shared<const BorrowedPaths>(std::move(*borrowed)));
}

Result<void> scan_paths(const PathScan& scan, const TimeRange& stretch, bool first) {
  if (!scan.subject.kind.is_nested()) return scan_by<ColumnPaths>(scan.query, scan, stretch, first);
  // What does not pass still lies within and around what does.
  QueryContext whole = scan.query;
  whole.mask = nullptr;
  const EventMask* passing = scan.query.mask.get();
  return scan_by<NestedPaths>(whole, scan, stretch, first, scan.launches, passing);
}

Result<std::vector<HostLaunch>> launches_of(const QueryContext& query, const PathSubject& subject,
                                            const std::vector<HostLaunch>* known) {
  std::vector<HostLaunch> launches;
  if (subject.kind.source != PathSource::host_calls) return launches;
  if (known != nullptr) {
    launches = *known;
  } else {
    QueryContext whole = query;
    whole.mask = nullptr;
    auto found = host_launches(whole, subject.works);
    if (!found) return found.error();
    launches = std::move(*found);
  }
  std::sort(launches.begin(), launches.end(), [](const HostLaunch& a, const HostLaunch& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  return launches;
}

}  // namespace accelscope
