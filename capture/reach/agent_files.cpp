#include "capture/reach/agent_files.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "capture/system/child_process.h"
#include "core/base/text.h"

namespace accelscope::capture::reach {
namespace {

constexpr std::string_view kListening = "listening on 127.0.0.1:";

[[nodiscard]] std::uint16_t port_in(std::string_view output) {
  const std::size_t at = output.find(kListening);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = output.substr(at + kListening.size());
  if (rest.find('\n') == std::string_view::npos) return 0;  // not all of the number may be there
  std::uint16_t port = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), port);
  return port;
}

}  // namespace

Result<std::string> find_own_agent(const HostOptions& options) {
  if (!options.agent_program.empty()) return options.agent_program;
  std::error_code failure;
  const std::filesystem::path beside = std::filesystem::path(system::own_program()).parent_path() / "accelscope-agent";
  if (std::filesystem::is_regular_file(beside, failure)) return beside.string();
  std::string found = system::find_program("accelscope-agent");
  if (!found.empty()) return found;
  return Error{"accelscope-agent is neither beside this program nor on PATH; install it, or build its target"};
}

std::string version_in(std::string_view printed) {
  printed = trimmed(printed.substr(0, printed.find('\n')));
  return std::string(printed.substr(printed.rfind(' ') + 1));
}

std::vector<std::string> agent_arguments(const HostOptions& options, const std::string& folder,
                                         std::chrono::seconds idle_exit) {
  std::vector<std::string> arguments = {"--listen",       "127.0.0.1:0", "--token-stdin",
                                        "--allow-run",    "--idle-exit", fmt::format("{}", idle_exit.count()),
                                        "--scratch",      folder,        "--spool",
                                        folder + "/spool"};
  arguments.insert(arguments.end(), options.agent_arguments.begin(), options.agent_arguments.end());
  return arguments;
}

std::uint16_t await_port(Tool& agent, std::chrono::seconds limit, const std::function<bool()>& stop) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::string output;
  bool open = true;
  while (open && std::chrono::steady_clock::now() < until && !stop()) {
    open = agent.read(output);
    if (const std::uint16_t port = port_in(output); port != 0) return port;
  }
  return 0;
}

std::string last_line(std::string_view text) {
  text = trimmed(text);
  return std::string(trimmed(text.substr(text.rfind('\n') + 1)));
}

}  // namespace accelscope::capture::reach
