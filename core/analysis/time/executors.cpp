#include "core/analysis/time/executors.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/track_kinds.h"

namespace accelscope::analysis {
namespace {

struct Tally {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t begin_ticks = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ticks = std::numeric_limits<std::int64_t>::min();
  std::uint64_t records = 0;
  std::uint64_t updates = 0;
  bool one_clock = true;
  const ClockMap* clock = nullptr;

  void add(const LaneSnapshot& lane) {
    if (lane.event_count == 0) return;
    begin_ns = std::min(begin_ns, lane.clock->to_ns(lane.begin_ticks));
    end_ns = std::max(end_ns, lane.clock->to_ns(lane.end_ticks));
    begin_ticks = std::min(begin_ticks, lane.begin_ticks);
    end_ticks = std::max(end_ticks, lane.end_ticks);
    records += lane.event_count;
    one_clock = one_clock && (clock == nullptr || clock == lane.clock.get());
    clock = lane.clock.get();
  }
};

struct ExecutorsDevice {
  std::vector<std::pair<std::string, Tally>> executors;  // in the order of the tracks
  Tally all;
  std::uint64_t errors = 0;
  bool has_semaphores = false;

  Tally& executor(const std::string& name) {
    const auto found = std::ranges::find_if(executors, [&](const auto& e) { return e.first == name; });
    return found != executors.end() ? found->second : executors.emplace_back(name, Tally{}).second;
  }
};

// The rings of a queue, "queue-Q1-E0", are one executor.
[[nodiscard]] std::string executor_of(const Track& track) {
  const std::size_t ring = track.kind == "dma_queue" ? track.name.rfind("-Q") : std::string::npos;
  return ring == std::string::npos || ring == 0 ? track.name : track.name.substr(0, ring);
}

// "Tensor" of the semaphore "S[5] (Tensor)".
[[nodiscard]] std::string_view owner_of(std::string_view semaphore) {
  const std::size_t open = semaphore.rfind('(');
  if (open == std::string_view::npos || !semaphore.ends_with(')')) return {};
  return semaphore.substr(open + 1, semaphore.size() - open - 2);
}

[[nodiscard]] std::string node_of(const Track& track) {
  if (track.host.empty() || track.device.empty()) return track.host + track.device;
  return track.host + " " + track.device;
}

[[nodiscard]] std::map<std::string, ExecutorsDevice> tally_devices(const Snapshot& snapshot) {
  std::map<std::string, ExecutorsDevice> devices;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema == nullptr) continue;
    const EventKind kind = track.schema->kind;
    ExecutorsDevice& device = devices[node_of(*track.track)];
    if (track.track->kind == "error") {
      for (const std::uint32_t lane : track.lanes) device.errors += snapshot.lanes[lane].event_count;
    }
    if (track.track->kind == "semaphore") device.has_semaphores = true;
    const bool works = kind == EventKind::slice && track_kind_of(track.track->kind).executes();
    if (!works) continue;
    for (const std::uint32_t lane : track.lanes) {
      if (snapshot.lanes[lane].event_count == 0) continue;
      device.executor(executor_of(*track.track)).add(snapshot.lanes[lane]);
      device.all.add(snapshot.lanes[lane]);
    }
  }
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.track->kind != "semaphore") continue;
    ExecutorsDevice& device = devices[node_of(*track.track)];
    for (const std::uint32_t lane : track.lanes) {
      const std::uint64_t updates = snapshot.lanes[lane].event_count;
      device.all.updates += updates;
      for (auto& [name, tally] : device.executors) {
        if (name == owner_of(track.track->name)) tally.updates += updates;
      }
    }
  }
  return devices;
}

[[nodiscard]] Executor row_of(const std::string& node, const std::string& executor, const std::string& name,
                              const Tally& tally, const ExecutorsDevice& device) {
  Executor row;
  row.node = node;
  row.executor = executor;
  row.name = name;
  row.exec_time_ns = tally.end_ns - tally.begin_ns;
  if (tally.one_clock) row.cycles = tally.end_ticks - tally.begin_ticks;
  row.trace = tally.records;
  row.events = device.has_semaphores ? tally.updates : tally.records;
  return row;
}

// Each physical core of a logical one runs a graph of its own.
[[nodiscard]] std::string graph_name(const Snapshot& snapshot, const std::string& node) {
  const std::string_view own = snapshot.meta_value("model_info." + node + ".sg_name");
  if (!own.empty()) return std::string(own);
  for (const char* key : {"model_info.sg_name", "profile_info.neff_name", "name"}) {
    if (const std::string_view value = snapshot.meta_value(key); !value.empty()) return std::string(value);
  }
  return {};
}

}  // namespace

