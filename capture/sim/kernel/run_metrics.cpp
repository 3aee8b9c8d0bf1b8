#include "capture/sim/kernel/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {
namespace {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

bool starts_before(const Intervals::value_type& a, const Intervals::value_type& b) { return a.first < b.first; }

std::int64_t union_of(Intervals intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), starts_before)) std::sort(intervals.begin(), intervals.end());
  std::int64_t sum = 0;
  std::int64_t covered = INT64_MIN;
  for (const auto& [start, end] : intervals) {
    sum += std::max<std::int64_t>(0, end - std::max(start, covered));
    covered = std::max(covered, end);
  }
  return sum;
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Instructions that set up an execution rather than work for the model.
bool is_setup(std::string_view opcode) {
  constexpr std::string_view kSetup[] = {
      "NOP",         "SET_ORDERING_MODE", "EVENT_SEMAPHORE", "EVENT_SEMAPHORE_RANGE_CLEAR",
      "NOTIFY",      "COMPARE_BRANCH",    "DRAIN",           "WRITE",
      "TENSOR_LOAD", "MODIFY_POOL_CONFIG"};
  return std::find(std::begin(kSetup), std::end(kSetup), opcode) != std::end(kSetup);
}

}  // namespace

struct RunMetrics::Spans {
  Intervals all, dynamic, fixed;  // packets
  Intervals active, collectives;
};

// Counts are added up over the cores; a time in which several were active counts once.
void RunMetrics::add(std::span<const KernelTrace> traces) {
  Spans spans;
  for (const KernelTrace& trace : traces) {
    add_instructions(trace);
    add_moves(trace, spans);
    add_activity(trace, spans);
  }
  all_.active_ns += union_of(std::move(spans.all));
  dynamic_.active_ns += union_of(std::move(spans.dynamic));
  static_.active_ns += union_of(std::move(spans.fixed));
  active_ns_ += union_of(std::move(spans.active));
  cc_active_ns_ += union_of(std::move(spans.collectives));
}

void RunMetrics::add_instructions(const KernelTrace& trace) {
  if (graph_.empty()) graph_ = trace.graph();
  events_ += static_cast<std::int64_t>(trace.semaphores.size());
  traces_ += static_cast<std::int64_t>(trace.instructions.size() + trace.packets.size() + trace.semaphores.size());
  if (trace.pass == 1) {
    for (const Tensor& tensor : trace.program->tensors) {
      if (tensor.type == "IN") input_size_ += tensor.bytes;
      if (tensor.type == "WEIGHT") weight_size_ += tensor.bytes;
      if (tensor.type == "OUT") output_size_ += tensor.bytes;
    }
  }
  for (const InstructionRecord& record : trace.instructions) {
    const Operation& operation = trace.program->operations[record.operation];
    const OperationText& text = trace.program->texts[record.operation];
    const std::string_view opcode = trace.program->names[operation.name];
    EngineUse& use = engines_[static_cast<std::size_t>(engine_of(operation.unit))];
    use.instructions += 1;
    // As in real profiles: what a semaphore wait lasted counts for no engine.
    if (opcode != "EVENT_SEMAPHORE") use.instruction_ns += record.duration;
    last_ns_ = std::max(last_ns_, record.start + record.duration);
    if (!is_setup(opcode)) {
      if (first_work_ns_ < 0) first_work_ns_ = record.start;
      last_work_ns_ = std::max(last_work_ns_, record.start + record.duration);
    }
    flops_ += 2 * text.elements;
    transpose_flops_ += text.transpose ? 2 * text.elements : 0;
    matmuls_ += text.elements != 0 ? 1 : 0;
    if (opcode == "ACTIVATE") {
      activations_ += 1;
      activation_ns_ += record.duration;
    }
    for (std::size_t i = 0; i < kTraffic.size(); ++i) traffic_[i] += text.*kTraffic[i].bytes;
    if (text.psum_read != 0 && text.sbuf_write != 0) {
      drains_ += 1;
      drain_bytes_ += text.sbuf_write;
    }
  }
  for (const ActiveRecord& record : trace.active) {
    engines_[static_cast<std::size_t>(record.engine)].active_ns += record.duration;
  }
}

