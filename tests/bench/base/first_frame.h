// From opening a session file to its first complete frame, offscreen.
#pragma once

#include <string>

namespace accelscope::bench {

// Seconds of the best of so many runs; what goes wrong is said on the error stream.
double first_frame_seconds(const std::string& path, int runs);

}  // namespace accelscope::bench
