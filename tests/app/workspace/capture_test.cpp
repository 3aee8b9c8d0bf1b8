// Captures in the workspace without sockets: what broke and was mended, what is kept for recovery and when it goes,
// several agents in one session, questions, and what former runs left behind.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "app/workspace/workspace.h"
#include "tests/support/fake_capture.h"
#include "tests/support/small_session.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app::workspace;
using namespace accelscope::app;
using capture::client::CapturePhase;

namespace {

struct Live {
  explicit Live(const std::string& state_directory = "")
      : workspace({.state_directory = state_directory, .services = fake.services()}) {}
  void connect(const plan::ConfigurationName& from = {}) {
    capture::client::CapturePlan plan;
    plan.places = {"trn1-07:7420"};
    plan.request.name = "mlp";
    const std::size_t tabs = workspace.tab_count();
    workspace.connect(plan, from);
    until([&] { return workspace.tab_count() > tabs; });
    fake.change([](capture::client::CaptureStatus& status) { status.agents[0].host = "trn1-07"; });
    fake.set_phase(CapturePhase::streaming);
    fake.make_events(10);
    update();
  }
  void update() { workspace.update(now_s += 0.5); }
  template <typename Condition>
  void until(Condition condition) {
    REQUIRE(test::step_until(condition, [this] { update(); }));
  }
  test::FakeCapture fake;
  Workspace workspace;
  double now_s = 0;
};

}  // namespace

TEST_CASE("capture: a break is told once, and its mending takes its place") {
  Live live;
  live.connect();
  live.fake.set_phase(CapturePhase::reconnecting, "connection reset by peer");
  live.update();
  live.update();
  REQUIRE(live.workspace.notices().size() == 1);
  CHECK(live.workspace.notices()[0].severity == Severity::warning);
  CHECK(live.workspace.notices()[0].text.find("trn1-07") != std::string::npos);
  CHECK(live.workspace.notices()[0].text.find("connection reset by peer") != std::string::npos);
  CHECK(live.workspace.tab(0).live == session::LiveState::recording);  // it is not over
  live.fake.set_phase(CapturePhase::streaming);
  live.update();
  REQUIRE(live.workspace.notices().size() == 1);
  CHECK(live.workspace.notices()[0].severity == Severity::note);
  CHECK(live.workspace.notices()[0].text.find("nothing was lost") != std::string::npos);
}

TEST_CASE("capture: what was dropped while it was broken is counted in the notice") {
  Live live;
  live.connect();
  live.fake.set_phase(CapturePhase::reconnecting, "timed out");
  live.update();
  live.fake.set_phase(CapturePhase::streaming);
  live.fake.change([](capture::client::CaptureStatus& status) {
    status.agents[0].lost_events = status.agents[0].dropped_events = 1'204;
  });
  live.update();
  CHECK(live.workspace.notices()[0].text.find("1,204 events are lost") != std::string::npos);
}

TEST_CASE("capture: recovery goes when all is in a file, and not while more may come") {
  const test::TemporaryFolder folder;
  Live live;
  live.connect();
  live.workspace.save(0, folder.file("a.accel"));
  live.until([&] { return !live.workspace.saving(0); });
  CHECK_FALSE(live.fake.was("saved"));
  CHECK(live.workspace.tab(0).modified);
  live.fake.make_events(10);
  live.fake.set_phase(CapturePhase::ended);
  live.update();
  live.workspace.save(0, folder.file("a.accel"));
  live.until([&] { return !live.workspace.saving(0); });
  live.until([&] { return live.fake.was("saved"); });
  CHECK_FALSE(live.workspace.tab(0).modified);
  live.workspace.close(0);
  CHECK(live.workspace.tab_count() == 0);
  CHECK_FALSE(live.fake.was("discard"));
}

