#include "core/analysis/neuron/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/analysis/neuron/device_tally.h"
#include "core/analysis/selection/summary.h"
#include "core/analysis/time/session_activity.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/text.h"
#include "core/scan/column_values.h"
#include "core/scan/group_by.h"
#include "core/store/snapshot.h"

namespace accelscope::analysis::neuron {
namespace {

// The figures of a Neuron profile's summary out of what one core's events add up to. The formulas are those that the
// vendor's own values follow on real files; each is written beside its code. Times in files are cut to whole ns, so a
// sum of times may lie up to 1 ns per event beside the truth, and covered time as much per stretch: figures carry that
// as slack. What instructions lose by it in the mean, half a ns each, is added again
// (core/analysis/selection/summary.h).
struct FormulaInput {
  const Snapshot& snapshot;           // metadata, names
  const std::string& device;          // the metadata of "rank 3 nc0" may lie under "rank 3.metadata."
  std::int64_t total_ns = 0;          // length of the run or the range; > 0
  bool whole = true;                  // the whole run: figures of the model hold
  std::optional<double> model_flops;  // as the file states them for the whole run
  bool is_part = false;               // a physical core of a logical one: tensors belong to the whole
};

// In all real files at hand the vendor's clock begins 170 to 172 ns after the first timestamp.
constexpr double kVendorStartNs = 200;

Figure seconds(double ns, double slack_ns) { return {ns * 1e-9, slack_ns * 1e-9}; }

Figure time_of(const EventTotals& totals, bool cut_times = false) {
  const auto count = static_cast<double>(totals.timed);
  return seconds(static_cast<double>(totals.time_ns) + (cut_times ? count / 2 : 0), count);
}
// Of instructions, or of all device work.
Figure active(const CoveredTime& time, bool cut_times) {
  return seconds(static_cast<double>(active_ns(time, cut_times)), static_cast<double>(time.stretches()));
}
Figure covered(const CoveredTime& time) {
  return seconds(static_cast<double>(time.length_ns()), static_cast<double>(time.stretches()));
}
Figure number(std::uint64_t count) { return {static_cast<double>(count)}; }

class Formulas {
 public:
  Formulas(const DeviceTally& tally, const FormulaInput& input)
      : tally_(tally),
        input_(input),
        total_(seconds(static_cast<double>(input.total_ns), kVendorStartNs)),
        cut_times_(has_cut_times(input.snapshot)) {}

  Figures run() {
    add_overall();
    add_engines();
    add_data_movement();
    add_collectives();
    add_throttling();
    add_utilisation();
    return std::move(figures_);
  }

 private:
  void set(std::string_view name, const Figure& figure) { figures_.insert_or_assign(std::string(name), figure); }
  void set_unfiltered(std::string_view name, Figure figure) {
    figure.unfiltered = true;
    set(name, figure);
  }

  // *_active_time_percent = *_active_time / total_time
  void set_active(const std::string& name, const Figure& time) {
    set(name, time);
    set(name + "_percent", divided(time, total_));
  }

  [[nodiscard]] std::optional<double> metadata(std::initializer_list<std::string_view> names) const {
    return device_fact(input_.snapshot, input_.device, names);
  }

  void add_overall() {
    set_unfiltered("total_time", total_);
    set_active("total_active_time", active(tally_.active, cut_times_ && !tally_.engines.empty()));
    if (const TimeRange& worked = tally_.worked.range; worked.begin_ns <= worked.end_ns) {
      set("total_exec_time", seconds(static_cast<double>(worked.length_ns()), 2));
    }
    core_clock_ = metadata({"pe_clock_others", "neuroncore_clock_freq"});  // GHz
    if (core_clock_) {
      // neuroncore_cycle_count = total_time * clock, cut to whole cycles
      set_unfiltered("neuroncore_cycle_count", whole(scaled(total_, *core_clock_ * 1e9)));
    }
    set("hardware_flops", {tally_.flops.value()});
    set("transpose_flops", {tally_.transpose_flops.value()});
    if (tally_.adjusted_flops) {
      set("adjusted_hardware_flops", {tally_.adjusted_flops->value()});
      set("adjusted_transpose_flops", {tally_.adjusted_transpose_flops.value_or(Amount{}).value()});
    }
    // Stated as 0 it is not known, and instructions do not tell the graph's own work.
    if (input_.model_flops.value_or(1) > 0) set("model_flops", {useful_flops()});
    set("matmul_instruction_count", number(tally_.matmuls));
  }

