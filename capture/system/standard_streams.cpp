#include "capture/system/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace accelscope::capture::system {

void open_closed_streams() {
  // In this order: open() takes the lowest number that is free.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const bool full = stream == STDOUT_FILENO;
    (void)::open(full ? "/dev/full" : "/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

void ignore_file_size_signal() { std::signal(SIGXFSZ, SIG_IGN); }

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

IgnoredBrokenPipe::IgnoredBrokenPipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}

IgnoredBrokenPipe::~IgnoredBrokenPipe() { std::signal(SIGPIPE, before_ == SIG_ERR ? SIG_DFL : before_); }

}  // namespace accelscope::capture::system
