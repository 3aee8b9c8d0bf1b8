// A running capture as the user sees it: the top bar, its agents, pause and stop, breaks, questions, the program's
// output, and what a former run left behind.
#include <optional>

#include "tests/gui/viewer.h"
#include "tests/support/fake_capture.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using capture::client::CapturePhase;
using capture::client::CaptureQuestion;
using render::Key;

namespace {

struct LiveViewer {
  explicit LiveViewer(const std::string& state_directory = "") {
    viewer.emplace(frame::AppOptions{.state_directory = state_directory, .services = fake.services()});
  }
  render::NullShell& shell() { return viewer->shell; }
  void record(const std::string& places = "trn1-07:7420") {
    const std::size_t tabs = viewer->app.workspace().tab_count();
    viewer->app.workspace().connect(places);
    REQUIRE(until([&] { return viewer->app.workspace().tab_count() > tabs; }));
    fake.change([](capture::client::CaptureStatus& status) { status.agents[0].host = "trn1-07"; });
    fake.set_phase(CapturePhase::streaming);
    fake.make_events(10);
    shell().frame(3);
  }
  template <typename Condition>
  [[nodiscard]] bool until(Condition condition) {
    return viewer->frames_until(condition);
  }
  FakeCapture fake;
  std::optional<Viewer> viewer;
};

}  // namespace

TEST_CASE("capture bar: says the host, the state and the time, and pauses, resumes and stops") {
  LiveViewer live;
  live.record();
  live.fake.change([](capture::client::CaptureStatus& status) { status.agents[0].streaming_seconds = 72; });
  live.shell().frame(2);
  CHECK(live.shell().shows("trn1-07"));
  CHECK(live.shell().shows("recording"));
  CHECK(live.shell().shows("Stop 1:12"));
  REQUIRE(live.shell().click("top.pause"));
  CHECK(live.fake.was("pause"));
  live.fake.set_phase(CapturePhase::paused);
  live.shell().frame(2);
  CHECK(live.shell().shows("Paused"));
  CHECK(live.shell().shows("Resume"));
  live.shell().key(Key::e, {.ctrl = true, .shift = true});
  CHECK(live.fake.was("resume"));
  live.shell().key(Key::e, {.ctrl = true});
  CHECK(live.fake.was("stop"));
}

TEST_CASE("capture bar: a break shows in the bar and as a notice, until it is mended") {
  LiveViewer live;
  live.record();
  live.fake.set_phase(CapturePhase::reconnecting, "connection reset by peer");
  live.shell().frame(2);
  CHECK(live.shell().shows("reconnecting"));
  CHECK(live.shell().shows("connection reset by peer"));
  live.fake.set_phase(CapturePhase::streaming);
  live.shell().frame(2);
  CHECK(live.shell().shows("nothing was lost"));
  CHECK_FALSE(live.shell().shows("reconnecting"));
}

TEST_CASE("capture bar: every agent has its counts and its clock on a card, and one of several can be removed") {
  LiveViewer live;
  live.record("trn1-07:7420,trn1-08:7420");
  live.fake.change([](capture::client::CaptureStatus& status) {
    status.agents[1].host = "trn1-08";
    status.agents[1].events = 12'345;
    status.agents[1].clock_residual_ns = 38;
    status.agents[1].round_trip_ns = 41'000;
    status.agents[1].dropped_events = 7;
  });
  live.shell().frame(2);
  CHECK(live.shell().shows("trn1-07 +1"));
  REQUIRE(live.shell().click("capture.agents"));
  live.shell().frame(3);
  CHECK(live.shell().shows("trn1-08"));
  CHECK(live.shell().shows("12,345"));
  CHECK(live.shell().shows("Clock fits within"));
  CHECK(live.shell().shows("38 ns"));
  CHECK(live.shell().shows("Dropped by the agent"));
  REQUIRE(live.shell().click("capture.agents.trn1-08:7420.leave"));
  CHECK(live.fake.was("leave trn1-08:7420"));
  live.shell().key(Key::escape);
  live.shell().frame(3);
  CHECK_FALSE(live.shell().shows("Clock fits within"));
}

TEST_CASE("capture bar: who only watches is told who controls, and cannot pause") {
  LiveViewer live;
  live.record();
  live.fake.change([](capture::client::CaptureStatus& status) {
    status.agents[0].controls = false;
    status.agents[0].controller = "anna@desk";
  });
  live.shell().frame(2);
  CHECK(live.shell().shows("watching; anna@desk controls it"));
  CHECK(live.shell().shows("Leave"));
  REQUIRE(live.shell().click("top.pause"));
  live.shell().key(Key::e, {.ctrl = true, .shift = true});
  CHECK_FALSE(live.fake.was("pause"));
}

