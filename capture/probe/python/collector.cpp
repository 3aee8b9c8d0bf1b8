#include "capture/probe/python/collector.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "capture/probe/bodies.h"

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
  if (reported_generation_ != generation) {
    reported_generation_ = generation;
    next_number_ = 0;
    reported_.clear();
  }
  entry.generation = generation;
  const auto [at, is_new] = reported_.try_emplace(facts, next_number_);
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
  std::vector<CodeEntry> retained;
  for (const CodeEntry& entry : entries_) {
    if (entry.key == nullptr) continue;
    auto* code = static_cast<PyObject*>(const_cast<void*>(entry.key));  // NOLINT: the table holds it
    if (entry.is_code && entries_.size() >= kWorthSweeping && Py_REFCNT(code) == 1) {
      unused.push_back(code);
    } else {
      retained.push_back(entry);
    }
  }
  std::vector<CodeEntry> larger(retained.size() * 4 > entries_.size() ? entries_.size() * 2 : entries_.size());
  entries_.swap(larger);
  for (const CodeEntry& entry : retained) slot(entry.key) = entry;
  used_ = retained.size();
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

namespace {

struct ThreadState {
  std::uint32_t epoch = 0;          // in which its running calls were told; 0: never
  std::uint64_t stopped_ticks = 0;  // when it saw that nothing is taken; 0: it did not
};

constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

using SetOfThread = int (*)(PyThreadState* thread, PyTraceFunction function, PyObject* self);
using SetOfAll = void (*)(PyTraceFunction function, PyObject* self);
using FirstThread = PyThreadState* (*)(PyInterpreterState* interpreter);
using NextThread = PyThreadState* (*)(PyThreadState* thread);

template <typename Function>
[[nodiscard]] Function find(const char* name) noexcept {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

// In all threads that there are: by one call since 3.12, thread by thread before.
void set_everywhere(const char* of_all, const char* of_thread, PyTraceFunction function, PyObject* self) noexcept {
  const SavedException saved;
  if (const auto set_all = find<SetOfAll>(of_all)) {
    set_all(function, self);
    return;
  }
  const auto set = find<SetOfThread>(of_thread);
  const auto first = find<FirstThread>("PyInterpreterState_ThreadHead");
  const auto next = find<NextThread>("PyThreadState_Next");
  if (set == nullptr || first == nullptr || next == nullptr) return;
  for (PyThreadState* thread = first(PyInterpreterState_Get()); thread != nullptr; thread = next(thread)) {
    static_cast<void>(set(thread, function, self));
  }
  PyErr_Clear();
}

// "on" for "line-times" of "functions=all;line-times=on".
[[nodiscard]] std::string_view setting_of(std::string_view settings, std::string_view name) noexcept {
  while (!settings.empty()) {
    const std::size_t end = std::min(settings.find(';'), settings.size());
    const std::string_view one = settings.substr(0, end);
    if (one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=')
      return one.substr(name.size() + 1);
    settings.remove_prefix(std::min(end + 1, settings.size()));
  }
  return {};
}

[[nodiscard]] std::string_view cut(std::string_view text) noexcept {
  if (text.size() <= kMaxTextBytes) return text;
  std::size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end);
}

[[nodiscard]] PyObject* object_of(PyFrameObject* frame) noexcept { return reinterpret_cast<PyObject*>(frame); }

// The interpreter holds the code while its frame runs.
[[nodiscard]] PyObject* code_of(PyFrameObject* frame) noexcept {
  auto* code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
  Py_DECREF(code);
  return code;
}

// Python 3.12 tells of a function that an exception leaves what it tells of one that gives None.
[[nodiscard]] bool tells_raises_as_none() noexcept {
  PyObject* version = PySys_GetObject("hexversion");
  return version != nullptr && PyLong_AsLong(version) >> 16 == 0x030C;
}

// There the last instruction says which it was: RETURN_GENERATOR, RETURN_VALUE, RETURN_CONST or YIELD_VALUE, or
// another.
[[nodiscard]] bool leaves_by_exception(PyFrameObject* frame) noexcept {
  constexpr std::array<unsigned char, 4> kLeaving = {75, 83, 121, 150};
  const SavedException saved;
  const Reference last(PyObject_GetAttrString(object_of(frame), "f_lasti"));
  const Reference code(PyObject_GetAttrString(code_of(frame), "co_code"));
  const Py_ssize_t at = last ? PyLong_AsSsize_t(last.get()) : -1;
  if (!code || at < 0 || at >= PyBytes_Size(code.get())) return false;
  const auto instruction = static_cast<unsigned char>(PyBytes_AsString(code.get())[at]);
  return std::find(kLeaving.begin(), kLeaving.end(), instruction) == kLeaving.end();
}

// Of a module that has been imported; null: it was not, or has none.
[[nodiscard]] PyObject* new_attribute(const char* module, const char* name) noexcept {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* found = modules != nullptr ? PyDict_GetItemString(modules, module) : nullptr;
  PyObject* attribute = found != nullptr && found != Py_None ? PyObject_GetAttrString(found, name) : nullptr;
  PyErr_Clear();
  return attribute;
}

[[nodiscard]] TimeRecord time_record(std::uint16_t type, std::uint32_t value, std::uint64_t ticks) noexcept {
  return {{type, sizeof(TimeRecord) / 8, value}, ticks};
}

// In the environment: settings that come before those of the agent's user, "functions=enabled;line-times=on".
constexpr const char* kSettingsVariable = "ACCELSCOPE_PYTHON";

Collector* the_collector = nullptr;  // as in get(); the hooks have no time for more

}  // namespace

Collector& Collector::get() noexcept {
  alignas(Collector) static std::byte room[sizeof(Collector)];
  if (the_collector == nullptr) the_collector = new (room) Collector;
  return *the_collector;
}

Collector::Collector() noexcept {
  ::pthread_atfork(nullptr, nullptr, after_fork);
  const char* overrides = std::getenv(kSettingsVariable);
  configure(overrides != nullptr ? overrides : "");
  tells_raises_as_none_ = tells_raises_as_none();
}

// Another process, with rings and numbers of its own.
void Collector::after_fork() noexcept {
  if (the_collector == nullptr) return;
  the_collector->epoch_.fetch_add(1, std::memory_order_relaxed);
  the_collector->end_ticks_ = 0;
  thread_state = {};
}

void Collector::configure(std::string_view overrides) noexcept {
  const auto chosen = [&](std::string_view name) {
    const std::string_view first = setting_of(overrides, name);
    return first.empty() ? channel_.setting(name) : std::string(first);
  };
  choice_.regions_only = chosen("functions") == "enabled";
  choice_.lines = chosen("line-times") == "on";
  choice_.natives = chosen("c-functions") != "off";
  choice_.collections = chosen("gc") != "off";
  codes_.set_filter(chosen("only-modules"), chosen("skip-modules"));
}

void Collector::hook_all_threads(bool on) noexcept {
  hooked_ = on;
  if (on) hook_new_threads(true);  // first, as it runs code in Python itself
  set_everywhere("PyEval_SetProfileAllThreads", "_PyEval_SetProfile", on ? on_event : nullptr,
                 on ? profile_function_ : nullptr);
  if (choice_.lines) {
    set_everywhere("PyEval_SetTraceAllThreads", "_PyEval_SetTrace", on ? on_line : nullptr,
                   on ? trace_function_ : nullptr);
  }
  if (!on) hook_new_threads(false);
}

void Collector::hook_new_threads(bool on) noexcept {
  const SavedException saved;
  const Reference threading(PyImport_ImportModule("threading"));
  if (threading && profile_function_ != nullptr) {
    if (on) {
      Py_XDECREF(threads_hook_);
      // The function that says so is there since 3.10.
      threads_hook_ = PyObject_GetAttrString(threading.get(), "_profile_hook");
      PyErr_Clear();
    }
    PyObject* hook = on ? profile_function_ : threads_hook_ != nullptr ? threads_hook_ : Py_None;
    const Reference done(PyObject_CallMethod(threading.get(), "setprofile", "O", hook));
  }
  PyErr_Clear();
}

void Collector::start() noexcept {
  if (choice_.regions_only || hooked_ || !attached()) return;
  everything_ = true;
  waits_for_program_ = true;
  hook_all_threads(true);
}

void Collector::enter_region() noexcept {
  if (++regions_ > 1 || everything_ || !attached()) return;
  epoch_.fetch_add(1, std::memory_order_relaxed);
  hook_all_threads(true);
  if (PyFrameObject* frame = PyEval_GetFrame()) static_cast<void>(prepare(frame, false));
}

void Collector::leave_region() noexcept {
  if (regions_ == 0 || --regions_ > 0 || everything_ || !hooked_) return;
  end_collection();
}

void Collector::finish() noexcept {
  if (!hooked_) return;
  tell_replaced("getprofile", profile_function_, NoteKind::profile_replaced);
  if (choice_.lines) tell_replaced("gettrace", trace_function_, NoteKind::trace_replaced);
  end_collection();
}

void Collector::end_collection() noexcept {
  hook_all_threads(false);
  end_ticks_ = now_ticks();
  if (ThreadRing* ring = reported_ring()) ring->put(time_record(kRegionEnd, 0, end_ticks_));
  epoch_.fetch_add(1, std::memory_order_relaxed);
}

void Collector::tell_replaced(const char* getter, const PyObject* own, NoteKind note) noexcept {
  const SavedException saved;
  const Reference get(new_attribute("sys", getter));
  const Reference set(get ? PyObject_CallObject(get.get(), nullptr) : nullptr);
  PyErr_Clear();
  if (!set || set.get() == own || reported_generation_ != channel_.generation()) return;
  channel_.define(kDefineNote, std::string_view(reinterpret_cast<const char*>(&note), sizeof note));
}

void Collector::take_up_profile(PyObject* frame, std::string_view event, PyObject* argument) noexcept {
  PyEval_SetProfile(hooked_ ? on_event : nullptr, hooked_ ? profile_function_ : nullptr);
  if (!hooked_) return;
  if (thread_state.epoch == 0) take_up_trace();
  thread_state.epoch = 0;  // calls may have come and gone meanwhile
  constexpr std::pair<std::string_view, TraceEvent> kEvents[] = {{"call", kTraceCall},
                                                                 {"return", kTraceReturn},
                                                                 {"c_call", kTraceCCall},
                                                                 {"c_return", kTraceCReturn},
                                                                 {"c_exception", kTraceCException}};
  for (const auto& [name, what] : kEvents) {
    if (event == name) on_event(profile_function_, reinterpret_cast<PyFrameObject*>(frame), what, argument);
  }
}

void Collector::take_up_trace() noexcept {
  if (choice_.lines) PyEval_SetTrace(hooked_ ? on_line : nullptr, hooked_ ? trace_function_ : nullptr);
}

ThreadRing* Collector::reported_ring() noexcept {
  return thread_state.epoch == epoch_.load(std::memory_order_relaxed) ? channel_.ring() : nullptr;
}

ThreadRing* Collector::ready_ring(PyFrameObject* frame, bool is_call) noexcept {
  ThreadRing* ring = reported_ring();
  return ring != nullptr ? ring : prepare(frame, is_call);
}

int Collector::on_event(PyObject*, PyFrameObject* frame, int what, PyObject* argument) noexcept {
  Collector& collector = *the_collector;
  if (what >= kTraceCCall && !collector.choice_.natives) return 0;
  ThreadRing* ring = collector.ready_ring(frame, what == kTraceCall);
  if (ring == nullptr) return 0;
  const CodeEntry& code = collector.codes_.of(frame, code_of(frame), collector.channel_);
  if (code.ignored) return 0;
  std::uint16_t type = kCall;
  std::uint32_t number = code.number;
  if (what == kTraceReturn) {
    const bool raises =
        argument == nullptr || (collector.tells_raises_as_none_ && argument == Py_None && leaves_by_exception(frame));
    type = raises ? kRaise : kReturn;
  }
  if (what >= kTraceCCall) {
    const CodeEntry& native = collector.codes_.of_native(argument, collector.channel_);
    if (native.ignored) return 0;
    number = native.number;
    type = what == kTraceCCall ? kCall : what == kTraceCReturn ? kReturn : kRaise;
  }
  ring->put(time_record(type, number, now_ticks()));
  return 0;
}

int Collector::on_line(PyObject*, PyFrameObject* frame, int what, PyObject*) noexcept {
  if (what != kTraceLine) return 0;
  Collector& collector = *the_collector;
  ThreadRing* ring = collector.ready_ring(frame, false);
  if (ring == nullptr) return 0;
  const CodeEntry& code = collector.codes_.of(frame, code_of(frame), collector.channel_);
  if (code.ignored || code.lineless) return 0;
  const int line = PyFrame_GetLineNumber(frame);
  ring->put(LineRecord{{kLine, sizeof(LineRecord) / 8, code.number}, now_ticks(), static_cast<std::uint64_t>(line)});
  return 0;
}

ThreadRing* Collector::prepare(PyFrameObject* frame, bool is_call) noexcept {
  ThreadState& thread = thread_state;
  const std::uint32_t epoch = epoch_.load(std::memory_order_relaxed);
  const bool begins = waits_for_program_ && is_call && begins_program(frame);
  if (waits_for_program_ && !begins) return nullptr;
  waits_for_program_ = false;
  if (!channel_.collecting()) {
    if (thread.epoch == epoch) thread.stopped_ticks = now_ticks();
    thread.epoch = 0;
    if (!channel_.attached()) {
      PyEval_SetProfile(nullptr, nullptr);
      if (choice_.lines) PyEval_SetTrace(nullptr, nullptr);
    }
    return nullptr;
  }
  tell_thread_name();
  ThreadRing* ring = own_ring();
  if (ring == nullptr) return nullptr;
  ring->put(BaseRecord{
      {kBase, sizeof(BaseRecord) / 8, 0}, now_ticks(), thread.stopped_ticks != 0 ? thread.stopped_ticks : end_ticks_});
  if (!begins) tell_running(*ring, frame, !is_call);
  thread = {epoch, 0};
  return ring;
}

// Modules that are imported before, and what site does, are no part of the program.
bool Collector::begins_program(PyFrameObject* frame) const noexcept {
  const SavedException saved;
  if (text_attribute(code_of(frame), "co_name") != "<module>") return false;
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* main = modules != nullptr ? PyDict_GetItemString(modules, "__main__") : nullptr;
  const Reference globals(PyObject_GetAttrString(object_of(frame), "f_globals"));
  PyErr_Clear();
  return main != nullptr && globals && PyModule_Check(main) && PyModule_GetDict(main) == globals.get();
}

void Collector::tell_running(ThreadRing& ring, PyFrameObject* frame, bool with_frame) noexcept {
  const SavedException saved;
  std::vector<std::pair<std::uint32_t, bool>> running;  // innermost first: number, only starts the program
  PyFrameObject* at = frame;
  Py_INCREF(object_of(at));
  bool taken = with_frame;
  while (at != nullptr) {
    if (taken) {
      const CodeEntry& code = codes_.of(at, code_of(at), channel_);
      if (!code.ignored || code.start) running.emplace_back(code.number, code.start);
    }
    taken = true;
    PyFrameObject* back = PyFrame_GetBack(at);
    Py_DECREF(object_of(at));
    at = back;
  }
  while (!running.empty() && running.back().second) running.pop_back();
  const std::uint64_t now = now_ticks();
  for (auto one = running.rbegin(); one != running.rend(); ++one) {
    if (!one->second) ring.put(time_record(kRunning, one->first, now));
  }
}

ThreadRing* Collector::own_ring() noexcept {
  if (!channel_.collecting()) return nullptr;
  ThreadRing* ring = channel_.ring();
  if (ring != nullptr && reported_generation_ != channel_.generation()) tell_process();
  return ring;
}

void Collector::tell_process() noexcept {
  reported_generation_ = channel_.generation();
  const SavedException saved;
  std::string library;
  if (const Reference file(new_attribute("os", "__file__")); file) library = text_of(file.get());
  library.resize(library.find_last_of('/') == std::string::npos ? 0 : library.find_last_of('/'));
  std::string folder(4096, '\0');
  folder = ::getcwd(folder.data(), folder.size()) != nullptr ? folder.c_str() : "";
  meta(kLibraryKey, library);
  meta(kDirectoryKey, folder);
  meta("version", text_of(PySys_GetObject("version")));
}

void Collector::tell_thread_name() noexcept {
  const SavedException saved;
  const Reference active(new_attribute("threading", "_active"));
  const Reference number(PyLong_FromUnsignedLong(PyThread_get_thread_ident()));
  if (!active || !PyDict_Check(active.get()) || !number) return;
  PyObject* thread = PyDict_GetItemWithError(active.get(), number.get());
  const std::string name = thread != nullptr ? text_attribute(thread, "_name") : std::string();
  PyErr_Clear();
  if (!name.empty()) channel_.name_thread(name);
}

void Collector::put_text(RecordHead head, std::uint64_t ticks, std::string_view first, std::string_view second,
                         std::uint64_t number) noexcept {
  ThreadRing* ring = own_ring();
  if (ring == nullptr) return;
  first = cut(first);
  second = cut(second);
  ring->put_with_bytes(TextRecord{head, ticks, static_cast<std::uint32_t>(first.size()),
                                  static_cast<std::uint32_t>(second.size()), number},
                       first, second);
}

void Collector::signpost(std::string_view header, std::string_view message) noexcept {
  if (own_ring() == nullptr) return;
  const SavedException saved;
  std::uint32_t number = kNoCode;
  std::uint64_t line = 0;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(object_of(frame));
  while (frame != nullptr && number == kNoCode) {
    const CodeEntry& code = codes_.of(frame, code_of(frame), channel_);
    PyFrameObject* back = nullptr;
    if (code.start) {  // the package's own
      back = PyFrame_GetBack(frame);
    } else {
      number = code.number;
      line = static_cast<std::uint64_t>(std::max(PyFrame_GetLineNumber(frame), 0));
    }
    Py_DECREF(object_of(frame));
    frame = back;
  }
  put_text({kSignpost, 0, number}, now_ticks(), header, message, line);
}

void Collector::annotate(std::string_view text) noexcept { put_text({kAnnotation, 0, 0}, now_ticks(), text, {}, 0); }

void Collector::meta(std::string_view key, std::string_view value) noexcept {
  if (!channel_.attached()) return;
  channel_.define(kDefineMeta, BodyWriter().text(key).text(value).bytes());
}

void Collector::collection(bool begins, std::uint32_t value) noexcept {
  if (ThreadRing* ring = reported_ring()) ring->put(time_record(begins ? kGcBegin : kGcEnd, value, now_ticks()));
}

void Collector::test_begins(TestPhase phase, std::string_view id, std::string_view file, std::uint64_t line) noexcept {
  put_text({kTestBegin, 0, phase}, now_ticks(), id, file, line);
}

void Collector::test_ends(TestPhase phase, std::uint64_t ticks, std::string_view outcome) noexcept {
  put_text({kTestEnd, 0, phase}, ticks, outcome, {}, 0);
}

}  // namespace accelscope::probe::python
