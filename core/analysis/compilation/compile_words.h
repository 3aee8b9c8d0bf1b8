// Which calls of a host compile, look for a compiled program, or are calls of one, by their names: the words of
// frameworks, drivers and compilers are a table.
#pragma once

#include <cstdint>
#include <string_view>

namespace accelscope {

enum class CompileWord : std::uint8_t {
  none,
  compiles,
  looks_up,      // finds a compiled program, or goes on to compile one
  program_call,  // a call of a compiled program, or a launch: told as calls wherever they lie
  step,          // an annotation of a step of training or inference
  eager,         // runs code that came compiled: its first call sets up, and compiles nothing
};

[[nodiscard]] CompileWord compile_word_of(std::string_view name) noexcept;

// The name without the number of the call at its end: "ProfilerStep#12" -> "ProfilerStep".
[[nodiscard]] std::string_view without_call_number(std::string_view name) noexcept;

}  // namespace accelscope
