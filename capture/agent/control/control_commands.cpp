#include <fmt/format.h>

#include <memory>

#include "capture/agent/control/commands.h"
#include "capture/agent/control/control_socket.h"
#include "capture/command_line/options.h"

namespace accelscope::capture::agent {

AgentAction declare_control(command_line::OptionSet& command, ControlCommand what) {
  const std::string_view verb = control_word(what);
  auto name = std::make_shared<std::string>();
  command.add_option("NAME", *name, "of the capture, if several are running; accelscope-agent list shows them");
  command.set_footer(fmt::format("Example:\n  accelscope-agent {}\n  accelscope-agent {} mlp", verb, verb));
  return [name, what] {
    const Result<std::string> said = send_command(*name, what);
    if (!said) return report_failure(kExitFailed, said.message());
    fmt::print("{}\n", *said);
    return kExitDone;
  };
}

AgentAction declare_list(command_line::OptionSet& command) {
  command.set_footer("Example:\n  accelscope-agent list");
  return [] {
    const Result<std::vector<ControlledCapture>> captures = list_captures();
    if (!captures) return report_failure(kExitFailed, captures.message());
    for (const ControlledCapture& capture : *captures) fmt::print("{:<16} {}\n", capture.name, capture.status);
    if (captures->empty()) fmt::print("no capture of yours is running on this machine\n");
    const Result<std::vector<std::string>> held = list_held();
    if (!held) return report_failure(kExitFailed, held.message());
    for (const std::string& agent : *held) fmt::print("for a viewer      {}\n", agent);
    return kExitDone;
  };
}

}  // namespace accelscope::capture::agent
