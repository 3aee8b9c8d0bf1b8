#include "capture/system/child_process.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <thread>

#include "capture/system/descriptor.h"
#include "capture/system/shown_command.h"
#include "capture/system/supervised_child.h"

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

}  // namespace accelscope::capture::system
