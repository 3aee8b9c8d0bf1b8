// A file or a folder of ranks, played as if it were captured now: see capture/sources/import_input.h. Each source of
// several gets a scope of its own in the capture.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds::replay {

[[nodiscard]] request::CaptureKind replay_kind();

}  // namespace accelscope::capture::kinds::replay
