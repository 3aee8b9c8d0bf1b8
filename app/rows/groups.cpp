#include "app/rows/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "app/rows/rows.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/text.h"
#include "core/model/track_kinds.h"
#include "render/base/theme.h"

namespace accelscope::app::rows {

namespace size = render::size;

namespace {

constexpr std::array<RowGroup, 16> kGroups = {{{"Queues", "row", "rows"},
                                               {"Runs", "row", "rows"},
                                               {"Collectives", "row", "rows"},
                                               {"DMA queues", "queue", "queues"},
                                               {"Engines", "engine", "engines"},
                                               {"Layers", "row", "rows"},
                                               {"Host", "thread", "threads"},
                                               {"Runtime calls", "thread", "threads"},
                                               {"Streams", "row", "rows"},
                                               {"Transfers", "row", "rows"},
                                               {"Counters", "counter", "counters"},
                                               {"Memory", "pool", "pools"},
                                               {"Throttling", "row", "rows"},
                                               {"Semaphores", "row", "rows", false},
                                               {"Errors", "row", "rows"},
                                               {"Other", "row", "rows"}}};
constexpr std::size_t kOther = kGroups.size() - 1;
constexpr std::size_t kQueues = 0;
constexpr std::size_t kRuns = 1;
constexpr std::size_t kCollectives = 2;
constexpr std::size_t kDma = 3;
constexpr std::size_t kEngineGroup = 4;
constexpr std::size_t kLayers = 5;
constexpr std::size_t kHost = 6;
constexpr std::size_t kRuntime = 7;
constexpr std::size_t kStreams = 8;
constexpr std::size_t kTransfers = 9;
constexpr std::size_t kCounters = 10;
constexpr std::size_t kMemory = 11;
constexpr std::size_t kThrottling = 12;
constexpr std::size_t kSemaphores = 13;
constexpr std::size_t kErrors = 14;

constexpr std::array<std::string_view, 2> kRuntimeTables = {"runtime_call", "trace_event"};

struct KindPlace {
  std::string_view kind;
  std::size_t group;
  int order;  // of kinds that share a group
};
constexpr std::array<KindPlace, 13> kKinds = {{{"collective", kCollectives, 0},
                                               {"cc_core", kCollectives, 1},
                                               {"barrier", kCollectives, 2},
                                               {"dma_queue", kDma, 0},
                                               {"engine", kEngineGroup, 0},
                                               {"layer", kLayers, 0},
                                               {"host_thread", kHost, 0},
                                               {"stream", kStreams, 0},
                                               {"counter", kCounters, 0},
                                               {"memory", kMemory, 0},
                                               {"throttle", kThrottling, 0},
                                               {"semaphore", kSemaphores, 0},
                                               {"error", kErrors, 0}}};
// What a device with streams does beside its kernels lies below them, in this order.
constexpr std::array<KindPlace, 5> kStreamKinds = {{{"stream", kStreams, 0},
                                                    {"collective", kStreams, 1},
                                                    {"dma_queue", kStreams, 2},
                                                    {"layer", kStreams, 3},
                                                    {"barrier", kStreams, 4}}};

// Stacks of calls, by table: a user reads a few levels and opens the rest.
struct UsualLevels {
  std::string_view table;
  std::size_t levels;
};
constexpr std::array<UsualLevels, 4> kUsualLevels = {
    {{"python_function", 4}, {"cpu_op", 3}, {"user_annotation", 3}, {"nvtx", 5}}};
constexpr std::size_t kUsualHostLevels = 6;

constexpr std::array<std::string_view, 6> kEngines = {"Tensor", "TensorMatrix", "Vector", "Scalar", "GpSimd", "Sync"};

[[nodiscard]] KindPlace place_of(std::string_view kind) {
  for (const KindPlace& place : kKinds) {
    if (place.kind == kind) return place;
  }
  return {kind, kOther, 0};
}

[[nodiscard]] KindPlace place_beside_streams(std::string_view kind) {
  for (const KindPlace& place : kStreamKinds) {
    if (place.kind == kind) return place;
  }
  return place_of(kind);
}

[[nodiscard]] int phase_of(const KindPlace& place) {
  if (place.group == kHost) return 1;
  if (place.group == kCounters) return counter_phase();
  return place.group == kMemory ? 3 : 0;
}

[[nodiscard]] std::size_t engine_order(const Track& track) {
  if (track.kind != "engine") return 0;
  const auto known = std::ranges::find(kEngines, track.name);
  return static_cast<std::size_t>(known - kEngines.begin());
}

[[nodiscard]] bool is_counter(const TrackPlace& place) {
  return place.track->schema && place.track->schema->kind == EventKind::counter;
}

[[nodiscard]] bool executes(const TrackPlace& place) {
  return !is_counter(place) && track_kind_of(place.track->track->kind).work == WorkKind::compute;
}

// Sources call them "PE utilisation", "cpu_util", "GPU Utilization", "MFU".
[[nodiscard]] bool tells_use(const TrackPlace& place) {
  if (!is_counter(place)) return false;
  constexpr std::array<std::string_view, 4> kWords = {"util", "mfu", "mbu", "hfu"};
  const std::string name = lower_case(place.track->track->name);
  return std::ranges::any_of(kWords, [&name](std::string_view word) { return name.find(word) != std::string::npos; });
}

[[nodiscard]] bool is_operations(const TrackSnapshot& track) noexcept {
  return track.schema != nullptr && track.schema->name == "op" && track.track->kind == "stream";
}

// Other tracks have nothing to warn of.
[[nodiscard]] std::uint64_t alerts_of(const Snapshot& snapshot, const TrackSnapshot& track) {
  if (track_kind_of(track.track->kind).alert == Alert::none) return 0;
  if (track.schema && track.schema->kind == EventKind::counter) return 0;  // its samples are no incidents
  std::uint64_t events = 0;
  for (const std::uint32_t lane : track.lanes) events += snapshot.lanes[lane].event_count;
  return events;
}

constexpr std::string_view kTrackKey = "track:";
constexpr int kDeepest = 8;  // sources may nest tracks in a circle

// The signs that part a name are marked where they belong to a part.
void add_part(std::string& name, std::string_view part) {
  for (const char c : part) {
    if (c == '/' || c == '@' || c == '#' || c == '\\') name += '\\';
    name += c;
  }
}

void add_with_parents(std::string& name, const Snapshot& snapshot, const Track& track, int depth) {
  if (track.parent != kNone && track.parent != track.number && depth < kDeepest) {
    const TrackSnapshot* parent = snapshot.find_track(track.parent);
    if (parent != nullptr) add_with_parents(name, snapshot, *parent->track, depth + 1);
  }
  name += '/';
  add_part(name, track.name);
}

[[nodiscard]] std::string describe(const Snapshot& snapshot, const Track& track) {
  std::string name;
  add_part(name, track.kind);
  add_with_parents(name, snapshot, track, 0);
  if (track.device.empty() && track.host.empty()) return name;
  name += '@';
  add_part(name, track.device);
  if (track.host.empty()) return name;
  name += '@';
  add_part(name, track.host);
  return name;
}

// Place of the sign, which does not belong to a part, or the end.
[[nodiscard]] std::size_t find_sign(std::string_view name, char sign, std::size_t from) {
  for (std::size_t i = from; i < name.size(); ++i) {
    if (name[i] == '\\') {
      ++i;
    } else if (name[i] == sign) {
      return i;
    }
  }
  return name.size();
}

[[nodiscard]] std::string without_host(std::string_view name) {
  const std::size_t device = find_sign(name, '@', 0);
  const std::size_t number = find_sign(name, '#', 0);
  const std::size_t host = std::min(find_sign(name, '@', std::min(device + 1, name.size())), number);
  std::string rest(name.substr(0, host));
  if (rest.ends_with('@')) rest.pop_back();  // of no device
  return rest.append(name.substr(number));
}

constexpr float kSmallCounter = 18;  // units

[[nodiscard]] bool is_left_out(const RowChoices& choices, const std::string& key) {
  return choices.hidden.count(key) > 0 ||
         std::find(choices.pinned.begin(), choices.pinned.end(), key) != choices.pinned.end();
}

[[nodiscard]] TimelineRow derived_row(const std::shared_ptr<const analysis::DerivedCounter>& counter,
                                      const std::string& parent, const RowChoices& choices) {
  TimelineRow row;
  row.kind = RowKind::derived;
  row.key = counter->key;
  row.label = derived_label(*counter);
  row.parent = parent;
  row.derived = counter;
  row.size = choices.size_of(row.key);
  row.height = counter_height(row.size);
  return row;
}

// One row for each unit, where its first counter was.
void share_rows(const std::string& group, CounterMode mode, const RowChoices& choices, std::vector<TimelineRow>& rows) {
  std::vector<TimelineRow> retained;
  std::map<std::string, std::size_t> shared;  // by unit: index into `retained`
  for (TimelineRow& row : rows) {
    if (row.kind != RowKind::counter) {
      retained.push_back(std::move(row));
      continue;
    }
    const std::string& unit = row.track->unit;
    const auto [place, is_new] = shared.try_emplace(unit, retained.size());
    if (is_new) {
      TimelineRow& all = retained.emplace_back();
      all.kind = RowKind::counter;
      all.key = fmt::format("counters:{}:{}", group, unit);
      all.parent = group;
      all.counters = mode;
      all.size = choices.size_of(all.key);
      all.height = shared_plot_height(all.size);
    }
    TimelineRow& all = retained[place->second];
    if (row.lanes.empty()) continue;  // it has no sample yet
    all.lanes.push_back(row.lanes.front());
    all.series.push_back(row.track);
  }
  for (const auto& [unit, index] : shared) {
    TimelineRow& row = retained[index];
    row.scale_lanes = row.lanes;
    row.label = fmt::format("{} counters{}{}", row.series.size(), unit.empty() ? "" : ", ", unit);
  }
  rows = std::move(retained);
}

void share_scales(std::vector<TimelineRow>& rows) {
  std::map<std::string, std::vector<std::uint32_t>> lanes;  // by unit
  for (const TimelineRow& row : rows) {
    if (row.kind != RowKind::counter || row.series.empty()) continue;
    std::vector<std::uint32_t>& all = lanes[row.series.front()->unit];
    all.insert(all.end(), row.lanes.begin(), row.lanes.end());
  }
  for (TimelineRow& row : rows) {
    if (row.kind == RowKind::counter && !row.series.empty()) row.scale_lanes = lanes[row.series.front()->unit];
  }
}

}  // namespace

bool TrackPlace::operator<(const TrackPlace& other) const {
  if (phase != other.phase) return phase < other.phase;
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

bool is_engine_group(std::size_t group) noexcept { return group == kEngineGroup; }
bool begins_in_sight(std::size_t group) noexcept {
  return group == kDma || group == kEngineGroup || group == kTransfers || group == kCounters || group == kMemory;
}
bool is_stream_group(std::size_t group) noexcept { return group == kStreams; }
bool is_host_group(std::size_t group) noexcept { return group == kHost; }

std::size_t counter_group() noexcept { return kCounters; }
std::size_t queue_group() noexcept { return kQueues; }
int counter_phase() noexcept { return 2; }

std::size_t usual_levels(const TrackSnapshot& track) noexcept {
  constexpr auto kAll = static_cast<std::size_t>(-1);
  if (track.track->kind != "host_thread" || track.schema == nullptr) return kAll;
  for (const UsualLevels& usual : kUsualLevels) {
    if (track.schema->name == usual.table) return usual.levels;
  }
  return kUsualHostLevels;
}

std::vector<TrackPlace> placed_tracks(const Snapshot& snapshot) {
  std::vector<TrackPlace> places;
  std::set<std::string> with_streams, with_engines, with_collectives;  // devices
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.track->kind == "collective" || track.track->kind == "cc_core")
      with_collectives.insert(device_name(track.track->host, track.track->device));
    if (track.track->kind == "engine") with_engines.insert(device_name(track.track->host, track.track->device));
    if (track.track->kind == "stream") with_streams.insert(device_name(track.track->host, track.track->device));
  }
  for (const TrackSnapshot& track : snapshot.tracks) {
    const Track& definition = *track.track;
    if (!track_kind_of(definition.kind).has_rows) continue;
    const EventKind kind = track.schema ? track.schema->kind : EventKind::slice;
    if (kind == EventKind::flow || kind == EventKind::table) continue;
    std::string device = device_name(definition.host, definition.device);
    // Waits of a device that shows nothing else are those of its streams.
    const bool waits =
        definition.kind == "barrier" && !with_collectives.contains(device) && !with_engines.contains(device);
    const bool beside_streams = with_streams.contains(device) || waits;
    KindPlace place = beside_streams ? place_beside_streams(definition.kind) : place_of(definition.kind);
    // What the cores of a device did together lies above the cores: operations, and the runs that they were.
    const bool runs = is_runs(track);
    if (runs || (is_operations(track) && with_engines.contains(device)))
      place = {.kind = place.kind, .group = kRuns, .order = runs ? 1 : 0};
    int phase = with_streams.empty() ? 0 : phase_of(place);
    if (analysis::is_of_profiler(definition) && definition.device.empty()) phase = 4;
    places.push_back({std::move(device),
                      phase,
                      place.group,
                      {place.order, engine_order(definition), definition.order},
                      alerts_of(snapshot, track),
                      &track});
  }
  std::stable_sort(places.begin(), places.end());
  return places;
}

