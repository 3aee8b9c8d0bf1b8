// How the system's ssh is called. The user's configuration, keys, key agent and known hosts apply; what is said here
// goes before it. One connection, the master, asks what has to be asked and is held open; everything else goes through
// it by way of a socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/reach/place.h"
#include "capture/system/descriptor.h"

namespace accelscope::capture::reach {

struct SshCommand {
  std::string program;      // the whole path of ssh
  std::string config_file;  // "": the user's and the system's
  std::string control;      // the path of the master's socket
  Place place;
  std::string identity_file = {};  // a private key beside those that ssh tries by itself; "": none

  // The connection itself; it can ask unless nobody is there to answer.
  [[nodiscard]] std::vector<std::string> master(bool can_ask, bool on_terminal, const std::string& command) const;
  // Through the master: runs a command, or carries bytes to a port of 127.0.0.1 there.
  [[nodiscard]] std::vector<std::string> run(const std::string& command) const;
  [[nodiscard]] std::vector<std::string> forward(std::uint16_t port) const;

 private:
  [[nodiscard]] std::vector<std::string> with_options(std::vector<std::string> options) const;
};

// What ssh says when it fails, in words that help: what is wrong and what to do.

// "ssh -p 2222 user@host": what a user types to get there.
[[nodiscard]] std::string terminal_command(const Place& place);

// "PLACE: what is wrong; what to do (ssh's last line)". `errors` is what ssh wrote to its standard error.
[[nodiscard]] std::string explain_ssh_failure(const Place& place, std::string_view errors);
// True if ssh said something that is known to be a failure.
[[nodiscard]] bool is_ssh_failure(std::string_view errors);

// What is run on the other host, and what it answers. The user's shell there may be any: every script is one word for
// `sh -c`, on one line and without the characters that csh or fish read differently inside quotes. Answers are lines
// that begin with a word of their own, since start-up files of shells print, too.

// sh -c '...', to be read by any shell. "" if it holds a character that shells disagree about.
[[nodiscard]] std::string remote_command(std::string_view script);

// Keeps a connection: answers once, then reads until its input ends.
[[nodiscard]] std::string hold_script();
[[nodiscard]] bool is_held(std::string_view output);

// The system, and the agents at the places where one may be installed.
[[nodiscard]] std::string check_script();
struct RemoteAgent {
  std::string path;
  std::string version;
};
struct RemoteFacts {
  bool answered = false;  // else no shell has run the script
  system::SystemNames names;
  std::vector<RemoteAgent> agents;
};
[[nodiscard]] RemoteFacts read_facts(std::string_view output);

// Makes a folder that only its user can enter, unless one is named. With a size, a program of so many bytes is read
// from the input and tried; if it cannot run, nothing is left behind.
[[nodiscard]] std::string folder_script(std::uint64_t program_bytes, const std::string& folder = {});
struct RemoteFolder {
  std::string path;                    // "": none could be made
  std::string version;                 // of the copied program
  std::string complaint;               // why it does not run there
  std::vector<std::string> libraries;  // that it lacks there: "libfmt.so.9"
};
[[nodiscard]] RemoteFolder read_folder(std::string_view output);

// Starts the agent in its folder, which is removed when the agent ends; what no viewer has taken stays.
[[nodiscard]] std::string start_script(const std::string& folder, const std::vector<std::string>& argv);

// What has become of an agent that was started there earlier.
[[nodiscard]] std::string left_script(const std::string& folder);
struct LeftBehind {
  bool answered = false;
  bool agent_runs = false;
  bool has_spool = false;
};
[[nodiscard]] LeftBehind read_left(std::string_view output);

// Ends the agent of this folder and removes it.
[[nodiscard]] std::string remove_script(const std::string& folder);

// The same processor under another name: "arm64" is "aarch64".
[[nodiscard]] bool same_machine(const system::SystemNames& a, const system::SystemNames& b);
// Debian's package of a shared library, by the rule of its policy (8.1): "libfmt9", "libre2-9".
[[nodiscard]] std::string package_of(std::string_view library);

}  // namespace accelscope::capture::reach
