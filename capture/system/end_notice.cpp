#include "capture/system/end_notice.h"

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace accelscope::capture::system {

int open_end_notice([[maybe_unused]] int process_id) {
#if defined(__linux__) && defined(SYS_pidfd_open)
  return static_cast<int>(::syscall(SYS_pidfd_open, process_id, 0));
#else
  return -1;
#endif
}

}  // namespace accelscope::capture::system
