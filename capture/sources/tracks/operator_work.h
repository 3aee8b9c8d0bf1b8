// What an operator of a framework computes, and what it has to move at least, by the shapes and types of its inputs, as
// PyTorch's profiler writes them: matrix products, convolutions, attention, and the message of a collective.
//
//   operator_work("aten::addmm", "[[1024],[8944,1024],[1024,2816],[],[]]", "[\"c10::BFloat16\", ...]", "")
//       -> 2 * 8944 * 1024 * 2816 operations in bf16
//
// A multiplication and an addition are two operations (torch.utils.flop_counter counts the same way). Bytes are the
// inputs and the output once each: no kernel moves less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace accelscope::capture::sources::tracks {

struct OperatorWork {
  enum class Kind : std::uint8_t { product, convolution, gradients, attention, collective };
  Kind kind = Kind::product;
  double flops = 0, bytes = 0;
  std::string_view type;  // "bf16", as core/analysis/peaks calls it; "": not known
  std::string basis;      // "aten::addmm bf16 [8944, 1024] x [1024, 2816]"
};

// Whether anything is known of operators of that name: cheap, to be asked first.
[[nodiscard]] bool may_have_work(std::string_view name) noexcept;
// From the JSON of the shapes, types and values of the inputs; nothing where they do not tell.
[[nodiscard]] std::optional<OperatorWork> operator_work(std::string_view name, std::string_view dims,
                                                        std::string_view types, std::string_view values);

// What a kernel is to the operator that launched it.
enum class KernelPart : std::uint8_t {
  helper,     // prepares, converts, sums up or finishes: a reduce of split K, a copy of a bias, a transpose
  main,       // multiplies
  undecided,  // its name tells neither
};
[[nodiscard]] KernelPart part_of_kernel(std::string_view name) noexcept;
// The gradient that a kernel of a convolution's backward pass computes: 'd'ata, 'w'eights, 0: its name does not tell.
[[nodiscard]] char gradient_of_kernel(std::string_view name) noexcept;
// The type that a kernel multiplies in where its name says so: "tf32" of fp32 inputs.
[[nodiscard]] std::string_view type_of_kernel(std::string_view name, std::string_view type) noexcept;

// Of a kernel of FlashAttention by its name and its grid, "[16, 2, 32]" (blocks of the sequence, batch, heads), where
// nothing else is known: the head's size and the block's are in the name; keys are taken to be as many as queries.
[[nodiscard]] std::optional<OperatorWork> attention_of_grid(std::string_view name, std::string_view grid);

}  // namespace accelscope::capture::sources::tracks
