// Opening, saving, closing and live sessions, without any drawing.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "app/session/analysis.h"
#include "app/workspace/opening.h"
#include "app/workspace/workspace.h"
#include "tests/support/fake_capture.h"
#include "tests/support/small_session.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app::workspace;
using namespace accelscope::app;

namespace {

// Runs frames until the condition holds; fails the test after a long while.
template <typename Condition>
void frames_until(Workspace& workspace, Condition condition) {
  double now_s = 0;
  REQUIRE(test::step_until(condition, [&] { workspace.update(now_s += 0.1); }));
}

void open_and_wait(Workspace& workspace, const std::string& path) {
  workspace.open(path);
  frames_until(workspace, [&] { return workspace.jobs().empty(); });
}

}  // namespace

TEST_CASE("workspace: a session file opens as a tab, fitted to its activity, and is remembered") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  Workspace workspace({.state_directory = folder.file("state")});
  CHECK(workspace.start_page_open());
  open_and_wait(workspace, path);
  REQUIRE(workspace.tab_count() == 1);
  const session::SessionTab& tab = workspace.tab(0);
  CHECK(tab.title == "small");
  CHECK(tab.device == "nc0");
  CHECK(tab.path == path);
  CHECK_FALSE(tab.modified);
  REQUIRE(tab.active.has_value());
  CHECK(tab.view.begin_ns <= 1'000);
  CHECK(tab.view.end_ns >= 4'900);
  CHECK(tab.view.span_ns() < 6'000);
  REQUIRE(workspace.recent().list().size() == 1);
  CHECK(workspace.recent().list()[0].events == tab.snapshot->event_count);
  CHECK(workspace.recent().list()[0].warnings == 1);
}

TEST_CASE("workspace: opening a path again brings its tab to the front") {
  const test::TemporaryFolder folder;
  const std::string a = test::save_small_session(folder.path(), "a.accel");
  const std::string b = test::save_small_session(folder.path(), "b.accel");
  Workspace workspace;
  open_and_wait(workspace, a);
  open_and_wait(workspace, b);
  CHECK(workspace.active_index() == 1);
  open_and_wait(workspace, folder.path() + "/./a.accel");
  CHECK(workspace.tab_count() == 2);
  CHECK(workspace.active_index() == 0);
}

TEST_CASE("workspace: what cannot be opened is an error that names the file and what to try") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("empty.json")).flush();
  std::ofstream(folder.file("noise.bin")) << std::string(5'000, '\x07');
  std::ofstream(folder.file("not.accel")) << "hello";
  for (const char* name : {"missing.accel", "empty.json", "noise.bin", "not.accel"}) {
    Workspace workspace;
    open_and_wait(workspace, folder.file(name));
    CHECK(workspace.tab_count() == 0);
    REQUIRE(workspace.notices().size() == 1);
    INFO(workspace.notices()[0].text);
    CHECK(workspace.notices()[0].severity == Severity::error);
    CHECK(workspace.notices()[0].text.find(name) != std::string::npos);
    CHECK(workspace.notices()[0].text.find(';') != std::string::npos);
    CHECK(workspace.last_error() == workspace.notices()[0].text);
    workspace.dismiss_notice(0);
    CHECK(workspace.notices().empty());
  }
}

TEST_CASE("workspace: a cut session file opens with what is left and says so") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) * 9 / 10);
  Workspace workspace;
  open_and_wait(workspace, path);
  REQUIRE(workspace.tab_count() == 1);
  CHECK(workspace.tab(0).snapshot->event_count > 0);
  CHECK(workspace.tab(0).modified);  // what was recovered is in no good file yet
  CHECK(workspace.tab(0).path.empty());
  REQUIRE_FALSE(workspace.notices().empty());
  CHECK(workspace.notices()[0].text.find("damaged") != std::string::npos);
}

TEST_CASE("workspace: saved under a new name, the file opens again with all events") {
  const test::TemporaryFolder folder;
  Workspace workspace;
  const auto session = test::make_small_session();
  const std::uint64_t events = session.store->snapshot()->event_count;
  auto opened = Store::create();
  REQUIRE(opened.ok());
  open_and_wait(workspace, test::save_small_session(folder.path()));
  workspace.save(0, folder.file("copy.accel"));
  CHECK(workspace.saving(0));
  frames_until(workspace, [&] { return !workspace.saving(0); });
  CHECK(workspace.notices().empty());
  CHECK(workspace.tab(0).path == folder.file("copy.accel"));
  CHECK_FALSE(workspace.tab(0).modified);
  const auto copy = Store::open(folder.file("copy.accel"));
  REQUIRE(copy.ok());
  CHECK((*copy)->snapshot()->event_count == events);
}

