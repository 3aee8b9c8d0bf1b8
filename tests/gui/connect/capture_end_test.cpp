// What a live session says once its capture has ended is what the saved file says when it is opened anew: verdict,
// findings, figures, lanes that are derived, in every panel. While data come, every panel asks for its answers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "app/frame/places.h"
#include "tests/gui/viewer.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

using Lines = std::vector<std::string>;

// An agent of its own process, so that what it makes comes while the viewer works.
struct SimulatedDevice {
  explicit SimulatedDevice(int seed)
      : process(Process::start({programs_folder() + "/accelscope-agent", "simulate", "--listen", "127.0.0.1:0",
                                "--once", "--events", "60000", "--rate", "60k", "--seed", std::to_string(seed)})) {
    REQUIRE(process.ok());
    const auto line = process->wait_for("listening on ", test::kPatience);
    REQUIRE(line.has_value());
    address = line->substr(line->find("listening on ") + 13);
    address = address.substr(0, address.find(' '));
  }
  Result<Process> process;
  std::string address;
};

// Where the file is, what it is called, what it takes of memory and that it was captured are no answers.
bool is_of_the_place(const std::string& line, const std::string& host) {
  const std::vector<std::string> parts = {"simulated", "accel", "aved", "Save", "Accelscope", "127.0.0.1", "in memory"};
  return line == host || line == "ended" || line == "Follow" || line == "Record" ||
         std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return line.find(part) != std::string::npos; });
}

Lines shown_lines(const Viewer& viewer, const std::string& host) {
  std::istringstream text(viewer.shell.visible_text());
  Lines lines;
  for (std::string line; std::getline(text, line);) {
    if (!is_of_the_place(line, host)) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void put_in_front(Viewer& viewer, frame::PanelId panel) {
  viewer.app.layout().show(panel);
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.settle());
  viewer.shell.frame(3);
}

// With each panel in front in turn. Some leave something beside them, as the critical path on the timeline: all have
// been in front before the first is read.
std::map<std::string, Lines> all_answers(Viewer& viewer, const std::string& host) {
  std::map<std::string, Lines> answers;
  viewer.shell.resize(1600, 4000, 1);  // how far a list was scrolled is no answer
  for (const frame::PanelInfo& panel : frame::all_panels()) put_in_front(viewer, panel.name);
  for (const frame::PanelInfo& panel : frame::all_panels()) {
    put_in_front(viewer, panel.name);
    answers[std::string(panel.name)] = shown_lines(viewer, host);
  }
  return answers;
}

void look_at_everything(Viewer& viewer) {
  std::size_t frames = 0;
  REQUIRE(viewer.frames_until([&] {
    const auto panels = frame::all_panels();
    if (frames % 5 == 0) viewer.app.layout().show(panels[frames / 5 % panels.size()].name);
    ++frames;
    return viewer.app.workspace().tab_count() == 1 && viewer.tab().live == session::LiveState::ended;
  }));
}

void check_same(const std::map<std::string, Lines>& live, const std::map<std::string, Lines>& saved) {
  for (const auto& [panel, lines] : live) {
    CAPTURE(panel);
    Lines only_live, only_saved;
    const Lines& others = saved.at(panel);
    std::set_difference(lines.begin(), lines.end(), others.begin(), others.end(), std::back_inserter(only_live));
    std::set_difference(others.begin(), others.end(), lines.begin(), lines.end(), std::back_inserter(only_saved));
    CHECK(fmt::format("{}", fmt::join(only_live, "\n")) == "");
    CHECK(fmt::format("{}", fmt::join(only_saved, "\n")) == "");
  }
}

}  // namespace

TEST_CASE("end of a capture: every panel says what it says of the saved file, whatever it said before") {
  for (int seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const TemporaryFolder folder;
    const SimulatedDevice device(seed);
    Viewer live;
    live.app.workspace().connect(device.address);
    look_at_everything(live);
    REQUIRE(live.shell.settle());
    const session::ViewRange view = live.tab().view;
    REQUIRE_FALSE(live.tab().capture.agents.empty());
    const std::string host = live.tab().capture.agents.front().host;
    const auto of_live = all_answers(live, host);
    const auto& widgets = live.shell.ui().widgets();
    CHECK(std::none_of(widgets.begin(), widgets.end(),
                       [](const auto& each) { return each.first.ends_with(".updating"); }));
    live.app.workspace().save(0, folder.file("simulated.accel"));
    REQUIRE(live.shell.settle());

    Viewer anew;
    anew.open(folder.file("simulated.accel"));
    anew.tab().show(view);
    check_same(of_live, all_answers(anew, host));
  }
}
