#include "capture/system/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>

extern char** environ;

namespace accelscope::capture::system {
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
