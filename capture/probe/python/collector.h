// Listens to the interpreter and tells the channel: calls and returns of all threads, lines by choice, the garbage
// collector. All functions need the interpreter's lock.
//
//   Collector& collector = Collector::get();
//   collector.start(true);          // from the first line of the program's own code on
//   collector.enter_region();       // or: what runs until leave_region()
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/probe/client/channel.h"
#include "capture/probe/python/api.h"
#include "capture/probe/python/records.h"

namespace accelscope::probe::python {

// Numbers for code objects and built-in functions, found by their address. The table holds a reference to each code
// object, so that no address comes back as something else; codes that nobody else holds any more (of eval and exec)
// are let go when the table grows. Used with the interpreter's lock held only.

// Qualified names of code objects ("Model.forward") where they do not know them themselves: before Python 3.11. A
// module's code holds that of its functions and classes; what was imported earlier is found through the module's
// contents. It holds no references, so that nothing lives longer than without it. Used with the interpreter's lock
// held only.

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

  // Reported to the channel if they are new to it.
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
  std::uint32_t reported_generation_ = 0;
  std::unordered_map<std::string, std::uint32_t> reported_;  // facts to numbers
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

struct CollectorChoice {
  bool regions_only = false;  // what runs between enter_region and leave_region, instead of everything
  bool lines = false;
  bool natives = true;
  bool collections = true;  // of the garbage collector
};

class Collector {
 public:
  // One for the process, never destroyed: threads may outlive the interpreter. Connects at the first use.
  [[nodiscard]] static Collector& get() noexcept;

  // What is not shown: the files of the package itself.
  void set_own_folder(std::string_view folder) noexcept { codes_.set_own_folder(std::string(folder)); }
  [[nodiscard]] bool attached() const noexcept { return channel_.attached(); }
  [[nodiscard]] bool collecting() const noexcept { return channel_.collecting(); }
  [[nodiscard]] const CollectorChoice& choice() const noexcept { return choice_; }
  [[nodiscard]] Channel& channel() noexcept { return channel_; }

  // Everything from the first statement of the module __main__ on; nothing if only regions are wanted.
  void start() noexcept;
  void enter_region() noexcept;  // may nest
  void leave_region() noexcept;
  void finish() noexcept;  // the program is over

  // In a thread that begins, or whose profile or trace function was set by the program: with the first event since.
  void take_up_profile(PyObject* frame, std::string_view event, PyObject* argument) noexcept;
  void take_up_trace() noexcept;

  void signpost(std::string_view header, std::string_view message) noexcept;
  void annotate(std::string_view text) noexcept;
  void meta(std::string_view key, std::string_view value) noexcept;
  void collection(bool begins, std::uint32_t value) noexcept;
  void test_begins(TestPhase phase, std::string_view id, std::string_view file, std::uint64_t line) noexcept;
  void test_ends(TestPhase phase, std::uint64_t ticks, std::string_view outcome) noexcept;

  // What sys.getprofile() and sys.gettrace() give while this collects: functions in Python that call take_up_profile
  // and take_up_trace. Programs hand them back to the interpreter. References that are kept.
  void set_functions(PyObject* profile, PyObject* trace) noexcept {
    profile_function_ = profile;
    trace_function_ = trace;
  }

 private:
  Collector() noexcept;
  static int on_event(PyObject* self, PyFrameObject* frame, int what, PyObject* argument) noexcept;
  static int on_line(PyObject* self, PyFrameObject* frame, int what, PyObject* argument) noexcept;
  static void after_fork() noexcept;

  void configure(std::string_view overrides) noexcept;
  // Of this thread once its running calls have been told. Null: nothing is collected now.
  [[nodiscard]] ThreadRing* reported_ring() noexcept;
  [[nodiscard]] ThreadRing* ready_ring(PyFrameObject* frame, bool is_call) noexcept;
  [[nodiscard]] ThreadRing* prepare(PyFrameObject* frame, bool is_call) noexcept;
  [[nodiscard]] bool begins_program(PyFrameObject* frame) const noexcept;
  void tell_running(ThreadRing& ring, PyFrameObject* frame, bool with_frame) noexcept;
  [[nodiscard]] ThreadRing* own_ring() noexcept;
  void tell_process() noexcept;
  void tell_thread_name() noexcept;
  void tell_replaced(const char* getter, const PyObject* own, NoteKind note) noexcept;
  void hook_all_threads(bool on) noexcept;
  void hook_new_threads(bool on) noexcept;
  void end_collection() noexcept;
  void put_text(RecordHead head, std::uint64_t ticks, std::string_view first, std::string_view second,
                std::uint64_t number) noexcept;

  Channel channel_{"python"};
  CodeTable codes_;
  CollectorChoice choice_;
  PyObject* profile_function_ = nullptr;
  PyObject* trace_function_ = nullptr;
  PyObject* threads_hook_ = nullptr;  // what it called before
  std::uint32_t regions_ = 0;         // entered and not left
  bool everything_ = false;           // regions mean nothing
  bool hooked_ = false;
  bool tells_raises_as_none_ = false;
  bool waits_for_program_ = false;         // for the first statement of __main__
  std::atomic<std::uint32_t> epoch_{1};    // changes whenever each thread has to tell its running calls anew
  std::uint64_t end_ticks_ = 0;            // of the last region; 0: there was none in this process
  std::uint32_t reported_generation_ = 0;  // of the channel that was told of the process
};

}  // namespace accelscope::probe::python
