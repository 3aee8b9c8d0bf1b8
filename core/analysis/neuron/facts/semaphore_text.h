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

}  // namespace accelscope::neuron
