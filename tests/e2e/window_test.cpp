// The ways that a user takes through the real window, by pointer and keyboard.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "tests/e2e/desk.h"
#include "tests/support/programs_folder.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace std::chrono_literals;
using test::Desk;
using test::Place;
using test::Process;
using test::Screen;

namespace {

// By its question and then, where that has more than one, by its page.
void show_panel(Desk& desk, const std::string& panel) {
  static const std::map<std::string, std::string> kQuestions = {{"selection", "what"}, {"hotspots", "time"},
                                                                {"warnings", "why"},   {"why", "why"},
                                                                {"memory", "memory"},  {"metrics", "data"}};
  desk.click_on("questions." + kQuestions.at(panel));
  const bool path = panel == "why";  // a part of the findings' page
  const std::string page = path ? "warnings" : panel;
  if (desk.settle().has("bottom." + page)) desk.click_on("bottom." + page);
  if (path || panel == "warnings") {
    (void)desk.settle();
    desk.click_on(path ? "why.page.2" : "why.page.0");
  }
}

struct Range {
  double begin = 0, end = 0;
  [[nodiscard]] double span() const { return end - begin; }
};

Range view_of(const Screen& screen) {
  const std::string text = screen.tab("view");  // "[1857354,2436487]"
  REQUIRE(text.size() > 2);
  char* end = nullptr;
  const double begin = std::strtod(text.c_str() + 1, &end);
  return {begin, std::strtod(end + 1, nullptr)};
}

double number(const Screen& screen, const char* key) { return std::strtod(screen.tab(key).c_str(), nullptr); }

// A profile of a kernel, opened and at rest.
struct OpenDesk : Desk {
  explicit OpenDesk(int width = 1600, int height = 900) : Desk(width, height) {
    run_program({"simulate", "-o", file("s.accel"), "--quiet"});
    open_viewer(file("s.accel"));
    canvas = *wait_until("lanes are drawn", [](const Screen& screen) {
                return screen.settled() && screen.has("timeline.canvas");
              }).find("timeline.canvas");
  }
  // Clicks along the height of the lanes until an event is selected.
  Screen select_an_event() {
    const Screen screen = settle();
    const Place low = *screen.find("timeline.canvas", 0.5, 0.97);
    const Place high = *screen.find("timeline.canvas", 0.5, 0.03);
    for (int y = low.y; y > high.y; y -= 7) {
      click(Place{low.x, y});
      const Screen now = settle();
      if (now.tab("selected") != "null") return now;
    }
    FAIL("no click on the lanes selects an event");
    return screen;
  }
  Place canvas;
};

}  // namespace

TEST_CASE("wheel, keys and dragging zoom in the real window, back undoes it, and it closes by Ctrl+Q") {
  OpenDesk desk;
  const Range first = view_of(desk.settle());
  desk.wheel(desk.canvas, 2);
  const Range by_wheel = view_of(desk.settle());
  CHECK(by_wheel.span() < first.span() * 0.9);
  desk.key("w");
  const Range by_key = view_of(desk.settle());
  CHECK(by_key.span() < by_wheel.span() * 0.95);
  desk.drag({desk.canvas.x - 100, desk.canvas.y}, {desk.canvas.x + 100, desk.canvas.y});
  CHECK(view_of(desk.settle()).span() < by_key.span() * 0.5);
  desk.click_on("top.back");
  CHECK(view_of(desk.settle()).span() == doctest::Approx(by_key.span()).epsilon(0.01));
  CHECK(desk.close_by_key().last_error().empty());
}

TEST_CASE("a click selects an event, its details are shown, and keys step through its lane") {
  OpenDesk desk;
  const Screen selected = desk.select_an_event();
  const std::string event = selected.tab("selected");
  CHECK(selected.has("details.copy"));
  desk.key("period");
  const Screen next = desk.wait_until("the next event is selected", [&](const Screen& screen) {
    return screen.tab("selected") != event && screen.tab("selected") != "null";
  });
  desk.key("comma");
  (void)desk.wait_until("the first is selected again",
                        [&](const Screen& screen) { return screen.tab("selected") == event; });
  CHECK(next.last_error().empty());
  desk.key("Escape");
  (void)desk.wait_until("nothing is selected", [](const Screen& screen) { return screen.tab("selected") == "null"; });
  (void)desk.close_by_key();
}

