#include "core/analysis/time/session_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/natural_order.h"

namespace accelscope {
namespace {

// By track: its host; "" where none of the hosts with devices is known to be its own.
[[nodiscard]] std::vector<std::string> hosts_of_tracks(const Snapshot& snapshot, const std::set<std::string>& hosts) {
  std::map<std::uint32_t, std::set<std::string>> of_scopes;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (hosts.contains(track.track->host)) of_scopes[scope_of(track.track->number)].insert(track.track->host);
  }
  std::vector<std::string> of_tracks;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const std::set<std::string>& of_scope = of_scopes[scope_of(track.track->number)];
    const bool told = hosts.contains(track.track->host);
    of_tracks.push_back(told ? track.track->host : of_scope.size() == 1 ? *of_scope.begin() : std::string());
  }
  return of_tracks;
}

void leave_out(LaneSnapshot& lane) {
  lane.chunk_count = 0;
  lane.event_count = 0;
  lane.tree = {};
  lane.totals = {};
  lane.begin_ticks = 0;
  lane.end_ticks = 0;
  lane.index_bytes = 0;
}

// As a store counts them: rows of tables and flows lie in no time.
void count_again(Snapshot& snapshot) {
  snapshot.event_count = 0;
  bool any = false;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    snapshot.event_count += lane.event_count;
    const EventKind kind = lane.data->kind;
    if (lane.event_count == 0 || kind == EventKind::table || kind == EventKind::flow) continue;
    const std::int64_t begin = lane.clock->to_ns(lane.begin_ticks), end = lane.clock->to_ns(lane.end_ticks);
    snapshot.begin_ns = any ? std::min(snapshot.begin_ns, begin) : begin;
    snapshot.end_ns = any ? std::max(snapshot.end_ns, end) : end;
    any = true;
  }
  if (!any) snapshot.begin_ns = snapshot.end_ns = 0;
}

}  // namespace

std::vector<SessionPart> session_parts(const std::shared_ptr<const Snapshot>& snapshot) {
  const std::set<std::string> hosts = device_hosts(*snapshot);
  const bool ranks = std::any_of(snapshot->tracks.begin(), snapshot->tracks.end(), [](const TrackSnapshot& track) {
    return !rank_of_device(track.track->device).empty();
  });
  if (hosts.size() < 2 || ranks) return {{"", snapshot}};
  const std::vector<std::string> of_tracks = hosts_of_tracks(*snapshot, hosts);
  std::vector<SessionPart> parts;
  for (const std::string& host : hosts) {
    const auto alone = std::make_shared<Snapshot>(*snapshot);
    for (std::size_t t = 0; t < alone->tracks.size(); ++t) {
      if (of_tracks[t] == host || of_tracks[t].empty()) continue;
      for (const std::uint32_t lane : alone->tracks[t].lanes) leave_out(alone->lanes[lane]);
    }
    count_again(*alone);
    parts.push_back({host, alone});
  }
  std::sort(parts.begin(), parts.end(),
            [](const SessionPart& a, const SessionPart& b) { return natural_less(a.host, b.host); });
  return parts;
}

std::vector<std::optional<std::size_t>> part_numbers(const std::vector<SessionPart>& parts,
                                                     const TrackDevices& devices) {
  std::vector<std::optional<std::size_t>> found(devices.count());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::vector<LaneSnapshot>& lanes = parts[part].snapshot->lanes;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const bool own = devices.track_of_lane(lane).track->host == parts[part].host;
      if ((own || parts.size() == 1) && lanes[lane].event_count > 0) found[devices.of_lane(lane)] = part;
    }
  }
  return found;
}

std::vector<TimeRange> times_of_devices(const std::shared_ptr<const Snapshot>& snapshot, const TrackDevices& devices) {
  const std::vector<SessionPart> parts = session_parts(snapshot);
  std::vector<TimeRange> times;
  for (const std::optional<std::size_t> part : part_numbers(parts, devices)) {
    const Snapshot& of = part ? *parts[*part].snapshot : *snapshot;
    times.push_back({of.begin_ns, of.end_ns});
  }
  return times;
}

QueryContext part_of(const QueryContext& query, const SessionPart& part) {
  QueryContext alone = query;
  alone.snapshot = part.snapshot;
  return alone;
}

}  // namespace accelscope
