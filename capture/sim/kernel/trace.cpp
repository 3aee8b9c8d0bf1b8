#include "capture/sim/kernel/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "capture/sim/kernel/program_builder.h"
#include "capture/sim/kernel/schedule.h"
#include "capture/sim/kernel/simulation_options.h"
#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {

void run_collective(std::vector<CoreState>& cores, const KernelProgram& program, std::uint32_t index, bool other_ranks,
                    std::vector<CollectiveTimes>& times) {
  const Operation& operation = program.operations[index];
  times.resize(cores.size());
  std::int64_t all_arrived = 0;
  for (std::size_t device = 0; device < cores.size(); ++device) {
    CoreState& core = cores[device];
    times[device].arrival =
        std::max(core.unit_free[static_cast<std::size_t>(Unit::collective)], latest(core, operation) + kSemaphoreNs);
    all_arrived = std::max(all_arrived, times[device].arrival);
  }
  // Ranks that are not simulated arrive within the skew.
  if (other_ranks) {
    all_arrived += static_cast<std::int64_t>(cores[0].jitter.next() & static_cast<std::uint64_t>(kRankSkewNs - 1));
  }
  for (std::size_t device = 0; device < cores.size(); ++device) {
    CoreState& core = cores[device];
    const auto jitter = static_cast<std::int64_t>(core.jitter.next() & operation.jitter_mask);
    times[device].start = all_arrived;
    times[device].end = all_arrived + operation.duration_ns + jitter;
    core.starts[index] = times[device].arrival;
    core.ends[index] = times[device].end;
    core.unit_free[static_cast<std::size_t>(Unit::collective)] = times[device].end;
  }
}

namespace {

std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

constexpr std::array<unsigned, 4> kCcCores = {8, 9, 10, 11};

}  // namespace

std::string_view engine_key(Engine engine) noexcept {
  constexpr std::string_view kEngineKeys[] = {"tensor", "vector", "scalar", "gpsimd", "sync"};
  return kEngineKeys[static_cast<std::size_t>(engine)];
}

Engine engine_of(Unit unit) noexcept {
  constexpr Engine kEngines[kUnitCount] = {Engine::tensor, Engine::tensor, Engine::vector, Engine::scalar,
                                           Engine::gpsimd, Engine::sync,   Engine::scalar, Engine::sync};
  return kEngines[static_cast<std::size_t>(unit)];
}

double PsumRecord::average() const noexcept {
  std::int64_t sum = 0;
  for (const std::int64_t bank_bytes : bytes) sum += bank_bytes;
  return static_cast<double>(sum) / static_cast<double>(kPsumBankBytes * kPsumBanks);
}

std::uint64_t KernelTrace::id(std::uint32_t operation, std::uint32_t packet) const noexcept {
  return mixed(pass_key + ((std::uint64_t{packet} << 32) | operation)) & INT64_MAX;
}

std::string KernelTrace::graph() const { return fmt::format("sg{:02}", part); }

std::string KernelTrace::layer(std::uint32_t operation) const {
  const std::uint16_t layer = program->texts[operation].layer;
  if (layer == 0) return {};
  return "layers." + std::to_string((pass - 1) % kModelLayers) + "/" + program->layers[layer];
}

std::uint64_t KernelTrace::event_count() const noexcept {
  std::size_t flows = 0;
  for (const InstructionRecord& record : instructions) {
    if (program->operations[record.operation].kind == OperationKind::wait) continue;
    flows += program->texts[record.operation].predecessors.size();
  }
  for (const CollectiveRecord& record : collectives) flows += program->texts[record.operation].predecessors.size();
  return flows + transfers.size() + instructions.size() + transfers.size() + packets.size() + collectives.size() +
         cc_steps.size() + semaphores.size() + pending.size() + 2 * throughput.size() + sbuf.size() + psum.size() +
         utilization.size() + memory.size() + throttles.size() + errors.size() + active.size() + layers.size() +
         barriers.size();
}

void KernelTrace::begin_pass(std::uint64_t number) {
  pass = number;
  pass_key = mixed(mixed(seed * 128 + device) + pass * 0x9e3779b97f4a7c15ULL);
  instructions.clear();
  transfers.clear();
  packets.clear();
  collectives.clear();
  cc_steps.clear();
  semaphores.clear();
  pending.clear();
  throughput.clear();
  sbuf.clear();
  psum.clear();
  utilization.clear();
  memory.clear();
  throttles.clear();
  errors.clear();
  active.clear();
  layers.clear();
  barriers.clear();
}

