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

namespace accelscope::capture::agent {
namespace {

void leave_streams(const std::string& log_file) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int log = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDERR_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
  if (log > STDERR_FILENO) ::close(log);
}

// In the background: its status goes to the starter, if that is still there, as a last line, unless it has announced
// itself.
[[noreturn]] void be_background(int report, const std::string& log_file,
                                const std::function<int(const Announce&)>& function) {
  const int status = function([&](const std::string& line) {
    (void)system::write_all(report, fmt::format("0{}\n", line));
    leave_streams(log_file);
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
    be_background(ends[1], log_file, function);
  }
  ::close(ends[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const int outcome = read_report(ends[0]);
  ::close(ends[0]);
  return outcome;
}

}  // namespace accelscope::capture::agent
