// Which tracks show the same thread of a host, each another kind of what it did: Python's calls, operators, calls of
// the driver. Events of one thread that lie inside each other called each other.
//
// Tracks of one thread share their host and their names but for a last word that says what they show of it ("25286
// python", "25286 runtime", "pt_autograd_0: operators"); no two of them have the same schema.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/store/snapshot.h"

namespace accelscope {

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

}  // namespace accelscope
