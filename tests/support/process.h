// A program started by a test or a benchmark: its output line by line, its memory and its exit status. Ended when the
// object goes, so nothing stays behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace accelscope::test {

// What the process has written so far, to files and pipes: not to sockets. 0 where nobody says.
[[nodiscard]] std::uint64_t written_bytes(int process_id);

class Process {
 public:
  // argv[0] is the program's path. Standard output and error arrive in one stream.
  [[nodiscard]] static Result<Process> start(const std::vector<std::string>& argv);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  // The next line, or nothing at the end of the output or when the time is over.
  [[nodiscard]] std::optional<std::string> read_line(std::chrono::milliseconds timeout);
  // Waits for a line that contains the text and returns it.
  [[nodiscard]] std::optional<std::string> wait_for(const std::string& text, std::chrono::milliseconds timeout);
  // Reads the rest of the output and waits for the end. -1: ended by a signal or still running at the timeout.
  int finish(std::chrono::milliseconds timeout);
  void interrupt();  // SIGINT

  [[nodiscard]] const std::string& output() const noexcept { return output_; }     // everything read so far
  [[nodiscard]] std::uint64_t resident_bytes() const;                              // now; 0 once it has ended
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }  // after finish()
  [[nodiscard]] int id() const noexcept { return pid_; }

 private:
  Process(int pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}
  bool fill(std::chrono::milliseconds timeout);  // false: end of output or time over

  int pid_ = -1;
  int descriptor_ = -1;
  std::string pending_;
  std::string output_;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace accelscope::test
