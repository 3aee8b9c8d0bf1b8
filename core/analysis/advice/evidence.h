// The events that a finding rests on, one by one: for those who want to look at them.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/advice/advice.h"

namespace accelscope {

struct EvidenceEvent {
  EventId id = kNoEvent;
  TrackNumber track = 0;
  StringId name = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

struct Evidence {
  std::vector<EvidenceEvent> events;  // the longest ones, by time
  std::uint64_t total = 0;            // all that there are
};

// At most so many. None where it rests on gaps.
[[nodiscard]] Result<Evidence> finding_evidence(const QueryContext& query, const Finding& finding, std::size_t most);

}  // namespace accelscope
