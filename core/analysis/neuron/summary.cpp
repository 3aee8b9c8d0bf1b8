#include "core/analysis/neuron/summary.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/analysis/neuron/formulas.h"
#include "core/analysis/selection/active_time.h"
#include "core/analysis/time/session_parts.h"
#include "core/scan/column_values.h"

namespace accelscope::neuron {
namespace {

constexpr std::array<std::string_view, 6> kScannedSchemas = {"instruction",    "dma",     "dma_transfer", "cc_op",
                                                             "cc_instruction", "throttle"};
// Schemas whose events say how long a run lasted.
constexpr std::array<std::string_view, 6> kRunSchemas = {
    "instruction", "dma", "dma_transfer", "cc_op", "cc_instruction", "semaphore_update"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Sessions of before physical cores were devices of their own mark the tracks: they end in "(nc1)".
std::uint32_t physical_core(std::string_view track) noexcept {
  const std::size_t at = track.rfind("(nc");
  std::uint32_t core = 0;
  if (at != std::string_view::npos) std::from_chars(track.data() + at + 3, track.data() + track.size(), core);
  return core;
}

std::optional<double> stated_model_flops(const Snapshot& snapshot, std::size_t index,
                                         const std::vector<std::string>& devices) {
  for (const Metric& metric : snapshot.metrics) {
    if (metric.name == "model_flops" && metric.text.empty() && device_of(metric, devices) == index) return metric.value;
  }
  return std::nullopt;
}

class Summary {
 public:
  Summary(const QueryContext& query, const TrackDevices& devices, const TimeRange& range)
      : query_(query),
        snapshot_(*query.snapshot),
        devices_(devices),
        range_(range),
        times_(times_of_devices(query.snapshot, devices)),
        known_(*snapshot_.strings),
        tallies_of_device_(devices.count()),
        core_of_device_(devices.count(), 0),
        active_lanes_(snapshot_.lanes.size(), 0) {}

  Result<std::vector<DeviceFigures>> run() {
    choose_lanes();
    tallies_.assign(query_.pool.concurrency(), std::vector<DeviceTally>(chosen_.size()));
    if (const Result<void> scanned = scan_events(); !scanned) return scanned.error();
    if (const Result<void> scanned = scan_facts(); !scanned) return scanned.error();
    std::vector<DeviceFigures> all;
    std::vector<std::string> labels;
    for (const std::size_t device : chosen_) labels.push_back(devices_.label(device));
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      DeviceTally tally;
      for (const std::vector<DeviceTally>& worker : tallies_) tally.merge(worker[i]);
      const std::string& label = labels[i];
      const std::int64_t total_ns = length_of(i);
      const bool whole = range_ == TimeRange{} && !query_.mask;
      const auto model_flops = whole ? stated_model_flops(snapshot_, i, labels) : std::nullopt;
      all.push_back({label, {}});
      if (total_ns > 0)
        all.back().figures = make_figures(tally, {snapshot_, label, total_ns, whole, model_flops, is_part(i)});
    }
    return all;
  }

 private:
  [[nodiscard]] bool is_part(std::size_t tally) const { return tallies_of_device_[chosen_[tally]].size() > 1; }

  void choose_devices() {
    std::vector<char> works(devices_.count(), 0);
    for (std::size_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const std::string& schema = snapshot_.lanes[lane].schema->name;
      if (schema == "instruction" || schema == "dma") works[devices_.of_lane(lane)] = 1;
    }
    const auto choose = [&](std::size_t device) {
      if (!tallies_of_device_[device].empty()) return;
      tallies_of_device_[device].push_back(chosen_.size());
      chosen_.push_back(device);
    };
    std::vector<std::optional<std::size_t>> whole_of(devices_.count());
    for (std::size_t device = 0; device < devices_.count(); ++device) {
      const std::vector<std::size_t>& parts = devices_.parts(device);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        whole_of[parts[i]] = device;
        core_of_device_[parts[i]] = static_cast<std::uint32_t>(i);
      }
    }
    for (std::size_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const std::size_t device = devices_.of_lane(lane);
      if (works[device] == 0) continue;
      if (whole_of[device]) choose(*whole_of[device]);
      choose(device);
    }
    for (std::size_t device = 0; device < devices_.count(); ++device) {
      if (!whole_of[device] || tallies_of_device_[device].empty()) continue;
      tallies_of_device_[device].push_back(tallies_of_device_[*whole_of[device]].front());
    }
  }

  void choose_lanes() {
    choose_devices();
    for (const std::uint32_t lane : active_lanes(snapshot_, {})) active_lanes_[lane] = 1;
    ends_ns_.assign(chosen_.size(), 0);
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const LaneSnapshot& one = snapshot_.lanes[lane];
      const std::vector<std::size_t>& tallies = tallies_of_device_[devices_.of_lane(lane)];
      if (tallies.empty() || one.event_count == 0) continue;
      if (is_one_of(kScannedSchemas, one.schema->name)) event_lanes_.push_back(lane);
      if (one.schema->name == "neff_node" || one.schema->name == "dma_queues_info") fact_lanes_.push_back(lane);
      if (!is_one_of(kRunSchemas, one.schema->name)) continue;
      for (const std::size_t tally : tallies) {
        ends_ns_[tally] = std::max(ends_ns_[tally], one.clock->to_ns(one.end_ticks));
      }
    }
  }

