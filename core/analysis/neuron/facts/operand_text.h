// The operand text of a Neuron instruction, taken apart field by field, each with what it means. Reads what the
// profiler writes ("S[5] (Tensor)>=1 src=fp16@0x2fa00[1,0,0][128,1,1] 128*128"); what it does not know is kept as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelscope::neuron {

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

}  // namespace accelscope::neuron