TEST_CASE("questions: a pass phrase is masked, given to ssh, and not kept") {
  LiveViewer live;
  live.record();
  live.fake.ask({.id = 3,
                 .kind = CaptureQuestion::Kind::secret,
                 .place = "ssh://trn1-07",
                 .title = "trn1-07 asks",
                 .text = "Enter passphrase for key '/home/a/.ssh/id_ed25519':"});
  live.shell().frame(3);
  CHECK(live.shell().shows("Enter passphrase"));
  live.shell().type("open sesame");
  live.shell().frame(2);
  CHECK_FALSE(live.shell().shows("open sesame"));
  live.shell().key(Key::enter);
  live.shell().frame(3);
  CHECK(live.fake.seen().answers.at(3) == "open sesame");
  CHECK(live.shell().find("question.answer") == nullptr);
  live.fake.ask({.id = 4, .kind = CaptureQuestion::Kind::text, .place = "p", .title = "again", .text = "Code:"});
  live.shell().frame(3);
  CHECK_FALSE(live.shell().shows("open sesame"));  // nothing of it is left in the field
  live.shell().key(Key::enter);
  live.shell().frame(2);
  CHECK(live.fake.seen().answers.at(4) == "");
}

TEST_CASE("questions: a new agent is trusted only by the button that says so") {
  const std::string fingerprint = "SHA256:AbCdEfGhIjKlMnOpQrStUvWxYz0123456789+/AbCdE";
  LiveViewer live;
  live.record();
  const auto ask = [&](std::uint64_t id) {
    live.fake.ask({.id = id,
                   .kind = CaptureQuestion::Kind::yes_no,
                   .place = "trn1-07:7420",
                   .title = "The agent at trn1-07:7420 is new here",
                   .text = "Its certificate has the fingerprint\n" + fingerprint + "\nCompare it with the agent's own.",
                   .yes = "Trust it",
                   .no = "Do not connect"});
    live.shell().frame(3);
  };
  ask(5);
  CHECK(live.shell().shows("is new here"));
  CHECK(live.shell().shows(fingerprint));
  REQUIRE(live.shell().click("question.copy.0"));
  CHECK(live.shell().clipboard() == fingerprint);
  live.shell().key(Key::enter);  // is no answer by itself
  live.shell().frame(2);
  CHECK(live.fake.seen().answers.empty());
  live.shell().key(Key::escape);
  live.shell().frame(3);
  CHECK_FALSE(live.fake.seen().answers.at(5).has_value());
  ask(6);
  REQUIRE(live.shell().click("question.yes"));
  live.shell().frame(2);
  CHECK(live.fake.seen().answers.at(6) == "yes");
}

TEST_CASE("output: lines of both streams come in the order of time, live, and a click selects the event") {
  LiveViewer live;
  live.record();
  live.viewer->app.layout().show("output");
  live.shell().frame(2);
  CHECK(live.shell().shows("No program's output is in this session."));
  live.fake.make_lines(6);
  REQUIRE(live.until([&] { return live.shell().shows("6 lines"); }));
  CHECK(live.shell().shows("line 5"));
  std::vector<std::string> seen;
  for (const render::VisibleText& text : live.shell().ui().texts()) {
    if (text.text.starts_with("line ")) seen.push_back(text.text);
  }
  CHECK(seen == std::vector<std::string>{"line 0", "line 1", "line 2", "line 3", "line 4", "line 5"});
  REQUIRE(live.shell().click("output.line.2"));
  live.shell().frame(2);
  REQUIRE(live.viewer->tab().selected.has_value());
  const auto record = read_event(live.viewer->tab(), *live.viewer->tab().selected);
  REQUIRE(record.ok());
  CHECK(std::get<std::string>(record->fields[0]) == "line 2");
}

