// Programs in Python: functions and lines of all threads, signposts, tests.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture {

[[nodiscard]] CaptureKind python_kind();

}  // namespace accelscope::capture
