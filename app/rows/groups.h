// Which group a track belongs to and where it stands there: kinds of tracks in the order that users know from their
// vendor's tools, devices apart from each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/store/snapshot.h"

namespace accelscope::app::rows {

struct RowGroup {
  std::string_view title;
  std::string_view one;  // what its count counts
  std::string_view many;
  bool open = true;  // unless the user or a lack of room says otherwise
};

struct TrackPlace {
  std::string device;
  int phase = 0;  // of a session with GPU streams: these, then threads, then counters, then memory; the profiler last
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
[[nodiscard]] bool is_engine_group(std::size_t group) noexcept;
// Of an accelerator with engines: what a first look must show that there is.
[[nodiscard]] bool begins_in_sight(std::size_t group) noexcept;
[[nodiscard]] bool is_stream_group(std::size_t group) noexcept;
[[nodiscard]] bool is_host_group(std::size_t group) noexcept;
[[nodiscard]] std::size_t counter_group() noexcept;
[[nodiscard]] std::size_t queue_group() noexcept;  // of the platform view
[[nodiscard]] int counter_phase() noexcept;        // of TrackPlace
// Levels of a track's stack that a row of the usual size shows: those of a program's own calls; all of others.
[[nodiscard]] std::size_t usual_levels(const TrackSnapshot& track) noexcept;

// As TrackPlace has it of a track.
[[nodiscard]] std::string device_name(const std::string& host, const std::string& device);

// All tracks that are rows, in their order on the screen.
[[nodiscard]] std::vector<TrackPlace> placed_tracks(const Snapshot& snapshot);

// Leaves the minimal view: what executes instructions or kernels (where a session names none, all that is not a
// counter), and the counters of how well it is used.
void keep_essential(std::vector<TrackPlace>& places);

// Leaves what runs on host and devices and their counters, in the order of work's way: threads, the calls of the
// runtime that they made, then for each device its engines or streams, its transfers and its counters.
void arrange_as_platform(const Snapshot& snapshot, std::vector<TrackPlace>& places);

// Leaves those tracks.
void keep_only(std::vector<TrackPlace>& places, const std::vector<TrackNumber>& tracks);

// What a program asked the runtime of a device for, apart from its other calls.
[[nodiscard]] bool is_runtime_calls(const TrackSnapshot& track) noexcept;

// Runs of programs on a device: what they are a band of lies below them.
[[nodiscard]] bool is_runs(const TrackSnapshot& track) noexcept;

// A track without events of its own that others lie below: a thread, a core.
[[nodiscard]] bool is_container(const TrackSnapshot& track) noexcept;

// Whether the track shows below another one of its group.
[[nodiscard]] bool belongs_to_track(const Snapshot& snapshot, const TrackPlace& place);

// Names of tracks that stay the same between sessions of the same program: what a saved view, a link or a pinned row
// means is found again in another run, whatever numbers its tracks have there.
//
//   engine/Tensor@nc0@trn1-07        kind, name, device, host; what is empty at the end is left out
//   dma_queue/q0/q0-E1@nc0           a track below another one
//   engine/Tensor@nc0#2              the second of the same description, by number

class TrackNames {
 public:
  explicit TrackNames(const Snapshot& snapshot);

  // "" for a number that the session has not.
  [[nodiscard]] const std::string& of(TrackNumber track) const;
  // The track of that name. If there is none, the only one that differs in nothing but the host: the same program was
  // run on another machine.
  [[nodiscard]] std::optional<TrackNumber> find(std::string_view name) const;

 private:
  std::unordered_map<TrackNumber, std::string> names_;
};

// Key of the track's row: "track:" and its name.
[[nodiscard]] std::string row_key(const TrackNames& names, TrackNumber track);
// The name in a key; nothing: it is of no track.
[[nodiscard]] std::optional<std::string_view> track_in_key(std::string_view key) noexcept;

}  // namespace accelscope::app::rows