TEST_CASE("capture: closing asks, and only discarding drops what is kept for recovery") {
  Live live;
  live.connect();
  live.workspace.close(0);
  REQUIRE(live.workspace.question() == 0);
  live.workspace.answer(Workspace::Answer::cancel);
  CHECK_FALSE(live.fake.was("discard"));
  live.workspace.close(0);
  live.workspace.answer(Workspace::Answer::discard);
  live.until([&] { return live.fake.was("discard"); });
  CHECK(live.workspace.tab_count() == 0);
}

TEST_CASE("capture: Save before closing ends the capture first, then all of it is saved and closed") {
  const test::TemporaryFolder folder;
  Live live;
  live.connect();
  live.workspace.save(0, folder.file("a.accel"));
  live.until([&] { return !live.workspace.saving(0); });
  live.workspace.close(0);
  REQUIRE(live.workspace.question() == 0);
  live.workspace.answer(Workspace::Answer::save);
  live.until([&] { return live.fake.was("stop"); });
  CHECK(live.workspace.tab_count() == 1);  // what is under way still comes
  live.fake.make_events(5);
  live.fake.set_phase(CapturePhase::ended);
  live.until([&] { return live.workspace.tab_count() == 0; });
  const auto saved = Store::open_unchanged(folder.file("a.accel"));
  REQUIRE(saved.ok());
  CHECK((*saved)->snapshot()->event_count == 15);
}

TEST_CASE("workspace: a tab keeps its name while others close, and loses it with itself") {
  Live live;
  live.connect();
  live.connect();
  const Workspace::TabId first = live.workspace.id_of(0), second = live.workspace.id_of(1);
  CHECK(first != second);
  live.workspace.close(0);
  live.workspace.answer(Workspace::Answer::discard);
  live.until([&] { return live.workspace.tab_count() == 1; });
  CHECK_FALSE(live.workspace.index_of(first));
  CHECK(live.workspace.index_of(second) == 0);
}

TEST_CASE("capture: the viewer's end without an answer keeps what can be recovered") {
  test::FakeCapture fake;
  {
    Workspace workspace({.services = fake.services()});
    workspace.connect("a:1");
    while (workspace.tab_count() == 0) workspace.update(0);
    fake.set_phase(CapturePhase::streaming);
    fake.make_events(10);
    workspace.update(1);
  }
  CHECK_FALSE(fake.was("discard"));
  CHECK_FALSE(fake.was("saved"));
}

TEST_CASE("capture: no frame waits for its begin: store and link are made on another thread") {
  test::FakeCapture fake;
  CaptureServices services = fake.services();
  std::atomic<bool> on_this_thread{false};
  services.begin = [begin = services.begin, &on_this_thread, here = std::this_thread::get_id()](
                       const capture::client::CapturePlan& plan, std::shared_ptr<Store> store,
                       const capture::client::CaptureSessionOptions& options) {
    on_this_thread = std::this_thread::get_id() == here;
    return begin(plan, std::move(store), options);
  };
  Workspace workspace({.services = services});
  workspace.connect("a:1");
  CHECK(workspace.tab_count() == 0);
  CHECK_FALSE(workspace.settled());
  REQUIRE(test::step_until([&] { return workspace.tab_count() == 1; }, [&] { workspace.update(0); }));
  CHECK_FALSE(on_this_thread);
}

TEST_CASE("capture: a connection that is given up before it stands becomes no tab, and what it began is dropped") {
  test::FakeCapture fake;
  CaptureServices services = fake.services();
  std::atomic<bool> may_go_on{false};
  services.begin = [begin = services.begin, &may_go_on](const capture::client::CapturePlan& plan,
                                                        std::shared_ptr<Store> store,
                                                        const capture::client::CaptureSessionOptions& options) {
    may_go_on.wait(false);
    return begin(plan, std::move(store), options);
  };
  Workspace workspace({.services = services});
  workspace.connect("a:1");
  const std::vector<session::BackgroundJob*> jobs = workspace.jobs();
  for (session::BackgroundJob* job : jobs) job->cancel();
  may_go_on = true;
  may_go_on.notify_all();
  REQUIRE(jobs.size() == 1);
  REQUIRE(test::step_until([&] { return workspace.settled(); }, [&] { workspace.update(0); }));
  CHECK(workspace.tab_count() == 0);
  CHECK(workspace.notices().empty());
  CHECK(fake.was("discard"));
}