  void add_engines() {
    for (const auto& [name, totals] : tally_.engines) {
      if (name == 0) continue;  // rows without an engine have no figures of their own
      const std::string prefix = lower_case(input_.snapshot.strings->text(name)) + "_engine_";
      set(prefix + "instruction_count", number(totals.count));
      set(prefix + "instruction_time", time_of(totals, cut_times_));
      set_active(prefix + "active_time", active(totals.active, cut_times_));
    }
    set("activate_instruction_count", number(tally_.activations.count));
    set("activate_instruction_time", time_of(tally_.activations, cut_times_));
  }

  void add_data_movement() {
    for (std::size_t i = 0; i < kSummedColumns.size(); ++i) set(kSummedColumns[i], {tally_.sums[i].value()});
    set("psum_read_sbuf_write_count", number(tally_.drains));
    const Figure moving = covered(tally_.packets.totals.active);
    set_active("dma_active_time", moving);
    if (core_clock_) set("dma_active_cycles", whole(scaled(moving, *core_clock_ * 1e9)));
    set("dma_packet_time", time_of(tally_.packets.totals));
    set("dma_queue_count", number(tally_.queue_count()));
    set("dma_transfer_count", number(tally_.transfers.totals.count));
    set("dma_transfer_time", time_of(tally_.transfers.totals));
    const double bytes = tally_.transfers.bytes.value();
    set("dma_transfer_total_bytes", {bytes});
    // The vendor's mean of none is 0.
    const auto transfers = static_cast<double>(std::max<std::uint64_t>(1, tally_.transfers.totals.count));
    set("dma_transfer_average_bytes", {bytes / transfers});
    add_packets("static", tally_.fixed);
    add_packets("software_dynamic", tally_.software);
    add_packets("hardware_dynamic", tally_.hardware);
    // The vendor adds the two kinds up, also where packets of both are under way at once.
    add_shares("dynamic", sum(covered(tally_.software.totals.active), covered(tally_.hardware.totals.active)),
               tally_.dynamic_packets(), tally_.dynamic_bytes());
    if (input_.is_part) return;
    const auto& [inputs, weights, outputs] = tally_.tensor_bytes;
    set_unfiltered("weight_size_bytes", {static_cast<double>(weights)});
    set_unfiltered("inputs_and_weights_size_bytes", {static_cast<double>(inputs + weights)});
    set_unfiltered("inputs_outputs_weights_size_bytes", {static_cast<double>(inputs + weights + outputs)});
  }

  void add_packets(std::string_view kind, const DeviceTally::Packets& packets) {
    const Figure moving = covered(packets.totals.active);
    set(fmt::format("{}_dma_active_time", kind), moving);
    set(fmt::format("{}_dma_packet_count", kind), number(packets.totals.count));
    set(fmt::format("{}_dma_size", kind), {packets.bytes.value()});
    add_shares(kind, moving, static_cast<double>(packets.totals.count), packets.bytes.value());
  }

  // Of the DMA's own time, packets and bytes, not of the run's.
  void add_shares(std::string_view kind, const Figure& moving, double count, double bytes) {
    const auto share = [&](std::string_view what, const Figure& part, const Figure& all) {
      if (all.value > 0) set(fmt::format("{}_dma_{}_percent", kind, what), divided(part, all));
    };
    share("active_time", moving, covered(tally_.packets.totals.active));
    share("packet", {count}, number(tally_.packets.totals.count));
    share("size", {bytes}, {tally_.packets.bytes.value()});
  }

  void add_collectives() {
    set("cc_op_count", number(tally_.collectives.count));
    set("cc_op_time", time_of(tally_.collectives));
    set_active("cc_op_active_time", covered(tally_.collectives.active));
    set("cc_cores_instruction_count", number(tally_.collective_steps.count));
    set("cc_cores_instruction_time", time_of(tally_.collective_steps));
    set_active("cc_cores_instruction_active_time", covered(tally_.collective_steps.active));
  }

