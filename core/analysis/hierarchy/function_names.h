// In which function a line of a program stands: as a recorded stack says, or as the program's text does where the
// session has it. Functions are named with their file, "mlp.py:gelu", as kernels of one name are in many files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/definitions.h"

namespace accelscope {

// By line of a text in Python (index = line - 1): the innermost function around it, "" outside of all.
[[nodiscard]] std::vector<std::string> functions_by_line(std::string_view python);

class FunctionNames {
 public:
  FunctionNames() = default;
  explicit FunctionNames(const std::vector<std::shared_ptr<const SourceFile>>& sources);
  // "" where it is not known.
  [[nodiscard]] std::string of_location(std::string_view location) const;
  // Of the first line of a stack that is written innermost frame first.
  [[nodiscard]] static std::string of_stack(std::string_view stack);

 private:
  std::vector<std::shared_ptr<const SourceFile>> sources_;
  std::vector<std::vector<std::string>> functions_;  // by source and line
};

}  // namespace accelscope
