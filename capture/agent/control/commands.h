// The command line of accelscope-agent, kept in the library so that agent_main.cpp holds nothing that could not be
// tested, and its subcommands. Each of these declares its options and returns what runs it after the parse: an exit
// status, 0 done, 1 the input or the run failed, 2 wrong usage.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/agent/run/capture_run.h"

namespace accelscope::command_line {
class OptionSet;
}

namespace accelscope::capture::agent {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;  // Ctrl+C, as shells have it
inline constexpr int kExitRun = 125;  // of `run`, beside the program's own statuses, as env and other wrappers have it

using AgentAction = std::function<int()>;

[[nodiscard]] int run_agent_command(int argc, const char* const* argv);

// Prints "accelscope-agent: MESSAGE" to standard error and returns the status.
int report_failure(int status, const std::string& message);

[[nodiscard]] AgentAction declare_serve(
    command_line::OptionSet& app);  // without a subcommand: viewers choose the kinds
[[nodiscard]] AgentAction declare_simulate(command_line::OptionSet& command);
[[nodiscard]] AgentAction declare_replay(command_line::OptionSet& command);
[[nodiscard]] AgentAction declare_run(command_line::OptionSet& command, const std::vector<std::string>& program);
[[nodiscard]] AgentAction declare_doctor(command_line::OptionSet& command);
[[nodiscard]] AgentAction declare_control(command_line::OptionSet& command, ControlCommand what);
[[nodiscard]] AgentAction declare_list(command_line::OptionSet& command);

// True if one of the options of serving was given to this command itself.
[[nodiscard]] bool any_serving_option(const command_line::OptionSet& command);

}  // namespace accelscope::capture::agent
