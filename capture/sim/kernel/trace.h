// One pass of a device through the kernels as a profile tells it: every instruction, packet, semaphore update,
// counter sample ... with its time. TracedRun makes the passes one after the other, and the session's writer reads
// them.
//
//   TracedRun run(options);
//   while (run.advance()) {                       // pass by pass; pass 0 is the start-up
//     for (const KernelTrace& trace : run.traces()) output.write(trace);   // one for each physical core
//   }
//
// All times are ns since the session's start. Records of a kind are sorted by start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sim/kernel/program.h"
#include "capture/sim/kernel/schedule.h"
#include "capture/sim/kernel/simulation_options.h"

namespace accelscope::capture::sim {

struct InstructionRecord {
  std::uint32_t operation = 0;
  std::int64_t start = 0, duration = 0, wait = 0;
  std::int64_t triggered_start = -1;  // of the transfer or collective that it set off
};

struct TransferRecord {
  std::uint32_t operation = 0;
  std::int64_t start = 0, duration = 0;
  std::int64_t trigger_start = 0;
};

struct PacketRecord {
  std::uint32_t operation = 0;  // of the transfer
  unsigned engine = 0;
  bool semaphore = false;  // the 4 bytes that report the end of the data
  std::int64_t start = 0, duration = 0, bytes = 0;
};

struct CollectiveRecord {
  std::uint32_t operation = 0;
  std::int64_t start = 0, duration = 0, arrival = 0, trigger_start = 0;
};

struct CcStepRecord {
  std::uint32_t operation = 0;  // of the collective
  unsigned core = 0;
  std::string_view description;
  std::int64_t start = 0, duration = 0, trigger_start = 0;
};

struct SemaphoreRecord {
  int semaphore = 0;
  std::string_view owner;
  std::int64_t time = 0, value = 0;
};

struct CountRecord {
  std::int64_t time = 0, value = 0;
};

struct ThroughputRecord {
  std::int64_t time = 0, rate = 0, total = 0, hbm_rate = 0, hbm_total = 0;
};

struct SbufRecord {
  std::int64_t time = 0, bytes = 0;
  [[nodiscard]] double usage(std::int64_t capacity) const noexcept {
    return static_cast<double>(bytes) / static_cast<double>(capacity);
  }
};

struct PsumRecord {
  std::int64_t time = 0;
  std::array<std::int64_t, kPsumBanks> bytes = {};
  [[nodiscard]] double bank(std::size_t index) const noexcept {
    return static_cast<double>(bytes[index]) / static_cast<double>(kPsumBankBytes);
  }
  [[nodiscard]] double average() const noexcept;
};

struct UtilizationRecord {
  std::int64_t time = 0;
  double value = 0;
};

struct MemoryRecord {
  std::int64_t time = 0, bytes = 0;  // released where negative
  std::uint64_t address = 0;
  std::uint16_t tensor = 0, site = 0;
  Pool pool = Pool::sbuf;
};

struct ThrottleRecord {
  std::int64_t start = 0, duration = 0, k = kThrottleK, n = kThrottleN;
};

struct ErrorRecord {
  std::int64_t time = 0;
  std::string_view description, type, metadata, metadata_hex;
  int error_type_id = 0;
  std::uint16_t site = 0;
};

// The five engines that a profile counts, in the order of its fields.
enum class Engine : std::uint8_t { tensor, vector, scalar, gpsimd, sync };
inline constexpr std::size_t kEngineCount = 5;
[[nodiscard]] std::string_view engine_key(Engine engine) noexcept;  // "gpsimd"
[[nodiscard]] Engine engine_of(Unit unit) noexcept;

struct ActiveRecord {
  Engine engine = Engine::tensor;
  std::int64_t start = 0, duration = 0;
};

// An engine that waits for the same engine of the other physical cores of its logical core.
struct BarrierRecord {
  Engine engine = Engine::tensor;
  std::int64_t start = 0, duration = 0;
};

struct EngineUse {
  std::int64_t instructions = 0, instruction_ns = 0, active_ns = 0;
};

struct LayerRecord {
  std::string name;  // "/sg00/layers.3/mlp/up_proj"
  std::uint32_t depth = 0;
  std::int64_t start = 0, end = 0;
  std::array<EngineUse, kEngineCount> engines = {};
  std::int64_t flops = 0, model_flops = 0;
};

struct KernelTrace {
  const KernelProgram* program = nullptr;
  std::uint32_t device = 0;  // counts physical cores
  std::uint32_t part = 0;    // the core's place in its logical core
  std::uint64_t pass = 0;
  std::uint64_t seed = 0;
  std::uint64_t pass_key = 0;  // of seed, device and pass: what ids are made of
  std::int64_t begin = 0, end = 0;
  std::vector<std::int64_t> starts, ends;  // by operation

