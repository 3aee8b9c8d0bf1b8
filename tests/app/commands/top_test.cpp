// Commands that look at an agent: `top` on a terminal, where the numbers are those of the same session, saved;
// `doctor`.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "core/base/format.h"
#include "tests/app/program_run.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"
#include "tests/support/terminal/on_terminal.h"
#include "tests/support/wait.h"

using namespace accelscope;
using test::holds;
using test::OnTerminal;
using test::run;
using test::TerminalScreen;

namespace {

// With the simulated accelerator, the same run for everybody who asks.
struct SimulatedAgent {
  explicit SimulatedAgent(std::vector<std::string> more = {"--events", "20000"}) : process(start(std::move(more))) {
    REQUIRE(process.ok());
    const auto line = process->wait_for("listening on ", test::kPatience);
    REQUIRE(line.has_value());
    address = line->substr(line->find("listening on ") + 13);
    address = address.substr(0, address.find_first_of(" ,;\r\n"));
  }
  static Result<test::Process> start(std::vector<std::string> more) {
    std::vector<std::string> words = {
        test::programs_folder() + "/accelscope-agent", "simulate", "--listen", "127.0.0.1:0", "--seed", "7"};
    words.insert(words.end(), more.begin(), more.end());
    return test::Process::start(words);
  }
  void die() const { ::kill(process->id(), SIGKILL); }

  Result<test::Process> process;
  std::string address;
};

struct Top : OnTerminal {
  explicit Top(const std::string& place, std::vector<std::string> more = {}, int columns = 80, int rows = 24)
      : OnTerminal(words(place, std::move(more)), columns, rows) {}
  static std::vector<std::string> words(const std::string& place, std::vector<std::string> more) {
    std::vector<std::string> words = {test::programs_folder() + "/accelscope", "top", place};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] TerminalScreen screen() const { return TerminalScreen(shown); }
  template <typename Condition>
  [[nodiscard]] bool screen_until(Condition condition) {
    return read_until([&] { return condition(screen()); });
  }
};

struct Row {
  std::string name, count, total, share, mean;
};
std::vector<Row> expected_kernels(const std::string& session) {
  std::istringstream rows(test::csv(session, "SELECT name, count, total_ns, share, mean_ns FROM hotspots"));
  std::vector<Row> kernels;
  for (std::string line; std::getline(rows, line);) {
    std::vector<std::string> cells;
    std::istringstream fields(line);
    for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
    REQUIRE(cells.size() == 5);
    kernels.push_back({cells[0], format_count(std::stoull(cells[1])), format_duration(std::stoll(cells[2])),
                       format_share(std::stod(cells[3])), format_duration(std::stoll(cells[4]))});
  }
  return kernels;
}

void check_kernels(const TerminalScreen& screen, const std::string& session) {
  const std::vector<Row> kernels = expected_kernels(session);
  REQUIRE(kernels.size() >= 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(screen.text());
    CAPTURE(kernels[i].name);
    const std::string row = screen.find(kernels[i].name + " ");
    CHECK(holds(row, " " + kernels[i].count + " "));
    CHECK(holds(row, " " + kernels[i].total + " "));
    CHECK(holds(row, " " + kernels[i].share + " "));
  }
}

}  // namespace

TEST_CASE("top: a finished capture shows the events, kernels and memory of the same session, saved") {
  const test::TemporaryFolder folder;
  SimulatedAgent agent;
  const std::string session = folder.file("same.accel");
  REQUIRE(run({"record", agent.address, "-o", session}).code == 0);
  Top top(agent.address);
  REQUIRE(top.screen_until([](const TerminalScreen& screen) {
    return holds(screen.row(0), "ended") && !screen.find("KERNEL").empty() && !holds(screen.text(), "Looking for");
  }));
  const std::string once = run({"top", session, "--once"}).out;
  REQUIRE(top.screen_until([&](const TerminalScreen& screen) {
    return !screen.find(expected_kernels(session).front().name + " ").empty();
  }));
  const TerminalScreen screen = top.screen();
  CHECK(screen.alternate);
  CHECK_FALSE(screen.cursor);
  check_kernels(screen, session);
  // What `view` prints of the file are the same figures.
  const std::string view = run({"view", session, "--table", "hotspots"}).out;
  for (const Row& kernel : expected_kernels(session)) CHECK(holds(view, kernel.name));
  // So does the command itself of the file, and as JSON.
  CHECK(holds(once, expected_kernels(session).front().total));
  const std::string json = run({"top", session, "--json"}).out;
  CHECK(holds(json, "\"kernels\""));
  top.type("q");
  CHECK(top.finish() == 0);
  CHECK_FALSE(top.screen().alternate);
  CHECK(top.screen().cursor);
}

