// The figures that a vendor's profile states about a whole run of one core, or of the physical cores of a logical one
// together, computed from its records with the vendor's formulas (they are written beside each in run_metrics.cpp).
// Times in seconds, shares as fractions of one.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/sim/kernel/trace.h"
#include "core/model/definitions.h"

namespace accelscope::capture::sim {

struct TensorLoads {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

class RunMetrics {
 public:
  explicit RunMetrics(const CoreModel& core = {}, std::size_t cores = 1) : core_(core), throttled_ns_(cores) {}
  void add(std::span<const KernelTrace> traces);  // of a pass: of each of the cores

  // Names and groups are those of the vendor's summary. Units: "s", "B", "share", "flop", "cycles" or "".
  [[nodiscard]] std::vector<Metric> summary() const;

  [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }
  [[nodiscard]] const std::map<std::string, TensorLoads>& loads() const noexcept { return loads_; }
  [[nodiscard]] std::int64_t instructions(Engine engine) const noexcept {
    return engines_[static_cast<std::size_t>(engine)].instructions;
  }
  [[nodiscard]] std::int64_t event_count() const noexcept { return events_; }
  [[nodiscard]] std::int64_t trace_count() const noexcept { return traces_; }
  [[nodiscard]] std::int64_t cycle_count() const noexcept;
  [[nodiscard]] std::int64_t dma_queue_count() const noexcept;
  [[nodiscard]] LayerRecord whole_graph() const;  // "/sg00"

 private:
  CoreModel core_;
  struct Dma {
    std::int64_t packets = 0, bytes = 0, active_ns = 0;
  };
  struct Spans;
  void add_instructions(const KernelTrace& trace);
  void add_moves(const KernelTrace& trace, Spans& spans);
  void add_activity(const KernelTrace& trace, Spans& spans);

  std::int64_t last_ns_ = 0, first_work_ns_ = -1, last_work_ns_ = 0;
  std::int64_t events_ = 0, traces_ = 0;
  std::array<EngineUse, kEngineCount> engines_ = {};
  std::int64_t flops_ = 0, transpose_flops_ = 0, matmuls_ = 0, activations_ = 0, activation_ns_ = 0;
  std::array<std::int64_t, kTraffic.size()> traffic_ = {};  // of HBM first
  std::int64_t drains_ = 0, drain_bytes_ = 0;
  Dma all_, static_, dynamic_;
  std::int64_t packet_ns_ = 0, transfers_ = 0, transfer_ns_ = 0, transfer_bytes_ = 0, active_ns_ = 0;
  std::vector<std::int64_t> throttled_ns_;  // by core
  std::int64_t cc_ops_ = 0, cc_op_ns_ = 0, cc_steps_ = 0, cc_step_ns_ = 0;
  std::int64_t cc_active_ns_ = 0;
  std::int64_t input_size_ = 0, weight_size_ = 0, output_size_ = 0;
  std::map<std::string, TensorLoads> loads_;
  std::string graph_;
};

// What a simulated profile says in words: locations, stacks, names of queues and semaphores, the fixed
// tables about the program and the device.

[[nodiscard]] std::string semaphore_name(int semaphore, std::string_view owner);             // "S[5] (Tensor)"
[[nodiscard]] std::string packet_queue_name(Queue queue, unsigned engine);                   // "qSyncPIO0-Q3-E0"
[[nodiscard]] std::string stack_text(const KernelProgram& program, Site site, Site caller);  // innermost first
[[nodiscard]] std::int64_t frame_id(Site site, Site caller) noexcept;                        // of the frame tables
[[nodiscard]] std::string bir_id(std::uint32_t operation);                                   // "sg0000:112"
[[nodiscard]] std::string penguin_id(std::uint16_t tile);
[[nodiscard]] std::string bir_instruction_name(const KernelProgram& program, std::uint32_t operation);
[[nodiscard]] std::int64_t hlo_number(std::string_view hlo) noexcept;  // 3 of "%dot.3 = ..."
[[nodiscard]] std::int64_t data_crc(const KernelTrace& trace, std::uint32_t operation, bool output) noexcept;
// Of what a transfer moves, or one of its packets.
[[nodiscard]] std::int64_t transfer_crc(const KernelTrace& trace, std::uint32_t operation,
                                        std::uint32_t packet = 0) noexcept;

// Bytes moved over the time it took, rounded.
[[nodiscard]] std::int64_t rate_of(std::int64_t bytes, std::int64_t duration_ns) noexcept;

struct MemoryUse {
  std::string_view name;
  std::int64_t bytes;
};
[[nodiscard]] std::vector<MemoryUse> device_memory_use(const KernelProgram& program);  // "Total" comes last

inline constexpr std::string_view kReplicaGroup = "[[0,1,2,3,4,5,6,7]]";
inline constexpr std::string_view kNetworkName = "transformer_layer/graph.neff";

}  // namespace accelscope::capture::sim
