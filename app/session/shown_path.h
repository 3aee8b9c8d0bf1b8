// The critical path that the timeline marks: a lane of its own above the others, its events with an accent edge and all
// others dimmed, its gaps with what they were for, an arrow from each event to the next. Put there by the panel that
// found it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/ids.h"

namespace accelscope {
class EventMask;
}

namespace accelscope::app {

struct ShownPath {
  struct Part {
    EventId event = kNoEvent;               // that was under way, or in a gap the one that waited; kNoEvent: none
    std::int64_t begin_ns = 0, end_ns = 0;  // of what lies on the path
    std::int64_t event_begin_ns = 0, event_end_ns = 0;
    bool is_gap = false;
    StringId name = 0;   // of the event
    std::string reason;  // of a gap: "dma"
  };
  std::vector<Part> parts;                // by time; they touch
  std::shared_ptr<const EventMask> mask;  // what is not dimmed; null: nothing is

  using Parts = std::vector<Part>::const_iterator;
};

}  // namespace accelscope::app
