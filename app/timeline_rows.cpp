#include "app/timeline_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "core/base/format.h"
#include "core/base/natural_order.h"
#include "render/theme.h"

namespace accelscope::app {
namespace {

namespace size = render::size;

struct Group {
  std::string_view title;
  std::string_view one;  // what its count counts
  std::string_view many;
  bool open = true;
};

constexpr std::array<Group, 12> kGroups = {{{"Collectives", "row", "rows"},
                                            {"DMA queues", "queue", "queues"},
                                            {"Engines", "engine", "engines"},
                                            {"Layers", "row", "rows"},
                                            {"Host", "thread", "threads"},
                                            {"Streams", "stream", "streams"},
                                            {"Counters", "counter", "counters"},
                                            {"Memory", "pool", "pools"},
                                            {"Throttling", "row", "rows"},
                                            {"Semaphores", "row", "rows", false},
                                            {"Errors", "row", "rows"},
                                            {"Other", "row", "rows"}}};
constexpr std::size_t kOther = kGroups.size() - 1;
constexpr std::size_t kMemory = 7;

struct KindPlace {
  std::string_view kind;
  std::size_t group;
  int order;  // of kinds that share a group
};
constexpr std::array<KindPlace, 13> kKinds = {{{"collective", 0, 0},
                                               {"cc_core", 0, 1},
                                               {"barrier", 0, 2},
                                               {"dma_queue", 1, 0},
                                               {"engine", 2, 0},
                                               {"layer", 3, 0},
                                               {"host_thread", 4, 0},
                                               {"stream", 5, 0},
                                               {"counter", 6, 0},
                                               {"memory", kMemory, 0},
                                               {"throttle", 8, 0},
                                               {"semaphore", 9, 0},
                                               {"error", 10, 0}}};
// Tracks of these kinds are not drawn as rows: arrows and tables show them.
constexpr std::array<std::string_view, 2> kHiddenKinds = {"flow", "table"};

constexpr std::array<std::string_view, 6> kEngines = {"Tensor", "TensorMatrix", "Vector", "Scalar", "GpSimd", "Sync"};

[[nodiscard]] KindPlace place_of(std::string_view kind) {
  for (const KindPlace& place : kKinds) {
    if (place.kind == kind) return place;
  }
  return {kind, kOther, 0};
}

[[nodiscard]] std::size_t engine_order(const Track& track) {
  if (track.kind != "engine") return 0;
  const auto known = std::find(kEngines.begin(), kEngines.end(), track.name);
  return static_cast<std::size_t>(known - kEngines.begin());
}

[[nodiscard]] std::string device_of(const Track& track) {
  if (track.host.empty()) return track.device;
  return track.device.empty() ? track.host : track.host + " " + track.device;
}

struct TrackPlace {
  std::string device;
  std::size_t group = 0;
  std::tuple<int, std::size_t, std::int64_t> order;  // kind, engine, the source's own order
  const TrackSnapshot* track = nullptr;

