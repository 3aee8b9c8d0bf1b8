// What the operands of a Neuron instruction say about semaphores: which values it waits for, and which semaphores it
// adds to itself. "S[5] (Tensor)>=1 S[4] (Scalar)++@complete src=..." waits until semaphore 5 is at least 1 and adds to
// semaphore 4; "$S[2]==8 $S[2]=0@complete" waits for exactly 8 and clears; "S[9] (qGpSimdDynamic)>=16" waits for
// transfers of a queue.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace accelscope::neuron {

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

}  // namespace accelscope::neuron
