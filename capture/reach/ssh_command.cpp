#include "capture/reach/ssh_command.h"

#include <fmt/format.h>

#include <array>

#include "capture/reach/agent_files.h"
#include "capture/system/shown_command.h"

namespace accelscope::capture::reach {

std::vector<std::string> SshCommand::with_options(std::vector<std::string> options) const {
  std::vector<std::string> argv = {program};
  if (!config_file.empty()) argv.insert(argv.end(), {"-F", config_file});
  if (!identity_file.empty()) argv.insert(argv.end(), {"-i", identity_file});
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
  std::string_view advice;  // {ssh} (terminal_command) and {known} (the host as known_hosts has it) are filled in
};

// The first one that fits is told: what comes first explains what ssh says after it.
constexpr std::array kFailures = {
    Failure{"REMOTE HOST IDENTIFICATION HAS CHANGED",
            "the host's key has changed: someone may be listening in between, or the host was set up anew",
            "ask whoever runs it for its fingerprint; if that is right, forget the old key with ssh-keygen -R {known}"},
    Failure{"Host key verification failed", "the host's key was not accepted",
            "compare its fingerprint and answer yes, or connect once in a terminal with {ssh}"},
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

std::string terminal_command(const Place& place) {
  return fmt::format("ssh {}{}{}", place.port != 0 ? fmt::format("-p {} ", place.port) : "",
                     place.user.empty() ? "" : place.user + "@", place.host);
}

std::string explain_ssh_failure(const Place& place, std::string_view errors) {
  static constexpr Failure kUnknown{"", "ssh has ended", "try {ssh} in a terminal"};
  const Failure* failure = find_failure(errors);
  if (failure == nullptr) failure = &kUnknown;
  const std::string known =
      place.port == 0 ? place.host : system::shell_quote(fmt::format("[{}]:{}", place.host, place.port));
  const std::string advice =
      fmt::format(fmt::runtime(failure->advice), fmt::arg("ssh", terminal_command(place)), fmt::arg("known", known));
  const std::string said = last_line(errors);
  return fmt::format("{}: {}; {}{}", place.text(), failure->wrong, advice, said.empty() ? "" : " (" + said + ")");
}

namespace {

constexpr std::string_view kBegin = "reach-begin";

constexpr std::string_view kCheck = R"sh(
  LC_ALL=C; export LC_ALL;
  echo reach-begin;
  echo "reach-system $(uname -s)";
  echo "reach-machine $(uname -m)";
  for a in "$(command -v accelscope-agent)" "$HOME/.local/bin/accelscope-agent"
    "$HOME/.cache/accelscope/bin/accelscope-agent"; do
    if [ -x "$a" ]; then
      echo "reach-agent $a";
      echo "reach-version $("$a" --version 2>&1 < /dev/null | head -n 1)";
    fi;
  done
)sh";

constexpr std::string_view kMakeFolder = R"sh(
  for b in "$HOME/.cache/accelscope" "${TMPDIR:-/tmp}"; do
    mkdir -m 700 -p "$b" 2> /dev/null && d=$(mktemp -d "$b/agent.XXXXXX" 2> /dev/null) && break;
  done;
  [ -n "$d" ] || exit 1;
)sh";

// $n is the program's size: a copy that was cut short by a broken connection removes itself.
constexpr std::string_view kTakeProgram = R"sh(
  p="$d/accelscope-agent";
  cat > "$p";
  if [ "$(wc -c < "$p")" -ne "$n" ]; then rm -f "$p"; rmdir "$d"; exit 1; fi;
  chmod 700 "$p";
  if v=$("$p" --version 2>&1 < /dev/null); then
    echo "reach-version $v";
  else
    echo "reach-complaint $v";
    ldd "$p" 2> /dev/null | grep "not found" | while read -r l r; do echo "reach-library $l"; done;
    rm -f "$p"; rmdir "$d";
  fi
)sh";

