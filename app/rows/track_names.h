// Names of tracks that stay the same between sessions of the same program: what a saved view, a link or a pinned row
// means is found again in another run, whatever numbers its tracks have there.
//
//   engine/Tensor@nc0@trn1-07        kind, name, device, host; what is empty at the end is left out
//   dma_queue/q0/q0-E1@nc0           a track below another one
//   engine/Tensor@nc0#2              the second of the same description, by number
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/store/snapshot.h"

namespace accelscope::app {

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

}  // namespace accelscope::app
