// What a simulated profile says in words: locations, stacks, names of queues and semaphores, the fixed
// tables about the program and the device.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "capture/sim/kernel/trace.h"

namespace accelscope::capture::sim {

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
