// The kinds of track that are known here, a row each: what the events of such a track are to whoever adds them up or
// draws them. A source may name others; they are plain tracks.
#pragma once

#include <array>
#include <string_view>

namespace accelscope {

struct TrackKind {
  std::string_view name;     // Track::kind
  bool executes = false;     // an engine or a stream: runs instructions or kernels
  bool device_work = false;  // its slices are work of a device: what active time is made of
  bool commentary = false;   // only tells about others' work
  bool host = false;         // the host's own work
  bool has_rows = true;      // drawn as rows of the timeline; else arrows and tables show it
};

inline constexpr std::array<TrackKind, 15> kTrackKinds = {{
    {.name = "engine", .executes = true, .device_work = true},
    {.name = "stream", .executes = true, .device_work = true},
    {.name = "dma_queue", .device_work = true},
    {.name = "collective", .device_work = true},
    {.name = "cc_core", .device_work = true},
    {.name = "host_thread", .host = true},
    {.name = "layer", .commentary = true},
    {.name = "throttle", .commentary = true},
    {.name = "barrier", .commentary = true},
    {.name = "error", .commentary = true},
    {.name = "semaphore", .commentary = true},
    {.name = "counter"},
    {.name = "memory"},
    {.name = "flow", .has_rows = false},
    {.name = "table", .has_rows = false},
}};

[[nodiscard]] constexpr TrackKind track_kind_of(std::string_view name) noexcept {
  for (const TrackKind& kind : kTrackKinds) {
    if (kind.name == name) return kind;
  }
  return {.name = name};
}

}  // namespace accelscope
