// Agents behind ssh, from the first connection to the end, against OpenSSH's own server.
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "ssh_server.h"
#include "tests/support/programs_folder.h"

using namespace accelscope::capture;
using namespace accelscope::capture::reach_test;

namespace {

namespace fs = std::filesystem;

std::string failure_of(reach::AgentHost& host, reach::HostProgress& progress) {
  const auto ready = host.prepare(progress);
  REQUIRE_FALSE(ready.ok());
  return ready.message();
}

}  // namespace

TEST_CASE("an agent that is installed on a host is started there, streams bytes, and leaves nothing behind") {
  const auto server = SshServer::start();
  if (!server) return;
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  for (const char* step : {"connecting to 127.0.0.1", "checking the agent on", "starting the agent on"}) {
    CHECK(steps.has(step));
  }
  CHECK_FALSE(steps.has("copying"));
  CHECK(server->folder().read("agent.token") == host->token());
  const std::string arguments = server->folder().read("agent.arguments");
  const std::string scratch = host->running().folder;
  CHECK(holds(arguments, "--idle-exit\n120\n--scratch\n" + scratch + "\n--spool\n" + scratch + "/spool\n--detach\n"));
  CHECK_FALSE(holds(arguments, host->token()));
  CHECK(scratch.starts_with(server->home(".cache/accelscope/agent.")));
  CHECK((fs::status(scratch).permissions() & fs::perms::all) == fs::perms::owner_all);
  {
    const auto first = host->open_stream(steps);
    const auto second = host->open_stream(steps);
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(echoes(first.value(), std::string(300'000, 'x')));
    CHECK(echoes(second.value(), "two"));
    CHECK(host->why_stream_ended().empty());
  }
  CHECK(process_lives(server->folder().read("agent.id")));
  host->finish(steps);
  CHECK(eventually([&] { return server->left_nothing(); }));
  CHECK(eventually([&] { return !process_lives(server->folder().read("agent.id")); }));
  CHECK(child_of(::getpid(), "ControlMaster=yes") == 0);
}

TEST_CASE("a host without an agent gets a copy of ours, which is removed at the end") {
  const auto server = SshServer::start({.version = ""});
  if (!server) return;
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  CHECK(steps.has("copying accelscope-agent 0.1.0 ("));
  const std::string copied = server->folder().read("agent.program");
  CHECK(copied == host->running().folder + "/accelscope-agent");
  CHECK((fs::status(copied).permissions() & fs::perms::all) == fs::perms::owner_all);
  std::ifstream copy(copied, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(copy), {}) == server->folder().read("stub/accelscope-agent"));
  const auto stream = host->open_stream(steps);
  REQUIRE(stream.ok());
  CHECK(echoes(stream.value(), "copied"));
  host->finish(steps);
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("an agent of another version is left alone and ours is copied beside it") {
  const auto server = SshServer::start({.version = "0.0.9"});
  if (!server) return;
  server->folder().write("stub/accelscope-agent",
                         "#!/bin/sh\n[ \"$1\" = --version ] && echo accelscope-agent 0.1.0\n"
                         "[ \"$1\" = --version ] || echo listening on 127.0.0.1:9\n",
                         0755);
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  CHECK(steps.has("/bin/accelscope-agent there is 0.0.9"));
  CHECK(fs::exists(server->folder().file("bin/accelscope-agent")));
}

TEST_CASE("another processor is told with both names and how to build the agent there") {
  const auto server = SshServer::start({.version = ""});
  if (!server) return;
  server->install("uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Linux || echo riscv64\n");
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  const std::string message = failure_of(*host, steps);
  CHECK(message.starts_with(server->place().text() +
                            ": it is Linux riscv64, and the agent beside this program is for " +
                            system::this_system().system + " " + system::this_system().machine));
  CHECK(holds(message,
              "build accelscope-agent 0.1.0 there, from the same sources: "
              "sh third_party/install.sh --agent-only && cmake --workflow --preset agent"));
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("shared libraries that are missing on the host are named with their packages") {
  const auto server = SshServer::start({.version = ""});
  if (!server) return;
  server->folder().write("stub/accelscope-agent",
                         "#!/bin/sh\necho 'error while loading shared libraries' >&2; exit 127\n", 0755);
  server->install(
      "ldd", "#!/bin/sh\nprintf '\\tlibfmt.so.9 => not found\\n\\tlibre2.so.9 => not found\\n\\tlibc.so.6 => /x\\n'\n");
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  const std::string message = failure_of(*host, steps);
  CHECK(holds(message, "lacks libfmt.so.9, libre2.so.9 there"));
  CHECK(holds(message, "libfmt9 libre2-9 (error while loading shared libraries)"));
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("an agent that dies at its start on the host is told of with its last words, and its folder is removed") {
  const auto server = SshServer::start();
  if (!server) return;
  server->install("accelscope-agent",
                  "#!/bin/sh\n[ \"$1\" = --version ] && { echo 0.1.0; exit 0; }\n"
                  "echo 'no device files here' >&2\nexit 1\n");
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  const std::string message = failure_of(*host, steps);
  CHECK(holds(message, "did not start to listen"));
  CHECK(message.ends_with("(no device files here)"));
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("a stream whose ssh is killed ends, and the next one works") {
  const auto server = SshServer::start();
  if (!server) return;
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  REQUIRE(host->prepare(steps).ok());
  const auto first = host->open_stream(steps);
  REQUIRE(first.ok());
  CHECK(echoes(first.value(), "before"));
  SUBCASE("the one that carries the stream") {
    const int carrier = awaited_child_of(::getpid(), "-W");
    REQUIRE(carrier != 0);
    ::kill(carrier, SIGKILL);
    CHECK(ends(first.value()));
    CHECK(holds(host->why_stream_ended(), "the ssh that carried the stream has ended"));
  }
  SUBCASE("the connection itself") {
    const int master = awaited_child_of(::getpid(), "ControlMaster=yes");
    REQUIRE(master != 0);
    ::kill(master, SIGKILL);
    CHECK(ends(first.value()));
    CHECK(host->why_stream_ended().starts_with(server->place().text() + ": "));
  }
  const auto next = host->open_stream(steps);
  REQUIRE(next.ok());
  CHECK(echoes(next.value(), "after"));
  host->finish(steps);
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("a program that ends without a word leaves the agent, which a later one takes up again") {
  const auto server = SshServer::start();
  if (!server) return;
  StepList steps;
  reach::StartedAgent left;
  {
    const auto host = reach::make_ssh_host(server->place(), server->options());
    REQUIRE(host->prepare(steps).ok());
    left = host->running();
  }
  CHECK(process_lives(server->folder().read("agent.id")));
  CHECK(child_of(::getpid(), "ControlMaster=yes") == 0);
  reach::HostOptions options = server->options();
  options.resume = left;
  steps.steps.clear();
  const auto later = reach::make_ssh_host(server->place(), options);
  REQUIRE(later->prepare(steps).ok());
  CHECK_FALSE(steps.has("starting"));
  CHECK(later->token() == left.token);
  const auto stream = later->open_stream(steps);
  REQUIRE(stream.ok());
  CHECK(echoes(stream.value(), "again"));
  later->finish(steps);
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("aliases, jumps and settings of the user's ssh configuration apply") {
  const auto server = SshServer::start();
  if (!server) return;
  const reach::Place direct = server->place();
  const std::string port = std::to_string(direct.port);
  // ssh does not quote this path for the one that it starts to jump.
  const auto without_blank = system::PrivateFolder::make("test");
  REQUIRE(without_blank.ok());
  reach::HostOptions options = server->options();
  options.ssh_config_file = without_blank->path() + "/config";
  std::ofstream(options.ssh_config_file) << "Host behind\nHostName localhost\nHostKeyAlias [127.0.0.1]:" + port +
                                                "\nPort " + port + "\nUser " + direct.user + "\nProxyJump " +
                                                direct.user + "@127.0.0.1:" + port +
                                                "\nControlMaster auto\nControlPath none\nControlPersist 10m\n"
                                                "RemoteCommand uptime\nRequestTTY force\nLocalForward 1 127.0.0.1:1\n"
                                                "ExitOnForwardFailure yes\nLogLevel QUIET\n" +
                                                server->folder().read("ssh_config");
  StepList steps;
  const auto host = reach::make_ssh_host(reach::parse_place("ssh://behind").value(), options);
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  const auto stream = host->open_stream(steps);
  REQUIRE(stream.ok());
  CHECK(echoes(stream.value(), "behind"));
  host->finish(steps);
  CHECK(eventually([&] { return server->left_nothing(); }));
  CHECK(child_of(::getpid(), "ControlMaster=yes") == 0);
}

TEST_CASE("an agent that ends by itself leaves nothing on the host") {
  const auto server = SshServer::start({.version = ""});
  if (!server) return;
  StepList steps;
  {
    const auto host = reach::make_ssh_host(server->place(), server->options());
    REQUIRE(host->prepare(steps).ok());
    fs::create_directory(host->running().folder + "/spool");
    server->folder().write("home/" + host->running().folder.substr(server->home("").size()) + "/work/file", "x");
  }
  CHECK_FALSE(server->left_nothing());
  server->folder().write("agent.end", "");
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("what an agent kept when it ended is served by the next one, with the same token") {
  const auto server = SshServer::start({.version = ""});
  if (!server) return;
  StepList steps;
  reach::StartedAgent left;
  {
    const auto host = reach::make_ssh_host(server->place(), server->options());
    REQUIRE(host->prepare(steps).ok());
    left = host->running();
  }
  fs::create_directories(left.folder + "/spool/run");
  std::ofstream(left.folder + "/spool/run/segment") << "frames";
  server->folder().write("agent.end", "");
  REQUIRE(eventually([&] { return !fs::exists(left.folder + "/accelscope-agent"); }));
  REQUIRE(eventually([&] { return !fs::exists(left.folder + "/alive"); }));
  CHECK(fs::exists(left.folder + "/spool/run/segment"));
  fs::remove(server->folder().file("agent.end"));
  fs::remove(server->folder().file("agent.token"));
  reach::HostOptions options = server->options();
  options.resume = left;
  const auto later = reach::make_ssh_host(server->place(), options);
  const auto ready = later->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  CHECK(later->running().folder == left.folder);
  CHECK(server->folder().read("agent.token") == left.token);
  CHECK(holds(server->folder().read("agent.arguments"), "--spool\n" + left.folder + "/spool\n"));
  CHECK(fs::exists(left.folder + "/spool/run/segment"));
  later->finish(steps);
  CHECK(eventually([&] { return server->left_nothing(); }));
  const auto nothing = reach::make_ssh_host(server->place(), options);
  const auto gone = nothing->prepare(steps);
  REQUIRE_FALSE(gone.ok());
  CHECK(holds(gone.message(), "the agent has ended there"));
}

TEST_CASE("the agent itself is copied to a host, listens there, and is gone after the end") {
  const auto server = SshServer::start({.version = ""});
  if (!server) return;
  StepList steps;
  reach::HostOptions options = server->options();
  options.agent_program = accelscope::test::programs_folder() + "/accelscope-agent";
  options.version.clear();
  const auto host = reach::make_ssh_host(server->place(), options);
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  const std::uint16_t port = host->running().port;
  CHECK(fs::exists(host->running().folder + "/alive"));
  CHECK(host->open_stream(steps).ok());
  CHECK(system::connect_to_loopback(port).ok());
  host->finish(steps);
  CHECK(eventually([&] { return !system::connect_to_loopback(port).ok(); }));
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("a key file that is not there, or that is the public one, is named before ssh is asked") {
  const ReachFolder folder;
  folder.write("key.pub", "ssh-ed25519 AAAA test\n");
  const auto said_of = [&](const std::string& file) {
    const auto host = reach::make_ssh_host({.kind = reach::Place::Kind::ssh, .host = "127.0.0.1", .port = 1},
                                           {.version = "0.1.0", .ssh_identity_file = file});
    StepList steps;
    return failure_of(*host, steps);
  };
  CHECK(said_of(folder.file("none")).find("none cannot be read; check its path") != std::string::npos);
  CHECK(said_of(folder.file("key.pub")).find("key.pub is a public key") != std::string::npos);
}
