#include "app/row_groups.h"

#include <algorithm>
#include <array>

#include "app/text_match.h"
#include "core/base/natural_order.h"

namespace accelscope::app {
namespace {

constexpr std::array<RowGroup, 12> kGroups = {{{"Collectives", "row", "rows"},
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
constexpr std::size_t kLayers = 3;
constexpr std::size_t kCounters = 6;
constexpr std::size_t kMemory = 7;
constexpr std::size_t kSemaphores = 9;

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
                                               {"layer", kLayers, 0},
                                               {"host_thread", 4, 0},
                                               {"stream", 5, 0},
                                               {"counter", 6, 0},
                                               {"memory", kMemory, 0},
                                               {"throttle", 8, 0},
                                               {"semaphore", kSemaphores, 0},
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

[[nodiscard]] bool is_counter(const TrackPlace& place) {
  return place.track->schema && place.track->schema->kind == EventKind::counter;
}

[[nodiscard]] bool executes(const TrackPlace& place) {
  const std::string& kind = place.track->track->kind;
  return !is_counter(place) && (kind == "engine" || kind == "stream");
}

// Sources call them "PE utilisation", "cpu_util", "GPU Utilization", "MFU".
[[nodiscard]] bool tells_use(const TrackPlace& place) {
  if (!is_counter(place)) return false;
  constexpr std::array<std::string_view, 4> kWords = {"util", "mfu", "mbu", "hfu"};
  const std::string name = lower_case(place.track->track->name);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&name](std::string_view word) { return name.find(word) != std::string::npos; });
}

// Events of an error or throttling track; other tracks have nothing to warn of.
[[nodiscard]] std::uint64_t alerts_of(const Snapshot& snapshot, const TrackSnapshot& track) {
  if (track.track->kind != "error" && track.track->kind != "throttle") return 0;
  if (track.schema && track.schema->kind == EventKind::counter) return 0;  // its samples are no incidents
  std::uint64_t events = 0;
  for (const std::uint32_t lane : track.lanes) events += snapshot.lanes[lane].event_count;
  return events;
}

}  // namespace

bool TrackPlace::operator<(const TrackPlace& other) const {
  // What belongs to no device (memory of the host, totals) comes after the devices.
  if (device != other.device) {
    if (device.empty() != other.device.empty()) return other.device.empty();
    return natural_less(device, other.device);
  }
  if (group != other.group) return group < other.group;
  if ((alerts > 0) != (other.alerts > 0)) return alerts > 0;
  if (order != other.order) return order < other.order;
  return natural_less(track->track->name, other.track->track->name);
}

std::string device_name(const std::string& host, const std::string& device) {
  if (host.empty()) return device;
  return device.empty() ? host : host + " " + device;
}

const RowGroup& row_group(std::size_t group) { return kGroups[group]; }

bool is_memory_group(std::size_t group) noexcept { return group == kMemory; }
bool is_layer_group(std::size_t group) noexcept { return group == kLayers; }
bool is_semaphore_group(std::size_t group) noexcept { return group == kSemaphores; }

std::size_t counter_group() noexcept { return kCounters; }

std::vector<TrackPlace> placed_tracks(const Snapshot& snapshot) {
  std::vector<TrackPlace> places;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const Track& definition = *track.track;
    if (std::find(kHiddenKinds.begin(), kHiddenKinds.end(), definition.kind) != kHiddenKinds.end()) continue;
    const EventKind kind = track.schema ? track.schema->kind : EventKind::slice;
    if (kind == EventKind::flow || kind == EventKind::table) continue;
    const KindPlace place = place_of(definition.kind);
    places.push_back({device_name(definition.host, definition.device),
                      place.group,
                      {place.order, engine_order(definition), definition.order},
                      alerts_of(snapshot, track),
                      &track});
  }
  std::stable_sort(places.begin(), places.end());
  return places;
}

void keep_essential(std::vector<TrackPlace>& places) {
  const bool known = std::any_of(places.begin(), places.end(), executes);
  std::erase_if(places, [known](const TrackPlace& place) {
    const bool wanted = known ? executes(place) : !is_counter(place);
    return !wanted && !tells_use(place);
  });
}

bool belongs_to_track(const Snapshot& snapshot, const TrackPlace& place) {
  const Track& track = *place.track->track;
  if (track.parent == kNone || track.parent == track.number) return false;
  const TrackSnapshot* parent = snapshot.find_track(track.parent);
  return parent != nullptr && place_of(parent->track->kind).group == place.group;
}

}  // namespace accelscope::app
