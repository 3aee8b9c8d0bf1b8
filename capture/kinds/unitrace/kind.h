// Runs a program under Intel's unitrace: Level Zero, OpenCL and SYCL calls of the host, kernels and transfers of the
// device. The trace is read when the program has ended; unitrace itself pauses and goes on with the capture.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::unitrace {

[[nodiscard]] request::CaptureKind unitrace_kind();

}  // namespace accelscope::capture::kinds::unitrace
