#include "core/analysis/figures/derived_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/analysis/dependencies/launches.h"
#include "core/analysis/figures/metrics.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/text.h"

namespace accelscope::analysis {
namespace {

[[nodiscard]] std::vector<std::uint64_t> running_sums(const std::vector<std::int64_t>& times) {
  std::vector<std::uint64_t> sums(times.size() + 1);
  for (std::size_t i = 0; i < times.size(); ++i) sums[i + 1] = sums[i] + static_cast<std::uint64_t>(times[i]);
  return sums;
}

// How many of `times` lie before a place in the range, which is told from its begin so that it keeps its fractions.
[[nodiscard]] std::size_t count_before(const std::vector<std::int64_t>& times, const TimeRange& range,
                                       double from_begin_ns) {
  const auto first = std::lower_bound(times.begin(), times.end(), from_begin_ns, [&](std::int64_t time, double at) {
    return time < range.begin_ns ||
           static_cast<double>(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(range.begin_ns)) < at;
  });
  return static_cast<std::size_t>(first - times.begin());
}

// Of times first..last - 1: how long after `origin_ns` they are, added up, modulo 2^64.
[[nodiscard]] std::uint64_t time_after(const std::vector<std::uint64_t>& sums, std::size_t first, std::size_t last,
                                       std::uint64_t origin_ns) {
  return sums[last] - sums[first] - (last - first) * origin_ns;
}

}  // namespace

LaunchQueue::LaunchQueue(std::vector<std::pair<std::int64_t, std::int64_t>> launched_begun) {
  if (launched_begun.empty()) return;
  for (auto& [launched, begun] : launched_begun) launched = std::min(launched, begun);
  std::ranges::sort(launched_begun, {}, [](const auto& each) { return each.second; });
  wait_sums_.push_back(0);  // wraps, as the others do
  for (const auto& [launched, begun] : launched_begun) {
    launched_.push_back(launched);
    begun_.push_back(begun);
    wait_sums_.push_back(wait_sums_.back() + static_cast<std::uint64_t>(begun) - static_cast<std::uint64_t>(launched));
  }
  std::ranges::sort(launched_);
  launched_sums_ = running_sums(launched_);
  begun_sums_ = running_sums(begun_);
}

// What waits when the stretch begins waits for all of it, but for what begins in it; what is launched in it waits from
// there. Times are told from the whole ns before the stretch, so nothing large is ever subtracted in real numbers.
void LaunchQueue::add_depth(const TimeRange& range, std::span<double> stretches) const {
  if (begun_.empty() || stretches.empty()) return;
  const double step = static_cast<double>(range.length_ns()) / static_cast<double>(stretches.size());
  std::size_t launched = count_before(launched_, range, 0), begun = count_before(begun_, range, 0);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const double from = std::floor(step * static_cast<double>(i)), to = step * static_cast<double>(i + 1);
    const std::size_t launched_end = count_before(launched_, range, to), begun_end = count_before(begun_, range, to);
    const std::uint64_t origin = static_cast<std::uint64_t>(range.begin_ns) + static_cast<std::uint64_t>(from);
    const auto before = static_cast<std::int64_t>(time_after(launched_sums_, launched, launched_end, origin) -
                                                  time_after(begun_sums_, begun, begun_end, origin));
    const auto more = static_cast<std::int64_t>(launched_end - launched) - static_cast<std::int64_t>(begun_end - begun);
    const double waited = static_cast<double>(launched - begun) * step + static_cast<double>(more) * (to - from) -
                          static_cast<double>(before);
    stretches[i] += std::max(0.0, waited / step);
    launched = launched_end;
    begun = begun_end;
  }
}

void LaunchQueue::add_latency(const TimeRange& range, std::span<double> stretches) const {
  const double step = static_cast<double>(range.length_ns()) / static_cast<double>(stretches.size());
  std::size_t first = count_before(begun_, range, 0);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::size_t last = count_before(begun_, range, step * static_cast<double>(i + 1));
    stretches[i] = last > first
                       ? static_cast<double>(wait_sums_[last] - wait_sums_[first]) / static_cast<double>(last - first)
                       : std::numeric_limits<double>::quiet_NaN();
    first = last;
  }
}

