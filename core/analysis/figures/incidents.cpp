#include "core/analysis/figures/incidents.h"

#include <algorithm>

#include "core/analysis/vendors/vendor.h"

namespace accelscope::analysis {
namespace {

[[nodiscard]] Alert alert_of(const TrackSnapshot& track) {
  if (track.schema && track.schema->kind == EventKind::counter) return Alert::none;  // its samples are no incidents
  const Alert alert = track_kind_of(track.track->kind).alert;
  return alert == Alert::none && track.schema && track.schema->name == "warnings" ? Alert::warning : alert;
}

}  // namespace

Result<std::shared_ptr<const Incidents>> find_incidents(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  auto found = std::make_shared<Incidents>();
  found->snapshot_version = snapshot.version;
  std::vector<ChunkRequest> requests;
  std::vector<Alert> alerts(snapshot.lanes.size());
  std::uint64_t count = 0;
  for (const Alert alert : {Alert::error, Alert::throttling, Alert::warning}) {
    for (const TrackSnapshot& track : snapshot.tracks) {
      if (alert_of(track) != alert) continue;
      for (const std::uint32_t lane : track.lanes) {
        alerts[lane] = alert;
        for (std::uint32_t chunk = 0; chunk < snapshot.lanes[lane].chunk_count; ++chunk) {
          const std::uint64_t events = snapshot.lanes[lane].chunk(chunk).count;
          if (count >= Incidents::kMost) {
            found->left_out += events;
            continue;
          }
          count += events;
          requests.push_back({lane, chunk, {}});
        }
      }
    }
  }
  std::vector<std::vector<Incident>> parts(requests.size());
  const auto scanned = scan_chunks(query, requests, [&](const ScannedChunk& chunk, std::size_t) {
    const Alert alert = alerts[chunk.lane_index];
    LimitBlock limits(*chunk.lane.schema, *snapshot.strings);
    const bool has_limits = alert == Alert::throttling && limits.is_known();
    chunk.for_each_block([&](const ScannedBlock& block) {
      if (has_limits) limits.read(block.reader);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        // Warnings about the whole run are rows without a time.
        if (alert == Alert::warning && block.ticks().begins[i] == 0) continue;
        if (has_limits && limits.at(i, block.name(i)) >= 1) continue;
        parts[chunk.request].push_back({block.id(i), block.begin_ns(i), block.end_ns(i), block.name(i), alert});
      }
    });
  });
  if (!scanned) return scanned.error();
  for (const std::vector<Incident>& part : parts) found->list.insert(found->list.end(), part.begin(), part.end());
  std::ranges::stable_sort(found->list, {}, &Incident::begin_ns);
  return std::shared_ptr<const Incidents>(std::move(found));
}

}  // namespace accelscope::analysis