  [[nodiscard]] bool operator<(const TrackPlace& other) const {
    // What belongs to no device (memory of the host, totals) comes after the devices.
    if (device != other.device) {
      if (device.empty() != other.device.empty()) return other.device.empty();
      return natural_less(device, other.device);
    }
    if (std::tie(group, order) != std::tie(other.group, other.order)) {
      return std::tie(group, order) < std::tie(other.group, other.order);
    }
    return natural_less(track->track->name, other.track->track->name);
  }
};

[[nodiscard]] std::vector<TrackPlace> placed_tracks(const Snapshot& snapshot) {
  std::vector<TrackPlace> places;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const Track& definition = *track.track;
    if (std::find(kHiddenKinds.begin(), kHiddenKinds.end(), definition.kind) != kHiddenKinds.end()) continue;
    const EventKind kind = track.schema ? track.schema->kind : EventKind::slice;
    if (kind == EventKind::flow || kind == EventKind::table) continue;
    const KindPlace place = place_of(definition.kind);
    places.push_back(
        {device_of(definition), place.group, {place.order, engine_order(definition), definition.order}, &track});
  }
  std::stable_sort(places.begin(), places.end());
  return places;
}

[[nodiscard]] TimelineRow track_row(const TrackSnapshot& track) {
  TimelineRow row;
  const bool counter = track.schema && track.schema->kind == EventKind::counter;
  row.kind = counter ? RowKind::counter : RowKind::slices;
  row.key = fmt::format("track:{}", track.track->number);
  row.label = track.track->name;
  row.lanes = track.lanes;
  row.track = track.track.get();
  row.height = counter ? size::kCounterLane : sub_lane_sizes(track.lanes.size()).row;
  return row;
}

// Whether the track shows below another one of its group.
[[nodiscard]] bool belongs_to_track(const Snapshot& snapshot, const TrackPlace& place) {
  const Track& track = *place.track->track;
  if (track.parent == kNone || track.parent == track.number) return false;
  const TrackSnapshot* parent = snapshot.find_track(track.parent);
  return parent != nullptr && place_of(parent->track->kind).group == place.group;
}

using Children = std::unordered_map<TrackNumber, std::vector<const TrackSnapshot*>>;

[[nodiscard]] bool is_open(const RowChoices& choices, const std::string& key, bool by_default) {
  const auto chosen = choices.open.find(key);
  return chosen == choices.open.end() ? by_default : chosen->second;
}

// The track's row and, if it is open, those of the tracks below it. Sources may nest; a cycle ends at kDeepest.
void add_track(const TrackSnapshot& track, const Children& children, const RowChoices& choices, int depth,
               std::vector<TimelineRow>& rows) {
  constexpr int kDeepest = 8;
  TimelineRow row = track_row(track);
  row.depth = depth;
  const auto below = children.find(track.track->number);
  row.has_children = below != children.end() && depth < kDeepest;
  row.open = row.has_children && is_open(choices, row.key, false);
  const bool open = row.open;
  rows.push_back(std::move(row));
  if (!open) return;
  for (const TrackSnapshot* child : below->second) add_track(*child, children, choices, depth + 1, rows);
}

[[nodiscard]] std::vector<TimelineRow> memory_rows(const MemoryUsage& memory) {
  std::vector<TimelineRow> rows;
  for (std::uint32_t pool = 0; pool < memory.pools.size(); ++pool) {
    TimelineRow row;
    row.kind = RowKind::memory;
    row.key = "pool:" + memory.pools[pool].name;
    row.label = memory.pools[pool].name;
    row.pool = pool;
    row.height = size::kMemoryLane;
    rows.push_back(std::move(row));
  }
  return rows;
}

[[nodiscard]] std::string count_text(const Group& group, const std::vector<TimelineRow>& rows,
                                     const Snapshot& snapshot) {
  std::size_t total = 0;
  std::size_t used = 0;
  for (const TimelineRow& row : rows) {
    if (row.depth > 0) continue;
    ++total;
    const bool has_events = row.kind == RowKind::memory ||
                            std::any_of(row.lanes.begin(), row.lanes.end(),
                                        [&](std::uint32_t lane) { return snapshot.lanes[lane].event_count > 0; });
    if (has_events) ++used;
  }
  if (used != total) return fmt::format("{} of {}", used, total);
  return fmt::format("{} {}", format_count(total), total == 1 ? group.one : group.many);
}

}  // namespace

SubLaneSizes sub_lane_sizes(std::size_t lanes) noexcept {
  if (lanes <= 1) return {size::kLane, size::kLane, size::kSlice};
  const float margins = size::kTwoSubLanes - 2 * size::kSubLane;
  return {size::kSubLane * static_cast<float>(lanes) + margins, size::kSubLane, size::kSubSlice};
}

std::vector<TimelineRow> compose_rows(const Snapshot& snapshot, const MemoryUsage* memory, const RowChoices& choices) {
  const std::vector<TrackPlace> places = placed_tracks(snapshot);
  const bool several = !places.empty() && places.front().device != places.back().device;
  Children children;
  for (const TrackPlace& place : places) {
    if (belongs_to_track(snapshot, place)) children[place.track->track->parent].push_back(place.track);
  }
  std::vector<TimelineRow> rows;
  bool pools_placed = false;
  for (std::size_t first = 0; first < places.size();) {
    std::size_t end = first;
    std::vector<TimelineRow> members;
    const Group& group = kGroups[places[first].group];
    while (end < places.size() && places[end].group == places[first].group &&
           places[end].device == places[first].device) {
      const TrackPlace& place = places[end++];
      if (!belongs_to_track(snapshot, place)) add_track(*place.track, children, choices, 0, members);
    }
    // The tracker's pools, of all devices, stand for the allocations they were made from.
    if (places[first].group == kMemory && memory != nullptr && !memory->pools.empty()) {
      std::erase_if(members, [](const TimelineRow& row) { return row.kind != RowKind::counter; });
      if (!pools_placed) {
        std::vector<TimelineRow> pools = memory_rows(*memory);
        members.insert(members.begin(), std::make_move_iterator(pools.begin()), std::make_move_iterator(pools.end()));
        pools_placed = true;
      }
    }
    const std::string& device = places[first].device;
    first = end;
    if (members.empty()) continue;

    TimelineRow heading;
    heading.kind = RowKind::group;
    const bool all_pools = members.front().kind == RowKind::memory;
    const bool names_device = several && !device.empty() && !all_pools;
    heading.label = names_device ? fmt::format("{} {}", device, group.title) : std::string(group.title);
    heading.key = "group:" + heading.label;
    heading.count = count_text(group, members, snapshot);
    heading.height = size::kGroupRow;
    heading.open = is_open(choices, heading.key, group.open);
    for (const TimelineRow& row : members) {
      if (row.kind == RowKind::slices && row.depth == 0)
        heading.lanes.insert(heading.lanes.end(), row.lanes.begin(), row.lanes.end());
    }
    const bool open = heading.open;
    rows.push_back(std::move(heading));
    if (open) rows.insert(rows.end(), std::make_move_iterator(members.begin()), std::make_move_iterator(members.end()));
  }
  return rows;
}

}  // namespace accelscope::app
