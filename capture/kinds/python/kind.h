// Programs in Python: functions and lines of all threads, signposts, tests.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::python {

[[nodiscard]] request::CaptureKind python_kind();

}  // namespace accelscope::capture::kinds::python
