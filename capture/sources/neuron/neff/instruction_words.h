// The words of a stream of instructions in a NEFF: what is known of a record, and from where.
//
// A record is 64 bytes, little-endian:
//
//   0       opcode       kOpcodes: those up to DMA_DIRECT2D stand in a program with their numbers and in its trace with
//                        their names; the others are of published lists of the instruction set, which agree with them
//   1       length       in words of 4 bytes, 16 in every record seen; another length is an encoding not known here
//   4       wait mode    0: none; 0x05: until the semaphore is at least the value; traces show no other
//   5       semaphore    that it waits for
//   6       signal mode  0: none; 0x13: the semaphore is incremented on completion; traces show no other
//   7       semaphore    that it signals
//   8..11   value        that the semaphore must have
//   12..63  operands     depend on the opcode, not read; neither are bytes 2 and 3
//
// Checked against a trace of the same program: 158 instructions of 158 agree in opcode and semaphores. The runtime puts
// instructions of its own before and behind a stream, so that a trace's PC is greater than a record's place here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace accelscope::capture::sources::neuron::neff {

inline constexpr std::size_t kRecordBytes = 64;

struct EngineWords {
  std::string_view key;     // in def.json
  std::string_view name;    // as profiles have it
  std::string_view metric;  // of its instructions
};
inline constexpr std::array kEngines = {EngineWords{"pe", "Tensor", "tensor_engine_instruction_count"},
                                        EngineWords{"dve", "Vector", "vector_engine_instruction_count"},
                                        EngineWords{"act", "Scalar", "scalar_engine_instruction_count"},
                                        EngineWords{"pool", "GpSimd", "gpsimd_engine_instruction_count"},
                                        EngineWords{"sp", "Sync", "sync_engine_instruction_count"}};

struct InstructionRecord {
  std::uint32_t value = 0;
  unsigned char opcode = 0, wait_mode = 0, wait = 0, signal_mode = 0, signal = 0;
};

// Nothing if the bytes are too few or a record of another length.
[[nodiscard]] std::optional<InstructionRecord> decode_record(std::span<const char> bytes) noexcept;

[[nodiscard]] std::string opcode_name(unsigned char code);  // "MATMUL"; "0x99" of one that is not known
// "S[9]>=1" and "S[9]++"; "" if the record does neither. Modes that no trace has shown are numbers.
[[nodiscard]] std::string wait_text(const InstructionRecord& record);
[[nodiscard]] std::string signal_text(const InstructionRecord& record);

}  // namespace accelscope::capture::sources::neuron::neff
