// What programs tell of themselves: by Intel's ITT calls, as oneTBB, OpenMP, oneDNN and PyTorch make them, and by zones
// of capture/probe/zones, the macros of Tracy's client.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::itt {

[[nodiscard]] request::CaptureKind itt_kind();

}  // namespace accelscope::capture::kinds::itt
