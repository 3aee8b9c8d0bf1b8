// The Python module _accelscope: the collector's functions for the package around it.
#include <string>

#include "capture/probe/python/collector.h"

namespace accelscope::probe::python {
namespace {

[[nodiscard]] PyObject* none() {
  Py_INCREF(Py_None);
  return Py_None;
}

// str() of it; "" of None.
[[nodiscard]] bool read_text(PyObject* object, std::string& text) {
  if (object == nullptr || object == Py_None) return true;
  const Reference shown(PyObject_Str(object));
  if (!shown) return false;
  text = text_of(shown.get());
  return true;
}

PyObject* set_up(PyObject* module, PyObject* arguments) {
  const char* folder = nullptr;
  if (PyArg_ParseTuple(arguments, "s", &folder) == 0) return nullptr;
  PyObject* profile = PyObject_GetAttrString(module, "take_up_profile");
  PyObject* trace = PyObject_GetAttrString(module, "take_up_trace");
  if (profile == nullptr || trace == nullptr) return nullptr;
  Collector::get().set_own_folder(folder);
  Collector::get().set_functions(profile, trace);
  return none();
}

template <bool (*kAsk)(Collector&)>
PyObject* answer(PyObject*, PyObject*) {
  return PyBool_FromLong(kAsk(Collector::get()) ? 1 : 0);
}

template <void (Collector::*kDo)() noexcept>
PyObject* call(PyObject*, PyObject*) {
  (Collector::get().*kDo)();
  return none();
}

template <void (Channel::*kDo)() noexcept>
PyObject* call_channel(PyObject*, PyObject*) {
  (Collector::get().channel().*kDo)();
  return none();
}

PyObject* setting(PyObject*, PyObject* name) {
  const std::string value = Collector::get().channel().setting(text_of(name));
  return PyUnicode_DecodeFSDefaultAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
}

PyObject* take_up_profile(PyObject*, PyObject* arguments) {
  PyObject* frame = nullptr;
  const char* event = nullptr;
  PyObject* argument = nullptr;
  if (PyArg_ParseTuple(arguments, "OsO", &frame, &event, &argument) == 0) return nullptr;
  Collector::get().take_up_profile(frame, event, argument);
  return none();
}

PyObject* signpost(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"header", "message", nullptr};
  PyObject* header = nullptr;
  PyObject* message = nullptr;
  // The names are not written to: the parameter's type is older than const.
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:signpost", const_cast<char**>(names), &header, &message) ==
      0) {
    return nullptr;
  }
  std::string first;
  std::string second;
  if (!read_text(header, first) || !read_text(message, second)) return nullptr;
  Collector::get().signpost(first, second);
  return none();
}

PyObject* annotate(PyObject*, PyObject* object) {
  std::string text;
  if (!read_text(object, text)) return nullptr;
  Collector::get().annotate(text);
  return none();
}

PyObject* meta(PyObject*, PyObject* arguments) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  std::string key_text;
  std::string value_text;
  if (PyArg_ParseTuple(arguments, "OO", &key, &value) == 0 || !read_text(key, key_text) ||
      !read_text(value, value_text))
    return nullptr;
  Collector::get().meta(key_text, value_text);
  return none();
}

// As gc.callbacks are called: ("start" or "stop", {"generation": ..., "collected": ...}).
PyObject* collection(PyObject*, PyObject* arguments) {
  const char* phase = nullptr;
  PyObject* facts = nullptr;
  if (PyArg_ParseTuple(arguments, "sO", &phase, &facts) == 0) return nullptr;
  const bool begins = std::string_view(phase) == "start";
  PyObject* value = PyDict_GetItemString(facts, begins ? "generation" : "collected");
  const unsigned long number = value != nullptr ? PyLong_AsUnsignedLong(value) : 0;
  PyErr_Clear();
  Collector::get().collection(begins, static_cast<std::uint32_t>(number));
  return none();
}

PyObject* now(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(now_ticks()); }

PyObject* test_begins(PyObject*, PyObject* arguments) {
  unsigned int phase = 0;
  PyObject* id = nullptr;
  PyObject* file = nullptr;
  unsigned int line = 0;
  std::string id_text;
  std::string file_text;
  if (PyArg_ParseTuple(arguments, "IOOI", &phase, &id, &file, &line) == 0 || !read_text(id, id_text) ||
      !read_text(file, file_text)) {
    return nullptr;
  }
  Collector::get().test_begins(static_cast<TestPhase>(phase), id_text, file_text, line);
  return none();
}

PyObject* test_ends(PyObject*, PyObject* arguments) {
  unsigned int phase = 0;
  unsigned long long ticks = 0;
  PyObject* outcome = nullptr;
  std::string text;
  if (PyArg_ParseTuple(arguments, "IKO", &phase, &ticks, &outcome) == 0 || !read_text(outcome, text)) return nullptr;
  Collector::get().test_ends(static_cast<TestPhase>(phase), ticks, text);
  return none();
}

PyMethodDef methods[] = {
    {"set_up", set_up, METH_VARARGS, "Connects to a capture, if there is one; the other functions come after."},
    {"attached", answer<[](Collector& of) { return of.attached(); }>, METH_NOARGS,
     "Whether there is a capture; it may be paused."},
    {"collecting", answer<[](Collector& of) { return of.collecting(); }>, METH_NOARGS,
     "Whether a capture takes what this process tells now."},
    {"ending", answer<[](Collector& of) { return of.channel().ending(); }>, METH_NOARGS,
     "Whether the capture ends in a moment, and waits for what is held back."},
    {"flushes_at_end", call_channel<&Channel::flushes_at_end>, METH_NOARGS, nullptr},
    {"flushed", call_channel<&Channel::flushed>, METH_NOARGS, nullptr},
    {"setting", setting, METH_O, "As the capture's user chose it; \"\" if there is none of that name."},
    {"wants_collections", answer<[](Collector& of) { return of.choice().collections; }>, METH_NOARGS, nullptr},
    {"start", call<&Collector::start>, METH_NOARGS, nullptr},
    {"enter_region", call<&Collector::enter_region>, METH_NOARGS, nullptr},
    {"leave_region", call<&Collector::leave_region>, METH_NOARGS, nullptr},
    {"finish", call<&Collector::finish>, METH_NOARGS, nullptr},
    {"take_up_profile", take_up_profile, METH_VARARGS, nullptr},
    {"take_up_trace", call<&Collector::take_up_trace>, METH_VARARGS, nullptr},
    {"signpost", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(signpost)), METH_VARARGS | METH_KEYWORDS,
     "signpost(header, message=None)\n--\n\nMark this moment on the timeline."},
    {"annotate", annotate, METH_O, nullptr},
    {"meta", meta, METH_VARARGS, nullptr},
    {"collection", collection, METH_VARARGS, nullptr},
    {"now", now, METH_NOARGS, nullptr},
    {"test_begins", test_begins, METH_VARARGS, nullptr},
    {"test_ends", test_ends, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_accelscope", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace accelscope::probe::python

// NOLINTNEXTLINE(bugprone-reserved-identifier): Python looks for this name
extern "C" __attribute__((visibility("default"))) PyObject* PyInit__accelscope() {
  using namespace accelscope::probe::python;
  return PyModule_Create(&definition);
}
