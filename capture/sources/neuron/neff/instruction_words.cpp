#include "capture/sources/neuron/neff/instruction_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope::capture::sources::neuron::neff {
namespace {

constexpr unsigned char kRecordWords = 16;

struct OpcodeName {
  unsigned char code;
  std::string_view name;
};
// As profiles call them.
constexpr std::array kOpcodes = {
    OpcodeName{0x01, "LDWEIGHTS"},
    OpcodeName{0x02, "MATMUL"},
    OpcodeName{0x21, "ACTIVATE"},
    OpcodeName{0x23, "ACT_TABLE_LOAD"},
    OpcodeName{0x42, "TENSOR_REDUCE"},
    OpcodeName{0x43, "TENSOR_SCALAR"},
    OpcodeName{0x46, "COPY"},
    OpcodeName{0x47, "CAST"},
    OpcodeName{0x48, "RECIPROCAL"},
    OpcodeName{0xa0, "EVENT_SEMAPHORE"},
    OpcodeName{0xa4, "NOP"},
    OpcodeName{0xb1, "SET_ORDERING_MODE"},
    OpcodeName{0xd4, "DMA_DIRECT2D"},

    OpcodeName{0x41, "TENSOR_TENSOR"},
    OpcodeName{0x44, "TENSOR_SCALAR_PTR"},
    OpcodeName{0x45, "POOL"},
    OpcodeName{0x49, "MEMSET"},
    OpcodeName{0x4d, "RNG"},
    OpcodeName{0x60, "BATCH_NORM_STATS"},
    OpcodeName{0x61, "BATCH_NORM_STATS2"},
    OpcodeName{0x62, "BATCH_NORM_AGGREGATE"},
    OpcodeName{0x68, "GATHER"},
    OpcodeName{0x6a, "STREAM_SHUFFLE"},
    OpcodeName{0x6b, "STREAM_TRANSPOSE"},
    OpcodeName{0x6c, "MAX8"},
    OpcodeName{0x6e, "FIND_INDEX8"},
    OpcodeName{0x6f, "MATCH_REPLACE8"},
    OpcodeName{0x72, "COPY_PREDICATED"},
    OpcodeName{0x7e, "IOTA"},
    OpcodeName{0x7f, "DROPOUT"},
    OpcodeName{0x96, "SORT"},
    OpcodeName{0xa2, "DRAIN"},
    OpcodeName{0xa5, "WRITE"},
    OpcodeName{0xa6, "NOTIFY"},
    OpcodeName{0xa7, "MOVE"},
    OpcodeName{0xa8, "ALU_OP"},
    OpcodeName{0xa9, "COMPARE_BRANCH"},
    OpcodeName{0xaa, "TENSOR_LOAD"},
    OpcodeName{0xab, "TENSOR_STORE"},
    OpcodeName{0xb0, "EVENT_SEMAPHORE_RANGE_CLEAR"},
    OpcodeName{0xcc, "BRANCH_LABEL"},
};

}  // namespace

std::optional<InstructionRecord> decode_record(std::span<const char> bytes) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  if (bytes.size() < kRecordBytes || byte(1) != kRecordWords) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= std::uint32_t{byte(8 + i)} << (8 * i);
  return InstructionRecord{value, byte(0), byte(4), byte(5), byte(6), byte(7)};
}

std::string opcode_name(unsigned char code) {
  const auto* const found = std::ranges::find(kOpcodes, code, &OpcodeName::code);
  return found == kOpcodes.end() ? fmt::format("0x{:02x}", code) : std::string(found->name);
}

std::string wait_text(const InstructionRecord& record) {
  if (record.wait_mode == 0) return {};
  if (record.wait_mode == 0x05) return fmt::format("S[{}]>={}", record.wait, record.value);
  return fmt::format("mode 0x{:02x} S[{}] {}", record.wait_mode, record.wait, record.value);
}

std::string signal_text(const InstructionRecord& record) {
  if (record.signal_mode == 0) return {};
  if (record.signal_mode == 0x13) return fmt::format("S[{}]++", record.signal);
  return fmt::format("mode 0x{:02x} S[{}]", record.signal_mode, record.signal);
}

}  // namespace accelscope::capture::sources::neuron::neff