void keep_only(std::vector<TrackPlace>& places, const std::vector<TrackNumber>& tracks) {
  const std::unordered_set<TrackNumber> retained(tracks.begin(), tracks.end());
  std::erase_if(places, [&](const TrackPlace& place) { return !retained.contains(place.track->track->number); });
}

void keep_essential(std::vector<TrackPlace>& places) {
  const bool known = std::ranges::any_of(places, executes);
  std::erase_if(places, [known](const TrackPlace& place) {
    const bool wanted = known ? executes(place) : !is_counter(place);
    return !wanted && !tells_use(place);
  });
}

void arrange_as_platform(const Snapshot& snapshot, std::vector<TrackPlace>& places) {
  constexpr int kHosts = 0, kCalls = 1, kDevices = 2, kOthers = 3;  // phases
  std::unordered_set<TrackNumber> above_threads;                    // that rows of threads lie below
  std::erase_if(places, [](const TrackPlace& place) {
    const TrackKind kind = track_kind_of(place.track->track->kind);
    const bool wanted = is_counter(place) || kind.work != WorkKind::none || kind.alert == Alert::error;
    return !wanted || analysis::is_of_profiler(*place.track->track);
  });
  std::set<std::string> working;  // devices
  for (const TrackPlace& place : places) {
    if (is_device_work(track_kind_of(place.track->track->kind).work)) working.insert(place.device);
  }
  for (TrackPlace& place : places) {
    const Track& track = *place.track->track;
    const bool host = place.group == kHost && !is_counter(place);
    const bool calls = host && is_runtime_calls(*place.track);
    place.phase = calls ? kCalls : host ? kHosts : working.contains(place.device) ? kDevices : kOthers;
    if (calls) place.group = kRuntime;
    if (track_kind_of(track.kind).work == WorkKind::transfer) place.group = kTransfers;
    if (!host || calls || is_container(*place.track)) continue;
    const TrackSnapshot* above = snapshot.find_track(track.parent);
    while (above != nullptr && above_threads.insert(above->track->number).second)
      above = snapshot.find_track(above->track->parent);
  }
  std::erase_if(places, [&](const TrackPlace& place) {
    return is_container(*place.track) && place.group == kHost && !above_threads.contains(place.track->track->number);
  });
  std::stable_sort(places.begin(), places.end());
}