TEST_CASE("capture: several agents feed one tab, and one that is there is not added again") {
  Live live;
  live.workspace.connect("a:1,b:1");
  live.until([&] { return live.workspace.tab_count() == 1; });
  CHECK(live.fake.seen().plans[0].places == std::vector<std::string>{"a:1", "b:1"});
  live.fake.set_phase(CapturePhase::streaming);
  live.fake.make_events(1);
  live.update();
  live.workspace.add_agents(0, {"c:1", "a:1"});
  CHECK(live.fake.was("add c:1"));
  CHECK_FALSE(live.fake.was("add a:1"));
  CHECK(live.workspace.notices().size() == 1);
  live.workspace.remove_agent(0, "b:1");
  CHECK(live.fake.was("leave b:1"));
  live.workspace.pause_capture(0, true);
  live.workspace.pause_capture(0, false);
  CHECK(live.fake.was("pause"));
  CHECK(live.fake.was("resume"));
}

TEST_CASE("capture: one agent of several that fails is told, and the others go on") {
  Live live;
  live.workspace.connect("a:1,b:1");
  live.until([&] { return live.workspace.tab_count() == 1; });
  live.fake.set_phase(CapturePhase::streaming);
  live.fake.make_events(1);
  live.fake.change([](capture::client::CaptureStatus& status) {
    status.agents[1].phase = CapturePhase::failed;
    status.agents[1].message = "b:1: nobody listens there";
  });
  live.update();
  live.update();
  REQUIRE(live.workspace.notices().size() == 1);
  CHECK(live.workspace.notices()[0].text == "b:1: nobody listens there");
  CHECK(live.workspace.is_live(0));
}

TEST_CASE("capture: questions reach the user and answers the capture they belong to") {
  Live live;
  live.connect();
  CHECK_FALSE(live.workspace.capture_question());
  live.fake.ask(
      {.id = 7, .kind = capture::client::CaptureQuestion::Kind::secret, .place = "p", .title = "t", .text = "pass"});
  const auto asked = live.workspace.capture_question();
  REQUIRE(asked.has_value());
  live.workspace.answer_capture(*asked, "secret");
  CHECK(live.fake.seen().answers.at(7) == "secret");
  CHECK_FALSE(live.workspace.capture_question());
}

TEST_CASE("capture: a session remembers the configuration and project that it was made with") {
  const test::TemporaryFolder folder;
  const plan::ConfigurationName from{"mlp", "trn1"};
  {
    Live live(folder.file("state"));
    live.connect(from);
    CHECK(live.workspace.tab(0).configuration == "trn1");
    CHECK(live.workspace.configurations().last_used() == from);
    live.fake.set_phase(CapturePhase::ended);
    live.update();
    live.workspace.save(0, folder.file("a.accel"));
    live.until([&] { return !live.workspace.saving(0); });
  }
  Live again(folder.file("state"));
  REQUIRE(again.workspace.recent().list().size() == 1);
  CHECK(again.workspace.recent().list()[0].project == "mlp");
  CHECK(again.workspace.recent().projects() == std::vector<std::string>{"mlp"});
  CHECK(again.workspace.recent().matching("", "other").empty());
  again.workspace.open(folder.file("a.accel"));
  again.until([&] { return again.workspace.tab_count() == 1; });
  CHECK(again.workspace.tab(0).project == "mlp");
  CHECK(again.workspace.tab(0).configuration == "trn1");
}

