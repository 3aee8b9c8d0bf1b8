// Python's C API as far as one library serves 3.9 and all later versions: the limited API, and the few functions
// outside of it that every version exports with the same signature.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000  // NOLINT: the name is Python's
#include <Python.h>

extern "C" {
using PyTraceFunction = int (*)(PyObject* self, PyFrameObject* frame, int what, PyObject* argument);
PyAPI_FUNC(void) PyEval_SetProfile(PyTraceFunction function, PyObject* self);
PyAPI_FUNC(void) PyEval_SetTrace(PyTraceFunction function, PyObject* self);
PyAPI_FUNC(PyFrameObject*) PyFrame_GetBack(PyFrameObject* frame);  // a new reference, or null
}

namespace accelscope::probe::python {

enum TraceEvent : int {
  kTraceCall,
  kTraceException,
  kTraceLine,
  kTraceReturn,
  kTraceCCall,
  kTraceCException,
  kTraceCReturn
};

// The beginning of a built-in function's object. Its definition lives as long as the function it describes, where the
// object itself is made anew for each bound call.
struct NativeFunction {
  PyObject head;
  PyMethodDef* definition;
};

// Owns a reference.
class Reference {
 public:
  explicit Reference(PyObject* object = nullptr) noexcept : object_(object) {}
  ~Reference() { Py_XDECREF(object_); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  [[nodiscard]] PyObject* get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// Keeps the exception that is on its way, and lets go of those that come up meanwhile.
class SavedException {
 public:
  SavedException() noexcept { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~SavedException() { PyErr_Restore(type_, value_, traceback_); }
  SavedException(const SavedException&) = delete;
  SavedException& operator=(const SavedException&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

}  // namespace accelscope::probe::python
