// Which tracks show what one stream of a device ran, each another kind of it: kernels, collectives, copies, sets of
// memory. A stream (a queue in order, a core that runs its operations one by one) is one server: what it was given runs
// in order, whatever tracks it is drawn on.
//
// Tracks of one stream share their device and their names but for words before or after that say what they show of it:
// "stream 7", "NCCL, stream 7", "memcpy stream 7"; "XLA Ops", "XLA Ops, collectives"; "queue 1", "queue 1 transfers".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/store/snapshot.h"

namespace accelscope {

class DeviceStreams {
 public:
  explicit DeviceStreams(const Snapshot& snapshot);

  // The number of the stream that a track of work shows, or, of waits, the one that waited; nothing where it shows
  // none: engines and DMA queues that are servers of their own.
  [[nodiscard]] std::optional<std::size_t> of_track(TrackNumber track) const;
  // That of the name, "stream 7", on the device of a track that shows one.
  [[nodiscard]] std::optional<std::size_t> beside(TrackNumber track, const std::string& name) const;

 private:
  using Key = std::tuple<std::uint32_t, std::string, std::string, std::string>;  // scope, host, device, stream
  std::map<TrackNumber, std::size_t> of_track_;
  std::map<Key, std::size_t> by_name_;
  std::vector<const Key*> names_;  // by number
};

}  // namespace accelscope