// What an engine does before the first kernel: set up, then wait for the host to start the execution.
KernelProgram build_startup() {
  ProgramBuilder builder;
  const auto add = [&](Unit unit, std::string_view opcode, std::int64_t ns, std::string operands) {
    builder.instruction({.unit = unit, .opcode = opcode, .duration_ns = ns, .jitter_mask = 1},
                        OperationText{.operands = std::move(operands)});
  };
  constexpr Unit kEngines[] = {Unit::tensor, Unit::vector, Unit::scalar, Unit::gpsimd, Unit::sync};
  for (const Unit unit : kEngines) add(unit, "DRAIN", 7, " ");
  for (const Unit unit : kEngines) add(unit, "WRITE", 64, " data=0x2,0x2 size=4,4 dst=0xffff026f038,0xffff024f038 ");
  for (const Unit unit : kEngines) add(unit, "NOP", 16, "$E[4]==1- cycle=1 ");
  add(Unit::gpsimd, "TENSOR_LOAD", 671, " addr=uint32@0x3c01f4000[1,0][2,1] data=$R[130],$R[131] ");
  for (const Unit unit : kEngines) add(unit, "SET_ORDERING_MODE", 7, " ordering_mode=relaxed ");
  for (const Unit unit : kEngines) add(unit, "EVENT_SEMAPHORE", 0, " setter=0 $S[2]==1 $S[2]++@complete ");
  KernelProgram program = builder.finish();
  for (Operation& operation : program.operations) {
    if (program.names[operation.name] == "EVENT_SEMAPHORE") operation.kind = OperationKind::wait;
  }
  return program;
}

KernelProgram changed_program(const SimulationOptions& options) {
  KernelShape shape = options.shape;
  shape.resident_w1 |= options.resident_weights;
  shape.resident_w2 |= options.resident_weights;
  KernelProgram program = build_demo_kernels(shape, options.slower);
  if (options.change) options.change(program);
  return program;
}

// Collects the times of one device.
class TracedRun::Recorder {
 public:
  Recorder(KernelTrace& trace, CoreState& core) : trace_(trace), core_(core) {}

  void instruction(std::uint32_t index, const Operation& operation, std::int64_t start, std::int64_t duration,
                   std::int64_t wait) {
    trace_.instructions.push_back({.operation = index, .start = start, .duration = duration, .wait = wait});
    if ((operation.flags & kThrottled) && core_.throttling.begin == start + duration) {
      const ThrottleRule& rule = core_.throttling.rule;
      trace_.throttles.push_back({core_.throttling.begin, rule.length_ns, rule.k, rule.n});
    }
  }
  void packet(std::uint32_t index, const Operation& operation, unsigned engine, std::int64_t start,
              std::int64_t duration) {
    const std::int64_t end = start + duration;
    trace_.packets.push_back({index, engine, false, start, duration, operation.bytes / kDmaEngines});
    trace_.packets.push_back({index, engine, true, end, kSemaphorePacketNs, kSemaphorePacketBytes});
  }
  void transfer(std::uint32_t index, const Operation& operation, std::int64_t start, std::int64_t end) {
    trace_.transfers.push_back({index, start, end - start, core_.starts[operation.after[0]]});
  }
  void collective(std::uint32_t index, const CollectiveTimes& times) {
    const Operation& operation = trace_.program->operations[index];
    const std::int64_t trigger = core_.starts[operation.after[0]];
    trace_.collectives.push_back({index, times.start, times.end - times.start, times.arrival, trigger});
    const std::int64_t steps = 2 * (kModelledRanks - 1);
    for (const unsigned core : kCcCores) {
      trace_.cc_steps.push_back({index, core, "BARRIER_WAIT", times.arrival, times.start - times.arrival, trigger});
      const std::int64_t ring = times.end - times.start - kShortestWaitNs;
      for (std::int64_t step = 0; step < steps; ++step) {
        const std::int64_t from = times.start + ring * step / steps;
        const std::int64_t until = times.start + ring * (step + 1) / steps;
        trace_.cc_steps.push_back({index, core, "DMA_ADVANCE", from, until - from, trigger});
      }
      trace_.cc_steps.push_back({index, core, "TPB_TRIGGER", times.start + ring, kShortestWaitNs, trigger});
    }
  }

 private:
  KernelTrace& trace_;
  CoreState& core_;
};

TracedRun::TracedRun(const SimulationOptions& options)
    : TracedRun(options, RunPlan{.program = changed_program(options)}) {}

TracedRun::TracedRun(const SimulationOptions& options, RunPlan plan)
    : options_(options),
      program_(std::move(plan.program)),
      between_kernels_ns_(plan.between_kernels_ns),
      startup_(build_startup()) {
  if (options_.kernels == 0 && options_.events == 0 && options_.seconds <= 0) options_.kernels = 2;
  if (options_.diverging_operation) plant_divergence(program_, *options_.diverging_operation);
  const std::uint32_t cores = options_.devices * options_.cores_per_device;
  traces_.resize(cores);
  totals_.resize(cores);
  for (std::uint32_t device = 0; device < cores; ++device) {
    cores_.emplace_back(program_, options_.seed * 64 + device).throttling.rule = plan.throttle;
    cores_.back().dma_latency_ns = std::llround(options_.dma_latency_ns);
    traces_[device].device = device;
    traces_[device].part = device % options_.cores_per_device;
    traces_[device].seed = options_.seed;
  }
}

