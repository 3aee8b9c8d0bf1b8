// What a session says about the events of a device log, apart from where the chip's clock lies in it.
#pragma once

#include <string>

#include "tests/capture/sources/tt_metal/device_log.h"

namespace accelscope::capture {

// One line an event, sorted. Without `depth` events may lie in any row of their track.
[[nodiscard]] std::string log_events(const Imported& session, bool depth = true);

}  // namespace accelscope::capture
