// A call that puts a command into a queue, from before the driver's own call until after it.
//
//   return enqueue({.call = Call::FillBuffer, .kind = CommandKind::fill, .queue = queue, ...},
//                  [&](cl_event* event) { return layer().next.clEnqueueFillBuffer(queue, ..., event); });
#pragma once

#include "capture/probe/opencl/layer.h"

namespace accelscope::probe::opencl {

struct CommandCall {
  Call call = Call::NDRangeKernel;
  CommandKind kind = CommandKind::kernel;
  cl_command_queue queue = nullptr;
  cl_uint wait_count = 0;
  const cl_event* waits = nullptr;
  cl_event* event = nullptr;  // where the program wants it; null: it does not
  unsigned flags = 0;         // kBlocking ...
  const TransferRecord* transfer = nullptr;
  cl_kernel kernel = nullptr;
  cl_uint dimensions = 0;
  const std::size_t* global = nullptr;
  const std::size_t* local = nullptr;
  const std::size_t* offset = nullptr;
};

class CommandEntry {
 public:
  explicit CommandEntry(const CommandCall& call);
  // Where the driver is to put the event.
  [[nodiscard]] cl_event* event() noexcept { return queue_ != nullptr && call_.event == nullptr ? &own_ : call_.event; }
  void finish(cl_int result);

 private:
  void write(std::uint64_t command, std::uint64_t end_ticks) const;

  const CommandCall& call_;
  std::shared_ptr<Queue> queue_;  // null: it is not recorded
  cl_event own_ = nullptr;
  std::uint64_t begin_ticks_ = 0;
};

template <typename Next>
cl_int enqueue(const CommandCall& call, Next&& next) {
  CommandEntry entry(call);
  const cl_int result = next(entry.event());
  entry.finish(result);
  return result;
}

// The number of the memory behind a handle; 0: not known.
[[nodiscard]] std::uint32_t number_of_memory(cl_mem memory);

}  // namespace accelscope::probe::opencl