TEST_CASE("recovery: what was left behind is listed, taken up as a live tab with changes, or discarded for good") {
  const test::TemporaryFolder folder;
  test::FakeCapture fake;
  for (const char* name : {"one", "two"}) {
    capture::client::Recoverable left{.folder = folder.file(name), .plan = {}, .title = name, .events = 25};
    left.plan.places = {"trn1-07:7420"};
    fake.left.push_back(left);
  }
  Workspace workspace({.state_directory = folder.path(), .services = fake.services()});
  const auto until = [&](auto condition) { REQUIRE(test::step_until(condition, [&] { workspace.update(1); })); };
  until([&] { return workspace.recoverable().size() == 2; });
  workspace.recover(0);
  CHECK(workspace.recoverable().size() == 1);
  until([&] { return workspace.tab_count() == 1; });
  fake.set_phase(CapturePhase::streaming);
  workspace.update(2);
  workspace.update(3);
  CHECK(workspace.tab(0).title == "one");
  CHECK(workspace.tab(0).snapshot->event_count == 25);
  CHECK(workspace.tab(0).modified);
  CHECK(workspace.is_live(0));
  CHECK(fake.seen().recovered == std::vector<std::string>{folder.file("one")});
  workspace.discard_recoverable(0);
  CHECK(workspace.recoverable().empty());
  until([&] { return workspace.jobs().empty(); });
  CHECK(fake.seen().discarded == std::vector<std::string>{folder.file("two")});
  CHECK(workspace.tab_count() == 1);
}