Result<std::shared_ptr<const LaunchQueues>> launch_queues(const QueryContext& query, const Dependencies* known) {
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  const auto launches = TRY(host_launches(query, kinds, known));
  const TrackDevices devices(snapshot);
  std::map<LaneNumber, std::size_t> device_of_lane;
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i)
    device_of_lane[snapshot.lanes[i].number()] = devices.of_lane(i);
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> times(devices.count());
  for (const HostLaunch& launch : launches) {
    const auto device = device_of_lane.find(lane_of(launch.target));
    if (device != device_of_lane.end()) times[device->second].emplace_back(launch.begin_ns, launch.work.begin_ns);
  }
  auto queues = std::make_shared<LaunchQueues>();
  queues->snapshot_version = snapshot.version;
  for (auto& each : times) queues->devices.emplace_back(std::move(each));
  return std::shared_ptr<const LaunchQueues>(std::move(queues));
}

namespace {

[[nodiscard]] bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Neuron's own counter of this engine's use is named after its array of processing elements.
[[nodiscard]] bool is_tensor_matrix(const std::string& name) { return name.starts_with("TensorMatrix"); }

// The counters of use that a device's source recorded itself.
struct Recorded {
  bool device = false, mfu = false;
  std::vector<std::string> names;  // in small letters

  [[nodiscard]] bool has(const std::string& track) const {
    const std::string name = lower_case(track);
    return std::ranges::any_of(names, [&](const std::string& each) {
      return contains(each, name) || (is_tensor_matrix(track) && each.starts_with("pe "));
    });
  }
};

struct Device {
  const Track* first = nullptr;
  Recorded recorded;
  std::vector<const TrackSnapshot*> engines, streams;
  bool has_work = false;
  std::size_t number = 0;
};

void add_recorded(Recorded& recorded, const std::string& track_name) {
  const std::string name = lower_case(track_name);
  if (contains(name, "mfu")) recorded.mfu = true;
  if (!contains(name, "util")) return;
  recorded.names.push_back(name);
  if (contains(name, "gpu") || contains(name, "device")) recorded.device = true;
}

[[nodiscard]] bool is_counter(const TrackSnapshot& track) {
  return track.schema && track.schema->kind == EventKind::counter;
}

[[nodiscard]] bool has_events(const Snapshot& snapshot, const TrackSnapshot& track) {
  return std::ranges::any_of(track.lanes, [&](std::uint32_t lane) { return snapshot.lanes[lane].event_count > 0; });
}

// Engines and streams with events; counters of those that have none yet would only be empty.
[[nodiscard]] std::map<std::size_t, Device> find_devices(const Snapshot& snapshot, const TrackDevices& labels) {
  std::map<std::size_t, Device> devices;
  for (std::size_t i = 0; i < snapshot.tracks.size(); ++i) {
    const TrackSnapshot& track = snapshot.tracks[i];
    Device& device = devices[labels.of_track(i)];
    device.number = labels.of_track(i);
    if (is_counter(track)) {
      add_recorded(device.recorded, track.track->name);
      continue;
    }
    const bool engine = track.track->kind == "engine";
    if ((!engine && track.track->kind != "stream") || !has_events(snapshot, track)) continue;
    if (track.schema && track.schema->kind != EventKind::slice) continue;
    if (device.first == nullptr) device.first = track.track.get();
    (engine ? device.engines : device.streams).push_back(&track);
    device.has_work = device.has_work || (engine && vendor_of_work(snapshot.lanes[track.lanes.front()]) != nullptr);
  }
  return devices;
}

class Lister {
 public:
  Lister(const Device& device, std::string label) : device_(device), label_(std::move(label)) {}

