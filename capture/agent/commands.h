// The subcommands of accelscope-agent. Each declares its options and returns what runs it after the parse: an exit
// status, 0 done, 1 the input or the run failed, 2 wrong usage.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace accelscope::capture {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitRun = 125;  // of `run`, beside the program's own statuses, as env and other wrappers have it

using AgentAction = std::function<int()>;

// Prints "accelscope-agent: MESSAGE" to standard error and returns the status.
int report_failure(int status, const std::string& message);

[[nodiscard]] AgentAction declare_serve(CLI::App& app);  // without a subcommand: viewers choose the kinds
[[nodiscard]] AgentAction declare_simulate(CLI::App& command);
[[nodiscard]] AgentAction declare_replay(CLI::App& command);
[[nodiscard]] AgentAction declare_run(CLI::App& command, const std::vector<std::string>& program);
[[nodiscard]] AgentAction declare_doctor(CLI::App& command);
[[nodiscard]] AgentAction declare_control(CLI::App& command, const std::string& verb);  // pause, resume, stop
[[nodiscard]] AgentAction declare_list(CLI::App& command);

}  // namespace accelscope::capture
