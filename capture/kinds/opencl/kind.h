// The kind `opencl`: programs that use OpenCL, seen through a layer that their loader puts before the drivers.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::opencl {

[[nodiscard]] request::CaptureKind opencl_kind();

}  // namespace accelscope::capture::kinds::opencl
