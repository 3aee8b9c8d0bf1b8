#include "capture/probe/python/code_table.h"

#include <algorithm>

#include "capture/probe/bodies.h"

namespace accelscope::probe::python {
namespace {

[[nodiscard]] bool in_module(std::string_view module, const std::string& wanted) {
  return module.starts_with(wanted) && (module.size() == wanted.size() || module[wanted.size()] == '.');
}

[[nodiscard]] std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

// What runs before the first line of a program or of a thread of the threading module.
[[nodiscard]] bool only_starts(std::string_view file, std::string_view name) {
  if (file == "<frozen runpy>" || file.ends_with("/runpy.py")) {
    return name == "_run_module_as_main" || name == "_run_code";
  }
  return file.ends_with("/threading.py") && (name == "Thread._bootstrap" || name == "Thread._bootstrap_inner");
}

// "list.append", also where it is called on an object of a class made from list.
[[nodiscard]] std::string native_name(PyObject* function) {
  const std::string plain = text_attribute(function, "__name__");
  const Reference self(PyObject_GetAttrString(function, "__self__"));
  PyErr_Clear();
  if (self && self.get() != Py_None && !PyType_Check(self.get()) && !plain.empty()) {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(self.get()));
    if (text_attribute(type, "__name__") != "module") {
      const Reference described(PyObject_GetAttrString(type, plain.c_str()));
      PyErr_Clear();
      std::string name = described ? text_attribute(described.get(), "__qualname__") : std::string();
      if (!name.empty()) return name;
    }
  }
  std::string name = text_attribute(function, "__qualname__");
  return name.empty() ? plain : name;
}

}  // namespace

std::string text_of(PyObject* text) {
  std::string result;
  if (text != nullptr && PyUnicode_Check(text) != 0) {
    // Names may hold what UTF-8 has no bytes for.
    const Reference bytes(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
    if (bytes) result.assign(PyBytes_AsString(bytes.get()), static_cast<std::size_t>(PyBytes_Size(bytes.get())));
  }
  PyErr_Clear();
  return result;
}

std::string text_attribute(PyObject* object, const char* name) {
  const Reference value(PyObject_GetAttrString(object, name));
  PyErr_Clear();
  return text_of(value.get());
}

std::uint32_t number_attribute(PyObject* object, const char* name) {
  const Reference value(PyObject_GetAttrString(object, name));
  const long number = value ? PyLong_AsLong(value.get()) : 0;
  PyErr_Clear();
  return number > 0 ? static_cast<std::uint32_t>(number) : 0;
}

void CodeTable::set_filter(std::string_view only, std::string_view skipped) {
  only_ = split_names(only);
  skipped_ = split_names(skipped);
}

bool CodeTable::wanted(std::string_view module) const noexcept {
  const auto holds = [module](const std::string& name) { return in_module(module, name); };
  if (std::any_of(skipped_.begin(), skipped_.end(), holds)) return false;
  return only_.empty() || std::any_of(only_.begin(), only_.end(), holds);
}

void CodeTable::tell(CodeEntry& entry, const std::string& facts, Channel& channel) noexcept {
  const std::uint32_t generation = channel.generation();
  if (told_generation_ != generation) {
    told_generation_ = generation;
    next_number_ = 0;
    told_.clear();
  }
  entry.generation = generation;
  const auto [at, is_new] = told_.try_emplace(facts, next_number_);
  entry.number = at->second;
  if (is_new) channel.define(kDefineCode, BodyWriter().number(next_number_++).bytes() + facts);
}

CodeEntry& CodeTable::add(const void* key) noexcept {
  if ((used_ + 1) * 2 > entries_.size()) make_room();
  CodeEntry& entry = slot(key);
  if (entry.key == nullptr) {
    entry.key = key;
    ++used_;
  }
  return entry;
}

void CodeTable::make_room() noexcept {
  constexpr std::size_t kWorthSweeping = 16U << 10;
  std::vector<PyObject*> unused;
  std::vector<CodeEntry> kept;
  for (const CodeEntry& entry : entries_) {
    if (entry.key == nullptr) continue;
    auto* code = static_cast<PyObject*>(const_cast<void*>(entry.key));  // NOLINT: the table holds it
    if (entry.is_code && entries_.size() >= kWorthSweeping && Py_REFCNT(code) == 1) {
      unused.push_back(code);
    } else {
      kept.push_back(entry);
    }
  }
  std::vector<CodeEntry> larger(kept.size() * 4 > entries_.size() ? entries_.size() * 2 : entries_.size());
  entries_.swap(larger);
  for (const CodeEntry& entry : kept) slot(entry.key) = entry;
  used_ = kept.size();
  for (PyObject* code : unused) Py_DECREF(code);
}

const CodeEntry& CodeTable::tell_code(PyFrameObject* frame, PyObject* code, Channel& channel) noexcept {
  const SavedException saved;
  const std::string file = text_attribute(code, "co_filename");
  std::string name = text_attribute(code, "co_qualname");
  const Reference globals(frame != nullptr ? PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_globals")
                                           : nullptr);
  const std::string module = globals ? text_of(PyDict_GetItemString(globals.get(), "__name__")) : std::string();
  PyErr_Clear();
  const std::uint32_t first_line = number_attribute(code, "co_firstlineno");
  if (name.empty()) name = names_.of(code, text_attribute(code, "co_name"), first_line, globals.get());
  const std::uint32_t flags = number_attribute(code, "co_flags") & ~kNativeCode;
  CodeEntry& entry = add(code);
  if (!entry.is_code) {
    entry.is_code = true;
    Py_INCREF(code);
    const bool own = !own_folder_.empty() && file.starts_with(own_folder_);
    entry.start = own || only_starts(file, name);
    entry.ignored = own || !wanted(module);
    entry.lineless = file.starts_with("<frozen ");
  }
  tell(entry, BodyWriter().number(first_line).number(flags).text(file).text(name).text(module).bytes(), channel);
  return entry;
}

const CodeEntry& CodeTable::tell_native(PyObject* function, const void* key, Channel& channel) noexcept {
  const SavedException saved;
  const std::string name = native_name(function);
  const std::string module = text_attribute(function, "__module__");
  CodeEntry& entry = add(key);
  if (entry.generation == 0) {
    if (key == function) Py_INCREF(function);  // its address is all there is to know it by
    entry.ignored = module.ends_with("_accelscope");
  }
  tell(entry, BodyWriter().number(0U).number(kNativeCode).text("").text(name).text(module).bytes(), channel);
  return entry;
}

}  // namespace accelscope::probe::python