TEST_CASE("workspace: a save that fails keeps the session and says why") {
  const test::TemporaryFolder folder;
  Workspace workspace;
  open_and_wait(workspace, test::save_small_session(folder.path()));
  workspace.tab(0).modified = true;
  workspace.save(0, "/proc/no/such/folder.accel");
  frames_until(workspace, [&] { return !workspace.saving(0); });
  REQUIRE(workspace.notices().size() == 1);
  CHECK(workspace.notices()[0].text.find("/proc/no/such/folder.accel") != std::string::npos);
  CHECK(workspace.tab_count() == 1);
  CHECK(workspace.tab(0).modified);
}

TEST_CASE("workspace: closing unsaved work asks, and each answer does what it says") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  Workspace workspace;
  open_and_wait(workspace, path);
  workspace.close(0);
  CHECK(workspace.tab_count() == 0);  // nothing to lose, no question

  open_and_wait(workspace, path);
  workspace.tab(0).modified = true;
  workspace.close(0);
  REQUIRE(workspace.question() == 0);
  workspace.answer(Workspace::Answer::cancel);
  CHECK(workspace.tab_count() == 1);
  CHECK_FALSE(workspace.question());

  workspace.close(0);
  workspace.answer(Workspace::Answer::save);
  frames_until(workspace, [&] { return workspace.tab_count() == 0; });
  CHECK(std::filesystem::exists(path));

  open_and_wait(workspace, path);
  workspace.tab(0).modified = true;
  workspace.close(0);
  workspace.answer(Workspace::Answer::discard);
  CHECK(workspace.tab_count() == 0);
}

TEST_CASE("workspace: closing the front tab shows its neighbour") {
  const test::TemporaryFolder folder;
  Workspace workspace;
  for (const char* name : {"a.accel", "b.accel", "c.accel"}) {
    open_and_wait(workspace, test::save_small_session(folder.path(), name));
  }
  workspace.activate(1);
  workspace.close(1);
  REQUIRE(workspace.active() != nullptr);
  CHECK(workspace.tab_count() == 2);
  workspace.close(*workspace.active_index());
  workspace.close(0);
  CHECK(workspace.active() == nullptr);
  CHECK(workspace.start_page_open());
}