namespace {

// "nc4" of the node "rank 3 nc4"; a figure without a device is of the only one there is.
std::optional<double> stated_figure(const Snapshot& snapshot, const std::string& node, std::string_view name) {
  for (const Metric& metric : snapshot.metrics) {
    if (metric.name != name || !metric.text.empty() || metric.device.empty()) continue;
    if (metric.device == node || node.ends_with(" " + metric.device)) return metric.value;
  }
  return std::nullopt;
}

// A file may state any number.
[[nodiscard]] std::uint64_t count_of(double stated) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, capped_integer(stated)));
}

Executor row_of_device(const Snapshot& snapshot, const std::string& node, const ExecutorsDevice& device) {
  Executor row = row_of(node, "all", graph_name(snapshot, node), device.all, device);
  row.errors = device.errors;
  if (const auto cycles = stated_figure(snapshot, node, "neuroncore_cycle_count")) {
    row.cycles = capped_integer(*cycles);
  }
  if (const auto events = stated_figure(snapshot, node, "event_count")) row.events = count_of(*events);
  if (const auto trace = stated_figure(snapshot, node, "trace_count")) row.trace = count_of(*trace);
  return row;
}

// In the order of their names.
template <typename Visit>
void each_device(const Snapshot& snapshot, Visit visit) {
  const std::map<std::string, ExecutorsDevice> devices = tally_devices(snapshot);
  std::vector<const std::pair<const std::string, ExecutorsDevice>*> order;
  for (const auto& device : devices) order.push_back(&device);
  std::ranges::sort(order, [](const auto* a, const auto* b) { return natural_less(a->first, b->first); });
  for (const auto* entry : order) {
    if (!entry->second.executors.empty()) visit(entry->first, entry->second);
  }
}

}  // namespace

std::vector<Executor> device_executors(const Snapshot& snapshot) {
  std::vector<Executor> rows;
  each_device(snapshot, [&](const std::string& node, const ExecutorsDevice& device) {
    rows.push_back(row_of_device(snapshot, node, device));
  });
  return rows;
}

std::vector<Executor> executors(const Snapshot& snapshot) {
  std::vector<Executor> rows;
  each_device(snapshot, [&](const std::string& node, const ExecutorsDevice& device) {
    const std::string name = graph_name(snapshot, node);
    for (const auto& [executor, tally] : device.executors) {
      rows.push_back(row_of(node, executor, name, tally, device));
    }
    if (device.executors.size() > 1 || device.errors > 0) {
      rows.push_back(row_of_device(snapshot, node, device));
    } else {
      rows.back().errors = 0;
    }
  });
  return rows;
}

namespace {

// The thread's part of a row's name. A number at its end tells threads apart and not what a row shows.
std::string_view thread_part(std::string_view name) {
  const std::size_t space = name.rfind(' ');
  if (space == std::string_view::npos || space + 1 == name.size()) return name;
  if (std::all_of(name.begin() + static_cast<std::ptrdiff_t>(space) + 1, name.end(), is_digit)) return name;
  name = name.substr(0, space);
  if (name.ends_with(':')) name.remove_suffix(1);
  return name;
}

}  // namespace

HostThreads::HostThreads(const Snapshot& snapshot) {
  using Key = std::tuple<std::uint32_t, std::string, std::string, std::string>;  // scope, host, device, thread
  struct Rows {
    std::vector<const Track*> tracks;
    std::set<SchemaNumber> schemas;
  };
  std::map<Key, Rows> by_part;
  const auto key_of = [](const Track& track, std::string_view part) {
    return Key{scope_of(track.number), track.host, track.device, std::string(part)};
  };
  for (const TrackSnapshot& each : snapshot.tracks) {
    if (track_kind_of(each.track->kind).work != WorkKind::host) continue;
    Rows& rows = by_part[key_of(*each.track, thread_part(each.track->name))];
    rows.tracks.push_back(each.track.get());
    rows.schemas.insert(each.track->schema);
  }
  const auto add = [&](const Track& track, std::size_t thread) {
    if (thread == lanes_.size()) lanes_.emplace_back();
    of_track_[track.number] = thread;
  };
  for (const auto& [key, rows] : by_part) {
    const bool one_thread = rows.schemas.size() == rows.tracks.size();
    const std::size_t first = lanes_.size();
    for (const Track* track : rows.tracks) add(*track, one_thread ? first : lanes_.size());
  }
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (const auto thread = of_track(snapshot.lanes[i].track)) lanes_[*thread].push_back(i);
  }
}

std::optional<std::size_t> HostThreads::of_track(TrackNumber track) const {
  const auto found = of_track_.find(track);
  return found == of_track_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace accelscope::analysis
