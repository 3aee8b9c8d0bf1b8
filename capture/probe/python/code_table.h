// Numbers for code objects and built-in functions, found by their address. The table holds a reference to each code
// object, so that no address comes back as something else; codes that nobody else holds any more (of eval and exec)
// are let go when the table grows. Used with the interpreter's lock held only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/probe/client/channel.h"
#include "capture/probe/python/api.h"
#include "capture/probe/python/code_names.h"
#include "capture/probe/python/records.h"

namespace accelscope::probe::python {

struct CodeEntry {
  const void* key = nullptr;
  std::uint32_t number = 0;
  std::uint32_t generation = 0;  // of the channel to which it was told; 0: to none
  bool is_code = false;          // key is a code object, which the table holds
  bool ignored = false;          // of the collector itself, or not wanted
  bool start = false;            // only starts the program's own code
  bool lineless = false;         // has no source whose lines could be shown
};

class CodeTable {
 public:
  CodeTable() : entries_(kFirstSize) {}

  // "a,b.c": names of modules, with those inside them. Before the first use.
  void set_filter(std::string_view only, std::string_view skipped);
  void set_own_folder(std::string folder) { own_folder_ = std::move(folder); }

  // Told to the channel if they are new to it.
  [[nodiscard]] const CodeEntry& of(PyFrameObject* frame, PyObject* code, Channel& channel) noexcept {
    CodeEntry& entry = slot(code);
    if (entry.key == nullptr || entry.generation != channel.generation()) return tell_code(frame, code, channel);
    return entry;
  }
  [[nodiscard]] const CodeEntry& of_native(PyObject* function, Channel& channel) noexcept {
    const void* key = PyCFunction_Check(function) ? static_cast<const void*>(definition_of(function)) : function;
    CodeEntry& entry = slot(key);
    if (entry.key == nullptr || entry.generation != channel.generation()) return tell_native(function, key, channel);
    return entry;
  }

 private:
  static constexpr std::size_t kFirstSize = 4096;  // a power of two

  [[nodiscard]] static PyMethodDef* definition_of(PyObject* function) noexcept {
    return reinterpret_cast<NativeFunction*>(function)->definition;
  }
  [[nodiscard]] CodeEntry& slot(const void* key) noexcept {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = (reinterpret_cast<std::uintptr_t>(key) * 0x9e3779b97f4a7c15U) >> 32U;
    while (entries_[at & mask].key != nullptr && entries_[at & mask].key != key) ++at;
    return entries_[at & mask];
  }
  const CodeEntry& tell_code(PyFrameObject* frame, PyObject* code, Channel& channel) noexcept;
  const CodeEntry& tell_native(PyObject* function, const void* key, Channel& channel) noexcept;
  CodeEntry& add(const void* key) noexcept;
  void make_room() noexcept;
  // Code that was compiled anew from the same text keeps its number.
  void tell(CodeEntry& entry, const std::string& facts, Channel& channel) noexcept;
  [[nodiscard]] bool wanted(std::string_view module) const noexcept;

  std::vector<CodeEntry> entries_;  // open addressing, at most half full
  std::size_t used_ = 0;
  std::uint32_t next_number_ = 0;
  std::uint32_t told_generation_ = 0;
  std::unordered_map<std::string, std::uint32_t> told_;  // facts to numbers
  std::vector<std::string> only_;
  std::vector<std::string> skipped_;
  std::string own_folder_;
  CodeNames names_;
};

// "" if it has none. The exceptions of the calls are let go.
[[nodiscard]] std::string text_of(PyObject* text);
[[nodiscard]] std::string text_attribute(PyObject* object, const char* name);
// 0 if it has none, or one below.
[[nodiscard]] std::uint32_t number_attribute(PyObject* object, const char* name);

}  // namespace accelscope::probe::python
