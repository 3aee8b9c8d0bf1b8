// What events waited for: the time that each of them waited (Role::wait_ns, or the whole of a waiting event) is put
// down to the predecessor that ended last, and added up by its name and track.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/analysis/dependencies/chain.h"

namespace accelscope {

struct WaitCause {
  std::string name;   // of the events that were waited for
  std::string track;  // theirs
  std::uint64_t count = 0;
  std::int64_t wait_ns = 0;
};

struct WaitCauses {
  std::vector<WaitCause> causes;  // the longest first
  std::int64_t wait_ns = 0;       // of all events that were looked at
  std::uint64_t looked_at = 0;    // events: evenly spread ones if there are more than kMostAsked
};

inline constexpr std::size_t kMostAsked = 4'096;

// Fails when cancelled.
[[nodiscard]] Result<WaitCauses> wait_causes(const Dependencies& dependencies, std::span<const EventId> events,
                                             EventReader& reader, const TaskControl& control);

}  // namespace accelscope
