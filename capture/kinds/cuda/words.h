// CUPTI's numbers as people read them, in the words that exports of Nsight Systems and PyTorch's profiler use, so that
// a live capture and a file read alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capture/kinds/base/symbols.h"

namespace accelscope::capture::kinds::cuda {

// "" of a number that is not known.
[[nodiscard]] std::string_view copy_word(std::uint32_t kind) noexcept;                // "HtoD"
[[nodiscard]] std::string_view memory_word(std::uint32_t kind) noexcept;              // "Pinned"
[[nodiscard]] std::string_view sync_word(std::uint32_t type) noexcept;                // "Stream Sync"
[[nodiscard]] std::string_view launch_word(std::uint32_t type) noexcept;              // "Regular"
[[nodiscard]] std::string_view overhead_word(std::uint32_t kind) noexcept;            // "Driver JIT compiler (CUDA)"
[[nodiscard]] std::string_view migration_word(std::uint32_t cause) noexcept;          // "Page fault"
[[nodiscard]] std::string_view access_word(std::uint32_t type) noexcept;              // "Read"
[[nodiscard]] std::string_view pool_word(std::uint32_t operation) noexcept;           // "Trimmed"
[[nodiscard]] std::string_view jit_entry_word(std::uint32_t entry) noexcept;          // "PTX to cubin"
[[nodiscard]] std::string_view jit_operation_word(std::uint32_t operation) noexcept;  // "compile"
[[nodiscard]] constexpr bool is_of_host(std::uint32_t memory_kind) noexcept {
  return memory_kind == 1 || memory_kind == 2;
}

// "gemm" of "void cutlass::gemm<float, 3>(Params)".
[[nodiscard]] std::string short_name(std::string_view demangled);

}  // namespace accelscope::capture::kinds::cuda