  void add_throttling() {
    for (const auto& [core, totals] : tally_.throttled) {
      const auto time = static_cast<double>(totals.time_ns);
      set(fmt::format("throttle_active_nc{}_time_ns", core), {time, static_cast<double>(totals.rows)});
    }
    std::map<std::uint32_t, Figure> allowed;  // by core
    for (const auto& [key, totals] : tally_.throttling) {
      allowed[key.first] = sum(allowed[key.first], seconds(totals.allowed_ns, static_cast<double>(totals.rows)));
      const std::string cause(input_.snapshot.strings->text(key.second));
      const auto time = static_cast<double>(totals.time_ns);
      set(fmt::format("throttle_{}_active_time_nc{}_percent", cause, key.first),
          divided(seconds(time, static_cast<double>(totals.rows)), total_));
      if (totals.time_ns > 0) {
        set(fmt::format("throttle_{}_avg_util_limit_nc{}_percent", cause, key.first), {totals.allowed_ns / time});
      }
    }
    // throttle_avg_util_limit = sum of k / n * duration / total_time, also of records that allow all
    for (const auto& [core, figure] : allowed) {
      set(fmt::format("throttle_avg_util_limit_nc{}_percent", core), divided(figure, total_));
    }
  }

  void add_utilisation() {
    const Figure hbm_bytes{figures_["hbm_read_bytes"].value + figures_["hbm_write_bytes"].value};
    // mm_arithmetic_intensity = (hardware_flops - transpose_flops) / (hbm_read_bytes + hbm_write_bytes)
    if (hbm_bytes.value > 0) set("mm_arithmetic_intensity", divided({useful_flops()}, hbm_bytes));
    const double bandwidth = metadata({"hbm_ddr_bandwidth"}).value_or(0);  // B/s
    if (bandwidth > 0) {
      // mbu = (hbm_read_bytes + hbm_write_bytes) / total_time / hbm_ddr_bandwidth
      set("mbu_estimated_percent", divided(hbm_bytes, scaled(total_, bandwidth)));
      if (input_.whole && !input_.is_part) {
        set_unfiltered("mbu_min_read_util_percent",
                       divided(figures_["inputs_and_weights_size_bytes"], scaled(total_, bandwidth)));
      }
    }
    const double peak = peak_flops(input_.snapshot, input_.device);
    if (peak <= 0) return;
    const Figure possible = scaled(total_, peak);
    // hfu = hardware_flops / (total_time * peak); mfu the same with the model's
    set("hfu_estimated_percent", divided({tally_.flops.value()}, possible));
    // The vendor sets one physical core's peak against the bandwidth here, but all of them in what is achievable below.
    const double ratio = bandwidth > 0 ? peak / bandwidth : 0;
    if (ratio > 0) {
      set_unfiltered("peak_flops_bandwidth_ratio", {core_peak_flops(input_.snapshot, input_.device) / bandwidth});
    }
    const auto set_mfu = [&](std::string_view kind, double flops) {
      set(fmt::format("mfu_{}estimated_percent", kind), divided({flops}, possible));
      // mfu_max_achievable = model_flops / hbm bytes / (peak / bandwidth), and never more than all
      if (ratio > 0 && hbm_bytes.value > 0) {
        set(fmt::format("mfu_{}max_achievable_estimated_percent", kind),
            {std::min(1.0, flops / hbm_bytes.value / ratio)});
      }
    };
    // A program compiled without statistics of its graph states model_flops of 0: the instructions tell then.
    const double model_flops = input_.model_flops.value_or(0);
    set_mfu("", model_flops > 0 ? model_flops : useful_flops());
    set_mfu("inst_", useful_flops());
    if (input_.model_flops) set_mfu("hlo_", model_flops);
  }

  [[nodiscard]] double useful_flops() const { return tally_.flops.value() - tally_.transpose_flops.value(); }
  static Figure sum(const Figure& a, const Figure& b) { return {a.value + b.value, a.slack + b.slack}; }
  static Figure whole(const Figure& figure) { return {std::floor(figure.value), figure.slack + 1}; }

