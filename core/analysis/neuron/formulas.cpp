#include "core/analysis/neuron/formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "core/analysis/neuron/device_facts.h"
#include "core/analysis/selection/active_time.h"
#include "core/base/text.h"

namespace accelscope::neuron {
namespace {

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
    if (tally_.first_work_ns <= tally_.last_work_ns) {
      set("total_exec_time", seconds(static_cast<double>(tally_.last_work_ns - tally_.first_work_ns), 2));
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

}  // namespace

Figures make_figures(const DeviceTally& tally, const FormulaInput& input) { return Formulas(tally, input).run(); }

}  // namespace accelscope::neuron