  void run(double peak, std::vector<DerivedCounter>& counters) {
    if (peak > 0 && device_.has_work && !device_.recorded.mfu) add_mfu(peak, counters);
    const bool streams = device_.engines.empty();
    const auto& tracks = streams ? device_.streams : device_.engines;
    std::string parent;
    if (!device_.recorded.device && tracks.size() > 1) {
      DerivedCounter all = make(label_, "Utilisation");
      all.join = streams ? DerivedCounter::Join::highest : DerivedCounter::Join::mean;
      all.formula = streams ? "Share of the time in which the busiest of its streams is busy"
                            : fmt::format("Mean of its {} engines' shares of busy time, waits left out", tracks.size());
      for (const TrackSnapshot* track : tracks) all.tracks.push_back(track->lanes);
      parent = all.key;
      counters.push_back(std::move(all));
    }
    for (const TrackSnapshot* track : tracks) {
      const std::string& name = track->track->name;
      if (device_.recorded.has(name)) continue;
      DerivedCounter one = make(fmt::format("{}:{}", label_, name), name + " utilisation");
      one.parent = parent;
      one.formula = fmt::format("Share of the time in which {} is busy, waits left out", name);
      one.tracks = {track->lanes};
      counters.push_back(std::move(one));
    }
  }

  void add_launches(std::vector<DerivedCounter>& counters) const {
    DerivedCounter depth = make(label_ + ":queue", "Queue depth");
    depth.kind = DerivedCounter::Kind::queue_depth;
    depth.formula = "Launches whose call has begun and whose work has not, mean over each stretch";
    counters.push_back(std::move(depth));
    DerivedCounter latency = make(label_ + ":latency", "Launch latency");
    latency.kind = DerivedCounter::Kind::launch_latency;
    latency.formula = "From the begin of the launching call to the begin of the work, mean of what begins in a stretch";
    counters.push_back(std::move(latency));
  }

 private:
  [[nodiscard]] DerivedCounter make(const std::string& key, std::string name) const {
    DerivedCounter counter;
    counter.key = "derived:" + key;
    counter.name = std::move(name);
    counter.host = device_.first->host;
    counter.device = device_.first->device;
    counter.number = device_.number;
    return counter;
  }

  void add_mfu(double peak, std::vector<DerivedCounter>& counters) const {
    DerivedCounter mfu = make(label_ + ":mfu", "MFU");
    mfu.kind = DerivedCounter::Kind::mfu;
    mfu.peak = peak;
    mfu.formula = fmt::format(
        "Floating point operations of matrix multiplications, transposes left out, over the {:.4g} Tflop/s that the "
        "device can do",
        peak * 1e-12);
    for (const TrackSnapshot* track : device_.engines) mfu.tracks.push_back(track->lanes);
    counters.push_back(std::move(mfu));
  }

  const Device& device_;
  std::string label_;
};

// Whether it may tell which call launched which work: of hosts and their flows to devices.
[[nodiscard]] bool may_have_launches(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.lanes, [](const LaneSnapshot& lane) {
    return lane.data->kind == EventKind::flow && lane.event_count > 0;
  });
}

}  // namespace

std::vector<DerivedCounter> derived_counters(const Snapshot& snapshot) {
  std::vector<DerivedCounter> counters;
  const TrackDevices labels(snapshot);
  const bool launches = may_have_launches(snapshot);
  for (const auto& [index, device] : find_devices(snapshot, labels)) {
    if (device.first == nullptr) continue;
    const std::string& label = labels.label(index);
    Lister lister(device, label);
    lister.run(device.has_work ? device_peaks(snapshot, label).flops : 0, counters);
    if (launches && !device.streams.empty()) lister.add_launches(counters);
  }
  return counters;
}