  const DeviceTally& tally_;
  const FormulaInput& input_;
  Figure total_;
  bool cut_times_;
  std::optional<double> core_clock_;
  Figures figures_;
};

[[nodiscard]] Figures make_figures(const DeviceTally& tally, const FormulaInput& input) {
  return Formulas(tally, input).run();
}

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
    auto tallies = gather_windows(
        query_, event_lanes_, range_, ByPlace<DeviceTally>(chosen_.size()),
        [&](const ScannedChunk& chunk, const ScanWindow& window, auto& part) {
          for_tallies(chunk, part,
                      [&](DeviceTally& tally) { tally.add(chunk, window, range_, known_, place_of(chunk)); });
        },
        [](const ScanWindow&, auto& part) {
          for (DeviceTally& tally : part) tally.close_window();
        });
    if (!tallies) return tallies.error();
    auto facts = TRY(gather_facts());
    merge_part(*tallies, std::move(facts));
    std::vector<DeviceFigures> all;
    std::vector<std::string> labels;
    for (const std::size_t device : chosen_) labels.push_back(devices_.label(device));
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const std::string& label = labels[i];
      const std::int64_t total_ns = length_of(i);
      const bool whole = range_ == TimeRange{} && !query_.mask;
      const auto model_flops = whole ? stated_model_flops(snapshot_, i, labels) : std::nullopt;
      all.push_back({label, {}});
      if (total_ns > 0)
        all.back().figures = make_figures((*tallies)[i], {snapshot_, label, total_ns, whole, model_flops, is_part(i)});
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
  void for_tallies(const ScannedChunk& chunk, ByPlace<DeviceTally>& part, Body body) const {
    for (const std::size_t tally : tallies_of_device_[devices_.of_lane(chunk.lane_index)]) body(part[tally]);
  }

  [[nodiscard]] DeviceTally::Lane place_of(const ScannedChunk& chunk) const {
    const std::uint32_t marked = physical_core(devices_.track_of_lane(chunk.lane_index).track->name);
    return {marked != 0 ? marked : core_of_device_[devices_.of_lane(chunk.lane_index)],
            active_lanes_[chunk.lane_index] != 0};
  }

  // Facts of the model, whatever the range and the filter.
  Result<ByPlace<DeviceTally>> gather_facts() const {
    const QueryContext unmasked = query_.unmasked();
    return gather(unmasked, fact_lanes_, {}, ByPlace<DeviceTally>(chosen_.size()),
                  [&](const ScannedChunk& chunk, auto& part) {
                    for_tallies(chunk, part, [&](DeviceTally& tally) {
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
      constexpr std::int64_t kMostBytes = std::int64_t{1} << 44;  // beyond any memory; sums of millions fit
      const std::int64_t bytes = std::clamp<std::int64_t>(
          number_at(chunk.view, *size, schema.columns[*size].type, row).value_or(0), 0, kMostBytes);
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
};

}  // namespace

Result<std::vector<DeviceFigures>> summary(const QueryContext& query, const TrackDevices& devices,
                                           const TimeRange& range) {
  return Summary(query, devices, range).run();
}

namespace {

[[nodiscard]] std::optional<double> meta_number(const Snapshot& snapshot, std::string_view key) {
  double value = 0;
  return read_number(snapshot.meta_value(key), value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<double> device_fact(const Snapshot& snapshot, const std::string& device,
                                  std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string key = fmt::format("metadata.{}", name);
    for (std::size_t space = device.rfind(' '); space != std::string::npos && space > 0;
         space = device.rfind(' ', space - 1)) {
      if (const auto value = meta_number(snapshot, fmt::format("{}.{}", device.substr(0, space), key))) return value;
    }
    if (const auto value = meta_number(snapshot, key)) return value;
    if (const auto value = meta_number(snapshot, name)) return value;
  }
  return std::nullopt;
}

double core_peak_flops(const Snapshot& snapshot, const std::string& device) {
  const double clock = device_fact(snapshot, device, {"pe_clock_freq", "tensor_engine_clock_freq"}).value_or(0);
  const double rows = device_fact(snapshot, device, {"pe_num_rows", "tensor_engine_num_rows"}).value_or(128);
  const double columns = device_fact(snapshot, device, {"pe_num_cols", "tensor_engine_num_cols"}).value_or(128);
  return 2 * rows * columns * clock * 1e9;
}

double physical_cores(const Snapshot& snapshot, const std::string& device) {
  if (const std::size_t parts = parts_of_device(device).size(); parts > 0) return static_cast<double>(parts);
  const std::string name = device.substr(0, device.ends_with(')') ? device.rfind(" (") : std::string::npos);
  const bool is_part = std::ranges::any_of(snapshot.tracks, [&](const TrackSnapshot& track) {
    const std::vector<std::string> parts = parts_of_device(track.track->device);
    return std::ranges::any_of(
        parts, [&](const std::string& part) { return part == name || name == track.track->host + " " + part; });
  });
  return is_part ? 1 : device_fact(snapshot, device, {"num_physical_cores"}).value_or(1);
}

double peak_flops(const Snapshot& snapshot, const std::string& device) {
  return core_peak_flops(snapshot, device) * physical_cores(snapshot, device);
}

}  // namespace accelscope::analysis::neuron
