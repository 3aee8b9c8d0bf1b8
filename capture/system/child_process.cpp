#include "capture/system/child_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "capture/system/descriptor.h"
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

}  // namespace accelscope::capture::system
