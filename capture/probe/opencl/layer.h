// The layer that a loader puts between a program and its OpenCL drivers. It passes every call on, tells the agent of
// those that matter, and makes all queues keep times, which it hides from the program: results, errors and what
// programs can ask stay as they are without it.
//
// A call of the table does: layer().next.clX(...), the driver's own. State is made anew in a forked child, whose
// parent's objects are none of it.
#pragma once

#include <CL/cl_icd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/probe/client/channel.h"
#include "capture/probe/opencl/format.h"

namespace accelscope::probe::opencl {

// The program's OpenCL objects as the layer knows them. They are made when the program makes its own and let go with
// the program's last reference: the layer counts references itself, since the drivers' callbacks race the exit.

// A command whose times are not yet known. Holds a reference to its event.
struct PendingCommand {
  cl_event event = nullptr;
  std::uint64_t command = 0;
};

struct Queue {
  std::uint32_t number = 0;
  std::uint32_t device = 0;
  cl_device_id device_handle = nullptr;
  bool in_order = true;
  bool has_times = false;  // the driver keeps times for it
  std::atomic<bool> program_has_times{false};
  // As the program gave them to clCreateCommandQueueWithProperties; none: made by the older call.
  std::optional<std::vector<cl_queue_properties>> properties;
  std::atomic<std::uint32_t> references{1};

  std::mutex pending_mutex;
  std::vector<PendingCommand> pending;  // new ones, in the order of the calls
  bool listed = false;                  // the collector looks at it
  std::size_t pending_seen = 0;         // when the collector last came by
  int skips = 0;                        // turns in a row in which it found the list growing
  int quiet_turns = 0;                  // of the collector, since something was pending
  std::mutex collect_mutex;             // taken before the other
  std::deque<PendingCommand> held;      // those that were looked at and have not ended
};

struct Program {
  std::uint32_t number = 0;
  std::atomic<std::uint32_t> references{1};
  std::mutex mutex;
  std::map<std::string, std::uint32_t> kernels;  // numbers by name
};

struct Kernel {
  std::uint32_t number = 0;
  std::shared_ptr<Program> program;
  std::atomic<std::uint32_t> references{1};
  // Set by the program's calls, of which it makes one at a time for a kernel.
  std::vector<ArgumentRecord> arguments;
};

struct Memory {
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
  std::uint64_t element_bytes = 1;  // of images
  std::shared_ptr<Memory> parent;   // of sub-buffers: lives as long as they
  std::atomic<std::uint32_t> references{1};
  ~Memory();  // tells the agent that it is free
};

// What the layer knows of the program's handles. Any thread; parts with a lock each keep threads out of each other's
// way.

template <typename Value>
class HandleMap {
 public:
  void set(const void* handle, Value value) {
    Part& part = part_of(handle);
    const std::lock_guard lock(part.mutex);
    part.values[handle] = std::move(value);
  }
  // Value() if the handle is not known.
  [[nodiscard]] Value find(const void* handle) {
    Part& part = part_of(handle);
    const std::lock_guard lock(part.mutex);
    const auto found = part.values.find(handle);
    return found == part.values.end() ? Value() : found->second;
  }
  Value take(const void* handle) {
    Part& part = part_of(handle);
    const std::lock_guard lock(part.mutex);
    const auto found = part.values.find(handle);
    if (found == part.values.end()) return Value();
    Value value = std::move(found->second);
    part.values.erase(found);
    return value;
  }
  [[nodiscard]] std::vector<Value> all() {
    std::vector<Value> values;
    for (Part& part : parts_) {
      const std::lock_guard lock(part.mutex);
      for (const auto& [handle, value] : part.values) values.push_back(value);
    }
    return values;
  }

 private:
  struct Part {
    std::mutex mutex;
    std::unordered_map<const void*, Value> values;
  };
  [[nodiscard]] Part& part_of(const void* handle) {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    return parts_[(bits >> 4 ^ bits >> 10) % parts_.size()];
  }
  std::array<Part, 16> parts_;
};

// Numbers of the commands of events. A program may be given an event for each of a million commands, so nothing is
// allocated for one: each part is one table in which a handle keeps its place for good, since drivers use handles
// again.
class EventNumbers {
 public:
  void set(const void* event, std::uint64_t command) {
    Part& part = part_of(event);
    const std::lock_guard lock(part.mutex);
    if (2 * (part.used + 1) > part.entries.size()) part.grow();
    Entry& entry = part.place(event);
    if (entry.event == nullptr) ++part.used;
    entry = {event, command};
  }
  void forget(const void* event) {
    Part& part = part_of(event);
    const std::lock_guard lock(part.mutex);
    if (!part.entries.empty()) part.place(event).command = 0;
  }
  // 0: not known.
  [[nodiscard]] std::uint64_t find(const void* event) {
    Part& part = part_of(event);
    const std::lock_guard lock(part.mutex);
    return part.entries.empty() ? 0 : part.place(event).command;
  }

