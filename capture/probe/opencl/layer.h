// The layer that a loader puts between a program and its OpenCL drivers. It passes every call on, tells the agent of
// those that matter, and makes all queues keep times, which it hides from the program: results, errors and what
// programs can ask stay as they are without it.
//
// A call of the table does: layer().next.clX(...), the driver's own. State is made anew in a forked child, whose
// parent's objects are none of it.
#pragma once

#include <CL/cl_icd.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "capture/probe/client/channel.h"
#include "capture/probe/opencl/collector.h"
#include "capture/probe/opencl/handle_map.h"
#include "capture/probe/opencl/objects.h"

namespace accelscope::probe::opencl {

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
