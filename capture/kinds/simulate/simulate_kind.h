// The simulated accelerator as a kind of capture: see capture/sim/simulator.h.
#pragma once

#include "capture/kinds/kind.h"

namespace accelscope::capture {

[[nodiscard]] CaptureKind simulate_kind();

}  // namespace accelscope::capture
