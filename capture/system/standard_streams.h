// The standard streams of a program that must not lose what it does over them.
#pragma once

#include <string_view>

namespace accelscope::capture::system {

// First of all in main(). A stream that the caller has closed is opened onto nothing: else the next file that is opened
// would take its place, and what is printed would go into that file. Writing to a closed standard output fails, as on a
// full disk.
void open_closed_streams();

// A file that may grow no further (ulimit -f) is an error of the write and does not end this program.
void ignore_file_size_signal();

// All of it, to a file, a pipe or a terminal, through interruptions. False: nobody reads it any more or there is no
// room; errno says which.
[[nodiscard]] bool write_all(int file, std::string_view bytes);

// While it lives, a reader that has gone is an error of the write and does not end this program. Programs that are
// started meanwhile have the signal as usual.
class IgnoredBrokenPipe {
 public:
  IgnoredBrokenPipe();
  ~IgnoredBrokenPipe();
  IgnoredBrokenPipe(const IgnoredBrokenPipe&) = delete;
  IgnoredBrokenPipe& operator=(const IgnoredBrokenPipe&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace accelscope::capture::system
