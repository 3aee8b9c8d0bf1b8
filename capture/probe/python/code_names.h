// Qualified names of code objects ("Model.forward") where they do not know them themselves: before Python 3.11. A
// module's code holds that of its functions and classes; what was imported earlier is found through the module's
// contents. It holds no references, so that nothing lives longer than without it. Used with the interpreter's lock
// held only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "capture/probe/python/api.h"

namespace accelscope::probe::python {

class CodeNames {
 public:
  // `plain`: its co_name. `globals`: of a frame that runs it; may be null.
  [[nodiscard]] std::string of(PyObject* code, const std::string& plain, std::uint32_t first_line, PyObject* globals);

 private:
  struct Known {
    std::string name;
    std::uint32_t first_line = 0;  // another code object may come to lie at the same address
  };

  void learn(PyObject* code, const std::string& name, int depth);
  void learn_within(PyObject* code, const std::string& prefix, int depth);
  void learn_contents(PyObject* contents, const std::string& module, int depth);
  [[nodiscard]] const Known* find(PyObject* code, std::uint32_t first_line) const;

  std::unordered_map<const void*, Known> codes_;
  std::unordered_map<const void*, Py_ssize_t> modules_;  // contents that were looked through, and how many they were
};

}  // namespace accelscope::probe::python