void RunMetrics::add_moves(const KernelTrace& trace, Spans& spans) {
  for (const PacketRecord& packet : trace.packets) {
    const bool is_dynamic = trace.program->operations[packet.operation].queue == Queue::dynamic;
    for (Dma* dma : {&all_, is_dynamic ? &dynamic_ : &static_}) {
      dma->packets += 1;
      dma->bytes += packet.bytes;
    }
    packet_ns_ += packet.duration;
    spans.all.emplace_back(packet.start, packet.start + packet.duration);
    (is_dynamic ? spans.dynamic : spans.fixed).push_back(spans.all.back());
    last_ns_ = std::max(last_ns_, packet.start + packet.duration);
  }
  for (const TransferRecord& record : trace.transfers) {
    const Operation& operation = trace.program->operations[record.operation];
    transfers_ += 1;
    transfer_ns_ += record.duration;
    transfer_bytes_ += operation.bytes;
    if (trace.program->texts[record.operation].hbm_read != 0) {
      TensorLoads& loads = loads_[trace.program->names[operation.name]];
      loads.count += 1;
      loads.bytes += operation.bytes;
    }
  }
}

void RunMetrics::add_activity(const KernelTrace& trace, Spans& spans) {
  Intervals active;
  for (const ActiveRecord& record : trace.active) active.emplace_back(record.start, record.start + record.duration);
  const auto merge_from = [&](std::size_t count) {
    const auto middle = active.begin() + static_cast<std::ptrdiff_t>(count);
    std::inplace_merge(active.begin(), middle, active.end(), starts_before);
  };
  const std::size_t intervals = active.size();
  for (const PacketRecord& packet : trace.packets) active.emplace_back(packet.start, packet.start + packet.duration);
  merge_from(intervals);
  const std::size_t moves = active.size();
  for (const CollectiveRecord& record : trace.collectives) {
    spans.collectives.emplace_back(record.start, record.start + record.duration);
    active.push_back(spans.collectives.back());
    cc_ops_ += 1;
    cc_op_ns_ += record.duration;
    last_ns_ = std::max(last_ns_, record.start + record.duration);
  }
  for (const CcStepRecord& record : trace.cc_steps) {
    cc_steps_ += 1;
    cc_step_ns_ += record.duration;
  }
  merge_from(moves);
  spans.active.insert(spans.active.end(), active.begin(), active.end());
  for (const ThrottleRecord& record : trace.throttles)
    throttled_ns_[trace.part % throttled_ns_.size()] += record.duration;
}

std::int64_t RunMetrics::cycle_count() const noexcept {
  return std::llround(static_cast<double>(last_ns_) * core_.core_clock_ghz);
}

std::int64_t RunMetrics::dma_queue_count() const noexcept {
  return static_cast<std::int64_t>(kQueueCount * throttled_ns_.size()) * kDmaEngines;
}

LayerRecord RunMetrics::whole_graph() const {
  LayerRecord record;
  record.name = "/" + graph_;
  record.end = last_ns_;
  record.engines = engines_;
  record.flops = flops_;
  record.model_flops = flops_ - transpose_flops_;
  return record;
}