namespace {

// A second device, as a rank would be.
struct OtherDevice {
  explicit OtherDevice(SessionWriter& into)
      : writer(into),
        schema(into.add_schema({.number = 0,
                                .name = "zone",
                                .kind = EventKind::slice,
                                .name_column = "",
                                .name_explanation = "",
                                .wait_names = {},
                                .columns = {}})) {}
  TrackNumber add(const std::string& name) {
    const TrackNumber track =
        writer.add_track({.name = name, .kind = "engine", .device = "nc1", .host = "h", .unit = "", .schema = schema});
    static_cast<void>(writer.begin_event(track, 5'000, 500, writer.intern("other")));
    writer.flush();
    return track;
  }
  SessionWriter& writer;
  SchemaNumber schema;
};

[[nodiscard]] std::vector<TrackNumber> tracks_of(const session::SessionTab& tab, const std::string& device) {
  std::vector<TrackNumber> tracks;
  for (const TrackSnapshot& track : tab.snapshot->tracks) {
    if (track.track->device == device) tracks.push_back(track.track->number);
  }
  return tracks;
}

}  // namespace

TEST_CASE("capture: the tab of a rank follows the capture as the whole does, its new tracks too") {
  Live live;
  live.connect();
  OtherDevice other(live.fake.writer());
  other.add("A");
  live.update();
  const auto before = tracks_of(live.workspace.tab(0), "nc1");
  REQUIRE(before.size() == 1);
  session::SessionTab& part = live.workspace.open_part(0, "rank 1", "h nc1", before);
  REQUIRE(live.workspace.tab_count() == 2);
  CHECK(live.workspace.is_live(1));  // so that frames are drawn
  CHECK(part.follow);
  CHECK(session::may_grow(part));
  const double end_ns = part.view.end_ns;
  live.fake.make_events(3000);
  other.add("B");
  live.update();
  live.update();
  CHECK(part.view.end_ns > end_ns);
  CHECK(part.choices.filter.tracks == tracks_of(part, "nc1"));
  CHECK(part.choices.rows.only.size() == 2);
  part.follow = false;
  const session::ViewRange own = part.view;
  live.fake.make_events(3000);
  live.update();
  CHECK(part.view == own);
  CHECK_FALSE(live.workspace.tab(0).view == own);
  // What the user has chosen since stays.
  part.choices.filter.tracks.clear();
  other.add("C");
  live.update();
  CHECK(part.choices.filter.tracks.empty());
  CHECK(part.choices.rows.only.size() == 3);
  live.workspace.stop_capture(1);
  CHECK(live.fake.was("stop"));
  live.fake.set_phase(CapturePhase::ended);
  live.until([&] { return !session::may_grow(part); });
}

TEST_CASE("capture: a tab of a rank that is closed takes nothing with it, and the last tab of a capture asks") {
  Live live;
  live.connect();
  (void)live.workspace.open_part(0, "rank 1", "nc0", tracks_of(live.workspace.tab(0), "nc0"));
  live.update();
  live.workspace.close(1, true);
  CHECK_FALSE(live.workspace.question());
  CHECK(live.workspace.tab_count() == 1);
  live.update();
  CHECK_FALSE(live.fake.was("discard"));
  CHECK(live.workspace.is_live(0));
  (void)live.workspace.open_part(0, "rank 1", "nc0", tracks_of(live.workspace.tab(0), "nc0"));
  live.update();
  live.workspace.close(0);  // the other one still shows it
  CHECK_FALSE(live.workspace.question());
  REQUIRE(live.workspace.tab_count() == 1);
  CHECK(live.workspace.is_live(0));
  live.workspace.close(0);
  CHECK(live.workspace.question());
  live.workspace.answer(Workspace::Answer::discard);
  live.until([&] { return live.fake.was("discard"); });
}

TEST_CASE("capture: a break is told once for all tabs of a capture") {
  Live live;
  live.connect();
  (void)live.workspace.open_part(0, "rank 1", "nc0", tracks_of(live.workspace.tab(0), "nc0"));
  live.fake.set_phase(CapturePhase::reconnecting, "connection reset by peer");
  live.update();
  CHECK(live.workspace.notices().size() == 1);
}

TEST_CASE("capture: the whole and a rank keep a view each, from whichever tab they are saved") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  const auto open_both = [&](Workspace& workspace, double& now_s) -> session::SessionTab& {
    workspace.open(path);
    REQUIRE(test::step_until([&] { return workspace.jobs().empty() && workspace.tab_count() == 1; },
                             [&] { workspace.update(now_s += 0.5); }));
    session::SessionTab& part =
        workspace.open_part(0, "rank 1", "nc0", {workspace.tab(0).snapshot->tracks.front().track->number});
    REQUIRE(test::step_until([&] { return workspace.settled(); }, [&] { workspace.update(now_s += 0.5); }));
    return part;
  };
  const session::ViewRange whole_view{1'100, 2'100}, part_view{3'000, 3'500};
  {
    Workspace workspace;
    double now_s = 0;
    session::SessionTab& part = open_both(workspace, now_s);
    CHECK(part.path == path);
    workspace.tab(0).show(whole_view);
    part.show(part_view);
    workspace.save(1, path);
    REQUIRE(test::step_until([&] { return !workspace.saving(1) && workspace.settled(); },
                             [&] { workspace.update(now_s += 0.5); }));
    CHECK_FALSE(workspace.tab(0).modified);
    CHECK(workspace.tab(0).title == "small");
    CHECK(part.title == "rank 1");
  }
  Workspace workspace;
  double now_s = 0;
  const session::SessionTab& part = open_both(workspace, now_s);
  CHECK(workspace.tab(0).view == whole_view);
  CHECK(workspace.tab(0).choices.filter.tracks.empty());
  CHECK(part.view == part_view);
  CHECK(part.choices.filter.tracks.size() == 1);
}

TEST_CASE("capture: an error of a connection that failed goes when a later one works") {
  Live live;
  live.fake.begin_error = "ssh: Could not resolve hostname trn1-o7";
  capture::client::CapturePlan plan;
  plan.places = {"ssh://trn1-o7"};
  live.workspace.connect(plan);
  live.until([&] { return !live.workspace.notices().empty(); });
  CHECK(live.workspace.notices()[0].severity == Severity::error);
  CHECK_FALSE(live.workspace.last_error().empty());
  live.fake.begin_error.clear();
  SUBCASE("which is seen at work") { live.connect(); }
  SUBCASE("which is over before it is looked at") {
    live.workspace.connect(plan);
    live.until([&] { return live.workspace.tab_count() > 0; });
    live.fake.make_events(10);
    live.fake.set_phase(CapturePhase::ended);
    live.update();
  }
  CHECK(live.workspace.notices().empty());
  CHECK(live.workspace.last_error().empty());
}