TEST_CASE("the card of an event comes in the real window while nothing else happens") {
  OpenDesk desk;
  (void)desk.select_an_event();
  const Place there = desk.pointer();
  desk.key("Escape");
  show_panel(desk, "selection");
  const Place details =
      *desk.wait_until("the page of details is in reach",
                       [](const Screen& screen) { return screen.settled() && screen.has("bottom.details"); })
           .find("bottom.details");
  desk.move({4, 4});
  (void)desk.close_by_key();
  desk.open_silent_viewer(desk.file("s.accel"));
  desk.wait_until_still();
  desk.click(details);  // empty, it does nothing of its own
  desk.move({4, 4});
  desk.wait_until_still();
  constexpr std::uint32_t kCard = 0x2B323A;  // bg4
  const auto card_pixels = [&] {
    const std::vector<std::uint32_t> pixels = desk.picture();
    const auto width = static_cast<std::size_t>(desk.width());
    const auto low = static_cast<std::size_t>(std::max(there.y - 220, 0)) * width;
    const auto high = std::min(pixels.size(), static_cast<std::size_t>(there.y + 220) * width);
    return std::count(pixels.begin() + static_cast<std::ptrdiff_t>(low),
                      pixels.begin() + static_cast<std::ptrdiff_t>(high), kCard);
  };
  const auto before = card_pixels();
  desk.move(there);
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (card_pixels() < before + 5'000 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  CHECK(card_pixels() >= before + 5'000);
  desk.interrupt();
}

TEST_CASE("on a small screen all of the window is on the screen") {
  OpenDesk desk(1280, 720);
  const Screen screen = desk.settle();
  for (const std::string& name : screen.widgets("status.")) {
    CAPTURE(name);
    CHECK(screen.find(name, 1, 1)->x <= 1280);
    CHECK(screen.find(name, 1, 1)->y <= 720);
  }
  CHECK(screen.find("top.settings", 1, 1)->x <= 1280);
  REQUIRE(screen.has("door.open"));
  const Place canvas_begin = *screen.find("timeline.canvas", 0, 0);
  const Place canvas_end = *screen.find("timeline.canvas", 1, 1);
  CHECK(canvas_end.x - canvas_begin.x > 1000);
  CHECK(canvas_end.y > 420);
  CHECK(desk.close_by_key().last_error().empty());
}

TEST_CASE("a box over the lanes says at once what it holds") {
  OpenDesk desk;
  show_panel(desk, "selection");
  desk.key("b");
  desk.drag({desk.canvas.x - 200, desk.canvas.y - 60}, {desk.canvas.x + 200, desk.canvas.y + 60});
  const Screen boxed = desk.wait_until("the box is there and counted", [](const Screen& screen) {
    return screen.tab("region") == "true" && screen.settled() && screen.has("timeline.box");
  });
  CHECK(boxed.shows("events"));
  CHECK(boxed.shows("Busy"));
  desk.key("Escape");
  (void)desk.wait_until("the box is gone", [](const Screen& screen) { return screen.tab("region") == "false"; });
  CHECK(desk.close_by_key().last_error().empty());
}

TEST_CASE("a search lights its hits, Enter steps through them") {
  OpenDesk desk;
  desk.key("ctrl+f");
  desk.type("opcode=MATMUL");
  desk.key("Return");
  const Screen first = desk.wait_until("the first hit is selected", [](const Screen& screen) {
    return screen.tab("search") == "\"opcode=MATMUL\"" && screen.tab("selected") != "null" && screen.settled();
  });
  desk.key("Return");
  (void)desk.wait_until("the second is", [&](const Screen& screen) {
    return screen.tab("selected") != first.tab("selected") && screen.settled();
  });
  CHECK(desk.close_by_key().last_error().empty());
}