TEST_CASE("top: it goes on while data come, follows the terminal's size, stands still and sorts by keys") {
  SimulatedAgent agent({"--rate", "20000"});
  Top top(agent.address);
  REQUIRE(top.screen_until([](const TerminalScreen& screen) { return !screen.find("KERNEL").empty(); }));
  CHECK(top.screen().row_count() == 24);
  CHECK(top.screen().width() == 80);
  CHECK(holds(top.screen().row(23), "q quit"));
  top.resize(120, 40);
  REQUIRE(top.screen_until([](const TerminalScreen& screen) {
    return screen.row_count() == 40 && screen.width() == 120 && holds(screen.row(39), "q quit");
  }));
  top.type("s");
  REQUIRE(top.screen_until([](const TerminalScreen& screen) { return holds(screen.row(39), "sort by calls"); }));
  top.type("w");
  REQUIRE(top.screen_until([](const TerminalScreen& screen) { return !screen.find("KERNEL, LAST 10 s").empty(); }));
  top.type("?");
  REQUIRE(
      top.screen_until([](const TerminalScreen& screen) { return holds(screen.text(), "the picture stands still"); }));
  top.type("?p");
  REQUIRE(top.screen_until([](const TerminalScreen& screen) { return holds(screen.row(39), "STANDS STILL"); }));
  const std::string before = top.screen().row(1);
  top.type("w");  // a frame later the counts are what they were
  REQUIRE(top.screen_until([](const TerminalScreen& screen) { return holds(screen.row(39), "w last 10 s"); }));
  CHECK(top.screen().row(1) == before);
  top.type("p");
  REQUIRE(top.screen_until([&](const TerminalScreen& screen) { return screen.row(1) != before; }));
  ::kill(top.id(), SIGTERM);
  CHECK(top.finish() == 128 + SIGTERM);
  CHECK_FALSE(top.screen().alternate);
  CHECK(top.screen().cursor);
}

TEST_CASE("top: when the agent is gone it says so, and the last picture stays") {
  SimulatedAgent agent({"--rate", "20000"});
  Top top(agent.address);
  REQUIRE(top.screen_until([](const TerminalScreen& screen) { return !screen.find("KERNEL").empty(); }));
  agent.die();
  REQUIRE(top.screen_until([](const TerminalScreen& screen) {
    return holds(screen.row(0), "reconnecting") && screen.row(2).starts_with("! ");
  }));
  CHECK_FALSE(top.screen().find("KERNEL").empty());
  top.type("q");
  CHECK(top.finish() == 0);
}

TEST_CASE("top: an agent that is not there ends it with a message and the terminal as it was") {
  Top top("127.0.0.1:1");
  CHECK(top.finish() == 1);
  CHECK(holds(top.shown, "127.0.0.1:1"));
  CHECK_FALSE(top.screen().alternate);
  CHECK(top.screen().cursor);
}

TEST_CASE("top: where the output is no terminal it prints one picture of a running capture, or JSON") {
  SimulatedAgent agent({"--rate", "20000"});
  const auto text = run({"top", agent.address, "--seconds", "3"});
  CHECK(text.code == 0);
  CHECK(holds(text.out, "KERNEL, WHOLE SESSION"));
  CHECK_FALSE(holds(text.out, "q quit"));
  CHECK_FALSE(holds(text.out, "\x1b"));
  const auto json = run({"top", agent.address, "--seconds", "3", "--json"});
  CHECK(json.code == 0);
  CHECK(holds(json.out, "\"busy_share\""));
}

TEST_CASE("doctor: of a host it says what was reached, which versions meet and what can be captured there") {
  SimulatedAgent agent;
  const auto found = run({"doctor", agent.address});
  CHECK(found.code == 0);
  CHECK(holds(found.out, "ok   reach            " + agent.address + ", "));
  CHECK(holds(found.out, "ok   agent            accelscope-agent on "));
  CHECK(holds(found.out, "ok   versions"));
  const auto nobody = run({"doctor", "127.0.0.1:1"});
  CHECK(nobody.code == 1);
  CHECK(holds(nobody.out, "--   reach            127.0.0.1:1: "));
  CHECK(holds(nobody.out, "start accelscope-agent there"));
  CHECK(holds(run({"doctor", "127.0.0.1:1", "--json"}).out, "\"works\": false"));
}