std::vector<Metric> RunMetrics::summary() const {
  std::vector<Metric> metrics;
  const auto add = [&](std::string name, std::string_view group, double value, std::string_view unit) {
    Metric metric;
    metric.name = std::move(name);
    metric.group = group;
    metric.value = value;
    metric.unit = unit;
    metrics.push_back(std::move(metric));
  };
  const auto count = [&](std::string name, std::string_view group, std::int64_t value, std::string_view unit = "") {
    add(std::move(name), group, static_cast<double>(value), unit);
  };
  const double total = seconds(last_ns_);
  const auto time = [&](const std::string& name, std::string_view group, std::int64_t ns) {
    add(name, group, seconds(ns), "s");
    add(name + "_percent", group, share(seconds(ns), total), "share");
  };
  // Bandwidth and utilisation are those of all cores, but the ratio's peak is one core's: as profiles of two have it.
  const auto cores = static_cast<double>(throttled_ns_.size());
  const double core_peak = 2.0 * static_cast<double>(kPeRows * kPeColumns) * core_.pe_clock_ghz * 1e9;
  const double peak = core_peak * cores;
  const double hbm_bandwidth = core_.hbm_bytes_per_second * cores;
  const double ratio = core_peak / hbm_bandwidth;
  const auto model_flops = static_cast<double>(flops_ - transpose_flops_);
  const auto hbm_bytes = static_cast<double>(traffic_[0] + traffic_[1]);

  add("total_time", "overall_stats", total, "s");
  add("total_exec_time", "overall_stats", seconds(first_work_ns_ < 0 ? 0 : last_work_ns_ - first_work_ns_), "s");
  time("total_active_time", "overall_stats", active_ns_);
  count("neuroncore_cycle_count", "overall_stats", cycle_count(), "cycles");
  count("event_count", "overall_stats", events_);
  count("trace_count", "overall_stats", traces_);
  count("hardware_flops", "overall_stats", flops_, "flop");
  count("transpose_flops", "overall_stats", transpose_flops_, "flop");
  add("model_flops", "overall_stats", model_flops, "flop");
  add("mm_arithmetic_intensity", "overall_stats", share(model_flops, hbm_bytes), "flop/B");
  add("peak_flops_bandwidth_ratio", "overall_stats", ratio, "flop/B");

  // MFU = model flops / (time * peak); HFU counts transposes too; the achievable MFU is what HBM traffic allows.
  const double mfu = share(model_flops, total * peak);
  const double achievable = share(share(model_flops, hbm_bytes), ratio);
  for (const std::string_view kind : {"mfu_", "mfu_hlo_", "mfu_inst_"}) {
    add(std::string(kind) + "estimated_percent", "tensor_engine", mfu, "share");
    add(std::string(kind) + "max_achievable_estimated_percent", "tensor_engine", achievable, "share");
  }
  add("hfu_estimated_percent", "tensor_engine", share(static_cast<double>(flops_), total * peak), "share");
  count("matmul_instruction_count", "tensor_engine", matmuls_);
  for (std::size_t index = 0; index < kEngineCount; ++index) {
    const std::string prefix = std::string(engine_key(static_cast<Engine>(index))) + "_engine";
    count(prefix + "_instruction_count", prefix, engines_[index].instructions);
    add(prefix + "_instruction_time", prefix, seconds(engines_[index].instruction_ns), "s");
    time(prefix + "_active_time", prefix, engines_[index].active_ns);
  }
  count("activate_instruction_count", "scalar_engine", activations_);
  add("activate_instruction_time", "scalar_engine", seconds(activation_ns_), "s");

  constexpr std::string_view kMove = "data_movement";
  time("dma_active_time", kMove, all_.active_ns);
  count("dma_active_cycles", kMove, std::llround(static_cast<double>(all_.active_ns) * core_.core_clock_ghz), "cycles");
  add("dma_packet_time", kMove, seconds(packet_ns_), "s");
  count("dma_queue_count", kMove, dma_queue_count());
  count("dma_transfer_count", kMove, transfers_);
  add("dma_transfer_time", kMove, seconds(transfer_ns_), "s");
  count("dma_transfer_total_bytes", kMove, transfer_bytes_, "B");
  add("dma_transfer_average_bytes", kMove, share(static_cast<double>(transfer_bytes_), static_cast<double>(transfers_)),
      "B");
  // MBU = bytes from and to HBM / (time * HBM bandwidth); at least the inputs and weights must be read once.
  add("mbu_estimated_percent", kMove, share(hbm_bytes, total * hbm_bandwidth), "share");
  add("mbu_min_read_util_percent", kMove, share(static_cast<double>(input_size_ + weight_size_), total * hbm_bandwidth),
      "share");
  for (std::size_t i = 0; i < kTraffic.size(); ++i) count(std::string(kTraffic[i].name), kMove, traffic_[i], "B");
  const std::pair<std::string_view, std::int64_t> bytes[] = {
      {"psum_read_sbuf_write_bytes", drain_bytes_},
      {"weight_size_bytes", weight_size_},
      {"inputs_and_weights_size_bytes", input_size_ + weight_size_},
      {"inputs_outputs_weights_size_bytes", input_size_ + weight_size_ + output_size_}};
  for (const auto& [name, value] : bytes) count(std::string(name), kMove, value, "B");
  count("psum_read_sbuf_write_count", kMove, drains_);

  const auto part = [&](const std::string& prefix, std::string_view group, const Dma& dma) {
    // Its share is that of the time in which any DMA was active, not of the whole run.
    add(prefix + "_dma_active_time", group, seconds(dma.active_ns), "s");
    add(prefix + "_dma_active_time_percent", group, share(seconds(dma.active_ns), seconds(all_.active_ns)), "share");
    count(prefix + "_dma_packet_count", group, dma.packets);
    add(prefix + "_dma_packet_percent", group,
        share(static_cast<double>(dma.packets), static_cast<double>(all_.packets)), "share");
    count(prefix + "_dma_size", group, dma.bytes, "B");
    add(prefix + "_dma_size_percent", group, share(static_cast<double>(dma.bytes), static_cast<double>(all_.bytes)),
        "share");
  };
  part("static", kMove, static_);
  part("software_dynamic", "software_data_movement", dynamic_);
  part("hardware_dynamic", "hardware_data_movement", {});

  constexpr std::string_view kCollective = "cc_engine";
  count("cc_op_count", kCollective, cc_ops_);
  add("cc_op_time", kCollective, seconds(cc_op_ns_), "s");
  time("cc_op_active_time", kCollective, cc_active_ns_);
  count("cc_cores_instruction_count", kCollective, cc_steps_);
  add("cc_cores_instruction_time", kCollective, seconds(cc_step_ns_), "s");

  const double limit = static_cast<double>(kThrottleK) / static_cast<double>(kThrottleN);
  for (std::size_t core = 0; core < throttled_ns_.size(); ++core) {
    const std::string nc = fmt::format("nc{}", core);
    const std::string throttling = "throttling_" + nc;
    count(fmt::format("throttle_active_{}_time_ns", nc), throttling, throttled_ns_[core], "ns");
    const double throttled_share = share(seconds(throttled_ns_[core]), total);
    add(fmt::format("throttle_gpio_0_active_time_{}_percent", nc), throttling, throttled_share, "share");
    add(fmt::format("throttle_gpio_0_avg_util_limit_{}_percent", nc), throttling, limit, "share");
    add(fmt::format("throttle_avg_util_limit_{}_percent", nc), throttling, limit * throttled_share, "share");
  }
  return metrics;
}

