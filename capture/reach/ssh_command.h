// How the system's ssh is called. The user's configuration, keys, key agent and known hosts apply; what is said here
// goes before it. One connection, the master, asks what has to be asked and is held open; everything else goes through
// it by way of a socket.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/reach/place.h"

namespace accelscope::capture::reach {

struct SshCommand {
  std::string program;      // the whole path of ssh
  std::string config_file;  // "": the user's and the system's
  std::string control;      // the path of the master's socket
  Place place;

  // The connection itself; it can ask unless nobody is there to answer.
  [[nodiscard]] std::vector<std::string> master(bool can_ask, bool on_terminal, const std::string& command) const;
  // Through the master: runs a command, or carries bytes to a port of 127.0.0.1 there.
  [[nodiscard]] std::vector<std::string> run(const std::string& command) const;
  [[nodiscard]] std::vector<std::string> forward(std::uint16_t port) const;

 private:
  [[nodiscard]] std::vector<std::string> with_options(std::vector<std::string> options) const;
};

// What ssh says when it fails, in words that help: what is wrong and what to do.

// "PLACE: what is wrong; what to do (ssh's last line)". `errors` is what ssh wrote to its standard error.
[[nodiscard]] std::string explain_ssh_failure(const Place& place, std::string_view errors);
// True if ssh said something that is known to be a failure.
[[nodiscard]] bool is_ssh_failure(std::string_view errors);

}  // namespace accelscope::capture::reach
