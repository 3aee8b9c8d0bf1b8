// Where in the host's program an event comes from: what was under way on the thread that launched it, at that moment.
// Of an event of the host itself, what it lies within.
//
//   const LaunchStack stack = launch_stack(dependencies, event, reader);
//   stack.source: "train.py:41"; stack.frames: the call, the operator, the Python frames, innermost first
#pragma once

#include <string>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/scan/event_reader.h"

namespace accelscope {

struct LaunchStack {
  EventId call = kNoEvent;  // what launched it; kNoEvent: not known, or it is of the host itself
  std::string source;       // the innermost line of the user's own code, else of any; "": none is known
  std::vector<std::string> frames;
};

[[nodiscard]] LaunchStack launch_stack(const Dependencies& dependencies, EventId event, EventReader& reader);

}  // namespace accelscope
