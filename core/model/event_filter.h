// Which events of a session are meant: a stretch of time, some tracks, and terms that must hold. One value serves for
// the filter that drives every panel and for what is selected as a box or by name, line or layer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/ids.h"
#include "core/model/time_range.h"

namespace accelscope {

// A search (core/search/search.h) that an event must match, or must not.
struct FilterTerm {
  std::string search;
  bool excluded = false;
  bool operator==(const FilterTerm&) const = default;
};

struct EventFilter {
  std::optional<TimeRange> range;
  std::vector<TrackNumber> tracks;  // only these; empty: all
  std::vector<FilterTerm> terms;    // all must hold

  [[nodiscard]] bool empty() const noexcept { return !range && tracks.empty() && terms.empty(); }
  // Whether single events have to be looked at: a range and tracks alone are met by choosing lanes and clipping.
  [[nodiscard]] bool needs_mask() const noexcept { return !tracks.empty() || !terms.empty(); }
  [[nodiscard]] bool has_track(TrackNumber track) const noexcept {
    if (tracks.empty()) return true;
    for (const TrackNumber each : tracks) {
      if (each == track) return true;
    }
    return false;
  }
  bool operator==(const EventFilter&) const = default;
};

// What both let through. Ranges that do not touch leave an empty one.
[[nodiscard]] EventFilter both(const EventFilter& a, const EventFilter& b);

}  // namespace accelscope
