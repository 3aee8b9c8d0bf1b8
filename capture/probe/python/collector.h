// Listens to the interpreter and tells the channel: calls and returns of all threads, lines by choice, the garbage
// collector. All functions need the interpreter's lock.
//
//   Collector& collector = Collector::get();
//   collector.start(true);          // from the first line of the program's own code on
//   collector.enter_region();       // or: what runs until leave_region()
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "capture/probe/python/code_table.h"
#include "capture/probe/python/records.h"

namespace accelscope::probe::python {

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
  [[nodiscard]] ThreadRing* told_ring() noexcept;
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
  bool waits_for_program_ = false;       // for the first statement of __main__
  std::atomic<std::uint32_t> epoch_{1};  // changes whenever each thread has to tell its running calls anew
  std::uint64_t end_ticks_ = 0;          // of the last region; 0: there was none in this process
  std::uint32_t told_generation_ = 0;    // of the channel that was told of the process
};

}  // namespace accelscope::probe::python
