// Profiles of Neuron devices, made by the vendor's tool: it executes a NEFF that is there, or one that a program
// compiles; or it runs the program and profiles that.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::neuron {

[[nodiscard]] request::CaptureKind neuron_kind();

}  // namespace accelscope::capture::kinds::neuron
