// The kind of work that a name of a GPU trace tells of, as the slot of the palette that this kind has in every session:
// matrix products, attention, optimizers, collectives, copies, calls that launch; frames of Python by whose file they
// are. Nothing for names of other shapes, which keep a colour of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace accelscope {

// A slot, or the text whose hash gives it: frames of one package have one colour.
struct NameClass {
  std::optional<std::uint8_t> slot;
  std::string_view key;  // where there is no slot; lies in the name
};
[[nodiscard]] std::optional<NameClass> name_class(std::string_view name) noexcept;

// A kernel that reads its inputs once for few operations on each element and writes the result: element by element,
// copies, reductions, norms, lookups. Those that a compiler has fused already are none.
[[nodiscard]] bool goes_over_memory(std::string_view kernel) noexcept;

// A product of matrices or a convolution in fp32 that does without matrix units, as cuBLAS, cuDNN and CUTLASS name
// them.
[[nodiscard]] bool is_plain_fp32_product(std::string_view kernel) noexcept;

}  // namespace accelscope
