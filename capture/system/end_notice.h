// A descriptor that can be read from once a process has ended: waiting for it costs no time after the end.
#pragma once

namespace accelscope::capture::system {

// -1: the system has none. Closed by its owner, and by itself in programs that are started.
[[nodiscard]] int open_end_notice(int process_id);

}  // namespace accelscope::capture::system
