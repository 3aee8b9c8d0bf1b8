// Runs a Python program under torch.profiler: operators, kernels, memory, shapes, stacks and modules of PyTorch,
// without a change to the program. The trace is read when it has ended.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::torch {

[[nodiscard]] request::CaptureKind torch_kind();

}  // namespace accelscope::capture::kinds::torch
