// ssh asks on the terminal of the program that connects, and Ctrl+C there leaves the connection alone.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "ssh_server.h"

extern char** environ;

using namespace accelscope::capture;
using namespace accelscope::capture::reach_test;

namespace {

constexpr int kLongMs = 40'000;

// A program in a session of its own, whose terminal is this end of a pair.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& argv) : terminal_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    REQUIRE(terminal_);
    REQUIRE(::grantpt(terminal_.get()) == 0);
    REQUIRE(::unlockpt(terminal_.get()) == 0);
    const std::string other = ::ptsname(terminal_.get());
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, other.c_str(), O_RDWR, 0);  // the leader's first one is its terminal
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, 0, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    REQUIRE(posix_spawn(&id_, argv.front().c_str(), &actions, &attributes, arguments.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  ~OnTerminal() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  void type(const std::string& keys) const {
    REQUIRE(::write(terminal_.get(), keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }
  // Reads on until the text has been shown.
  [[nodiscard]] bool shows(const std::string& text) {
    std::array<char, 1024> buffer{};
    while (!holds(shown, text)) {
      pollfd waiting{terminal_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, kLongMs) <= 0) return false;
      const ssize_t count = ::read(terminal_.get(), buffer.data(), buffer.size());
      if (count <= 0) return false;
      shown.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return true;
  }
  [[nodiscard]] int id() const noexcept { return id_; }
  std::string shown;

 private:
  system::Descriptor terminal_;
  pid_t id_ = 0;
};

}  // namespace

TEST_CASE("on a terminal ssh asks there, shows no answer, and Ctrl+C does not break the connection") {
  const auto server = SshServer::start({.pass_phrase = "open sesame"});
  if (!server) return;
  const reach::HostOptions options = server->options();
  OnTerminal program({options.askpass_program, server->place().text(), options.ssh_config_file, options.agent_program});
  REQUIRE_MESSAGE(program.shows("Enter passphrase for key"), program.shown);
  program.type("open sesame\n");
  REQUIRE_MESSAGE(program.shows("ready"), program.shown);
  CHECK_FALSE(holds(program.shown, "open sesame"));
  program.type("\x03");
  program.type("still there\n");
  CHECK_MESSAGE(program.shows("came back: still there"), program.shown);
  program.type("end\n");
  CHECK_MESSAGE(program.shows("finished"), program.shown);
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("a program that is killed leaves no ssh of its own behind, and its agent to the one that comes next") {
  const auto server = SshServer::start();
  if (!server) return;
  const reach::HostOptions options = server->options();
  std::string master, stream;
  {
    OnTerminal program(
        {options.askpass_program, server->place().text(), options.ssh_config_file, options.agent_program});
    REQUIRE_MESSAGE(program.shows("ready"), program.shown);
    master = std::to_string(awaited_child_of(program.id(), "ControlMaster=yes"));
    stream = std::to_string(awaited_child_of(program.id(), "-W"));
    REQUIRE(master != "0");
    REQUIRE(stream != "0");
  }
  REQUIRE(eventually([&] { return !process_lives(master) && !process_lives(stream); }));
  CHECK(process_lives(server->folder().read("agent.id")));
}
