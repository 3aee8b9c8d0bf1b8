// What is read from a program's source and from what the compilers of OpenCL drivers print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::capture::kinds::opencl {

struct BuildMessage {
  bool is_error = false;
  std::uint32_t line = 0;  // of the program's source; 0: not told
  std::string text;        // "use of undeclared identifier 'x'"
  bool operator==(const BuildMessage&) const = default;
};

// Errors and warnings, in their order: "FILE:3:14: error: text", as clang prints them, "error: FILE:3:14: text", as
// PoCL does, and lines that merely begin with "error:" or "warning:". Notes and what belongs to a message are left out.
[[nodiscard]] std::vector<BuildMessage> parse_build_log(std::string_view log);

struct KernelParameter {
  std::string type;  // without address spaces and qualifiers: "float*", "uint4"
  std::string name;
  bool operator==(const KernelParameter&) const = default;
};
struct KernelText {
  std::uint32_t line = 0;  // on which the kernel is defined, from 1; 0: not found
  std::vector<KernelParameter> parameters;
};

// Drivers tell of parameters only where the program was built for it, so they are read from the source as well. Macros
// are not expanded.
[[nodiscard]] KernelText find_kernel(std::string_view source, std::string_view name);

}  // namespace accelscope::capture::kinds::opencl
