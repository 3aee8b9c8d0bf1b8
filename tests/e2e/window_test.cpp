// The real window under a virtual display, driven like a user's hand: xdotool moves the pointer and presses keys, and
// the state that the viewer writes when it closes says what came of it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/support/process.h"

using namespace accelscope;
using namespace std::chrono_literals;
using test::Process;

namespace {

const std::string kPrograms = ACCELSCOPE_PROGRAMS;

class Desk {
 public:
  Desk() : folder_(std::filesystem::temp_directory_path() / fmt::format("accelscope-desk-{}", std::random_device{}())) {
    std::filesystem::create_directory(folder_);
    Result<Process> display =
        Process::start({"Xvfb", "-displayfd", "1", "-screen", "0", "1600x900x24", "-nolisten", "tcp"});
    REQUIRE_MESSAGE(display.ok(), (display.ok() ? "" : display.message()));
    display_.emplace(std::move(*display));
    // The display's number is the first line that holds nothing else.
    std::optional<std::string> line = display_->read_line(20s);
    while (line && line->find_first_not_of("0123456789") != std::string::npos) line = display_->read_line(20s);
    REQUIRE(line.has_value());
    ::setenv("DISPLAY", (":" + *line).c_str(), 1);
    ::setenv("XDG_STATE_HOME", folder_.c_str(), 1);
    // The graphics driver keeps memory when it is unloaded; what our own code leaks the other tests tell.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  }
  ~Desk() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string file(const char* name) const { return (folder_ / name).string(); }

  void run_program(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {kPrograms + "/accelscope"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    Result<Process> program = Process::start(argv);
    REQUIRE(program.ok());
    const int code = program->finish(60s);
    REQUIRE_MESSAGE(code == 0, program->output());
  }

  void open_viewer(const std::string& target) {
    Result<Process> viewer = Process::start({kPrograms + "/accelscope", target, "--dump-state", file("state.json")});
    REQUIRE(viewer.ok());
    viewer_.emplace(std::move(*viewer));
    hand({"search", "--sync", "--onlyvisible", "--name", "Accelscope"});
  }

  void hand(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "xdotool");
    Result<Process> tool = Process::start(arguments);
    REQUIRE(tool.ok());
    const int code = tool->finish(60s);
    REQUIRE_MESSAGE(code == 0, tool->output());
  }

  // What the viewer knew when it closed.
  std::string close_by_key() {
    hand({"key", "ctrl+q"});
    return state();
  }
  std::string close_by_signal() {
    viewer_->interrupt();
    return state();
  }

 private:
  std::string state() {
    const int code = viewer_->finish(60s);
    CHECK_MESSAGE(code == 0, viewer_->output());
    std::ifstream in(file("state.json"));
    std::string text((std::istreambuf_iterator<char>(in)), {});
    REQUIRE_MESSAGE(!text.empty(), viewer_->output());
    return text;
  }

  std::filesystem::path folder_;
  std::optional<Process> display_;
  std::optional<Process> viewer_;
};

double view_span(const std::string& state) {
  const std::size_t at = state.find("\"view\":[");
  REQUIRE(at != std::string::npos);
  char* end = nullptr;
  const double begin = std::strtod(state.c_str() + at + 8, &end);
  return std::strtod(end + 1, nullptr) - begin;
}

double events(const std::string& state) {
  const std::size_t at = state.find("\"events\":");
  return at == std::string::npos ? 0 : std::strtod(state.c_str() + at + 9, nullptr);
}

// A step of the hand and the moment a person takes before the next.
std::vector<std::string> steps(std::initializer_list<std::vector<std::string>> list) {
  std::vector<std::string> all;
  for (const std::vector<std::string>& step : list) {
    all.insert(all.end(), step.begin(), step.end());
    all.insert(all.end(), {"sleep", "0.3"});
  }
  return all;
}

}  // namespace

TEST_CASE("wheel and keys zoom in the real window, and it closes by Ctrl+Q") {
  Desk desk;
  desk.run_program({"simulate", "-o", desk.file("s.accel"), "--quiet"});
  desk.open_viewer(desk.file("s.accel"));
  desk.hand(steps({{"sleep", "1"}, {"mousemove", "600", "300"}}));
  const std::string before = desk.close_by_key();
  desk.open_viewer(desk.file("s.accel"));
  desk.hand(steps({{"sleep", "1"}, {"mousemove", "600", "300"}, {"click", "4"}, {"click", "4"}, {"key", "w"}}));
  const std::string after = desk.close_by_key();
  CHECK(view_span(after) < view_span(before) * 0.9);
  CHECK(after.find("\"last_error\":\"\"") != std::string::npos);
}

TEST_CASE("a click on a busy engine selects an event in the real window") {
  Desk desk;
  desk.run_program({"simulate", "-o", desk.file("s.accel"), "--quiet"});
  desk.open_viewer(desk.file("s.accel"));
  // TensorMatrix is the second engine; its row lies in the middle of the window at any fit.
  desk.hand(steps({{"sleep", "1"}, {"mousemove", "500", "546"}, {"click", "1"}}));
  const std::string state = desk.close_by_key();
  CHECK(state.find("\"selected\":null") == std::string::npos);
}

TEST_CASE("the real window shows a live capture and ends cleanly by a signal") {
  Desk desk;
  Result<Process> agent = Process::start({kPrograms + "/accelscope-agent", "simulate", "--listen", "127.0.0.1:0",
                                          "--once", "--seconds", "2", "--rate", "50k"});
  REQUIRE(agent.ok());
  const std::optional<std::string> line = agent->wait_for("listening on ", 20s);
  REQUIRE(line.has_value());
  const std::string address = line->substr(line->find("listening on ") + 13);
  desk.open_viewer(address.substr(0, address.find(' ')));
  CHECK(agent->wait_for("the capture ends", 60s).has_value());
  desk.hand(steps({{"sleep", "1"}}));
  const std::string state = desk.close_by_signal();
  CHECK(events(state) > 50'000);
  CHECK(state.find("\"last_error\":\"\"") != std::string::npos);
}
