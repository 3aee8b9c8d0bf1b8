// Users who are not the one that runs the tests: for what may not be believed because somebody else put it there.
//
//   if (!test::can_be_others()) return;                            // says why
//   test::give_to(test::kSecondUser, folder.path());               // with all that lies in it
//   Process::start(test::as_user(test::kSecondUser, folder.path(), {program, "record", ...}));
//
// Becoming somebody else takes root, of the machine or of a user namespace that has more than one user.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/wait.h"

namespace accelscope::test {

// Ids that no account of a Debian has; they need no entry in /etc/passwd.
inline constexpr unsigned kSecondUser = 61'801;
inline constexpr unsigned kThirdUser = 61'802;

// The command as that user, with no group but one of the same number, and with `home` as home and for all that programs
// keep between runs.
[[nodiscard]] inline std::vector<std::string> as_user(unsigned user, const std::filesystem::path& home,
                                                      const std::vector<std::string>& command) {
  const std::string id = std::to_string(user);
  std::vector<std::string> argv = {"/usr/bin/env",  "setpriv",        "--reuid=" + id,
                                   "--regid=" + id, "--clear-groups", "/usr/bin/env"};
  for (const char* name : {"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"})
    argv.push_back(std::string(name) + "=" + home.string());
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

[[nodiscard]] inline bool can_be_others() {
  static const bool can = [] {
    Result<Process> tried = Process::start(as_user(kSecondUser, "/", {"/bin/true"}));
    return ::geteuid() == 0 && tried.ok() && tried->finish(test::kPatience) == 0;
  }();
  if (!can) MESSAGE("skipped: nobody else can be played here (root and setpriv are needed)");
  return can;
}

// The path and all below it; links themselves, not what they point to. False if any of it could not be given.
[[nodiscard]] inline bool give_to(unsigned user, const std::filesystem::path& path) {
  bool given = ::lchown(path.c_str(), user, user) == 0;
  std::error_code error;
  if (!std::filesystem::is_directory(std::filesystem::symlink_status(path, error))) return given;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
    given = ::lchown(entry.path().c_str(), user, user) == 0 && given;
  }
  return given && !error;
}

}  // namespace accelscope::test