void TracedRun::run_startup() {
  for (std::size_t device = 0; device < cores_.size(); ++device) {
    CoreState core(startup_, options_.seed * 64 + device);
    KernelTrace& trace = traces_[device];
    trace.program = &startup_;
    Recorder recorder(trace, core);
    const auto count = static_cast<std::uint32_t>(startup_.operations.size());
    const std::uint32_t waits = count - static_cast<std::uint32_t>(kEngineCount);
    core.begin_kernel(0);
    run_operations(core, startup_, 1, waits, recorder);
    core.ends[kNoOperation] = kStartupNs;  // the host's signal
    run_operations(core, startup_, waits, count, recorder);
    trace.begin = 0;
    trace.end = core.kernel_end();
    trace.starts = core.starts;
    trace.ends = core.ends;
    cores_[device].begin_kernel(trace.end);
  }
}

void TracedRun::run_kernels() {
  std::int64_t begin = 0;
  for (const CoreState& core : cores_) begin = std::max(begin, core.kernel_end());
  begin += pass_ == 1 ? 0 : between_kernels_ns_;
  std::vector<Recorder> recorders;
  for (std::size_t device = 0; device < cores_.size(); ++device) {
    cores_[device].begin_kernel(begin);
    traces_[device].program = &program_;
    recorders.emplace_back(traces_[device], cores_[device]);
  }
  const auto count = static_cast<std::uint32_t>(program_.operations.size());
  std::vector<CollectiveTimes> times;
  for (std::uint32_t from = 1; from < count;) {
    std::uint32_t until = from;
    while (until < count && program_.operations[until].kind != OperationKind::collective) ++until;
    for (std::size_t device = 0; device < cores_.size(); ++device) {
      run_operations(cores_[device], program_, from, until, recorders[device]);
    }
    if (until < count) {
      run_collective(cores_, program_, until, options_.devices == 1, times);
      for (std::size_t device = 0; device < cores_.size(); ++device) recorders[device].collective(until, times[device]);
    }
    from = until + 1;
  }
  if (options_.cores_per_device > 1) run_barriers();
  for (std::size_t device = 0; device < cores_.size(); ++device) {
    KernelTrace& trace = traces_[device];
    trace.begin = begin;
    trace.end = cores_[device].kernel_end();
    trace.starts = cores_[device].starts;
    trace.ends = cores_[device].ends;
  }
}

// The physical cores of a logical one end a pass together: each engine waits until the same engine of the others has
// come, and for the signal of the last of them.
void TracedRun::run_barriers() {
  for (std::size_t first = 0; first < cores_.size(); first += options_.cores_per_device) {
    for (std::size_t index = 0; index < kEngineCount; ++index) {
      const auto engine = static_cast<Engine>(index);
      const auto each_unit = [&](CoreState& core, auto&& visit) {
        for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
          const auto of = static_cast<Unit>(unit);
          if (of != Unit::collective && engine_of(of) == engine) visit(core.unit_free[unit]);
        }
      };
      std::array<std::int64_t, kMostCoresPerDevice> arrivals = {};
      std::int64_t last = 0;
      for (std::size_t part = 0; part < options_.cores_per_device; ++part) {
        each_unit(cores_[first + part], [&](std::int64_t free) { arrivals[part] = std::max(arrivals[part], free); });
        last = std::max(last, arrivals[part]);
      }
      const std::int64_t end = last + kSemaphoreNs;
      for (std::size_t part = 0; part < options_.cores_per_device; ++part) {
        each_unit(cores_[first + part], [&](std::int64_t& free) { free = end; });
        traces_[first + part].barriers.push_back({engine, arrivals[part], end - arrivals[part]});
      }
    }
  }
}

bool TracedRun::advance() {
  const bool enough =
      (options_.events != 0 && events_ >= options_.events) || (options_.kernels != 0 && pass_ > options_.kernels);
  if (enough) return false;
  for (KernelTrace& trace : traces_) trace.begin_pass(pass_);
  if (pass_ == 0) {
    run_startup();
  } else {
    run_kernels();
  }
  ++pass_;
  for (std::size_t device = 0; device < traces_.size(); ++device) {
    derive_records(traces_[device], totals_[device].bytes, totals_[device].hbm_bytes);
    events_ += traces_[device].event_count();
  }
  return true;
}

}  // namespace accelscope::capture::sim
