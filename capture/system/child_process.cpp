#include "capture/system/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "capture/system/end_notice.h"

extern char** environ;

namespace accelscope::capture::system {
namespace {

constexpr int kPollMs = 100;
constexpr auto kPatience = std::chrono::seconds(2);  // between asking a tool to end and ending it

[[nodiscard]] bool is_program(const std::string& path) {
  std::error_code failure;
  return std::filesystem::is_regular_file(path, failure) && ::access(path.c_str(), X_OK) == 0;
}

// The attributes and file actions of a start, given back at the end.
struct StartSettings {
  StartSettings(int output) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    // A group of its own, so that what the tool starts can be ended with it; with the usual answer to signals.
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  }
  ~StartSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  StartSettings(const StartSettings&) = delete;
  StartSettings& operator=(const StartSettings&) = delete;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

class Child {
 public:
  Child(pid_t id, int output) : id_(id), output_(output), end_notice_(open_end_notice(id)) {}
  ~Child() {
    if (!ended_) {
      ::kill(-id_, SIGKILL);
      reap(0);
    }
    if (end_notice_ >= 0) ::close(end_notice_);
    ::close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal(int number) const { ::kill(-id_, number); }
  // True once the program has ended. What it started may live on and hold the pipe: its end counts, not the pipe's.
  [[nodiscard]] bool ended() {
    if (!ended_) reap(WNOHANG);
    return ended_;
  }
  // Until it ends, or for a little while.
  void wait_for_end(int timeout_ms) const {
    pollfd waiting{end_notice_, POLLIN, 0};
    ::poll(&waiting, end_notice_ >= 0 ? 1 : 0, timeout_ms);
  }
  // Waits a little for output and takes what is there. False once the pipe is closed.
  bool read(std::string& output, int timeout_ms) const {
    pollfd waiting{output_, POLLIN, 0};
    if (::poll(&waiting, 1, timeout_ms) <= 0) return true;
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(output_, buffer.data(), buffer.size());
    if (count <= 0) return false;
    output.append(buffer.data(), static_cast<std::size_t>(count));
    if (output.size() > 2 * kMaxOutputBytes) output.erase(0, output.size() - kMaxOutputBytes);
    return true;
  }
  [[nodiscard]] int exit_code() const {
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + (WIFSIGNALED(status_) ? WTERMSIG(status_) : 0);
  }

 private:
  void reap(int options) {
    pid_t got = 0;
    do {
      got = ::waitpid(id_, &status_, options);
    } while (got < 0 && errno == EINTR);
    ended_ = got != 0;
  }

  pid_t id_;
  int output_;
  int end_notice_;
  int status_ = 0;
  bool ended_ = false;
};

void wait_for_end(Child& child, const std::function<bool()>& cancelled, ChildOutcome& outcome) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point asked;
  bool open = true;
  while (!child.ended()) {
    if (open) {
      open = child.read(outcome.output, kPollMs);
    } else {
      child.wait_for_end(kPollMs);
    }
    if (!outcome.cancelled && cancelled && cancelled()) {
      outcome.cancelled = true;
      asked = Clock::now();
      child.signal(SIGTERM);
    } else if (outcome.cancelled && Clock::now() - asked > kPatience) {
      child.signal(SIGKILL);
    }
  }
  if (outcome.cancelled) child.signal(SIGKILL);  // what the tool has started and left behind
  for (std::size_t before = SIZE_MAX; open && before != outcome.output.size();) {
    before = outcome.output.size();
    open = child.read(outcome.output, 0);
  }
}

}  // namespace

std::string find_program(std::string_view name, const std::vector<std::string>& further_folders) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? std::string_view{} : std::string_view(path);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = fmt::format("{}/{}", end == 0 ? "." : rest.substr(0, end), name);
    if (is_program(candidate)) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const std::string& folder : further_folders) {
    const std::string candidate = fmt::format("{}/{}", folder, name);
    if (is_program(candidate)) return candidate;
  }
  return {};
}

Result<ChildOutcome> run_child(const std::vector<std::string>& argv, const std::function<bool()>& cancelled) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{fmt::format("{} cannot be started: {}", argv.front(), std::strerror(errno))};
  }
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t id = -1;
  int code = 0;
  {
    StartSettings settings(ends[1]);
    code = posix_spawn(&id, argv.front().c_str(), &settings.actions, &settings.attributes, arguments.data(), environ);
  }
  ::close(ends[1]);
  if (code != 0) {
    ::close(ends[0]);
    return Error{fmt::format("{} cannot be started: {}", argv.front(), std::strerror(code))};
  }
  Child child(id, ends[0]);
  ChildOutcome outcome;
  wait_for_end(child, cancelled, outcome);
  outcome.exit_code = child.exit_code();
  if (outcome.output.size() > kMaxOutputBytes) outcome.output.erase(0, outcome.output.size() - kMaxOutputBytes);
  return outcome;
}

}  // namespace accelscope::capture::system