bool is_runtime_calls(const TrackSnapshot& track) noexcept {
  return track.schema && std::ranges::find(kRuntimeTables, track.schema->name) != kRuntimeTables.end();
}

bool is_runs(const TrackSnapshot& track) noexcept {
  return track.schema != nullptr && track.schema->name == "run" && track.track->kind == "layer";
}

bool is_container(const TrackSnapshot& track) noexcept { return track.lanes.empty() && track.schema == nullptr; }

bool belongs_to_track(const Snapshot& snapshot, const TrackPlace& place) {
  const Track& track = *place.track->track;
  if (track.parent == kNone || track.parent == track.number) return false;
  const TrackSnapshot* parent = snapshot.find_track(track.parent);
  return parent != nullptr && place_of(parent->track->kind).group == place.group;
}

TrackNames::TrackNames(const Snapshot& snapshot) {
  std::vector<const Track*> tracks;
  tracks.reserve(snapshot.tracks.size());
  for (const TrackSnapshot& track : snapshot.tracks) tracks.push_back(track.track.get());
  std::ranges::sort(tracks, [](const Track* a, const Track* b) { return a->number < b->number; });
  std::unordered_map<std::string, std::size_t> described;
  for (const Track* track : tracks) {
    std::string name = describe(snapshot, *track);
    const std::size_t same = ++described[name];
    if (same > 1) name.append("#").append(std::to_string(same));
    names_.emplace(track->number, std::move(name));
  }
}

