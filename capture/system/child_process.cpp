#include "capture/system/child_process.h"

#include <fmt/format.h>

#include <fcntl.h>
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
#include <future>
#include <string_view>
#include <thread>

#include "capture/system/descriptor.h"
#include "capture/system/shown_command.h"
#include "capture/system/supervised_child.h"

extern char** environ;

namespace accelscope::capture::system {
namespace {

constexpr std::chrono::milliseconds kTurn{100};
constexpr auto kPatience = std::chrono::seconds(2);  // between asking a tool to end and ending it

// Takes what is there. False: nothing now.
bool read_some(SupervisedChild& child, std::string& output) {
  std::array<char, 4096> buffer{};
  const std::size_t count = child.read(OutputStream::out, buffer);
  output.append(buffer.data(), count);
  if (output.size() > 2 * kMaxOutputBytes) output.erase(0, output.size() - kMaxOutputBytes);
  return count > 0;
}

}  // namespace

std::string find_program(std::string_view name, const std::vector<std::string>& further_folders) {
  std::string folders = environment_value("PATH");
  for (const std::string& folder : further_folders) folders += (folders.empty() ? "" : ":") + folder;
  if (folders.empty()) return {};
  const Result<std::string> found = find_on_path(std::string(name), folders, "");
  return found ? *found : "";
}

Result<ChildOutcome> run_child(const std::vector<std::string>& argv, const std::function<bool()>& cancelled) {
  using Clock = std::chrono::steady_clock;
  const Result<std::unique_ptr<SupervisedChild>> started = SupervisedChild::start(
      {.program = argv.front(), .arguments = {argv.begin() + 1, argv.end()}, .one_stream = true});
  if (!started) return started.error();
  SupervisedChild& child = **started;
  ChildOutcome outcome;
  Clock::time_point asked;
  // What it started may live on and hold the pipe: its own end counts.
  while (!child.ended()) {
    child.wait(kTurn);
    (void)read_some(child, outcome.output);
    if (!outcome.cancelled && cancelled && cancelled()) {
      outcome.cancelled = true;
      asked = Clock::now();
      child.signal_group(SIGTERM);
    } else if (outcome.cancelled && Clock::now() - asked > kPatience) {
      child.signal_group(SIGKILL);
    }
  }
  if (outcome.cancelled) child.signal_group(SIGKILL);  // what the tool has started and left behind
  while (read_some(child, outcome.output)) {
  }
  outcome.exit_code = child.finish().exit_code;
  if (outcome.output.size() > kMaxOutputBytes) outcome.output.erase(0, outcome.output.size() - kMaxOutputBytes);
  return outcome;
}

namespace {

constexpr std::chrono::milliseconds kMoment{250};  // in which a program that finds no screen or file has ended

// Somebody has to take note of its end. 0 where the system has forgotten it.
[[nodiscard]] int wait_for_end(int id) {
  int status = 0;
  while (::waitpid(id, &status, 0) < 0) {
    if (errno != EINTR) return 0;
  }
  return exit_code_of(status);
}

}  // namespace

Result<void> start_detached(const std::vector<std::string>& argv) {
  const Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nowhere) return system_error("/dev/null");
  const Spawn start{
      .path = argv.front(), .argv = argv, .output = nowhere.get(), .errors = nowhere.get(), .shares_terminal = false};
  int id = -1;
  if (const int code = spawn(start, id); code != 0) {
    return Error{
        fmt::format("{}: could not be started: {} (error {})", shell_command(argv), std::strerror(code), code)};
  }
  std::promise<int> ended;
  std::future<int> end = ended.get_future();
  std::thread([id, ended = std::move(ended)]() mutable { ended.set_value(wait_for_end(id)); }).detach();
  if (end.wait_for(kMoment) != std::future_status::ready) return {};
  const int code = end.get();
  if (code == 0) return {};
  return Error{fmt::format("{}: ended at once and returned {}", shell_command(argv), code)};
}

namespace {

constexpr int kHeldNumber = STDERR_FILENO + 1;

[[nodiscard]] std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// What this process got from the one that started it and would hand on: none of the program's business. Whatever it
// opens itself is closed in programs anyway.
[[nodiscard]] std::vector<int> inherited_descriptors() {
  std::vector<int> inherited;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", failure)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    const int flags = ::fcntl(descriptor, F_GETFD);
    if (descriptor > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) inherited.push_back(descriptor);
  }
  return inherited;
}

// The attributes and file actions of a start, given back at the end.
class SpawnSettings {
 public:
  explicit SpawnSettings(const Spawn& start) {
    posix_spawn_file_actions_init(&actions_);
    if (!start.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions_, start.directory.c_str());
    for (const int descriptor : inherited_descriptors()) posix_spawn_file_actions_addclose(&actions_, descriptor);
    if (start.input < 0) {
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    } else {
      posix_spawn_file_actions_adddup2(&actions_, start.input, STDIN_FILENO);
    }
    posix_spawn_file_actions_adddup2(&actions_, start.output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, start.errors, STDERR_FILENO);
    if (start.held >= 0) posix_spawn_file_actions_adddup2(&actions_, start.held, kHeldNumber);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);  // whatever this process ignores
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    const int apart = start.shares_terminal ? 0 : POSIX_SPAWN_SETSID;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | apart));
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] int spawn(pid_t& id, const std::string& path, char* const* arguments, char* const* environment) const {
    return ::posix_spawn(&id, path.c_str(), &actions_, &attributes_, arguments, environment);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

int spawn(const Spawn& start, int& id) {
  const std::vector<std::string> environment = merged_environment(start.environment);
  pid_t made = -1;
  const int code =
      SpawnSettings(start).spawn(made, start.path, pointers_to(start.argv).data(), pointers_to(environment).data());
  id = made;
  return code;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& settings) {
  const auto name = [](std::string_view setting) { return setting.substr(0, setting.find('=')); };
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view inherited = *entry;
    const bool replaced = std::any_of(settings.begin(), settings.end(),
                                      [&](const std::string& setting) { return name(setting) == name(inherited); });
    if (!replaced) merged.emplace_back(inherited);
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const bool set_again = std::any_of(settings.begin() + static_cast<std::ptrdiff_t>(i) + 1, settings.end(),
                                       [&](const std::string& later) { return name(later) == name(settings[i]); });
    if (!set_again) merged.push_back(settings[i]);
  }
  return merged;
}

int exit_code_of(int status) noexcept {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

}  // namespace accelscope::capture::system
