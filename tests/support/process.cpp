#include "tests/support/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

extern char** environ;

namespace accelscope::test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::uint64_t written_bytes(int process_id) {
  std::ifstream io(fmt::format("/proc/{}/io", process_id));
  std::string key;
  std::uint64_t value = 0;
  while (io >> key >> value) {
    if (key == "wchar:") return value;
  }
  return 0;
}

Result<Process> Process::start(const std::vector<std::string>& argv) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{fmt::format("no pipe: {}", std::strerror(errno))};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  // A test's own sockets must not live on in the programs that it starts.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int code = posix_spawnp(&pid, argv[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (code != 0) {
    ::close(ends[0]);
    return Error{fmt::format("{} cannot be started: {}", argv[0], std::strerror(code))};
  }
  return Process(pid, ends[0]);
}

Process::Process(Process&& other) noexcept
    : pid_(other.pid_),
      descriptor_(other.descriptor_),
      pending_(std::move(other.pending_)),
      output_(std::move(other.output_)),
      peak_bytes_(other.peak_bytes_) {
  other.pid_ = -1;
  other.descriptor_ = -1;
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Process::fill(milliseconds timeout) {
  pollfd waiting{descriptor_, POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(timeout.count())) <= 0) return false;
  char buffer[4096];
  const ssize_t got = ::read(descriptor_, buffer, sizeof buffer);
  if (got <= 0) return false;
  pending_.append(buffer, static_cast<std::size_t>(got));
  output_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> Process::read_line(milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (;;) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    if (!fill(left)) {
      if (pending_.empty()) return std::nullopt;
      std::string rest;
      rest.swap(pending_);
      return rest;
    }
  }
}

std::optional<std::string> Process::wait_for(const std::string& text, milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    std::optional<std::string> line = read_line(left);
    if (!line || line->find(text) != std::string::npos) return line;
  }
}

int Process::finish(milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  while (fill(std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()))) {
  }
  // The output is closed: the program is ending, or the time is over.
  int status = 0;
  rusage usage{};
  const bool late = steady_clock::now() >= deadline;
  if (late) ::kill(pid_, SIGKILL);
  if (::wait4(pid_, &status, 0, &usage) != pid_) return -1;
  pid_ = -1;
  peak_bytes_ = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return WIFEXITED(status) && !late ? WEXITSTATUS(status) : -1;
}

void Process::interrupt() {
  if (pid_ > 0) ::kill(pid_, SIGINT);
}

std::uint64_t Process::resident_bytes() const {
  if (pid_ <= 0) return 0;
  std::ifstream statm(fmt::format("/proc/{}/statm", pid_));
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace accelscope::test
