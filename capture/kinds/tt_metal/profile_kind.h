// Runs a tt-metal command twice, as its profile_this.py does: without the device's profiler for clean times of the
// host, and with it for the device; both in one session, laid over each other by their starts.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::tt_metal {

[[nodiscard]] request::CaptureKind tt_profile_kind();

}  // namespace accelscope::capture::kinds::tt_metal
