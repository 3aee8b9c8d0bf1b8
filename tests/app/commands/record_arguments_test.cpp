#include "app/terminal/record_arguments.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "capture/command_line/options.h"
#include "tests/support/files.h"

using namespace accelscope;
using namespace accelscope::app;

namespace {

capture::client::CapturePlan parsed(std::vector<std::string> words) {
  REQUIRE(words.size() > 2);
  words.erase(words.begin(), words.begin() + 2);  // the program and "record"
  command_line::OptionSet options("", "accelscope record");
  terminal::RecordArguments arguments;
  arguments.declare(options);
  std::string output;
  options.add_option("-o", output, "");
  const Result<std::string> shown = options.parse(words);
  REQUIRE_MESSAGE(shown.ok(), shown.message());
  CHECK(output == "mlp.accel");
  const auto plan = arguments.plan(output);
  REQUIRE_MESSAGE(plan.ok(), plan.message());
  return *plan;
}

void check_round_trip(const capture::client::CapturePlan& plan) {
  const std::vector<std::string> words = capture::client::record_command(plan, "mlp.accel");
  const capture::client::CapturePlan back = parsed(words);
  CHECK(back.places == plan.places);
  CHECK(back.mode == plan.mode);
  CHECK(back.capture_id == plan.capture_id);
  CHECK(back.request == plan.request);
  CHECK(back.send == plan.send);
  CHECK(back.results_folder == plan.results_folder);
  CHECK(back.token_file == plan.token_file);
  CHECK(back.ssh_config_file == plan.ssh_config_file);
  CHECK(back.ssh_identity_file == plan.ssh_identity_file);
}

}  // namespace

TEST_CASE("the command that a form shows for its plan makes the same plan when it is typed") {
  capture::client::CapturePlan plan;
  plan.places = {"ssh://ubuntu@trn1-07:2222", "local", "tls://10.0.0.7:7420"};
  plan.token_file = "/home/u/my token";
  plan.ssh_config_file = "ssh.conf";
  plan.ssh_identity_file = "/home/u/.ssh/trn key";
  plan.request.name = "mlp 3";
  plan.request.kinds = {{"program", {}}, {"simulate", {{"devices", "2"}}}};
  plan.request.program = "python3";
  plan.request.arguments = {"train.py", "--kind", "-o", "it's $HOME \"quoted\"", ""};
  plan.request.directory = "/tmp/a b";
  plan.request.environment = {"A=1", "B=x y=z", "EMPTY="};
  plan.request.paused = true;
  plan.request.duration_seconds = 2.5;
  plan.request.results = {"out/*.npy", "log.txt"};
  plan.results_folder = "results here";
  plan.send = {"train.py", "data folder"};
  check_round_trip(plan);
}

TEST_CASE("watching, taking up and scripts survive the way through a command line") {
  capture::client::CapturePlan plan;
  plan.places = {"127.0.0.1:7420"};
  check_round_trip(plan);
  plan.mode = capture::wire::StartMode::watch;
  check_round_trip(plan);
  plan.mode = capture::wire::StartMode::take_up;
  plan.capture_id = "4711";
  check_round_trip(plan);
  plan.mode = capture::wire::StartMode::begin;
  plan.capture_id.clear();
  plan.request.script = "#!/bin/sh\nset -e\n./run \"$1\"\n";
  check_round_trip(plan);
}

TEST_CASE("record @hosts.txt: a host a line as people write them, and errors name file and line") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("hosts.txt");
  const auto places = [&](const std::string& content, const std::string& text = "") {
    test::write_file(file, content);
    return terminal::places_of_text(text.empty() ? "@" + file : text);
  };
  const auto all = places(
      "# the cluster\r\n\ntrn1-01\n  ubuntu@trn1-02:2222   # by "
      "hand\nssh://trn1-03\ntrn1-04:7420\ntls://10.0.0.7:7420\n"
      "local");
  REQUIRE_MESSAGE(all.ok(), all.message());
  CHECK(*all == std::vector<std::string>{"ssh://trn1-01", "ssh://ubuntu@trn1-02:2222", "ssh://trn1-03", "trn1-04:7420",
                                         "tls://10.0.0.7:7420", "local"});
  CHECK(*places("a\nb\n", "local,@" + file + ",10.0.0.8:7420") ==
        std::vector<std::string>{"local", "ssh://a", "ssh://b", "10.0.0.8:7420"});
  CHECK(places("a\nb c\n").message().starts_with(file + ":2: "));
  CHECK(places("a\n\n-oProxyCommand=x\n").message().starts_with(file + ":3: "));
  CHECK(places("a\nb\na # again\n").message() == file + ":3: ssh://a was named before");
  CHECK(places("a\ntrn1-04:seven\n").message().starts_with(file + ":2: "));
  CHECK(places("# none\n").message() == file + ": names no host; write one a line");
  CHECK(terminal::places_of_text("@" + folder.file("missing")).message().starts_with(folder.file("missing") + ": "));
}