std::string semaphore_name(int semaphore, std::string_view owner) {
  return "S[" + std::to_string(semaphore) + "] (" + std::string(owner) + ")";
}

std::string packet_queue_name(Queue queue, unsigned engine) {
  return std::string(queue_text(queue).name) + "-Q" + std::to_string(queue_text(queue).ring) + "-E" +
         std::to_string(engine);
}

std::string stack_text(const KernelProgram& program, Site site, Site caller) {
  std::string text;
  for (const Site frame : {site, caller}) {
    if (frame == Site::none) continue;
    const SitePlace& place = program.sites[static_cast<std::size_t>(frame)];
    if (!text.empty()) text += '\n';
    text += std::string(place.function) + " (" + place.location + ")";
  }
  return text;
}

std::int64_t frame_id(Site site, Site caller) noexcept {
  return static_cast<std::int64_t>(site) + 100 * static_cast<std::int64_t>(caller);
}

std::string bir_id(std::uint32_t operation) { return "sg0000:" + std::to_string(operation); }

std::string penguin_id(std::uint16_t tile) { return "sg0000:" + std::to_string(tile); }

std::string bir_instruction_name(const KernelProgram& program, std::uint32_t operation) {
  constexpr std::string_view kSuffix[] = {"", "-wait-0", "", ""};
  const Operation& what = program.operations[operation];
  const bool trigger = program.texts[operation].triggers != kNoOperation;
  return "I-" + std::to_string(program.texts[operation].tile) + "-0" +
         (trigger ? "-trig" : std::string(kSuffix[static_cast<std::size_t>(what.kind)]));
}

