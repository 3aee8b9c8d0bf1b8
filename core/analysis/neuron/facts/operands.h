#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis::neuron {

// The useful floating point operations of a Neuron instruction, event by event: what mfu adds up.

// Of the events of a lane of instructions, a block at a time. Matrix multiplications only, and of those not the ones
// that transpose: 2 * elements, or raw_flops in files of the newer format.
class MatmulWork {
 public:
  MatmulWork(const LaneSnapshot& lane, const StringPool& pool);
  void read(BlockReader& reader);
  [[nodiscard]] double operator[](std::uint32_t index) const noexcept;  // of the block that was read

  // A multiplication that only moves data about, or what is called so.
  [[nodiscard]] bool transposes(std::uint32_t index) const noexcept;

  // Whether events of the lane can have any.
  [[nodiscard]] static bool has_work(const LaneSnapshot& lane);

 private:
  struct Number {
    std::optional<std::size_t> column;
    ColumnType type = ColumnType::int64;
    NumberBlock values;
    [[nodiscard]] std::int64_t at(std::uint32_t index) const noexcept { return column ? values[index] : 0; }
  };

  StringId matmul_, transpose_;
  Number elements_, raw_flops_;
  std::optional<std::size_t> type_column_;
  BlockValues types_;
  const std::uint64_t* names_ = nullptr;
};

// Which state buffer addresses an instruction or a DMA transfer of a NeuronCore reads and writes, as its texts tell:
// "src=bf16@0x8000[1,0,0][128,1,1] dst=0x2000300[...]". Addresses from 0x2000000 are partial sums (observed).

inline constexpr std::string_view kStateBuffer = "SBUF";    // pools of it begin so
inline constexpr std::string_view kStateBufferEnd = "SB";   // as DMA transfers name it
inline constexpr std::string_view kSpillPlace = "VIRTUAL";  // as DMA transfers name the spill buffer in HBM
inline constexpr std::int64_t kSemaphoreBytes = 4;          // a packet of so many bytes signals a semaphore
inline constexpr double kDmaEngineRate = 27.2e9;            // bytes a second (NKI DMA Overview: NeuronCore v2 and v3)
inline constexpr std::uint64_t kFirstPsumAddress = 0x2000000;
inline constexpr std::string_view kRepeatFactorColumn = "load_to_sbuf_repeat_factor";

// visitor(address, written) for every operand with an address.
template <typename Visitor>
void visit_all_addresses(std::string_view operands, Visitor&& visitor) {
  for (std::size_t at = operands.find("0x"); at != std::string_view::npos; at = operands.find("0x", at + 2)) {
    std::uint64_t address = 0;
    const char* end = operands.data() + operands.size();
    if (std::from_chars(operands.data() + at + 2, end, address, 16).ec != std::errc()) continue;
    const std::size_t space = operands.rfind(' ', at);
    const std::string_view operand = operands.substr(space == std::string_view::npos ? 0 : space + 1);
    const bool read = operand.starts_with("src");
    const bool written = operand.starts_with("dst");
    if (read || written) visitor(address, written);
  }
}

// The same of those in the state buffer.
template <typename Visitor>
void visit_addresses(std::string_view operands, Visitor&& visitor) {
  visit_all_addresses(operands, [&](std::uint64_t address, bool written) {
    if (address < kFirstPsumAddress) visitor(address, written);
  });
}

// The operand text of a Neuron instruction, taken apart field by field, each with what it means. Reads what the
// profiler writes ("S[5] (Tensor)>=1 src=fp16@0x2fa00[1,0,0][128,1,1] 128*128"); what it does not know is kept as text.
struct OperandPart {
  std::string label;  // "Data type"
  std::string value;  // "fp16"
};

struct Operand {
  std::string text;     // as written
  std::string title;    // "src"
  std::string meaning;  // one sentence
  std::vector<OperandPart> parts;
};

[[nodiscard]] std::vector<Operand> parse_operands(std::string_view text);

// A generic operand of the same kind, for a user who sees the grammar for the first time.
inline constexpr std::string_view kMemoryOperandExample = "src=TYPE@ADDRESS[step,...][size,...]";

// The same for one part: how it is written in general, and what it says. Empty for a label that is not known.
struct OperandPartExample {
  std::string_view label;
  std::string_view grammar;  // "[step,...]"
  std::string_view meaning;
};
[[nodiscard]] OperandPartExample example_of_part(std::string_view label) noexcept;

// What the operands of a Neuron instruction say about semaphores: which values it waits for, and which semaphores it
// adds to itself. "S[5] (Tensor)>=1 S[4] (Scalar)++@complete src=..." waits until semaphore 5 is at least 1 and adds to
// semaphore 4; "$S[2]==8 $S[2]=0@complete" waits for exactly 8 and clears; "S[9] (qGpSimdDynamic)>=16" waits for
// transfers of a queue.

using ConditionVisitor =
    std::function<void(std::uint32_t semaphore, std::int64_t value, bool exactly, bool of_transfers)>;
using UpdateVisitor = std::function<void(std::uint32_t semaphore)>;  // that adds; one that clears is none

void visit_semaphores(std::string_view operands, const ConditionVisitor& waits_for, const UpdateVisitor& adds_to);

// 5 of "S[5] (Tensor)", of "S[5]" and of "5"; below 0 where it is none.
[[nodiscard]] std::int64_t semaphore_number(std::string_view text) noexcept;

// "qSyncDynamicHW" of "S[24] (qSyncDynamicHW)": the queue whose transfers add to it; empty where it is an engine's.
[[nodiscard]] std::string_view semaphore_queue(std::string_view text) noexcept;

// What the transfer that an instruction sets off adds to, and how much: "semaphore=24 sem_increment=16"; false where
// its operands do not say.
[[nodiscard]] bool read_transfer_signal(std::string_view operands, std::uint32_t& semaphore,
                                        std::uint32_t& increment) noexcept;

// Where in device memory such a transfer begins to read or write, and how many bytes from there on it touches: only
// addresses that the operands hold ("src_addr_imm=0x800001000000"), no offsets into tables of arguments.
struct DeviceRange {
  std::uint64_t address = 0, bytes = 0;  // bytes 0: the operands do not say
};
[[nodiscard]] DeviceRange transfer_range(std::string_view operands, bool written) noexcept;

// NeuronCore opcodes that set up, order or synchronise and do no work of their own; Neuron's total_exec_time leaves
// them out too (neuron-profile 2.x summary).

inline constexpr std::array<std::string_view, 10> kSetupOpcodes = {
    "NOP",         "SET_ORDERING_MODE", "EVENT_SEMAPHORE", "EVENT_SEMAPHORE_RANGE_CLEAR",
    "NOTIFY",      "COMPARE_BRANCH",    "DRAIN",           "WRITE",
    "TENSOR_LOAD", "MODIFY_POOL_CONFIG"};

// Loads the Scalar engine's functions: the vendor counts it as work, but it says nothing of where the work begins.
inline constexpr std::string_view kTableLoadOpcode = "ACT_TABLE_LOAD";

// Where an instruction stands in the program of its engine.
inline constexpr std::string_view kPlaceColumn = "pc";

}  // namespace accelscope::analysis::neuron
