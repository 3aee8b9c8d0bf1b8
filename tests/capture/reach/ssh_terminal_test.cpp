// ssh asks on the terminal of the program that connects, and Ctrl+C there leaves the connection alone.
#include <doctest/doctest.h>

#include "ssh_server.h"
#include "tests/support/terminal/on_terminal.h"

using namespace accelscope::capture;
using namespace accelscope::capture::reach_test;
using accelscope::test::OnTerminal;

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