  // Of the lane's device, and of the logical core that it is part of.
  template <typename Body>
  void for_tallies(const ScannedChunk& chunk, std::size_t worker, Body body) {
    for (const std::size_t tally : tallies_of_device_[devices_.of_lane(chunk.lane_index)]) {
      body(tallies_[worker][tally]);
    }
  }

  [[nodiscard]] DeviceTally::Lane place_of(const ScannedChunk& chunk) const {
    const std::uint32_t marked = physical_core(devices_.track_of_lane(chunk.lane_index).track->name);
    return {marked != 0 ? marked : core_of_device_[devices_.of_lane(chunk.lane_index)],
            active_lanes_[chunk.lane_index] != 0};
  }

  Result<void> scan_events() {
    return scan_windows(query_, event_lanes_, range_,
                        {.chunk =
                             [&](const ScannedChunk& chunk, const ScanWindow& window, std::size_t worker) {
                               for_tallies(chunk, worker, [&](DeviceTally& tally) {
                                 tally.add(chunk, window, range_, known_, place_of(chunk));
                               });
                             },
                         .end =
                             [&](const ScanWindow&, std::size_t worker) {
                               for (DeviceTally& tally : tallies_[worker]) tally.close_window();
                             }});
  }

  // Facts of the model, whatever the range and the filter.
  Result<void> scan_facts() {
    QueryContext unmasked = query_;
    unmasked.mask = nullptr;
    return scan_chunks(unmasked, fact_lanes_, {}, [&](const ScannedChunk& chunk, std::size_t worker) {
      for_tallies(chunk, worker, [&](DeviceTally& tally) {
        if (chunk.lane.schema->name == "neff_node") add_tensors(chunk, tally);
        if (chunk.lane.schema->name == "dma_queues_info") add_queues(chunk, tally);
      });
    });
  }

  void add_tensors(const ScannedChunk& chunk, DeviceTally& tally) const {
    const Schema& schema = *chunk.lane.schema;
    const auto type = schema.find("type");
    const auto size = schema.find("size");
    if (!type || !size) return;
    for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
      const std::string_view kind = text_at(chunk, *snapshot_.strings, *type, schema.columns[*type].type, row);
      const std::int64_t bytes = number_at(chunk.view, *size, schema.columns[*size].type, row).value_or(0);
      if (kind == "IN") tally.tensor_bytes[0] += bytes;
      if (kind == "WEIGHT") tally.tensor_bytes[1] += bytes;
      if (kind == "OUT") tally.tensor_bytes[2] += bytes;
    }
  }

  void add_queues(const ScannedChunk& chunk, DeviceTally& tally) const {
    const Schema& schema = *chunk.lane.schema;
    const auto ring = schema.find("q_idx");
    const auto engine = schema.find("q_eng_idx");
    if (!ring || !engine) return;
    for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
      const auto number = [&](std::size_t column) {
        return number_at(chunk.view, column, schema.columns[column].type, row).value_or(-1);
      };
      tally.listed_queues.insert(
          {{place_of(chunk).core, number(*ring), number(*engine)}, chunk.session_string(chunk.view.name(row))});
    }
  }

  // total_time counts from the start of the run, which is 0 but where another host began the session, to the end of the
  // device's last event.
  [[nodiscard]] std::int64_t length_of(std::size_t tally) const {
    const std::int64_t host = times_[chosen_[tally]].begin_ns;
    const std::int64_t run = host == snapshot_.begin_ns ? std::min<std::int64_t>(0, host) : host;
    const std::int64_t begin = std::max(range_.begin_ns, run);
    return std::min(range_.end_ns, ends_ns_[tally]) - begin;
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  const TrackDevices& devices_;
  const TimeRange range_;
  const std::vector<TimeRange> times_;  // by device: in which its host took part
  const KnownNames known_;
  std::vector<std::vector<std::size_t>> tallies_of_device_;  // its own and that of the logical core it is part of
  std::vector<std::uint32_t> core_of_device_;                // physical one within a logical one
  std::vector<char> active_lanes_;                           // by index: device work
  std::vector<std::size_t> chosen_;                          // devices with a tally
  std::vector<std::int64_t> ends_ns_;
  LaneIndices event_lanes_, fact_lanes_;
  std::vector<std::vector<DeviceTally>> tallies_;  // by worker, then as chosen_
};

}  // namespace

Result<std::vector<DeviceFigures>> summary(const QueryContext& query, const TrackDevices& devices,
                                           const TimeRange& range) {
  return Summary(query, devices, range).run();
}

}  // namespace accelscope::neuron
