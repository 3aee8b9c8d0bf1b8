#include "app/library/entry.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "capture/sim/output/simulator.h"
#include "core/store/overlay.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

std::string simulate_into(const test::TemporaryFolder& folder, const std::string& name) {
  const std::string path = folder.file(name);
  REQUIRE(run({"simulate", "-o", path, "--seed", "3", "--events", "4000"}).code == kExitDone);
  return path;
}

const LibraryEntry& entry_of(const LibraryScan& scan, const std::string& path) {
  const auto found =
      std::find_if(scan.entries.begin(), scan.entries.end(), [&](const auto& e) { return e.path == path; });
  REQUIRE(found != scan.entries.end());
  return *found;
}

}  // namespace

TEST_CASE("library: a session's headline is what opening it tells, and a save that is repeated keeps its time") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "a.accel");
  WorkerPool pool(1);
  const LibraryEntry entry = read_entry(path, folder.path(), pool);
  CHECK(entry.problem.empty());
  CHECK(entry.headline.saved_unix_s > 0);
  CHECK(entry.headline.activity.size() == Headline::kCells);
  CHECK(*std::max_element(entry.headline.activity.begin(), entry.headline.activity.end()) == '9');
  const auto store = Store::open(path);
  REQUIRE(store.ok());
  TaskControl control;
  const auto told =
      find_headline({**store, (*store)->snapshot(), pool, control}, entry.headline.name, entry.headline.saved_unix_s);
  REQUIRE(told.ok());
  CHECK(*told == entry.headline);
  CHECK(told->events == (*store)->snapshot()->event_count);
  REQUIRE((*store)->set_overlay_value(kHeadlineKey, to_text(Headline{.name = "x", .saved_unix_s = 17})).ok());
  keep_headline(**store, "x", pool);
  CHECK(headline_of((*store)->overlay_value(kHeadlineKey))->saved_unix_s == 17);
  CHECK_FALSE(headline_of("2\tnewer").has_value());
  CHECK_FALSE(headline_of("").has_value());
}

TEST_CASE("library: what an agent saved without a headline is told all the same, and nothing is written into it") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("agent.accel");
  {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 5, .kernels = 1}, sink).ok());
    REQUIRE(store->save(path).ok());
  }
  WorkerPool pool(1);
  const LibraryEntry entry = read_entry(path, folder.path(), pool);
  CHECK(entry.problem.empty());
  CHECK(entry.headline.events > 0);
  CHECK(entry.headline.active_ns > 0);
  CHECK(entry.when_unix_s() > 0);
  CHECK(read_overlay(path)->count(kHeadlineKey) == 0);
}

TEST_CASE("library: tags, title and project are kept in the file, of one that cannot be written beside it") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "a.accel");
  REQUIRE(set_tags(path, split_tags(" mlp, baseline ,,mlp")).ok());
  REQUIRE(set_title(path, "first try ").ok());
  REQUIRE(set_project(path, "kernels").ok());
  WorkerPool pool(1);
  const LibraryEntry entry = read_entry(path, folder.path(), pool);
  CHECK(entry.tags == std::vector<std::string>{"mlp", "baseline"});
  CHECK(entry.name == "first try");
  CHECK(entry.project == "kernels");
  CHECK(matches(entry, "BASE first"));
  CHECK_FALSE(matches(entry, "first nothing"));
  REQUIRE(set_title(path, "").ok());
  CHECK(read_entry(path, folder.path(), pool).name != "first try");
  CHECK_FALSE(set_tags(folder.file("none.accel"), {"x"}).ok());
  CHECK(Store::open(path).ok());  // it is a session as before
  // With a sidecar, as a read-only file gets one, its values count.
  REQUIRE(std::filesystem::copy_file(path, folder.file("b.accel")));
  {
    const std::string sidecar = folder.file("b.accel") + ".overlay";
    REQUIRE(std::filesystem::copy_file(path, sidecar));
    REQUIRE(write_overlay_value(folder.file("b.accel"), kTagsKey, "beside").ok());
  }
  CHECK(read_overlay(folder.file("b.accel"))->at(kTagsKey) == "beside");
}

TEST_CASE("library: a scan finds sessions and profiles below a folder, and tells what cannot be read") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("deep/er"));
  const std::string session = simulate_into(folder, "deep/er/a.accel");
  const std::string profile = folder.file("deep/kernel.json");
  REQUIRE(run({"simulate", "-o", profile, "--seed", "3", "--events", "2000", "--format", "neuron-json"}).code ==
          kExitDone);
  test::write_file(folder.file("notes.txt"), "nothing of ours");
  test::write_file(folder.file("broken.accel"), "SQLite format 3");
  test::write_file(folder.file(".hidden.accel"), "x");
  WorkerPool pool(1);
  const LibraryScan scan = scan_library({folder.path(), folder.path()}, pool);
  CHECK(scan.problems.empty());
  REQUIRE(scan.entries.size() == 3);
  CHECK(entry_of(scan, session).is_session);
  CHECK(entry_of(scan, profile).format == "neuron-json");
  CHECK_FALSE(entry_of(scan, folder.file("broken.accel")).problem.empty());
  CHECK(scan_library({folder.file("nowhere")}, pool).problems.size() == 1);
}

TEST_CASE("library: moving takes the sidecar along and replaces nothing, and deleting takes both away") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "a.accel");
  std::filesystem::create_directories(folder.file("to"));
  test::write_file(path + ".overlay", "kept");
  const auto moved = move_session(path, folder.file("to"));
  REQUIRE(moved.ok());
  CHECK(*moved == folder.file("to/a.accel"));
  CHECK(std::filesystem::exists(*moved + ".overlay"));
  CHECK_FALSE(std::filesystem::exists(path));
  const std::string second = simulate_into(folder, "a.accel");
  const auto refused = move_session(second, folder.file("to"));
  REQUIRE_FALSE(refused.ok());
  CHECK(holds(refused.message(), "of this name"));
  CHECK(std::filesystem::exists(second));
  REQUIRE(delete_session(*moved).ok());
  CHECK_FALSE(std::filesystem::exists(*moved));
  CHECK_FALSE(std::filesystem::exists(*moved + ".overlay"));
  CHECK_FALSE(delete_session(*moved).ok());
}

TEST_CASE("list prints the sessions of a folder, as a table and as JSON, and searches them") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "mlp_fwd.accel");
  REQUIRE(set_tags(path, {"baseline"}).ok());
  (void)simulate_into(folder, "other.accel");
  REQUIRE(run({"simulate", "-o", folder.file("p.json"), "--events", "2000", "--format", "neuron-json"}).code ==
          kExitDone);
  const auto all = run({"list", folder.path()});
  REQUIRE(all.code == kExitDone);
  CHECK(holds(all.out, "mlp_fwd.accel"));
  CHECK(holds(all.out, "other.accel"));
  CHECK_FALSE(holds(all.out, "p.json"));
  CHECK(holds(run({"list", folder.path(), "--profiles"}).out, "p.json"));
  const auto found = run({"list", folder.path(), "--search", "baseline", "--json"});
  CHECK(holds(found.out, "\"tags\": [\"baseline\"]"));
  CHECK_FALSE(holds(found.out, "other.accel"));
  CHECK(run({"list", folder.file("nowhere")}).code == kExitFailed);
  CHECK(run({"list"}).code == kExitUsage);
}
