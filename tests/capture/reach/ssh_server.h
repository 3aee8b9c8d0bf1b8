// OpenSSH's server on a free port of 127.0.0.1 with keys, configuration and home folder of its own, and a configuration
// for its clients. Nothing of the computer's own ssh is read or changed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "reach_support.h"
#include "tests/support/process.h"

namespace accelscope::capture::reach_test {

struct ServerSettings {
  std::string more;               // further lines of sshd_config
  std::string pass_phrase;        // of the user's key
  bool known_host = true;         // the user knows the server's key
  bool accepted_key = true;       // the server knows the user's key
  std::string version = "0.1.0";  // of the agent that is installed there; "": none
};

class SshServer {
 public:
  // Nothing where no server is installed, with a message.
  [[nodiscard]] static std::unique_ptr<SshServer> start(const ServerSettings& settings = {});

  [[nodiscard]] reach::Place place() const;
  // With a version of 0.1.0, and a stub for the agent that would be copied.
  [[nodiscard]] reach::HostOptions options(reach::Prompter* prompter = nullptr) const;
  // The path below the home folder at the server.
  [[nodiscard]] std::string home(const std::string& name) const { return folder_.file("home/" + name); }
  // A program on the server's PATH.
  void install(const std::string& name, const std::string& script) const;
  void make_host_key_new() const;           // as if another host answered there
  [[nodiscard]] bool left_nothing() const;  // in the cache of the user at the server
  [[nodiscard]] const ReachFolder& folder() const noexcept { return folder_; }

 private:
  SshServer() = default;
  void make_keys(const ServerSettings& settings) const;
  void write_configuration(const ServerSettings& settings) const;
  [[nodiscard]] bool launch();

  ReachFolder folder_;
  EchoServer echo_;
  std::uint16_t port_ = 0;
  std::optional<accelscope::test::Process> server_;
};

}  // namespace accelscope::capture::reach_test
