#include "app/terminal/terminal.h"

#include <ostream>

#include "core/base/plain_text.h"

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

std::ostream& erase_line(std::ostream& stream) {
  exact_stream(stream) << "\r\x1b[2K";
  return stream;
}

}  // namespace accelscope::app
