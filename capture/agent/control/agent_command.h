// The command line of accelscope-agent: see commands.h for its subcommands. Kept in the library so that agent_main.cpp
// holds nothing that could not be tested.
#pragma once

namespace accelscope::capture::agent {

// Returns the exit status: 0 done, 1 the input or the run failed, 2 wrong usage.
[[nodiscard]] int run_agent_command(int argc, const char* const* argv);

}  // namespace accelscope::capture::agent
