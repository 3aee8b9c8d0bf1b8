// The kinds of track that are known here, a row each: what the events of such a track are to whoever adds them up or
// draws them. A source may name others; they are plain tracks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/definitions.h"
#include "core/model/schema.h"

namespace accelscope {

// What the events of a track are to summaries and verdicts, so that one kind of time is never added to another: what a
// device works, what it moves, what it waits for, what its host does.
enum class WorkKind : std::uint8_t {
  none,        // tells of others' work (layers, throttling, annotations, a profiler's own rows), or has no time
  compute,     // engines and streams: instructions or kernels
  transfer,    // DMA queues and copies
  collective,  // work that several devices do together
  wait,        // a device waits
  host,        // threads of a host, whose calls lie within calls
};
inline constexpr std::size_t kWorkKindCount = 6;

[[nodiscard]] constexpr bool is_device_work(WorkKind kind) noexcept {
  return kind == WorkKind::compute || kind == WorkKind::transfer || kind == WorkKind::collective;
}

// How grave it is that such an event happened at all; the graver the greater.
enum class Alert : std::uint8_t { none, warning, throttling, error };

struct TrackKind {
  std::string_view name;  // Track::kind
  WorkKind work = WorkKind::none;
  bool commentary = false;  // its slices only tell about others' work
  bool samples = false;     // values over time
  bool has_rows = true;     // drawn as rows of the timeline; else arrows and tables show it
  Alert alert = Alert::none;

  // Its slices take time of an engine, a queue, a thread: those of unknown kinds do too.
  [[nodiscard]] constexpr bool executes() const noexcept {
    return !commentary && !samples && has_rows && work != WorkKind::wait;
  }
};

// Events whose times cannot be true: kept, and left out of whatever is told by times, the session's own begin and end
// too.
inline constexpr std::string_view kDoubtfulTrack = "doubtful";

inline constexpr std::array<TrackKind, 16> kTrackKinds = {{
    {.name = "engine", .work = WorkKind::compute},
    {.name = "stream", .work = WorkKind::compute},
    {.name = "dma_queue", .work = WorkKind::transfer},
    {.name = "collective", .work = WorkKind::collective},
    {.name = "cc_core", .work = WorkKind::collective},
    {.name = "host_thread", .work = WorkKind::host},
    {.name = "layer", .commentary = true},
    {.name = "throttle", .commentary = true, .alert = Alert::throttling},
    {.name = "barrier", .work = WorkKind::wait, .commentary = true},
    {.name = "error", .commentary = true, .alert = Alert::error},
    {.name = "semaphore", .commentary = true},
    {.name = "counter", .samples = true},
    {.name = "memory", .samples = true},
    {.name = kDoubtfulTrack, .commentary = true},
    {.name = "flow", .has_rows = false},
    {.name = "table", .has_rows = false},
}};

[[nodiscard]] constexpr TrackKind track_kind_of(std::string_view name) noexcept {
  for (const TrackKind& kind : kTrackKinds) {
    if (kind.name == name) return kind;
  }
  return {.name = name};
}

// What a session knows of a track and other tools' formats have no place for, as a description in words that an import
// takes it from again: "accelscope: kind=engine;device=nc0;host=trn1;".
struct TrackWords {
  std::string kind, device, host;
  std::vector<std::pair<Role, std::string>> columns;  // of allocations: which is which
};
[[nodiscard]] TrackWords words_of_track(const Track& track, const Schema* schema);
[[nodiscard]] std::string track_description(const TrackWords& words);
[[nodiscard]] std::optional<TrackWords> read_track_description(std::string_view description);

}  // namespace accelscope
