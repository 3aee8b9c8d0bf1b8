// Words of vendors and frameworks in names, as tables: matrix products, collectives, copies, calls of a driver. Used by
// name_forms() only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelscope {

// "Kernel", "device_kernel": what is launched is an argument.
[[nodiscard]] bool names_only_a_wrapper(std::string_view base) noexcept;
// "float", "unsigned", "const".
[[nodiscard]] bool names_a_type(std::string_view word) noexcept;

// Forms of a kernel whose name is built of fields, longest first; none if no rule is known.
//   "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn" -> "gemm bf16 128x64", "gemm"
//   "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"                   -> "AllReduce bf16", "AllReduce"
[[nodiscard]] std::vector<std::string> known_kernel_forms(std::string_view base);

// Forms of a kernel that runs whatever function it is given, by the words of its arguments: the function and the type
// of its elements tell it from others. None of another kernel, or where no function is named.
//   vectorized_elementwise_kernel<4, BinaryFunctor<BFloat16, BFloat16, BFloat16, MulFunctor<float>>, ...>
//     -> "vectorized_elementwise_kernel MulFunctor bf16", "MulFunctor bf16", "MulFunctor"
[[nodiscard]] std::vector<std::string> generic_kernel_forms(std::string_view base,
                                                            const std::vector<std::string>& words);

// Forms of other names whose words are known: "Memcpy HtoD (Pageable -> Device)" -> "HtoD Pageable", "HtoD".
[[nodiscard]] std::vector<std::string> known_name_forms(std::string_view name);

// "cudaLaunchKernel" -> "LaunchKernel".
[[nodiscard]] std::vector<std::string> shorter_call_forms(std::string_view name);

}  // namespace accelscope
