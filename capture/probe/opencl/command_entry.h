// A call that puts a command into a queue, from before the driver's own call until after it; wrapped_calls.h makes
// such.
#pragma once

#include "capture/probe/opencl/layer.h"

namespace accelscope::probe::opencl {

// What is told of one, beside what all have.
struct CommandFacts {
  unsigned flags = 0;  // kBlocking ...
  bool moves = false;  // it has a transfer
  TransferRecord transfer{};
  cl_kernel kernel = nullptr;
  cl_uint dimensions = 0;
  const std::size_t* global = nullptr;
  const std::size_t* local = nullptr;
  const std::size_t* offset = nullptr;
};

struct CommandCall {
  Call call;
  CommandKind kind = CommandKind::kernel;
  cl_command_queue queue = nullptr;
  cl_uint wait_count = 0;
  const cl_event* waits = nullptr;
  cl_event* event = nullptr;  // where the program wants it; null: it does not
  CommandFacts facts;
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

// The number of the memory behind a handle; 0: not known.
[[nodiscard]] std::uint32_t number_of_memory(cl_mem memory);

}  // namespace accelscope::probe::opencl
