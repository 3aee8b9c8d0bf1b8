// What ran a session: one row for each device, or the graph that it ran, as the table of neuron-profile's
// `show-session` lists them; and one for each engine, queue, stream or thread. From the index alone: no event is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/store/snapshot.h"

namespace accelscope {

struct Executor {
  std::string node;      // the device: "nc0", "rank 3 nc0"; in the vendor's session files the node's id
  std::string executor;  // "Tensor", "qSyncSpillReload0"
  std::string name;      // of the graph or session that ran
  // From its first event to the end of its last.
  std::optional<std::int64_t> exec_time_ns;
  // Of a row of a whole device these three are the maker's where the file states them.
  std::optional<std::uint64_t> trace;   // records of its work
  std::optional<std::int64_t> cycles;   // ticks of the clock that recorded it, over the same time
  std::optional<std::uint64_t> events;  // updates of its semaphores, where the session has semaphores; else as trace
  std::optional<std::uint64_t> errors;  // only the row of a whole device knows them
};

// A row for each device.
[[nodiscard]] std::vector<Executor> device_executors(const Snapshot& snapshot);
// By device; a last row "all" sums up a device with several executors.
[[nodiscard]] std::vector<Executor> executors(const Snapshot& snapshot);

}  // namespace accelscope
