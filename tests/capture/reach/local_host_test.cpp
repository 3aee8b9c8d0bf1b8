// An agent on this computer: started with a token, reached, ended; its failures told.
#include <doctest/doctest.h>

#include <filesystem>

#include "reach_support.h"
#include "tests/support/programs_folder.h"

using namespace accelscope::capture;
using namespace accelscope::capture::reach_test;

namespace {

struct Fixture {
  ReachFolder folder;
  EchoServer server;
  StepList steps;
  [[nodiscard]] reach::HostOptions options() const {
    return {.agent_program = stub_agent(folder, "0.1.0", server.port()), .agent_arguments = {"--when-full", "drop"}};
  }
};

}  // namespace

TEST_CASE("a local agent gets its token on its input only, streams bytes, and is gone after the end") {
  Fixture fixture;
  const std::unique_ptr<reach::AgentHost> host = reach::make_local_host(fixture.options());
  const auto ready = host->prepare(fixture.steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  CHECK(fixture.steps.has("starting the agent"));
  CHECK(host->token().size() == 64);
  CHECK(fixture.folder.read("agent.token") == host->token());
  const std::string arguments = fixture.folder.read("agent.arguments");
  CHECK_FALSE(holds(arguments, host->token()));
  for (const char* part :
       {"--listen\n127.0.0.1:0\n", "--token-stdin\n", "--allow-run\n", "--idle-exit\n60\n", "--when-full\ndrop\n"}) {
    CHECK_MESSAGE(holds(arguments, part), arguments);
  }
  const std::string scratch = host->running().folder;
  CHECK(holds(arguments, "--scratch\n" + scratch + "\n--spool\n" + scratch + "/spool\n"));
  const auto permissions = std::filesystem::status(scratch).permissions();
  CHECK((permissions & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
        std::filesystem::perms::none);
  {
    const auto first = host->open_stream(fixture.steps);
    const auto second = host->open_stream(fixture.steps);
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(echoes(first.value(), "one"));
    CHECK(echoes(second.value(), "two"));
  }
  const std::string id = fixture.folder.read("agent.id");
  CHECK(process_lives(id));
  CHECK(host->why_stream_ended().empty());
  host->finish(fixture.steps);
  CHECK_FALSE(process_lives(id));
  CHECK_FALSE(std::filesystem::exists(scratch));
}

TEST_CASE("tokens of two local agents differ") {
  Fixture fixture;
  const auto first = reach::make_local_host(fixture.options());
  const auto second = reach::make_local_host(fixture.options());
  REQUIRE(first->prepare(fixture.steps).ok());
  REQUIRE(second->prepare(fixture.steps).ok());
  CHECK(first->token() != second->token());
}

TEST_CASE("an agent that dies at its start is told of with its own last words") {
  Fixture fixture;
  fixture.folder.write("dying", "#!/bin/sh\necho 'no device files here' >&2\nexit 3\n", 0755);
  const auto host = reach::make_local_host({.agent_program = fixture.folder.file("dying")});
  const auto ready = host->prepare(fixture.steps);
  REQUIRE_FALSE(ready.ok());
  CHECK(ready.message().starts_with("local: "));
  CHECK(ready.message().ends_with("(no device files here)"));
  const auto missing =
      reach::make_local_host({.agent_program = fixture.folder.file("nothing")})->prepare(fixture.steps);
  REQUIRE_FALSE(missing.ok());
  CHECK(holds(missing.message(), "cannot be started: No such file"));
}

TEST_CASE("an agent that ends while it is used says so, and the next stream is refused") {
  Fixture fixture;
  const auto host = reach::make_local_host(fixture.options());
  REQUIRE(host->prepare(fixture.steps).ok());
  fixture.folder.write("agent.end", "");
  CHECK(eventually([&] { return !host->why_stream_ended().empty(); }));
  CHECK(holds(host->why_stream_ended(), "local: the agent has ended with exit code 0"));
}

TEST_CASE("waiting for a silent agent ends when the user cancels") {
  Fixture fixture;
  fixture.folder.write(
      "silent", "#!/bin/sh\necho $$ > '" + fixture.folder.file("agent.id") + "'\nexec tail -f /dev/null\n", 0755);
  const auto host = reach::make_local_host({.agent_program = fixture.folder.file("silent")});
  fixture.steps.cancel = true;
  const auto ready = host->prepare(fixture.steps);
  REQUIRE_FALSE(ready.ok());
  CHECK(ready.message() == "local: cancelled");
}

TEST_CASE("an agent that still runs is taken up again without starting another") {
  Fixture fixture;
  const auto first = reach::make_local_host(fixture.options());
  REQUIRE(first->prepare(fixture.steps).ok());
  const auto second = reach::make_local_host({.agent_program = "/nothing", .resume = first->running()});
  REQUIRE(second->prepare(fixture.steps).ok());
  CHECK(second->token() == first->token());
  const auto stream = second->open_stream(fixture.steps);
  REQUIRE(stream.ok());
  CHECK(echoes(stream.value(), "again"));
}

TEST_CASE("private folders that a killed program has left are removed, those in use and new ones are not") {
  const auto used = system::PrivateFolder::make("test");
  REQUIRE(used.ok());
  const std::string left = used->path() + "left", fresh = used->path() + "fresh", wanted = used->path() + "wanted";
  for (const std::string& folder : {left, fresh, wanted}) {
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  }
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(left, old);
  std::filesystem::last_write_time(wanted, old);
  std::filesystem::last_write_time(used->path(), old);
  system::PrivateFolder::remove_left_behind("test", [&](const std::string& folder) { return folder == wanted; });
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(std::filesystem::exists(used->path()));
  CHECK(std::filesystem::exists(fresh));
  CHECK(std::filesystem::exists(wanted));
  for (const std::string& folder : {fresh, wanted}) std::filesystem::remove(folder);
}

TEST_CASE(
    "what a killed program's agent has kept is served by the next one, and a folder is locked while either lives") {
  Fixture fixture;
  reach::StartedAgent left;
  {
    const auto folder = system::PrivateFolder::make("agent");  // as a program has it that is killed: its agent goes on
    REQUIRE(folder.ok());
    left = {.port = 1, .token = std::string(64, 'a'), .folder = folder->path() + "x"};
  }
  reach::HostOptions options = fixture.options();
  options.resume = left;
  const auto nothing = reach::make_local_host(options)->prepare(fixture.steps);
  REQUIRE_FALSE(nothing.ok());
  CHECK(holds(nothing.message(), "the agent has ended"));
  std::filesystem::create_directories(left.folder + "/spool/run");
  std::filesystem::permissions(left.folder, std::filesystem::perms::owner_all);
  const auto host = reach::make_local_host(options);
  const auto ready = host->prepare(fixture.steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  CHECK(fixture.folder.read("agent.token") == left.token);
  CHECK(holds(fixture.folder.read("agent.arguments"), "--spool\n" + left.folder + "/spool\n"));
  CHECK(std::filesystem::exists(left.folder + "/spool/run"));
  CHECK(std::filesystem::exists("/proc/" + fixture.folder.read("agent.id") + "/fd/3"));
  const auto stream = host->open_stream(fixture.steps);
  REQUIRE(stream.ok());
  CHECK(echoes(stream.value(), "taken up"));
  host->finish(fixture.steps);
  CHECK_FALSE(std::filesystem::exists(left.folder));
}

TEST_CASE("the agent itself serves on this computer and is gone after the end") {
  StepList steps;
  const auto host =
      reach::make_local_host({.agent_program = accelscope::test::programs_folder() + "/accelscope-agent"});
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  const reach::StartedAgent agent = host->running();
  CHECK(host->open_stream(steps).ok());
  host->finish(steps);
  CHECK_FALSE(system::connect_to_loopback(agent.port).ok());
  CHECK_FALSE(std::filesystem::exists(agent.folder));
}