Result<std::shared_ptr<const LeafWork>> leaf_work(const QueryContext& query, const LeafWork* previous) {
  const Snapshot& snapshot = *query.snapshot;
  auto work = std::make_shared<LeafWork>();
  if (previous != nullptr) work->lanes = previous->lanes;
  work->snapshot_version = snapshot.version;
  work->lanes.resize(snapshot.lanes.size());
  std::vector<ChunkRequest> requests;
  std::vector<std::size_t> first_new(snapshot.lanes.size());
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (vendor_of_work(lane) == nullptr || lane.chunk_count == 0) continue;
    LeafWork::Lane& sums = work->lanes[i];
    for (std::uint32_t chunk = sums.chunk_count; chunk < lane.chunk_count; ++chunk) requests.push_back({i, chunk, {}});
    first_new[i] = sums.sums.empty() ? 0 : sums.sums.size() - 1;
    sums.sums.resize(std::size_t{lane.tree.nodes[0]} + 1);
    sums.chunk_count = lane.chunk_count;
  }
  // Each leaf's own amount first; chunks come in no particular order.
  const auto scanned = scan_chunks(query, requests, [&](const ScannedChunk& chunk, std::size_t) {
    const std::unique_ptr<EventWork> amounts = vendor_of_work(chunk.lane)->event_work(chunk.lane, *snapshot.strings);
    std::vector<double>& sums = work->lanes[chunk.lane_index].sums;
    for (std::uint32_t block = 0; block < chunk.view.block_count(); ++block) {
      chunk.reader.seek(block);
      amounts->read(chunk.reader);
      double sum = 0;
      for (std::uint32_t i = 0; i < chunk.view.block_size(block); ++i) sum += amounts->at(i);
      sums[std::size_t{chunk.place.first_leaf} + block + 1] = sum;
    }
  });
  if (!scanned) return scanned.error();
  for (std::size_t i = 0; i < work->lanes.size(); ++i) {
    std::vector<double>& sums = work->lanes[i].sums;
    for (std::size_t leaf = first_new[i] + 1; leaf < sums.size(); ++leaf) sums[leaf] += sums[leaf - 1];
  }
  return std::shared_ptr<const LeafWork>(std::move(work));
}

namespace {

[[nodiscard]] std::vector<float> launch_values(const DerivedCounter& counter, const LaunchQueues* launches,
                                               const TimeRange& range, std::size_t stretches) {
  if (launches == nullptr || counter.number >= launches->devices.size()) return std::vector<float>(stretches);
  std::vector<double> values(stretches);
  const LaunchQueue& queue = launches->devices[counter.number];
  counter.kind == DerivedCounter::Kind::queue_depth ? queue.add_depth(range, values) : queue.add_latency(range, values);
  return {values.begin(), values.end()};
}

}  // namespace

Result<std::vector<float>> derived_values(const QueryContext& query, const DerivedCounter& counter,
                                          const DerivedInput& input, const TimeRange& range, std::size_t stretches) {
  std::vector<float> values(stretches);
  if (range.empty() || stretches == 0) return values;
  if (counter.is_of_launches()) return launch_values(counter, input.launches, range, stretches);
  if (counter.tracks.empty()) return values;
  const LeafWork* work = input.work;
  const bool mfu = counter.kind == DerivedCounter::Kind::mfu;
  const double stretch_ns = static_cast<double>(range.length_ns()) / static_cast<double>(stretches);
  const double all = mfu ? counter.peak * stretch_ns * 1e-9 : stretch_ns;  // of one track in one stretch
  std::vector<double> joined(stretches);
  for (const LaneIndices& lanes : counter.tracks) {
    std::vector<double> track(stretches);
    for (const std::uint32_t lane : lanes) {
      if (lane >= query.snapshot->lanes.size()) continue;  // the counter was found in a later state
      if (mfu && (work == nullptr || lane >= work->lanes.size() || work->lanes[lane].sums.empty())) continue;
      std::vector<double> cells(stretches);
      TRY(mfu ? add_work(query, lane, work->lanes[lane].sums, range, cells) : add_busy_time(query, lane, range, cells));
      // Deeper lanes lie below the first; where lanes lie beside each other, the busiest speaks for the track.
      for (std::size_t i = 0; i < stretches; ++i) track[i] = mfu ? track[i] + cells[i] : std::max(track[i], cells[i]);
    }
    const bool highest = counter.join == DerivedCounter::Join::highest;
    for (std::size_t i = 0; i < stretches; ++i)
      joined[i] = highest ? std::max(joined[i], track[i]) : joined[i] + track[i];
  }
  const bool mean = !mfu && counter.join == DerivedCounter::Join::mean;
  const double whole = all * (mean ? static_cast<double>(counter.tracks.size()) : 1);
  for (std::size_t i = 0; i < stretches; ++i) values[i] = static_cast<float>(std::clamp(joined[i] / whole, 0.0, 1.0));
  return values;
}

}  // namespace accelscope::analysis
