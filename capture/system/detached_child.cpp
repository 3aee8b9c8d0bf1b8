#include "capture/system/detached_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "capture/system/descriptor.h"
#include "capture/system/shown_command.h"
#include "capture/system/spawn.h"

namespace accelscope::capture::system {
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

}  // namespace accelscope::capture::system
