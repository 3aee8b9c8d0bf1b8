#include "capture/reach/ssh_command.h"

#include <fmt/format.h>

#include <array>

#include "capture/reach/agent_files.h"
#include "capture/system/shown_command.h"

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

namespace {

struct Failure {
  std::string_view said;    // by ssh, anywhere in its output
  std::string_view wrong;   // what is wrong
  std::string_view advice;  // {host} and {known} (the host as known_hosts has it) are filled in
};

// The first one that fits is told: what comes first explains what ssh says after it.
constexpr std::array kFailures = {
    Failure{"REMOTE HOST IDENTIFICATION HAS CHANGED",
            "the host's key has changed: someone may be listening in between, or the host was set up anew",
            "ask whoever runs it for its fingerprint; if that is right, forget the old key with ssh-keygen -R {known}"},
    Failure{"Host key verification failed", "the host's key was not accepted",
            "compare its fingerprint and answer yes, or connect once in a terminal with ssh {host}"},
    Failure{"UNPROTECTED PRIVATE KEY FILE", "other users may read your private key, so that ssh does not use it",
            "chmod 600 the key's file"},
    Failure{"Too many authentication failures", "too many keys were offered before the right one",
            "name it in ~/.ssh/config with IdentityFile and IdentitiesOnly yes"},
    Failure{"Permission denied (publickey)", "no key of yours is accepted there",
            "check the user, put your key there with ssh-copy-id, or name it in ~/.ssh/config with IdentityFile"},
    Failure{"Permission denied", "neither a key nor a password was accepted",
            "check the user and the password, or put your key there with ssh-copy-id"},
    Failure{"Could not resolve hostname", "no host of this name is known",
            "check its spelling, the network, and ~/.ssh/config"},
    Failure{
        "administratively prohibited", "its ssh server does not forward connections",
        "have AllowTcpForwarding set to yes there, or start accelscope-agent there by hand and connect to HOST:PORT"},
    Failure{"Stdio forwarding request failed", "its ssh server did not connect to the agent",
            "start the capture again; the server needs AllowTcpForwarding yes"},
    Failure{"open failed: connect failed", "the agent does not run there any more", "start the capture again"},
    Failure{"Connection refused", "nothing answers on its ssh port",
            "check that an ssh server runs there, and its port: ssh://USER@HOST:PORT"},
    Failure{"timed out", "it does not answer", "check that it is on, the network or VPN, and firewalls between"},
    Failure{"No route to host", "no way leads to it", "check that it is on, and the network or VPN"},
    Failure{"Network is unreachable", "no way leads to it", "check the network or VPN"},
    Failure{"Bad owner or permissions on", "ssh does not trust its own configuration",
            "make the file yours alone: chmod 600"},
    Failure{"onfiguration option", "ssh does not understand its configuration", "mend the line that it names"},
    Failure{"Can't open user config file", "ssh's configuration cannot be read", "check its path"},
    Failure{"no matching", "this ssh and that server have no method in common", "bring the older one up to date"},
    Failure{"not responding", "the connection is dead", "check the network or VPN; connect again"},
    Failure{"Connection reset", "the connection broke", "check the network or VPN; connect again"},
    Failure{"Connection closed", "the connection was closed", "look into the ssh server's log there; connect again"},
    Failure{"Broken pipe", "the connection broke", "check the network or VPN; connect again"},
};

[[nodiscard]] const Failure* find_failure(std::string_view errors) {
  for (const Failure& failure : kFailures) {
    if (errors.find(failure.said) != std::string_view::npos) return &failure;
  }
  return nullptr;
}

}  // namespace

bool is_ssh_failure(std::string_view errors) { return find_failure(errors) != nullptr; }

std::string explain_ssh_failure(const Place& place, std::string_view errors) {
  static constexpr Failure kUnknown{"", "ssh has ended", "try ssh {host} in a terminal"};
  const Failure* failure = find_failure(errors);
  if (failure == nullptr) failure = &kUnknown;
  std::string host = place.user.empty() ? place.host : place.user + "@" + place.host;
  std::string known = place.host;
  if (place.port != 0) {
    host = fmt::format("-p {} {}", place.port, host);
    known = system::shell_quote(fmt::format("[{}]:{}", place.host, place.port));
  }
  const std::string advice =
      fmt::format(fmt::runtime(failure->advice), fmt::arg("host", host), fmt::arg("known", known));
  const std::string said = last_line(errors);
  return fmt::format("{}: {}; {}{}", place.text(), failure->wrong, advice, said.empty() ? "" : " (" + said + ")");
}

}  // namespace accelscope::capture::reach
