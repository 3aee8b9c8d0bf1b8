#include "capture/probe/python/code_names.h"

#include "capture/probe/python/code_table.h"

namespace accelscope::probe::python {
namespace {

constexpr int kMaxDepth = 16;                 // of functions and classes within one another
constexpr std::uint32_t kFunctionFlag = 0x2;  // CO_NEWLOCALS: bodies of classes and modules have none

[[nodiscard]] std::string type_name(PyObject* object) {
  return text_attribute(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__");
}

// The function in Python that it is or wraps; null: something else, which is not asked for anything, since that might
// run code of the program.
[[nodiscard]] PyObject* new_function_of(PyObject* object) {
  const std::string type = type_name(object);
  if (type == "function") {
    Py_INCREF(object);
    return object;
  }
  const bool method = type == "staticmethod" || type == "classmethod";
  if (!method && type != "property") return nullptr;
  PyObject* function = PyObject_GetAttrString(object, method ? "__func__" : "fget");
  if (function != nullptr && type_name(function) == "function") return function;
  Py_XDECREF(function);
  PyErr_Clear();
  return nullptr;
}

[[nodiscard]] bool ends_with_name(const std::string& qualified, const std::string& plain) {
  return qualified == plain || qualified.ends_with("." + plain);
}

}  // namespace

const CodeNames::Known* CodeNames::find(PyObject* code, std::uint32_t first_line) const {
  const auto found = codes_.find(code);
  return found != codes_.end() && found->second.first_line == first_line ? &found->second : nullptr;
}

std::string CodeNames::of(PyObject* code, const std::string& plain, std::uint32_t first_line, PyObject* globals) {
  if (plain == "<module>") {
    learn_within(code, "", 0);
    return plain;
  }
  const Known* known = find(code, first_line);
  if (known == nullptr && globals != nullptr) {
    const Py_ssize_t count = PyDict_Size(globals);
    const auto [looked, is_new] = modules_.try_emplace(globals, 0);
    if (is_new || looked->second != count) {
      looked->second = count;
      learn_contents(globals, text_of(PyDict_GetItemString(globals, "__name__")), 0);
      known = find(code, first_line);
    }
  }
  return known != nullptr && ends_with_name(known->name, plain) ? known->name : plain;
}

void CodeNames::learn(PyObject* code, const std::string& name, int depth) {
  const std::uint32_t first_line = number_attribute(code, "co_firstlineno");
  const Known* known = find(code, first_line);
  if (depth > kMaxDepth || (known != nullptr && known->name == name)) return;
  codes_[code] = {name, first_line};
  const bool function = (number_attribute(code, "co_flags") & kFunctionFlag) != 0;
  learn_within(code, name + (function ? ".<locals>." : "."), depth + 1);
}

void CodeNames::learn_within(PyObject* code, const std::string& prefix, int depth) {
  const Reference constants(PyObject_GetAttrString(code, "co_consts"));
  const Py_ssize_t count = constants && PyTuple_Check(constants.get()) ? PyTuple_Size(constants.get()) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* constant = PyTuple_GetItem(constants.get(), i);
    if (Py_TYPE(constant) == Py_TYPE(code)) learn(constant, prefix + text_attribute(constant, "co_name"), depth);
  }
  PyErr_Clear();
}

void CodeNames::learn_contents(PyObject* contents, const std::string& module, int depth) {
  // A list of its own: to look at a value may change what is looked through.
  const Reference values(depth > kMaxDepth ? nullptr : PyMapping_Values(contents));
  const Py_ssize_t count = values ? PyList_Size(values.get()) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* value = PyList_GetItem(values.get(), i);
    if (const Reference function(new_function_of(value)); function) {
      const Reference code(PyObject_GetAttrString(function.get(), "__code__"));
      const std::string name = text_attribute(function.get(), "__qualname__");
      // A decorator's function has the name of the one that it stands for.
      if (code && ends_with_name(name, text_attribute(code.get(), "co_name"))) learn(code.get(), name, depth);
    } else if (PyType_Check(value) && text_attribute(value, "__module__") == module) {
      const Reference inside(PyObject_GetAttrString(value, "__dict__"));
      if (inside) learn_contents(inside.get(), module, depth + 1);
    }
    PyErr_Clear();
  }
  PyErr_Clear();
}

}  // namespace accelscope::probe::python
