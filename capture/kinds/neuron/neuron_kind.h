// Profiles of Neuron devices, made by the vendor's tool: kind "neuron" executes a NEFF that is there, kind
// "neuron-program" runs a program and profiles what it compiles, or the program itself.
#pragma once

#include "capture/kinds/kind.h"

namespace accelscope::capture {

[[nodiscard]] CaptureKind neuron_kind();
[[nodiscard]] CaptureKind neuron_program_kind();

}  // namespace accelscope::capture
