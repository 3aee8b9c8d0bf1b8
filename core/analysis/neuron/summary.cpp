#include "core/analysis/neuron/summary.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/analysis/neuron/formulas.h"
#include "core/query/column_values.h"

namespace accelscope::neuron {
namespace {

constexpr std::array<std::string_view, 7> kScannedSchemas = {"instruction",    "dma",      "dma_transfer",    "cc_op",
                                                             "cc_instruction", "throttle", "semaphore_update"};
// Schemas whose events say how long a run lasted.
constexpr std::array<std::string_view, 6> kRunSchemas = {
    "instruction", "dma", "dma_transfer", "cc_op", "cc_instruction", "semaphore_update"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Tracks of cores made of several physical ones end in "(nc1)"; others are of the first.
std::uint32_t physical_core(std::string_view track) noexcept {
  const std::size_t at = track.rfind("(nc");
  std::uint32_t core = 0;
  if (at != std::string_view::npos) std::from_chars(track.data() + at + 3, track.data() + track.size(), core);
  return core;
}

std::optional<double> stated_model_flops(const Snapshot& snapshot, std::size_t index, const std::string& device) {
  for (const Metric& metric : snapshot.metrics) {
    if (metric.name == "model_flops" && metric.text.empty() && belongs_to(metric, index, device)) return metric.value;
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
        known_(*snapshot_.strings),
        tally_of_device_(devices.count()) {}

  Result<std::vector<DeviceFigures>> run() {
    choose_lanes();
    tallies_.assign(query_.pool.concurrency(), std::vector<DeviceTally>(chosen_.size()));
    if (const Result<void> scanned = scan_events(); !scanned) return scanned.error();
    if (const Result<void> scanned = scan_tensors(); !scanned) return scanned.error();
    std::vector<DeviceFigures> all;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      DeviceTally tally;
      for (const std::vector<DeviceTally>& worker : tallies_) tally.merge(worker[i]);
      const std::string& label = devices_.label(chosen_[i]);
      const std::int64_t total_ns = length_of(i);
      const bool whole = range_ == TimeRange{} && !query_.mask;
      const auto model_flops = whole ? stated_model_flops(snapshot_, i, label) : std::nullopt;
      all.push_back({label, {}});
      if (total_ns > 0) all.back().figures = make_figures(tally, {snapshot_, label, total_ns, whole, model_flops});
    }
    return all;
  }

 private:
  void choose_lanes() {
    for (std::size_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const std::string& schema = snapshot_.lanes[lane].schema->name;
      if (schema != "instruction" && schema != "dma") continue;
      std::optional<std::size_t>& place = tally_of_device_[devices_.of_lane(lane)];
      if (place) continue;
      place = chosen_.size();
      chosen_.push_back(devices_.of_lane(lane));
    }
    ends_ns_.assign(chosen_.size(), 0);
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const LaneSnapshot& one = snapshot_.lanes[lane];
      const std::optional<std::size_t> tally = tally_of_device_[devices_.of_lane(lane)];
      if (!tally || one.event_count == 0) continue;
      if (is_one_of(kScannedSchemas, one.schema->name)) event_lanes_.push_back(lane);
      if (one.schema->name == "neff_node") tensor_lanes_.push_back(lane);
      if (is_one_of(kRunSchemas, one.schema->name)) {
        ends_ns_[*tally] = std::max(ends_ns_[*tally], one.clock->to_ns(one.end_ticks));
      }
    }
  }

  [[nodiscard]] DeviceTally& tally_of(const ScannedChunk& chunk, std::size_t worker) {
    return tallies_[worker][*tally_of_device_[devices_.of_lane(chunk.lane_index)]];
  }

  Result<void> scan_events() {
    return scan_windows(query_, event_lanes_, range_,
                        {.chunk =
                             [&](const ScannedChunk& chunk, const ScanWindow& window, std::size_t worker) {
                               const Track& track = *devices_.track_of_lane(chunk.lane_index).track;
                               tally_of(chunk, worker).add(chunk, window, range_, known_, physical_core(track.name));
                             },
                         .end =
                             [&](const ScanWindow&, std::size_t worker) {
                               for (DeviceTally& tally : tallies_[worker]) tally.close_window();
                             }});
  }

  // Facts of the model, whatever the range and the filter.
  Result<void> scan_tensors() {
    QueryContext unmasked = query_;
    unmasked.mask = nullptr;
    return scan_chunks(unmasked, tensor_lanes_, {}, [&](const ScannedChunk& chunk, std::size_t worker) {
      const Schema& schema = *chunk.lane.schema;
      const auto type = schema.find("type");
      const auto size = schema.find("size");
      if (!type || !size) return;
      DeviceTally& tally = tally_of(chunk, worker);
      for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
        const std::string_view kind = text_at(chunk, *snapshot_.strings, *type, schema.columns[*type].type, row);
        const std::int64_t bytes = number_at(chunk.view, *size, schema.columns[*size].type, row).value_or(0);
        if (kind == "IN") tally.tensor_bytes[0] += bytes;
        if (kind == "WEIGHT") tally.tensor_bytes[1] += bytes;
        if (kind == "OUT") tally.tensor_bytes[2] += bytes;
      }
    });
  }

  // total_time counts from the start of the run, which is 0, to the end of the device's last event.
  [[nodiscard]] std::int64_t length_of(std::size_t tally) const {
    const std::int64_t begin = std::max(range_.begin_ns, std::min<std::int64_t>(0, snapshot_.begin_ns));
    return std::min(range_.end_ns, ends_ns_[tally]) - begin;
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  const TrackDevices& devices_;
  const TimeRange range_;
  const KnownNames known_;
  std::vector<std::optional<std::size_t>> tally_of_device_;
  std::vector<std::size_t> chosen_;  // devices with a tally
  std::vector<std::int64_t> ends_ns_;
  LaneIndices event_lanes_, tensor_lanes_;
  std::vector<std::vector<DeviceTally>> tallies_;  // by worker, then as chosen_
};

}  // namespace

Result<std::vector<DeviceFigures>> summary(const QueryContext& query, const TrackDevices& devices,
                                           const TimeRange& range) {
  return Summary(query, devices, range).run();
}

bool belongs_to(const Metric& metric, std::size_t index, const std::string& device) noexcept {
  return metric.device.empty() ? index == 0 : metric.device == device;
}

}  // namespace accelscope::neuron
