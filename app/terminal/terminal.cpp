#include "app/terminal/terminal.h"

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace accelscope::app {

bool is_terminal(std::FILE* stream) noexcept {
#if defined(_WIN32)
  return _isatty(_fileno(stream)) != 0;
#else
  return isatty(fileno(stream)) == 1;
#endif
}

}  // namespace accelscope::app
