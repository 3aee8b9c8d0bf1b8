// NeuronCore opcodes that set up, order or synchronise and do no work of their own; Neuron's total_exec_time leaves
// them out too (neuron-profile 2.x summary).
#pragma once

#include <array>
#include <string_view>

namespace accelscope::neuron {

inline constexpr std::array<std::string_view, 10> kSetupOpcodes = {
    "NOP",         "SET_ORDERING_MODE", "EVENT_SEMAPHORE", "EVENT_SEMAPHORE_RANGE_CLEAR",
    "NOTIFY",      "COMPARE_BRANCH",    "DRAIN",           "WRITE",
    "TENSOR_LOAD", "MODIFY_POOL_CONFIG"};

// Loads the Scalar engine's functions: the vendor counts it as work, but it says nothing of where the work begins.
inline constexpr std::string_view kTableLoadOpcode = "ACT_TABLE_LOAD";

// Where an instruction stands in the program of its engine.
inline constexpr std::string_view kPlaceColumn = "pc";

}  // namespace accelscope::neuron