TEST_CASE("output: follows the newest line until it is scrolled up, filters, and copies what it shows") {
  LiveViewer live;
  live.record();
  live.viewer->app.layout().maximise("output");
  live.fake.make_lines(5'000);
  REQUIRE(live.until([&] { return live.shell().shows("line 4999"); }));
  const render::Rect row = *live.shell().find("output.line.4990");
  live.shell().move(row.centre());
  live.shell().wheel({0, 5});
  live.shell().frame(2);
  CHECK_FALSE(live.shell().shows("line 4999"));
  live.fake.make_lines(10);
  REQUIRE(live.until([&] { return live.shell().shows("5,010 lines"); }));
  CHECK_FALSE(live.shell().shows("line 5009"));  // stays where the user looks
  REQUIRE(live.shell().click("output.follow"));
  live.shell().frame(2);
  CHECK(live.shell().shows("line 5009"));
  REQUIRE(live.shell().click("output.filter"));
  live.shell().type("line 499");
  REQUIRE(live.until([&] { return live.shell().shows("15 of 5,010 lines"); }));
  REQUIRE(live.shell().click("output.copy"));
  CHECK(live.shell().clipboard().starts_with("line 499\nline 1499\n"));
  REQUIRE(live.shell().click("output.filter"));
  live.shell().type("nowhere");
  REQUIRE(live.until([&] { return live.shell().shows("No line holds"); }));
}

TEST_CASE("capture end: the view fits what was done, and what bounds it is told without a touch") {
  LiveViewer live;
  live.record();
  for (int i = 0; i < 20; ++i) {
    live.fake.make_events(100);
    live.shell().wait(0.1);
  }
  live.viewer->tab().show({0, 5'000});  // follow again with a narrow view, at the end of which nothing is
  live.viewer->tab().follow = true;
  live.shell().frame(2);
  live.fake.make_lines(4'000);  // a program that says much and does nothing
  live.shell().frame(2);
  CHECK(live.viewer->tab().view.begin_ns > 2'100'000);
  live.fake.set_phase(CapturePhase::ended);
  REQUIRE(live.shell().rest_until([&] { return !live.viewer->tab().follow; }));
  const session::ViewRange view = live.viewer->tab().view;
  CHECK(view.begin_ns < 1'000);
  CHECK(view.end_ns == doctest::Approx(2'010'000 * 1.01).epsilon(0.02));
  CHECK(live.shell().rest_until([&] { return !live.shell().shows("Looking for what bounds it"); }));
  REQUIRE(live.shell().rest_until([&] { return live.shell().rest(5) == 0; }));
  CHECK(live.shell().rest(600) == 0);
}

TEST_CASE("following: the width is what comes in a few seconds, whether time goes fast or slow") {
  for (const int events_per_turn : {10, 1'000}) {
    LiveViewer live;
    live.record();
    for (int i = 0; i < 100; ++i) {
      live.fake.make_events(events_per_turn);  // of 1 us each
      live.shell().wait(0.1);
    }
    const double span = live.viewer->tab().view.span_ns();
    const double per_second = events_per_turn * 1'000 / 0.11;
    CHECK(span > 1.5 * per_second);
    CHECK(span < 6 * per_second);
  }
}

TEST_CASE("output: says how the program ended") {
  LiveViewer live;
  live.record();
  live.viewer->app.layout().show("output");
  live.fake.make_lines(3);
  live.fake.writer().set_meta("program.exit_status", "3");
  REQUIRE(live.until([&] { return live.shell().shows("exit status 3"); }));
  live.fake.writer().set_meta("program.signal", "SIGKILL");
  REQUIRE(live.until([&] { return live.shell().shows("ended by SIGKILL"); }));
}

TEST_CASE("start page: unfinished captures come first, are recovered, and discarded only on a second press") {
  const TemporaryFolder state;
  LiveViewer live;
  for (const char* name : {"mlp_fwd", "softmax"}) {
    capture::client::Recoverable left{
        .folder = state.file(name), .plan = {}, .title = name, .begun_unix_s = 1, .bytes = 1 << 20, .events = 25};
    left.plan.places = {"trn1-07:7420"};
    live.fake.left.push_back(left);
  }
  live.viewer.emplace(frame::AppOptions{.state_directory = state.path(), .services = live.fake.services()});
  REQUIRE(live.until([&] { return live.shell().find("start.left.1") != nullptr; }));
  CHECK(live.shell().shows("25 events, 1 MiB: mlp_fwd from trn1-07:7420"));
  REQUIRE(live.shell().click("start.left.1.discard"));
  CHECK(live.fake.seen().discarded.empty());
  live.shell().frame(2);
  REQUIRE(live.shell().click("start.left.1.discard"));
  CHECK(live.until([&] { return live.fake.seen().discarded.size() == 1; }));
  REQUIRE(live.shell().click("start.left.0.recover"));
  REQUIRE(live.until([&] { return live.viewer->app.workspace().tab_count() == 1; }));
  live.fake.set_phase(CapturePhase::ended);
  live.shell().frame(3);
  CHECK(live.viewer->tab().modified);
  CHECK(live.viewer->tab().snapshot->event_count == 25);
}
