// What the name of a command says: "GEMM[SIMD32 {1; 1024; 1} {1024; 1; 1}]",
// "zeCommandListAppendMemoryCopy(M2D)[4096]".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace accelscope::capture::sources::unitrace {

enum class CommandKind : std::uint8_t { kernel, copy, fill, other };

struct CommandName {
  CommandKind kind = CommandKind::kernel;
  std::string_view name;  // "GEMM", "zeCommandListAppendMemoryCopy(M2D)"
  std::optional<std::int64_t> simd;
  std::string groups;  // "[1, 1024, 1]"; "" if it is not said
  std::string group_size;
  std::optional<std::int64_t> bytes;
};

// Texts are views of the argument where they can be.
[[nodiscard]] CommandName read_command_name(std::string_view text);

}  // namespace accelscope::capture::sources::unitrace
