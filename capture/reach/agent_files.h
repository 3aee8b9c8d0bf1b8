// What local and remote agents have in common: which program is copied or started, how it is told what to do, and how
// it answers.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "capture/reach/agent_host.h"
#include "capture/reach/tool.h"

namespace accelscope::capture::reach {

// accelscope-agent beside this program, else on PATH.
[[nodiscard]] Result<std::string> find_own_agent(const HostOptions& options);

// From what --version prints: "0.1.0" of "accelscope-agent 0.1.0".
[[nodiscard]] std::string version_in(std::string_view printed);

// Serves on a free port of 127.0.0.1 only, with the token on its standard input.
[[nodiscard]] std::vector<std::string> agent_arguments(const HostOptions& options, const std::string& folder,
                                                       std::chrono::seconds idle_exit);

// Waits for "listening on 127.0.0.1:PORT". 0: the program ended, closed its output or said nothing in time.
[[nodiscard]] std::uint16_t await_port(Tool& agent, std::chrono::seconds limit, const std::function<bool()>& stop);

// The last line that is not empty, without blanks at its ends.
[[nodiscard]] std::string last_line(std::string_view text);

}  // namespace accelscope::capture::reach