TEST_CASE("a source line lights its events") {
  OpenDesk desk;
  (void)desk.wait_until("source is shown", [](const Screen& seen) { return seen.has("source.hot.next"); });
  desk.click_on("source.hot.next");
  const std::string hot = desk.settle().tab("selected_source");  // "\"file.py:18\""
  REQUIRE(hot.find(':') != std::string::npos);
  const std::string line = hot.substr(hot.find(':') + 1, hot.size() - hot.find(':') - 2);
  desk.key("Escape");
  (void)desk.wait_until("it is let go", [](const Screen& seen) { return seen.tab("related") == "0"; });
  desk.click_on("source.line." + line);
  const Screen lit = desk.settle();
  CHECK(number(lit, "related") > 0);
  CHECK(lit.tab("selected_source").find(".py:") != std::string::npos);
  (void)desk.close_by_key();
}

TEST_CASE("--nki-source-root: the lines that a profile names are shown from the folder that is given") {
  Desk desk;
  desk.run_program({"simulate", "-o", desk.file("p.json"), "--format", "neuron-json", "--kernels", "1", "--quiet"});
  std::ifstream profile(desk.file("p.json"));
  const std::string text{std::istreambuf_iterator<char>(profile), {}};
  const std::size_t end = text.find(".py:");
  REQUIRE(end != std::string::npos);
  const std::size_t begin = text.find_last_of("\"/", end) + 1;
  std::filesystem::create_directory(desk.file("kernels"));
  std::ofstream source(desk.file("kernels") + "/" + text.substr(begin, end - begin) + ".py");
  for (int line = 1; line <= 200; ++line) source << "planted = " << line << "\n";
  source.close();
  desk.open_viewer(desk.file("p.json"), {"--nki-source-root", desk.file("kernels")});
  const Screen shown =
      desk.wait_until("its source is shown", [](const Screen& screen) { return screen.shows("planted"); });
  CHECK(shown.last_error().empty());
  (void)desk.close_by_key();
}

TEST_CASE("the memory panel says what is alive under the pointer") {
  OpenDesk desk;
  show_panel(desk, "memory");
  const Screen panel = desk.wait_until(
      "memory is plotted", [](const Screen& screen) { return screen.settled() && screen.has("memory.plot"); });
  desk.click(*panel.find("memory.plot", 0.6, 0.5));
  (void)desk.wait_until("what is alive is listed",
                        [](const Screen& screen) { return !screen.widgets("memory.alive.row.").empty(); });
  CHECK(desk.close_by_key().last_error().empty());
}

TEST_CASE("a view that is zoomed, marked, searched and saved is found again when the file is opened again") {
  OpenDesk desk;
  const std::string untouched = desk.settle().tab("link");
  desk.wheel(desk.canvas, 3);
  (void)desk.settle();
  desk.key("m");
  (void)desk.wait_until("there is a marker", [](const Screen& screen) { return screen.tab("markers") == "1"; });
  desk.key("Return");  // its name stays as proposed
  (void)desk.select_an_event();
  desk.key("ctrl+f");
  desk.type("dma");
  desk.key("Return");
  (void)desk.wait_until("the search is made", [](const Screen& screen) { return screen.tab("search") == "\"dma\""; });
  (void)desk.settle();
  desk.key("ctrl+s");
  const Screen saved =
      desk.wait_until("it is saved", [](const Screen& screen) { return screen.shows("Saved the view"); });
  CHECK(desk.settle().tab("modified") == "false");
  const std::string link = saved.tab("link");
  CHECK(link.find(";search=dma") != std::string::npos);
  CHECK(link.find(";selected=") != std::string::npos);
  CHECK(link != untouched);
  (void)desk.close_by_key();
  desk.open_viewer(desk.file("s.accel"));
  const Screen again = desk.settle();
  CHECK(again.tab("markers") == "1");
  CHECK(again.tab("link") == link);
  CHECK(again.tab("modified") == "false");
  (void)desk.close_by_key();
}

