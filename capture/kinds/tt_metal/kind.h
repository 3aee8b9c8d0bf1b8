// Follows the device log of a tt-metal program while it is written: that of the capture's program, or of one that is
// started by hand.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::tt_metal {

[[nodiscard]] request::CaptureKind tt_metal_kind();

}  // namespace accelscope::capture::kinds::tt_metal
