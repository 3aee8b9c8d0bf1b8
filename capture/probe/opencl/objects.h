// The program's OpenCL objects as the layer knows them. They are made when the program makes its own and let go with
// the program's last reference: the layer counts references itself, since the drivers' callbacks race the exit.
#pragma once

#include <CL/cl_icd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capture/probe/opencl/format.h"

namespace accelscope::probe::opencl {

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

}  // namespace accelscope::probe::opencl
