#include "capture/reach/ssh_command.h"

#include <fmt/format.h>

namespace accelscope::capture::reach {

std::vector<std::string> SshCommand::with_options(std::vector<std::string> options) const {
  std::vector<std::string> argv = {program};
  if (!config_file.empty()) argv.insert(argv.end(), {"-F", config_file});
  // What the configuration may set for work in a terminal would be in the way: a command of its own, forwarded ports.
  const std::vector<std::string> common = {"-T", "-x", "-S", control, "-o", "ControlPersist=no", "-o",
                                           "RemoteCommand=none", "-o", "PermitLocalCommand=no", "-o", "LogLevel=INFO",
                                           "-o", "ConnectTimeout=15",
                                           // A dead connection is noticed within 15 s.
                                           "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2"};
  argv.insert(argv.end(), common.begin(), common.end());
  argv.insert(argv.end(), options.begin(), options.end());
  if (place.port != 0) argv.insert(argv.end(), {"-p", fmt::format("{}", place.port)});
  if (!place.user.empty()) argv.insert(argv.end(), {"-l", place.user});
  argv.insert(argv.end(), {"--", place.host});
  return argv;
}

std::vector<std::string> SshCommand::master(bool can_ask, bool on_terminal, const std::string& command) const {
  std::vector<std::string> argv = with_options({"-o", "ControlMaster=yes", "-o", "ClearAllForwardings=yes", "-o",
                                                can_ask || on_terminal ? "BatchMode=no" : "BatchMode=yes"});
  argv.push_back(command);
  // Ctrl+C is for the program that captures: it ends the capture in order, for which the connection is needed.
  if (on_terminal) argv.insert(argv.begin(), {"/bin/sh", "-c", R"(trap "" INT; exec "$@")", "sh"});
  return argv;
}

std::vector<std::string> SshCommand::run(const std::string& command) const {
  std::vector<std::string> argv =
      with_options({"-o", "ControlMaster=no", "-o", "ClearAllForwardings=yes", "-o", "BatchMode=yes"});
  argv.push_back(command);
  return argv;
}

std::vector<std::string> SshCommand::forward(std::uint16_t port) const {
  return with_options({"-o", "ControlMaster=no", "-o", "BatchMode=yes", "-W", fmt::format("127.0.0.1:{}", port)});
}

}  // namespace accelscope::capture::reach
