// Which state buffer addresses an instruction or a DMA transfer of a NeuronCore reads and writes, as its texts tell:
// "src=bf16@0x8000[1,0,0][128,1,1] dst=0x2000300[...]". Addresses from 0x2000000 are partial sums (observed).
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace accelscope::neuron {

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

}  // namespace accelscope::neuron