 private:
  struct Entry {
    const void* event = nullptr;
    std::uint64_t command = 0;
  };
  struct Part {
    std::mutex mutex;
    std::vector<Entry> entries;  // a power of two; at most half of them used
    std::size_t used = 0;

    [[nodiscard]] Entry& place(const void* event) {
      const std::size_t mask = entries.size() - 1;
      std::size_t at = hash(event) & mask;
      while (entries[at].event != nullptr && entries[at].event != event) at = (at + 1) & mask;
      return entries[at];
    }
    void grow() {
      std::vector<Entry> old(entries.empty() ? 1024 : 2 * entries.size());
      old.swap(entries);
      for (const Entry& entry : old) {
        if (entry.event != nullptr) place(entry.event) = entry;
      }
    }
  };
  [[nodiscard]] static std::size_t hash(const void* event) {
    return (reinterpret_cast<std::uintptr_t>(event) >> 4) * 0x9E3779B97F4A7C15U >> 20;
  }
  [[nodiscard]] Part& part_of(const void* event) { return parts_[hash(event) >> 24 & (parts_.size() - 1)]; }
  std::array<Part, 4> parts_;
};

// Fetches the times of commands that have ended. A callback for each command costs the drivers a microsecond and more,
// so the layer keeps the events of a queue in a list and a thread of its own walks through it now and then; so do the
// program's threads when they have waited for the queue anyway, or when the list has grown long.

class Collector {
 public:
  // Takes over a reference to the event.
  void add(const std::shared_ptr<Queue>& queue, const PendingCommand& command);
  // Fetches what has ended of the queue; false: something is still under way.
  bool collect(Queue& queue);
  // Ends the thread and waits a moment for what is under way; the program is about to end.
  void drain();
  // How many of the event's references are the layer's.
  [[nodiscard]] std::uint32_t references_to(Queue& queue, cl_event event);

 private:
  void start();
  static void* thread_main(void* collector);
  void run();
  // Whether queues that the program is filling are left alone for now.
  enum class Fill : std::uint8_t { waits, counts };
  // False: something is still under way. Forgets queues on which nothing has happened for a while.
  bool collect_all(Fill fill);
  void calibrate();
  [[nodiscard]] std::vector<std::shared_ptr<Queue>> active();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Queue>> queues_;  // that have something pending, or had it lately
  std::vector<cl_device_id> without_timer_;     // devices that cannot be asked for their time
  bool started_ = false;
  bool running_ = false;
  bool stopping_ = false;
};

struct State {
  HandleMap<std::uint32_t> devices;  // their numbers
  HandleMap<std::shared_ptr<Queue>> queues;
  HandleMap<std::shared_ptr<Program>> programs;
  HandleMap<std::shared_ptr<Kernel>> kernels;
  HandleMap<std::shared_ptr<Memory>> memories;
  HandleMap<std::shared_ptr<Memory>> shared;  // by pointer: clSVMAlloc
  EventNumbers events;                        // that the program was given
  Collector collector;
  std::atomic<std::uint64_t> last_command{0};
  std::atomic<std::uint32_t> last_number{0};
  std::atomic<std::uint32_t> last_memory{0};  // people see these, so they count from 1 on their own
  std::mutex device_mutex;

  [[nodiscard]] std::uint32_t new_number() { return last_number.fetch_add(1, std::memory_order_relaxed) + 1; }
};

using Table = cl_icd_dispatch;

struct Layer {
  Table next{};
  Channel* channel = nullptr;
  std::atomic<State*> state{nullptr};
  bool keeps_arguments = true;
  bool keeps_calls = true;
  bool keeps_sources = true;
};

// Never destroyed: programs call OpenCL from static destructors.
[[nodiscard]] Layer& layer();
[[nodiscard]] inline State& state() { return *layer().state.load(std::memory_order_acquire); }

// Writes the layer's own functions over those of the table that the drivers have.
void fill_commands(Table& table);
void fill_transfers(Table& table);
void fill_queues(Table& table);
void fill_memory(Table& table);
void fill_programs(Table& table);
void fill_kernels(Table& table);

// The device's number; the agent is told of it the first time.
[[nodiscard]] std::uint32_t number_of_device(cl_device_id device);

// What a question of OpenCL's kind is answered with: `ask(room, where to, how much it is)`. "" where there is no
// answer.
template <typename Ask>
[[nodiscard]] std::string text_of(Ask ask) {
  std::size_t bytes = 0;
  if (ask(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (ask(bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(text.find('\0') == std::string::npos ? bytes : text.find('\0'));
  return text;
}
[[nodiscard]] std::string device_text(cl_device_id device, cl_device_info what);

// What programs are answered, as drivers do: with fault found in the room for it.
[[nodiscard]] cl_int answer(const void* bytes, std::size_t count, std::size_t size, void* value, std::size_t* size_ret);

// Once there is a driver: handlers of the exit run last come, first served, and before libraries are torn down.
void drain_before_exit();

// Tells of a call that put no command into a queue.
void record_call(Call call, std::uint64_t begin_ticks, cl_int result, std::uint32_t object = 0) noexcept;

}  // namespace accelscope::probe::opencl
