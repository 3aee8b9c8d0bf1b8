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

// Tracks whose events are a NeuronCore's work; the others (throttling, layers, semaphores) last as long as the run.
inline constexpr std::array<std::string_view, 4> kWorkTrackKinds = {"engine", "dma_queue", "cc_core", "collective"};

// Tables whose time lies in another table in more detail, which the vendor's active times are made of: a transfer's in
// its packets, the steps of CC-cores in their operations.
struct DetailedTable {
  std::string_view table, detail;
};
inline constexpr std::array<DetailedTable, 2> kDetailedTables = {
    {{"dma_transfer", "dma"}, {"cc_instruction", "cc_op"}}};

}  // namespace accelscope::neuron