std::int64_t hlo_number(std::string_view hlo) noexcept {
  const std::size_t dot = hlo.find('.');
  std::int64_t number = 0;
  if (dot != std::string_view::npos) std::from_chars(hlo.data() + dot + 1, hlo.data() + hlo.size(), number);
  return number;
}

namespace {

bool diverges(const KernelTrace& trace, std::uint32_t operation, bool output) noexcept {
  const std::vector<KernelProgram::Diverging>& marked = trace.program->diverging;
  if (operation >= marked.size()) return false;
  return output ? marked[operation].output : marked[operation].input;
}

// 0 to 65534: never the number that stands for none.
std::int64_t checksum_of(std::uint64_t data, bool other) noexcept {
  const auto sum = static_cast<std::int64_t>((data * 0x9e3779b97f4a7c15ULL >> 40) % 65535);
  return other ? (sum + 1) % 65535 : sum;
}

}  // namespace

// Depends on what was computed, not on when: equal in every run of the same kernels.
std::int64_t data_crc(const KernelTrace& trace, std::uint32_t operation, bool output) noexcept {
  constexpr std::int64_t kNone = 65535;
  const OperationText& text = trace.program->texts[operation];
  const std::int64_t bytes = output ? text.sbuf_write + text.psum_write : text.sbuf_read + text.psum_read;
  if (bytes == 0) return kNone;
  return checksum_of(trace.pass * 65537 + operation * 2 + (output ? 1 : 0), diverges(trace, operation, output));
}

std::int64_t transfer_crc(const KernelTrace& trace, std::uint32_t operation, std::uint32_t packet) noexcept {
  return checksum_of((trace.pass * 65537 + operation) * 64 + packet, diverges(trace, operation, true));
}

std::int64_t rate_of(std::int64_t bytes, std::int64_t duration_ns) noexcept {
  return duration_ns == 0 ? 0 : std::llround(static_cast<double>(bytes) * 1e9 / static_cast<double>(duration_ns));
}

std::vector<MemoryUse> device_memory_use(const KernelProgram& program) {
  std::int64_t weights = 0, tensors = 0, scratch = 0;
  for (const Tensor& tensor : program.tensors) {
    (tensor.type == "WEIGHT" ? weights : (tensor.type.empty() ? scratch : tensors)) += tensor.bytes;
  }
  constexpr std::int64_t kInstructionBytes = 64;
  std::array<std::int64_t, kUnitCount> code = {};
  for (const Operation& operation : program.operations) {
    if (operation.kind != OperationKind::transfer) code[static_cast<std::size_t>(operation.unit)] += kInstructionBytes;
  }
  const auto of = [&](Unit unit) { return code[static_cast<std::size_t>(unit)]; };
  std::vector<MemoryUse> uses = {{"Generic", 25'600},
                                 {"Tensor Instructions", of(Unit::tensor) + of(Unit::tensor_matrix)},
                                 {"Scalar Instructions", of(Unit::scalar) + of(Unit::scalar_table)},
                                 {"GpSimd Instructions", of(Unit::gpsimd)},
                                 {"IO", 8},
                                 {"DRAM Spill", scratch},
                                 {"Weights", weights},
                                 {"Profiler Buffers", 2'415'919'104},
                                 {"Scalar Table", 83'968},
                                 {"Vector Instructions", of(Unit::vector)},
                                 {"Sync Instructions", of(Unit::sync)},
                                 {"Shared Scratchpad", 0},
                                 {"Tensors", tensors},
                                 {"Ucode lib", 102'760'448},
                                 {"GpSimd STDIO", 1'088},
                                 {"Collectives", 4'194'304},
                                 {"Scratchpad", 0},
                                 {"XT CC (unused)", 0},
                                 {"DMA Rings Runtime", 36'864},
                                 {"DMA Rings Spill", 32'768},
                                 {"DMA Rings IO", 65'536},
                                 {"DMA Rings Collectives", 131'072}};
  std::int64_t total = 0;
  for (const MemoryUse& use : uses) total += use.bytes;
  uses.push_back({"Total", total});
  return uses;
}

}  // namespace accelscope::capture::sim