const std::string& TrackNames::of(TrackNumber track) const {
  static const std::string none;
  const auto found = names_.find(track);
  return found == names_.end() ? none : found->second;
}

std::optional<TrackNumber> TrackNames::find(std::string_view name) const {
  const std::string hostless = without_host(name);
  std::optional<TrackNumber> similar;
  std::size_t count = 0;
  for (const auto& [number, own] : names_) {
    if (own == name) return number;
    if (without_host(own) != hostless) continue;
    similar = number;
    ++count;
  }
  return count == 1 ? similar : std::nullopt;
}

std::string row_key(const TrackNames& names, TrackNumber track) { return std::string(kTrackKey) + names.of(track); }

std::optional<std::string_view> track_in_key(std::string_view key) noexcept {
  if (!key.starts_with(kTrackKey)) return std::nullopt;
  return key.substr(kTrackKey.size());
}

float counter_height(RowSize row_size) noexcept {
  if (row_size == RowSize::small) return kSmallCounter;
  return row_size == RowSize::tall ? size::kMemoryLane : size::kCounterLane;
}

float shared_plot_height(RowSize row_size) noexcept {
  if (row_size == RowSize::small) return size::kCounterLane;
  return row_size == RowSize::tall ? 2 * size::kMemoryLane : size::kMemoryLane;
}