TEST_CASE("workspace: a live session shows its rate, follows the newest events, and its failure keeps the data") {
  test::FakeCapture fake;
  Workspace workspace({.services = fake.services()});
  workspace.connect("127.0.0.1:7420");
  REQUIRE(test::step_until([&] { return workspace.tab_count() == 1; }, [&] { workspace.update(0); }));
  session::SessionTab& tab = workspace.tab(0);
  CHECK(tab.live == session::LiveState::connecting);
  CHECK_FALSE(workspace.settled());
  fake.set_phase(capture::client::CapturePhase::streaming);
  double now_s = 0;
  for (int i = 0; i < 10; ++i) {
    fake.make_events(100);
    workspace.update(now_s += 0.25);
  }
  CHECK(tab.live == session::LiveState::recording);
  CHECK(tab.snapshot->event_count == 1'000);
  CHECK(tab.events_per_second == doctest::Approx(400).epsilon(0.5));
  CHECK(tab.device == "h nc0");
  CHECK(tab.view.end_ns == doctest::Approx(static_cast<double>(tab.snapshot->end_ns)));

  workspace.stop_capture(0);
  CHECK(fake.was("stop"));
  fake.set_phase(capture::client::CapturePhase::failed, "127.0.0.1:7420: the agent hung up");
  workspace.update(now_s += 0.25);
  CHECK(tab.live == session::LiveState::failed);
  CHECK(tab.events_per_second == 0);
  CHECK(tab.snapshot->event_count == 1'000);
  REQUIRE(workspace.notices().size() == 1);
  CHECK(workspace.notices()[0].text == "127.0.0.1:7420: the agent hung up");
  workspace.close(0);
  CHECK(workspace.question().has_value());  // an unsaved recording is not thrown away silently
}

TEST_CASE("workspace: an import can be cancelled, which is neither an error nor a tab") {
  const test::TemporaryFolder folder;
  std::ofstream json(folder.file("large.json"));
  json << "{\"instruction\":[";
  for (int i = 0; i < 400'000; ++i) {
    json << (i == 0 ? "" : ",") << "{\"timestamp\":" << i * 10 << ",\"duration\":5,\"opcode\":\"MATMUL\",\"id\":" << i
         << ",\"label\":\"Tensor\"}";
  }
  json << "]}";
  json.close();
  Workspace workspace;
  workspace.open(folder.file("large.json"));
  REQUIRE(workspace.jobs().size() == 1);
  session::BackgroundJob* job = workspace.jobs()[0];
  CHECK(job->title() == "Opening large.json");
  CHECK_FALSE(workspace.settled());
  job->cancel();
  frames_until(workspace, [&] { return workspace.jobs().empty(); });
  CHECK(workspace.tab_count() == 0);
  CHECK(workspace.notices().empty());
}

TEST_CASE("workspace: an import beyond its memory budget goes on in a file without a name, and has every event") {
  CHECK(OpenSessionOptions{}.memory_budget_bytes == default_memory_budget());
  const test::TemporaryFolder folder;
  std::ofstream json(folder.file("large.json"));
  json << "{\"traceEvents\":[";
  constexpr int kEvents = 300'000;
  for (int i = 0; i < kEvents; ++i) {
    json << (i == 0 ? "" : ",") << R"({"ph":"X","cat":"kernel","name":"k)" << i % 7 << R"(","pid":1,"tid":)" << i % 9
         << ",\"ts\":" << i * 10 << ",\"dur\":" << i % 5 << R"(,"args":{"a":)" << (i * 7919LL) % 1'000'003 << "}}";
  }
  json << "]}";
  json.close();
  session::JobControl control;
  const auto opened = load_session({capture::sources::recognise(folder.file("large.json"))},
                                   {.memory_budget_bytes = std::uint64_t{1} << 20}, control);
  REQUIRE_MESSAGE(opened.ok(), opened.message());
  const auto snapshot = opened->store->snapshot();
  CHECK(snapshot->event_count == kEvents);
  CHECK(opened->store->status().file_bytes > std::uint64_t{1} << 20);
}

TEST_CASE("workspace: a Neuron profile imports, and is safe in its own file") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("profile.json"))
      << R"({"instruction":[{"timestamp":100,"duration":50,"opcode":"MATMUL","id":7,"label":"Tensor"}]})";
  Workspace workspace;
  open_and_wait(workspace, folder.file("profile.json"));
  REQUIRE(workspace.tab_count() == 1);
  CHECK(workspace.tab(0).snapshot->event_count >= 1);
  CHECK_FALSE(workspace.tab(0).modified);
  CHECK(workspace.tab(0).path.empty());
  workspace.close(0);
  CHECK(workspace.tab_count() == 0);
}

TEST_CASE("workspace: a wrong address is an error, not a tab") {
  Workspace workspace;
  workspace.connect("trn1-07:7420,trn1-08:port");
  CHECK(workspace.tab_count() == 0);
  CHECK_FALSE(workspace.notices().empty());
}

TEST_CASE("analysis: answers come from workers and stay until better ones do") {
  const auto session = test::make_small_session();
  WorkerPool pool(1);
  session::SessionAnalysis analysis(pool, session.store);
  double now_s = 0;
  const auto frame = [&] { analysis.begin_frame(session.store->snapshot(), now_s += 0.1); };
  frame();
  std::shared_ptr<const analysis::MemoryUsage> memory;
  std::shared_ptr<const analysis::SourceLines> lines;
  std::shared_ptr<const analysis::Dependencies> dependencies;
  REQUIRE(test::step_until([&] { return memory && lines && dependencies; },
                           [&] {
                             memory = analysis.memory();
                             lines = analysis.source_lines();
                             dependencies = analysis.dependencies();
                             frame();
                           }));
  REQUIRE(memory->pools.size() == 1);
  CHECK(memory->pools[0].peak_bytes == 163'840);
  CHECK(lines->find("kernel.py", 3)->event_count == 20);
  CHECK(dependencies->predecessors(session.activate, 10).dependencies.front().source == session.first_matmul);
  CHECK_FALSE(analysis.pending());

  analysis.search("/(/");
  REQUIRE(test::step_until([&] { return !analysis.searching(); }, frame));
  CHECK_FALSE(analysis.search_error().empty());
  analysis.search("ACTIVATE");
  REQUIRE(test::step_until([&] { return analysis.hits() != nullptr; }, frame));
  CHECK(analysis.hits()->total() == 10);
}
