// The program over a real ssh, as its user types it: OpenSSH's own server, started on this computer.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/capture/reach/ssh_server.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"
#include "tests/support/wait.h"

using namespace accelscope;
using capture::reach_test::SshServer;

namespace {

struct SshOutcome {
  int code = -1;
  std::string output;
};

SshOutcome run_over_ssh(const SshServer& server, const std::string& command, const std::vector<std::string>& options) {
  std::vector<std::string> line = {test::programs_folder() + "/accelscope", command, server.place().text(),
                                   "--ssh-config", server.options().ssh_config_file};
  line.insert(line.end(), options.begin(), options.end());
  Result<test::Process> run = test::Process::start(line);
  REQUIRE(run.ok());
  const int code = run->finish(test::kPatience);
  return {code, run->output()};
}

bool is_in(const SshOutcome& outcome, std::string_view part) { return outcome.output.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("over ssh: top --once tells what runs on a host that has no agent, and leaves none there") {
  const auto server = SshServer::start({.version = ""});
  if (!server) return;
  const SshOutcome top = run_over_ssh(*server, "top", {"--kind", "simulate", "--once", "--seconds", "4", "--json"});
  CHECK_MESSAGE(top.code == 0, top.output);
  CHECK_MESSAGE(is_in(top, "\"name\": \"MATMUL\""), top.output);
  for (const auto& left : std::filesystem::directory_iterator(server->home(".cache/accelscope")))
    CHECK_MESSAGE(!left.path().filename().string().starts_with("agent."), left.path().string());
}

TEST_CASE(
    "over ssh: doctor says what a host can capture, and of a key that is not there and of an unknown host what to do") {
  const auto server = SshServer::start({.known_host = false, .version = ""});
  if (!server) return;
  const SshOutcome unknown = run_over_ssh(*server, "doctor", {});
  CHECK(unknown.code != 0);
  CHECK_MESSAGE(is_in(unknown, "connect once in a terminal with ssh -p "), unknown.output);
  const SshOutcome no_key = run_over_ssh(*server, "doctor", {"--ssh-identity", server->folder().file("none")});
  CHECK(no_key.code != 0);
  CHECK_MESSAGE(is_in(no_key, "none cannot be read"), no_key.output);
  server->folder().write("known_hosts", "[127.0.0.1]:" + std::to_string(server->place().port) + " " +
                                            server->folder().read("host_key.pub"));
  const SshOutcome known = run_over_ssh(*server, "doctor", {});
  CHECK_MESSAGE(is_in(known, "Simulated accelerator"), known.output);
}