std::string derived_label(const analysis::DerivedCounter& counter) {
  std::string_view name = counter.name;
  const std::string_view what = " utilisation";
  if (!counter.parent.empty() && name.ends_with(what)) name.remove_suffix(what.size());  // the row above says it
  if (counter.is_of_launches()) return std::string(name);                                // no source records it
  return std::string(name).append(kDerivedMark);
}

std::vector<RowBlock> derived_rows(const DerivedCounters& counters, const std::string& group, const RowChoices& choices,
                                   const std::function<bool(std::string_view label)>& matches) {
  std::vector<RowBlock> blocks;
  for (const auto& counter : counters) {
    if (!counter->parent.empty()) continue;
    RowBlock block{derived_row(counter, group, choices)};
    bool any_below = false;
    std::vector<RowBlock> below;
    for (const auto& child : counters) {
      if (child->parent != counter->key) continue;
      any_below = true;
      if (is_left_out(choices, child->key) || !matches(derived_label(*child))) continue;
      below.push_back({derived_row(child, counter->key, choices)});
      below.back().front().depth = 1;
    }
    const bool itself = matches(block.front().label);
    if (!itself && below.empty()) continue;
    block.front().has_children = any_below;
    const auto chosen = choices.open.find(counter->key);
    block.front().open = any_below && (chosen == choices.open.end() ? !itself : chosen->second);
    if (block.front().open) {
      put_in_order(choices, counter->key, below);
      for (RowBlock& each : below) std::move(each.begin(), each.end(), std::back_inserter(block));
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

void arrange_counters(const std::string& group, const RowChoices& choices, std::vector<TimelineRow>& rows) {
  const CounterMode mode = choices.counter_mode_of(group);
  if (mode != CounterMode::separate) share_rows(group, mode, choices, rows);
  const bool one_scale = choices.shared_scale.count(group) > 0;
  if (one_scale && mode == CounterMode::separate) share_scales(rows);
  const bool lines = choices.counter_lines.count(group) > 0;
  for (TimelineRow& row : rows) {
    if (row.kind != RowKind::counter) continue;
    row.counter_line = lines;
    row.own_scales = mode == CounterMode::overlaid && !one_scale;
  }
}

}  // namespace accelscope::app::rows
