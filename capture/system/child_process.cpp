#include "capture/system/child_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "capture/system/supervised_child.h"

namespace accelscope::capture::system {
namespace {

constexpr std::chrono::milliseconds kTurn{100};
constexpr auto kPatience = std::chrono::seconds(2);  // between asking a tool to end and ending it

[[nodiscard]] bool is_program(const std::string& path) {
  std::error_code failure;
  return std::filesystem::is_regular_file(path, failure) && ::access(path.c_str(), X_OK) == 0;
}

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
