// Which group a track belongs to and where it stands there: kinds of tracks in the order that users know from their
// vendor's tools, devices apart from each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/store/snapshot.h"

namespace accelscope::app {

struct RowGroup {
  std::string_view title;
  std::string_view one;  // what its count counts
  std::string_view many;
  bool open = true;  // unless the user or a lack of room says otherwise
};

struct TrackPlace {
  std::string device;
  std::size_t group = 0;
  std::tuple<int, std::size_t, std::int64_t> order;  // kind, engine, the source's own order
  std::uint64_t alerts = 0;                          // events that are not to be overlooked: errors, throttling
  const TrackSnapshot* track = nullptr;

  [[nodiscard]] bool operator<(const TrackPlace& other) const;
};

[[nodiscard]] const RowGroup& row_group(std::size_t group);
[[nodiscard]] bool is_memory_group(std::size_t group) noexcept;
[[nodiscard]] bool is_layer_group(std::size_t group) noexcept;
[[nodiscard]] bool is_semaphore_group(std::size_t group) noexcept;
[[nodiscard]] std::size_t counter_group() noexcept;

// As TrackPlace has it of a track.
[[nodiscard]] std::string device_name(const std::string& host, const std::string& device);

// All tracks that are rows, in their order on the screen.
[[nodiscard]] std::vector<TrackPlace> placed_tracks(const Snapshot& snapshot);

// Leaves the minimal view: what executes instructions or kernels (where a session names none, all that is not a
// counter), and the counters of how well it is used.
void keep_essential(std::vector<TrackPlace>& places);

// Whether the track shows below another one of its group.
[[nodiscard]] bool belongs_to_track(const Snapshot& snapshot, const TrackPlace& place);

}  // namespace accelscope::app