namespace {

// An agent with a simulated device for one capture.
struct DeviceHost {
  DeviceHost()
      : agent(Process::start({accelscope::test::programs_folder() + "/accelscope-agent", "simulate", "--listen",
                              "127.0.0.1:0", "--once", "--events", "60000", "--rate", "50k"})) {
    REQUIRE(agent.ok());
    const std::optional<std::string> line = agent->wait_for("listening on ", test::kPatience);
    REQUIRE(line.has_value());
    address = line->substr(line->find("listening on ") + 13);
    address = address.substr(0, address.find(' '));
  }
  Result<Process> agent;
  std::string address;
};

const std::vector<std::string>& panels_with_answers() {
  static const std::vector<std::string> kPanels = {"selection", "hotspots", "warnings", "why", "memory", "metrics"};
  return kPanels;
}

std::string host_name() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// What stands there with each of the panels in front, without how far a save is and what the session is called.
std::vector<std::string> answers(Desk& desk) {
  std::vector<std::string> all;
  // Some leave something beside them, as the critical path on the timeline.
  for (const std::string& panel : panels_with_answers()) {
    show_panel(desk, panel);
    (void)desk.settle();
    if (panel == "why")
      (void)desk.wait_until("the path stands on the timeline",
                            [](const Screen& screen) { return screen.settled() && screen.shows("Critical path"); });
  }
  for (const std::string& panel : panels_with_answers()) {
    show_panel(desk, panel);
    desk.click_on("right.core-grid");  // how far the source was scrolled is no answer
    for (const std::string& text : desk.settle().texts()) {
      const bool is_name = text.find("127.0.0.1") != std::string::npos || text.find("live") != std::string::npos ||
                           text.find("aved") != std::string::npos || text.find("in memory") != std::string::npos ||
                           text == "ended" || text == "Follow" || text == "Record" || text == host_name();
      if (!is_name) all.push_back(panel + ": " + text);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("what the real window says at the end of a capture is what it says of the saved file") {
  Desk desk;
  const DeviceHost host;
  desk.open_viewer(host.address);
  for (const std::string& panel : panels_with_answers()) show_panel(desk, panel);
  (void)desk.wait_until("the capture has ended", [](const Screen& screen) {
    return screen.tab("live") == "false" && screen.settled() && number(screen, "events") > 50'000;
  });
  const std::vector<std::string> live = answers(desk);
  desk.key("ctrl+s");
  (void)desk.wait_until("a file is asked for", [](const Screen& screen) { return screen.shows("Save the session"); });
  desk.key("ctrl+a");
  desk.type(desk.file("live.accel"));
  desk.key("Return");
  (void)desk.wait_until("it is saved", [](const Screen& screen) { return screen.tab("modified") == "false"; });
  (void)desk.close_by_key();
  desk.open_viewer(desk.file("live.accel"));
  (void)desk.wait_until("it is open",
                        [](const Screen& screen) { return screen.settled() && screen.has("verdict.bound"); });
  const std::vector<std::string> saved = answers(desk);
  std::vector<std::string> only_live, only_saved;
  std::set_difference(live.begin(), live.end(), saved.begin(), saved.end(), std::back_inserter(only_live));
  std::set_difference(saved.begin(), saved.end(), live.begin(), live.end(), std::back_inserter(only_saved));
  CHECK(fmt::format("{}", fmt::join(only_live, "\n")) == "");
  CHECK(fmt::format("{}", fmt::join(only_saved, "\n")) == "");
  (void)desk.close_by_key();
}

TEST_CASE("the real window shows a live capture and ends cleanly by a signal") {
  Desk desk;
  const DeviceHost host;
  desk.open_viewer(host.address);
  (void)desk.wait_until("the capture has ended", [](const Screen& screen) {
    return screen.tab("live") == "false" && screen.settled() && number(screen, "events") > 50'000;
  });
  const Screen screen = desk.close_by_signal();
  CHECK(number(screen, "events") > 50'000);
  CHECK(screen.last_error().empty());
}
