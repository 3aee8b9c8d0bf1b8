#include "capture/agent/control/detach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "capture/system/standard_streams.h"
#include "core/base/own_files.h"
#include "core/base/plain_text.h"

namespace accelscope::capture::agent {
namespace {

void leave_streams(int log) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
  if (log > STDERR_FILENO) ::close(log);
}

// In the background: its status goes to the starter, if that is still there, as a last line, unless it has announced
// itself.
[[noreturn]] void be_background(int report, int log, const std::function<int(const Announce&)>& function) {
  const int status = function([&](const std::string& line) {
    (void)system::write_all(report, fmt::format("0{}\n", line));
    leave_streams(log);
    ::close(std::exchange(report, -1));
  });
  if (report >= 0) (void)system::write_all(report, fmt::format("{}\n", status));
  std::fflush(nullptr);
  ::_exit(status);
}

// "0LINE": it runs; "STATUS": it ended.
int read_report(int report) {
  std::string text;
  std::array<char, 512> buffer{};
  for (;;) {
    const ssize_t count = ::read(report, buffer.data(), buffer.size());
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  if (text.size() > 1 && text.front() == '0' && text[1] != '\n') {
    std::fputs(text.c_str() + 1, stdout);
    std::fflush(stdout);
    return 0;
  }
  return text.empty() ? 1 : std::atoi(text.c_str());
}

}  // namespace

int run_detached(const std::string& log_file, const std::function<int(const Announce&)>& function) {
  const Result<int> log = append_to_own_file(log_file);
  if (!log) {
    fmt::print(stderr, "accelscope-agent: {}; name another folder with --scratch\n", plain_text(log.message()));
    return 1;
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fmt::print(stderr, "accelscope-agent: cannot go into the background: no pipe\n");
    return 1;
  }
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    fmt::print(stderr, "accelscope-agent: cannot go into the background: no process\n");
    return 1;
  }
  if (child == 0) {
    ::close(ends[0]);
    ::setsid();
    // No leader of a session: no terminal can become its own again.
    if (const pid_t grandchild = ::fork(); grandchild != 0) ::_exit(grandchild < 0 ? 1 : 0);
    be_background(ends[1], *log, function);
  }
  ::close(*log);
  ::close(ends[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const int outcome = read_report(ends[0]);
  ::close(ends[0]);
  return outcome;
}

}  // namespace accelscope::capture::agent
