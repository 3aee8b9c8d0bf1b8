// Any program: what it prints, line by line, and what it uses, as it happens.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::program {

[[nodiscard]] request::CaptureKind program_kind();

}  // namespace accelscope::capture::kinds::program