  std::vector<InstructionRecord> instructions;
  std::vector<TransferRecord> transfers;
  std::vector<PacketRecord> packets;
  std::vector<CollectiveRecord> collectives;
  std::vector<CcStepRecord> cc_steps;
  std::vector<SemaphoreRecord> semaphores;
  std::vector<CountRecord> pending;
  std::vector<ThroughputRecord> throughput;
  std::vector<SbufRecord> sbuf;
  std::vector<PsumRecord> psum;
  std::vector<UtilizationRecord> utilization;
  std::vector<MemoryRecord> memory;
  std::vector<ThrottleRecord> throttles;
  std::vector<ErrorRecord> errors;
  std::vector<ActiveRecord> active;
  std::vector<LayerRecord> layers;
  std::vector<BarrierRecord> barriers;  // at the pass's end

  // The number that a profile gives the execution of an operation; packet: 0, or 1 + its number.
  [[nodiscard]] std::uint64_t id(std::uint32_t operation, std::uint32_t packet = 0) const noexcept;
  [[nodiscard]] std::string graph() const;  // that the core runs: "sg01" of the second core of a logical one
  // "layers.3/mlp/up_proj", or "" outside a layer.
  [[nodiscard]] std::string layer(std::uint32_t operation) const;
  [[nodiscard]] std::uint64_t event_count() const noexcept;  // events of a session, flows included
  void begin_pass(std::uint64_t number);                     // without records
};

inline constexpr std::uint64_t kModelLayers = 32;  // passes are named layers.0 to layers.31, then again

[[nodiscard]] KernelProgram build_startup();
[[nodiscard]] KernelProgram changed_program(const SimulationOptions& options);

// What the cores run, beside the demo's kernels.
struct RunPlan {
  KernelProgram program;
  std::int64_t between_kernels_ns = kBetweenKernelsNs;
  ThrottleRule throttle;
};

class TracedRun {
 public:
  explicit TracedRun(const SimulationOptions& options);
  TracedRun(const SimulationOptions& options, RunPlan plan);

  // Makes the next pass of every device. False when the run's limit is reached (the clock on the wall is the
  // caller's business).
  bool advance();
  [[nodiscard]] std::span<const KernelTrace> traces() const noexcept { return traces_; }
  // For a caller that reads a pass while the next one is made: what it gives is filled next. Such as an earlier pass.
  void swap_traces(std::vector<KernelTrace>& others) noexcept { traces_.swap(others); }
  [[nodiscard]] const KernelProgram& program() const noexcept { return program_; }
  [[nodiscard]] const SimulationOptions& options() const noexcept { return options_; }

 private:
  class Recorder;
  struct Totals {
    std::int64_t bytes = 0, hbm_bytes = 0;
  };
  void run_startup();
  void run_kernels();
  void run_barriers();

  SimulationOptions options_;
  KernelProgram program_;
  std::int64_t between_kernels_ns_ = kBetweenKernelsNs;
  KernelProgram startup_;
  std::vector<CoreState> cores_;
  std::vector<KernelTrace> traces_;  // of the pass under way, by device
  std::vector<Totals> totals_;
  std::uint64_t pass_ = 0;
  std::uint64_t events_ = 0;
};

// Fills everything that follows from the times of the operations. `moved` are the bytes before this pass, and after.
void derive_records(KernelTrace& trace, std::int64_t& moved, std::int64_t& moved_hbm);

// Sorts as std::stable_sort does, but what is a few sorted lists one after another, in one pass for each doubling of
// their number.

// `spare` is room that the caller may keep for the next time.
template <typename Record, typename Before>
void merge_lists(std::vector<Record>& records, std::vector<Record>& spare, Before before) {
  std::vector<std::size_t> ends;
  for (auto at = records.begin(); at != records.end();) {
    at = std::is_sorted_until(at, records.end(), before);
    ends.push_back(static_cast<std::size_t>(at - records.begin()));
  }
  const auto place = [](std::size_t index) { return static_cast<std::ptrdiff_t>(index); };
  while (ends.size() > 1) {
    spare.resize(records.size());
    std::vector<std::size_t> merged;
    std::size_t from = 0;
    for (std::size_t list = 0; list < ends.size(); list += 2) {
      const std::size_t middle = ends[list];
      const std::size_t until = list + 1 < ends.size() ? ends[list + 1] : middle;
      std::merge(records.begin() + place(from), records.begin() + place(middle), records.begin() + place(middle),
                 records.begin() + place(until), spare.begin() + place(from), before);
      merged.push_back(from = until);
    }
    records.swap(spare);
    ends = std::move(merged);
  }
}

}  // namespace accelscope::capture::sim