// The agent holds the writing end of a pipe with a name open, which closes when it ends, in whatever way: then its
// folder goes, but for what no viewer has taken. Descriptor 9 is one that shells leave to their users.
constexpr std::string_view kWatch = R"sh(
  rm -f "$d/alive";
  mkfifo "$d/alive" || exit 1;
  ( trap "" HUP;
    cat "$d/alive" > /dev/null;
    for f in "$d"/*; do [ "$f" = "$d/spool" ] || rm -rf "$f"; done;
    rmdir "$d/spool" "$d" ) < /dev/null > /dev/null 2>&1 &
  exec 9> "$d/alive";
)sh";

// Where the system shows what processes hold open, the agent is asked to end; elsewhere it does so by its --idle-exit.
constexpr std::string_view kRemove = R"sh(
  for p in /proc/[0-9]*; do
    if [ "$p/fd/9" -ef "$d/alive" ]; then kill "${p#/proc/}"; fi;
  done;
  rm -rf "$d"
)sh";

constexpr std::string_view kFindLeft = R"sh(
  echo reach-begin;
  if [ -p "$d/alive" ]; then echo reach-alive; fi;
  if [ -d "$d/spool" ]; then echo reach-spool; fi
)sh";

// A word for sh inside a script. Without backslashes, which fish would read inside the quotes around the script.
[[nodiscard]] std::string word(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('"'"')";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// Line breaks and indentation become single blanks.
[[nodiscard]] std::string one_line(std::string_view script) {
  std::string line;
  for (const char c : script) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

// Calls visit(word, rest) for each line.
template <typename Visit>
void each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t blank = std::min(line.find(' '), line.size());
    visit(line.substr(0, blank), std::string(line.substr(std::min(blank + 1, line.size()))));
  }
}

[[nodiscard]] std::string_view usual_name(std::string_view machine) {
  if (machine == "arm64") return "aarch64";
  if (machine == "amd64") return "x86_64";
  return machine;
}

[[nodiscard]] std::string set_folder(const std::string& folder) { return "d=" + word(folder) + "; "; }

}  // namespace

std::string remote_command(std::string_view script) {
  if (script.find_first_of("!\\\n\r") != std::string_view::npos) return {};
  return "sh -c " + system::shell_quote(script);
}

std::string hold_script() { return fmt::format("echo {}; exec cat > /dev/null", kBegin); }

bool is_held(std::string_view output) {
  bool held = false;
  each_line(output, [&](std::string_view word, const std::string&) { held = held || word == kBegin; });
  return held;
}

std::string check_script() { return one_line(kCheck); }

RemoteFacts read_facts(std::string_view output) {
  RemoteFacts facts;
  each_line(output, [&](std::string_view word, std::string rest) {
    if (word == kBegin) facts.answered = true;
    if (word == "reach-system")
      facts.names.system = std::move(rest);
    else if (word == "reach-machine")
      facts.names.machine = std::move(rest);
    else if (word == "reach-agent")
      facts.agents.push_back({std::move(rest), {}});
    else if (word == "reach-version" && !facts.agents.empty())
      facts.agents.back().version = version_in(rest);
  });
  return facts;
}

std::string folder_script(std::uint64_t program_bytes, const std::string& folder) {
  std::string script = "LC_ALL=C; export LC_ALL; umask 077; ";
  script += folder.empty() ? "d=; " + one_line(kMakeFolder) : set_folder(folder);
  script += R"(echo "reach-folder $d";)";
  if (program_bytes > 0) script += fmt::format(" n={};{}", program_bytes, one_line(kTakeProgram));
  return script;
}

RemoteFolder read_folder(std::string_view output) {
  RemoteFolder folder;
  each_line(output, [&](std::string_view word, std::string rest) {
    if (word == "reach-folder")
      folder.path = std::move(rest);
    else if (word == "reach-version")
      folder.version = version_in(rest);
    else if (word == "reach-complaint")
      folder.complaint = rest.empty() ? "no reason is given" : std::move(rest);
    else if (word == "reach-library" && rest.find(".so") != std::string::npos)
      folder.libraries.push_back(std::move(rest));
  });
  return folder;
}

std::string start_script(const std::string& folder, const std::vector<std::string>& argv) {
  std::string script = "umask 077; " + set_folder(folder) + one_line(kWatch) + "exec";
  for (const std::string& argument : argv) script += " " + word(argument);
  return script;
}

std::string left_script(const std::string& folder) { return set_folder(folder) + one_line(kFindLeft); }

LeftBehind read_left(std::string_view output) {
  LeftBehind left;
  each_line(output, [&](std::string_view word, const std::string&) {
    if (word == kBegin) left.answered = true;
    if (word == "reach-alive") left.agent_runs = true;
    if (word == "reach-spool") left.has_spool = true;
  });
  return left;
}

std::string remove_script(const std::string& folder) { return set_folder(folder) + one_line(kRemove); }

bool same_machine(const system::SystemNames& a, const system::SystemNames& b) {
  return a.system == b.system && usual_name(a.machine) == usual_name(b.machine);
}

std::string package_of(std::string_view library) {
  if (library == "libz.so.1") return "zlib1g";
  if (library == "libcrypto.so.3") return "libssl3";
  const std::size_t so = library.find(".so.");
  if (so == std::string_view::npos || so == 0) return std::string(library);
  const std::string_view name = library.substr(0, so);
  const bool digit = name.back() >= '0' && name.back() <= '9';
  return fmt::format("{}{}{}", name, digit ? "-" : "", library.substr(so + 4));
}

}  // namespace accelscope::capture::reach
