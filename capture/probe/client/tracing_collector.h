// A collector of what a vendor's library traces of the program around it, apart from whose library it is: a thread
// follows pauses, ranges and the end of the capture, flushes the library and reads its clock; ends of the program by
// exit and by signal, and its forks, are seen to. A probe has one, which is never destroyed.
//
//   class Collector final : public TracingCollector { ... };  // the virtual functions: how its library does it
//   const std::lock_guard lock(mutex_);
//   if (!claim()) return;
//   ...                          // finds the library, says what it traces
//   begin("accelscope CUDA");    // from now on; finish() at the program's exit
//
// State is made anew in a forked child, where the library does not work until the child starts it itself.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/probe/bodies.h"
#include "capture/probe/client/channel.h"
#include "capture/probe/client/ending_signals.h"
#include "capture/probe/client/names.h"
#include "capture/probe/tracing_format.h"

namespace accelscope::probe {

// The range between the library's own calls for it (cudaProfilerStart ...), as users name it.
constexpr const char* kProfilerRange = "profiler";

// Which functions' calls are recorded, by a group of functions and a number in it: each is asked about once.
template <std::size_t kGroups, std::size_t kFunctions>
class RecordedCalls {
 public:
  template <typename IsRecorded>
  [[nodiscard]] bool contain(std::size_t group, std::size_t function, IsRecorded is_recorded) {
    std::atomic<State>& state = states_[group][function];
    if (const State known = state.load(std::memory_order_acquire); known != State::unknown) {
      return known == State::recorded;
    }
    const State found = is_recorded() ? State::recorded : State::left_out;
    state.store(found, std::memory_order_release);
    return found == State::recorded;
  }
  void clear() noexcept {
    for (auto& group : states_) {
      for (auto& state : group) state.store(State::unknown, std::memory_order_relaxed);
    }
  }

 private:
  enum class State : std::uint8_t { unknown, recorded, left_out };
  std::array<std::array<std::atomic<State>, kFunctions>, kGroups> states_{};
};

class TracingCollector {
 public:
  TracingCollector(const TracingCollector&) = delete;
  TracingCollector& operator=(const TracingCollector&) = delete;

  [[nodiscard]] Channel& channel() noexcept { return channel_; }
  [[nodiscard]] Names& names() noexcept { return *names_; }
  // The calling thread's ring, if what happens now is collected.
  [[nodiscard]] ThreadRing* ring() noexcept { return in_range() ? channel_.ring() : nullptr; }
  template <typename Type>
  void define(Type type, const BodyWriter& body) noexcept {
    channel_.define(static_cast<std::uint32_t>(type), body.bytes());
  }
  void name_thread(std::uint32_t id, const char* name);  // id: the system's

  // Whether the user chose the ranges that the program begins by this name; null: it has none.
  [[nodiscard]] bool is_chosen(const char* name) const noexcept {
    return name != nullptr && has_range_ && range_name_ != kProfilerRange && range_name_ == name;
  }
  void enter_range();
  void leave_range();

 protected:
  explicit TracingCollector(const char* kind);
  virtual ~TracingCollector() = default;

  // Under the lock, all of these.
  virtual void switch_tracing(bool on) = 0;
  virtual void flush() = 0;      // what has ended
  virtual void flush_all() = 0;  // the same and what the library's own threads have in hand; it waits for them
  [[nodiscard]] virtual bool read_library_clock(std::uint64_t& ns) = 0;
  virtual void release() = 0;  // the agent is gone: the program goes on as if nobody had looked
  virtual void forked() = 0;   // in the child: without a lock and without other threads

  // Under the lock. False: this process has been claimed already, or nobody wants to know of it.
  [[nodiscard]] bool claim() noexcept { return channel_.attached() && !std::exchange(is_claimed_, true); }
  void begin(const char* thread_name);
  void finish();
  void trouble(std::string_view text);
  void lost(LossCause cause, std::uint64_t count);
  [[nodiscard]] bool is_on(const char* setting) const {  // "": always
    return *setting == '\0' || channel_.setting(setting) == "on";
  }
  [[nodiscard]] bool has_range() const noexcept { return has_range_; }
  [[nodiscard]] bool in_range() const noexcept { return !has_range_ || ranges_.load(std::memory_order_relaxed) > 0; }
  // Whether the user chose the range between the library's own calls; of these, which do not nest.
  [[nodiscard]] bool has_profiler_range() const noexcept { return range_name_ == kProfilerRange; }
  void enter_profiler_range() {
    if (ranges_.load() == 0) enter_range();
  }

  Channel channel_;
  Names* names_;
  std::vector<std::string> excluded_;  // calls, by name
  std::mutex mutex_;                   // of the library, and of what derived collectors say
  bool owns_clock_ = false;            // the library was given our clock

 private:
  void run(const char* thread_name);
  void follow();
  void read_clock();
  static void at_signal(int signal);
  static void at_fork();

  static inline TracingCollector* collector_ = nullptr;  // of the probe

  bool has_range_ = false;
  std::string range_name_;
  std::atomic<int> ranges_{0};
  std::condition_variable changed_;
  bool is_claimed_ = false, is_tracing_ = false;
  std::atomic<bool> is_running_{false};
  bool flushed_at_end_ = false;  // of the capture
  SignalFlush signal_flush_;
  int owner_ = 0;  // the process that has the thread
};

}  // namespace accelscope::probe
