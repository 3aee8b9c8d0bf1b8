// What ran a session: one row for each device, or the graph that it ran, as the table of neuron-profile's
// `show-session` lists them; and one for each engine, queue, stream or thread. From the index alone: no event is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/store/snapshot.h"

namespace accelscope::analysis {

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

// Which tracks show the same thread of a host, each another kind of what it did: Python's calls, operators, calls of
// the driver. Events of one thread that lie inside each other called each other.
//
// Tracks of one thread share their host and their names but for a last word that says what they show of it ("25286
// python", "25286 runtime", "pt_autograd_0: operators"); no two of them have the same schema.
class HostThreads {
 public:
  explicit HostThreads(const Snapshot& snapshot);

  // The number of the thread that a track shows; nothing if it is none of a host's threads.
  [[nodiscard]] std::optional<std::size_t> of_track(TrackNumber track) const;
  [[nodiscard]] std::size_t count() const noexcept { return lanes_.size(); }
  // Indices into Snapshot::lanes of all that shows the thread.
  [[nodiscard]] const std::vector<std::uint32_t>& lanes(std::size_t thread) const { return lanes_[thread]; }

 private:
  std::map<TrackNumber, std::size_t> of_track_;
  std::vector<std::vector<std::uint32_t>> lanes_;  // by thread
};

}  // namespace accelscope::analysis
