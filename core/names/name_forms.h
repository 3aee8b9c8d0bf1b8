// How a name is shortened: by what its parts mean, never in the middle. A kernel loses its return type, namespaces,
// template and call arguments; a Python frame keeps "file.py:function"; a path keeps its leaf; a matrix product keeps
// its type and tile. Pure functions of one name; which of its forms may be used beside others, and where a shortened
// form has to say more, ShortNames (core/names/short_names.h) decides.
//
//   name_forms("void at::native::cunn_SoftMaxForward<8, float>(float*)").texts    {whole, ..., "cunn_SoftMaxForward"}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope {

struct NameForms {
  std::vector<std::string> texts;  // longest first, all different; the first is the whole name
  std::size_t usual = 0;           // which is shown where there is room: longer ones only to tell two names apart
  std::string identity;            // names of the same identity may read alike: addresses of objects are left out
  std::vector<std::string> parts;  // of what was cut: they can be added to tell two names apart
};

[[nodiscard]] NameForms name_forms(std::string_view name);
// As a sentence names one thing, with no other beside it.
[[nodiscard]] std::string usual_name(std::string_view name);

// A declaration as compilers print it: "void a::(anonymous namespace)::f<int, b::C>(int*) [clone .kd]".
struct Declaration {
  std::string base;       // f
  std::string arguments;  // <int, C>: of templates, without namespaces; "" if it has none
  std::string qualified;  // a::f<int, b::C>
};
// Nothing is found (an empty base) in a text that is no declaration.
[[nodiscard]] Declaration parse_declaration(std::string_view name);

// The names without the words that all of them begin and end with, as rows below a heading need no more: "gpu 0 memory
// Reserved", "gpu 0 memory Allocated" -> "Reserved", "Allocated". A name that would become empty keeps its last word.
[[nodiscard]] std::vector<std::string> without_shared_words(const std::vector<std::string>& names);

// Words of vendors and frameworks in names, as tables: matrix products, collectives, copies, calls of a driver. Used by
// name_forms() only.

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

// How long a name, and how deep a stack, is taken apart: those of real programs stay far below, and one that somebody
// made up must not cost more than it holds. What is longer is shown whole where there is room, and by its front else.
struct NameLimits {
  static constexpr std::size_t kName = 65'536;   // bytes of a name whose parts are looked for
  static constexpr std::size_t kFront = 120;     // of a longer one, as its short form
  static constexpr std::size_t kForms = 16;      // of one name, the whole one included
  static constexpr std::size_t kPathSteps = 8;   // "b/c/d", "c/d", "d": from the end
  static constexpr std::size_t kParts = 64;      // words that can tell two names apart
  static constexpr std::size_t kField = 64;      // bytes of a field of a kernel's name: "bf16", "128x64"
  static constexpr std::size_t kFrames = 1'024;  // of a stack, the innermost ones; and steps of a path
};

// The front of a text of frames, innermost first and a line each, with at most so many of them.
[[nodiscard]] constexpr std::string_view innermost_frames(std::string_view stack,
                                                          std::size_t most = NameLimits::kFrames) noexcept {
  std::size_t end = 0;
  for (std::size_t frame = 0; frame < most; ++frame) {
    const std::size_t found = stack.find('\n', end);
    if (found == std::string_view::npos) return stack;
    end = found + 1;
  }
  return stack.substr(0, end);
}

}  // namespace accelscope
