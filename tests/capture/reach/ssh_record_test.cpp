// A program that is recorded on another host, as the recorder's user sees it.
#include <doctest/doctest.h>

#include "capture/client/record.h"
#include "ssh_server.h"

using namespace accelscope;
using namespace accelscope::capture;
using namespace accelscope::capture::reach_test;

TEST_CASE("a program that is recorded behind ssh shows what it prints there and hands on its exit status") {
  const auto server = SshServer::start({.version = ""});
  if (!server) return;
  client::RecordOptions options;
  options.plan.places = {server->place().text()};
  options.plan.ssh_config_file = server->options().ssh_config_file;
  options.plan.request.kinds = {{"program", {}}};
  options.plan.request.program = "sh";
  options.plan.request.arguments = {"-c", "echo hello; echo oh >&2; kill -TERM $$"};
  options.output_path = server->folder().file("r.accel");
  std::string printed[2];
  options.printed = [&printed](const client::ProgramText& text) {
    printed[text.is_error ? 1 : 0] += text.text;
    return true;
  };
  const auto report = client::record(options);
  REQUIRE_MESSAGE(report.ok(), report.message());
  CHECK(report->complete);
  CHECK(report->exit_status == 128 + 15);
  CHECK(printed[0] == "hello\n");
  CHECK(printed[1] == "oh\n");
  CHECK(report->output_shown);
}
