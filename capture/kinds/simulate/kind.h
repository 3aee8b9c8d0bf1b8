// The simulated accelerator as a kind of capture: see capture/sim/output/simulator.h.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::simulate {

[[nodiscard]] request::CaptureKind simulate_kind();

}  // namespace accelscope::capture::kinds::simulate
