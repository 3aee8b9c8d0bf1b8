// Where a track stands in formats that know processes and threads only: its host and device are the process, named as
// they are, and everything else is a thread of it. Groups and tracks keep the session's order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/store/snapshot.h"

namespace accelscope::exporting {

struct TrackGroup {
  std::string host, device;
  std::string title;  // "host, device"; one of them where there is one only; "session" where there is none
};

class TrackGroups {
 public:
  explicit TrackGroups(const std::vector<const TrackSnapshot*>& tracks);

  [[nodiscard]] const std::vector<TrackGroup>& all() const noexcept { return groups_; }
  [[nodiscard]] std::size_t of(const Track& track) const;

 private:
  std::vector<TrackGroup> groups_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

// The tracks above it, the topmost first.
[[nodiscard]] std::vector<const Track*> tracks_above(const Snapshot& snapshot, const Track& track);

// Facts, figures and what the quality report says, as texts by name: for formats with a place for metadata.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> session_facts(const Snapshot& snapshot);

// The session's time 0 since 1970 in ns; nothing where it is not known.
[[nodiscard]] std::optional<std::int64_t> unix_begin_ns(const Snapshot& snapshot);

}  // namespace accelscope::exporting
