// What one core executes in one pass through the demo's kernels: a flat list of operations in an order in which
// everything an operation needs comes before it. It is the same for every pass and every core; run_operations
// (schedule.h) gives it times. Operation 0 is the start of the kernel and nothing else.
//
// The first part of an operation is what scheduling needs; OperationText is what a profile tells about it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sim/kernel/demo_source.h"
#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {

// What works in order. ScalarTable loads tables beside the Scalar engine; Collective stands for the CC-cores.
enum class Unit : std::uint8_t { tensor, tensor_matrix, vector, scalar, gpsimd, sync, scalar_table, collective };
inline constexpr std::size_t kUnitCount = 8;
inline constexpr std::size_t kEngineRows = 6;  // units that are rows of the timeline

enum class Queue : std::uint8_t { weights1, weights2, input, output, spill, dynamic };
inline constexpr std::size_t kQueueCount = 6;

struct QueueText {
  std::string_view name;
  std::string_view type;      // of its packets: data, software_dynamic
  std::string_view made_for;  // dma_queues_info.q_type
  Unit trigger;
  int ring;
  int semaphore;
};
[[nodiscard]] const QueueText& queue_text(Queue queue) noexcept;

[[nodiscard]] std::string_view unit_name(Unit unit) noexcept;    // the row: "TensorMatrix"
[[nodiscard]] std::string_view engine_name(Unit unit) noexcept;  // the engine: "Tensor"
[[nodiscard]] int unit_semaphore(Unit unit) noexcept;            // S[n] that its operations add to

enum class OperationKind : std::uint8_t { instruction, wait, transfer, collective };

inline constexpr std::uint8_t kAfterWeights = 1;  // a MATMUL begins when the weights before it are loaded
inline constexpr std::uint8_t kAfterMatmul = 2;   // LDWEIGHTS may begin when the MATMUL before it has begun
inline constexpr std::uint8_t kThrottled = 4;     // slowed down by throttling, and counts towards it

inline constexpr std::uint8_t kAfterScalar = 8;  // a table is loaded when the Scalar engine comes to it
inline constexpr std::uint32_t kNoOperation = 0;

struct Operation {
  OperationKind kind = OperationKind::instruction;
  Unit unit = Unit::tensor;
  Queue queue = Queue::weights1;
  std::uint8_t flags = 0;
  std::uint32_t duration_ns = 0;            // of a transfer: of each of its packets
  std::uint32_t jitter_mask = 0;            // a random 0 to jitter_mask is added
  std::array<std::uint32_t, 3> after = {};  // operations that must have ended
  std::uint32_t bytes = 0;                  // of a transfer: of all its packets
  std::uint16_t name = 0;                   // into KernelProgram::names
  std::uint16_t site = 0;
};

struct OperationText {
  std::string operands = {};
  std::string compiler_opcode = {};
  std::string compiler_operands = {};
  std::string_view hlo = {};
  std::string_view activation = {};
  std::string_view source = {};  // transfers: WEIGHT, INPUT, SB, VIRTUAL
  std::string_view dest = {};
  Site caller = Site::none;  // the line that called the function of `site`
  std::uint16_t layer = 0;   // into KernelProgram::layers
  std::uint16_t tile = 0;    // counts the tiles of the program: the penguin id
  bool transpose = false;
  bool partitions_only = false;  // transfers: to or from SBUF partitions 0-127
  std::int64_t elements = 0;
  std::int64_t hbm_read = 0, hbm_write = 0, sbuf_read = 0, sbuf_write = 0, psum_read = 0, psum_write = 0;
  std::int64_t spill_save = 0, spill_reload = 0, weight_bytes = 0, input_bytes = 0, output_bytes = 0;
  std::uint32_t triggers = 0;  // the transfer or collective that the instruction sets off
  std::uint32_t triggered_by = 0;
  std::int64_t signal = 0;  // value of the unit's or queue's semaphore after it, from 0 at the kernel's start
  std::vector<std::uint32_t> predecessors = {};  // everything it depends on, waits apart
};

// What an instruction moved, as the profile calls it: a column of each instruction and a figure of the whole run.
struct TrafficField {
  std::string_view name;
  std::int64_t OperationText::*bytes;
};
inline constexpr std::array<TrafficField, 11> kTraffic = {{{"hbm_read_bytes", &OperationText::hbm_read},
                                                           {"hbm_write_bytes", &OperationText::hbm_write},
                                                           {"sbuf_read_bytes", &OperationText::sbuf_read},
                                                           {"sbuf_write_bytes", &OperationText::sbuf_write},
                                                           {"psum_read_bytes", &OperationText::psum_read},
                                                           {"psum_write_bytes", &OperationText::psum_write},
                                                           {"spill_save_bytes", &OperationText::spill_save},
                                                           {"spill_reload_bytes", &OperationText::spill_reload},
                                                           {"weight_queue_bytes", &OperationText::weight_bytes},
                                                           {"input_queue_bytes", &OperationText::input_bytes},
                                                           {"output_queue_bytes", &OperationText::output_bytes}}};

enum class Pool : std::uint8_t { sbuf, hbm };

// A tile in a pool from the start of one operation to the end of another.
struct Block {
  Pool pool = Pool::sbuf;
  std::uint16_t tensor = 0;  // into names
  std::uint16_t site = 0;
  std::int64_t bytes = 0;
  std::uint64_t address = 0;
  std::uint32_t from = 0, until = 0;
};

struct BankUse {
  int bank = 0;
  std::int64_t bytes = 0;
  std::uint32_t from = 0, until = 0;
};

struct Tensor {
  std::string_view name;
  std::string_view type;  // IN, OUT, WEIGHT or "" for scratch
  std::string shape;
  std::int64_t bytes = 0;
};

struct KernelProgram {
  CoreModel core;  // that runs it
  std::vector<Operation> operations;
  std::vector<OperationText> texts;
  std::vector<std::string> names;   // 0 is ""
  std::vector<std::string> layers;  // "mlp/up_proj"; 0 is ""
  std::vector<SitePlace> sites;     // indexed by Site
  std::vector<Block> blocks;
  std::vector<BankUse> banks;
  std::vector<Tensor> tensors;
  // By operation: what of its data differs from that of other runs; empty: nothing does anywhere.
  struct Diverging {
    bool input = false, output = false;
  };
  std::vector<Diverging> diverging;
  std::uint64_t slim_events = 0;  // a pass in slim detail: packets and all other operations
};

struct KernelShape {
  bool resident_w1 = false, resident_w2 = false;  // kept in SBUF instead of being read for every block of rows
  int weight_buffers = 8;                         // tiles of each weight in flight; 2 to 8
  int heads = 4;                                  // of the attention; 2 to 4
  CoreModel core;
};

// The operation computes something else from the same data; what comes after it and depends on it is handed that.
void plant_divergence(KernelProgram& program, std::uint32_t operation);

// slower: every operation takes so much longer, as a share.
[[nodiscard]] KernelProgram build_demo_kernels(const KernelShape& shape, double slower = 0);

}  // namespace accelscope::capture::sim
