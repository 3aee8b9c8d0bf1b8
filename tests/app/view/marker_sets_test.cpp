#include "app/view/marker_sets.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/support/small_session.h"

namespace accelscope::app::view {
namespace {

[[nodiscard]] std::vector<std::string> names_of(const std::vector<Marker>& markers) {
  std::vector<std::string> names;
  for (const Marker& marker : markers) names.push_back(marker.name);
  return names;
}

[[nodiscard]] std::vector<std::string> names_of(const MarkerSets& sets) {
  std::vector<std::string> names;
  for (const MarkerSet& set : sets.all()) names.push_back(set.name);
  return names;
}

struct Session {
  explicit Session(const std::shared_ptr<Store>& store) {
    session::attach(tab, pool, store, session::read_retained(*store));
  }
  Session() : Session(test::make_small_session().store) {}
  void put(std::int64_t at, const char* name, std::optional<std::int64_t> end = {}) {
    Marker marker;
    marker.ts_ns = at;
    marker.end_ns = end;
    marker.name = name;
    session::put_marker(tab, marker);
  }
  // Of its store, once all is written.
  [[nodiscard]] session::RetainedBeside retained() {
    session::StoreWriter::flush(*tab.writer->queue());
    CHECK(session::begin_frame(tab).empty());  // nothing failed
    return session::read_retained(*tab.store);
  }
  WorkerPool pool;
  session::SessionTab tab;
  SessionMarkerSets sets;
};

using Names = std::vector<std::string>;

TEST_CASE("marker sets: saved, loaded and added by name") {
  Session session;
  session.put(1'000, "begin");
  session.put(2'000, "mlp", 2'400);
  REQUIRE(session.sets.save(session.tab, "warm").ok());
  CHECK(session.tab.modified);
  while (!session.tab.markers.empty()) session::remove_marker(session.tab, session.tab.markers.front().id);
  session.put(500, "other");
  REQUIRE(session.sets.load(session.tab, "warm", LoadMarkers::add).ok());
  CHECK(names_of(session.tab.markers) == Names{"other", "begin", "mlp"});
  CHECK(session.tab.markers[1].set_name == "warm");
  CHECK(session.tab.markers[2].end_ns == 2'400);
  REQUIRE(session.sets.load(session.tab, "warm", LoadMarkers::replace).ok());
  CHECK(names_of(session.tab.markers) == Names{"begin", "mlp"});
  CHECK(names_of(session.retained().markers) == Names{"begin", "mlp"});
  // What was replaced was in no set.
  REQUIRE(session.sets.load(session.tab, "before warm", LoadMarkers::replace).ok());
  CHECK(names_of(session.tab.markers) == Names{"other", "begin", "mlp"});
  CHECK(names_of(session.sets.of(session.tab)) == Names{"warm", "before warm"});
  CHECK_FALSE(session.sets.load(session.tab, "gone", LoadMarkers::add).ok());
}

TEST_CASE("marker sets: renamed and deleted, and no two have one name") {
  Session session;
  session.put(1'000, "begin");
  REQUIRE(session.sets.save(session.tab, "a").ok());
  REQUIRE(session.sets.save(session.tab, "b").ok());
  CHECK_FALSE(session.sets.rename(session.tab, "a", "b").ok());
  CHECK_FALSE(session.sets.rename(session.tab, "a", "").ok());
  CHECK_FALSE(session.sets.save(session.tab, "").ok());
  REQUIRE(session.sets.rename(session.tab, "a", "c").ok());
  session.sets.remove(session.tab, "b");
  CHECK(names_of(session.sets.of(session.tab)) == Names{"c"});
}

TEST_CASE("marker sets: they are there when the session file is opened again") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  {
    Session session;
    session.put(1'000, "tab\there\nand \\ there");
    REQUIRE(session.sets.save(session.tab, "set\tone").ok());
    (void)session.retained();
    REQUIRE(session.tab.store->save(path).ok());
  }
  auto store = Store::open(path);
  REQUIRE(store.ok());
  Session reopened(std::shared_ptr<Store>(std::move(*store)));
  reopened.tab.path = path;
  REQUIRE(names_of(reopened.sets.of(reopened.tab)) == Names{"set\tone"});
  CHECK(reopened.sets.of(reopened.tab).all()[0].markers.at(0).name == "tab\there\nand \\ there");
  REQUIRE(reopened.sets.rename(reopened.tab, "set\tone", "two").ok());
  CHECK_FALSE(reopened.tab.modified);  // the file has it
  (void)reopened.retained();
  auto again = Store::open(path);
  REQUIRE(again.ok());
  Session third(std::shared_ptr<Store>(std::move(*again)));
  CHECK(names_of(third.sets.of(third.tab)) == Names{"two"});
}

TEST_CASE("marker sets: those of a file that cannot be written go with a copy of it, as markers and view do") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  auto store = Store::open(path);
  REQUIRE(store.ok());
  if (!(*store)->status().read_only) return;  // root may write anything
  Session session(std::shared_ptr<Store>(std::move(*store)));
  session.put(1'000, "begin");
  session.put(1'100, "span", 1'200);
  REQUIRE(session.sets.save(session.tab, "a").ok());
  session::keep_value(session.tab, session::kViewKey, "some text");
  (void)session.retained();
  const std::string copy = folder.file("copy.accel");
  REQUIRE(session.tab.store->save(copy).ok());
  auto copied = Store::open(copy);
  REQUIRE(copied.ok());
  Session other(std::shared_ptr<Store>(std::move(*copied)));
  CHECK(names_of(other.tab.markers) == Names{"begin", "span"});
  CHECK(other.tab.markers[1].end_ns == 1'200);
  CHECK(names_of(other.sets.of(other.tab)) == Names{"a"});
  CHECK(other.tab.store->overlay_value("view") == "some text");
}

TEST_CASE("marker sets: exported text goes into another session beside its own sets") {
  Session from, to;
  from.put(1'000, "begin");
  from.put(1'500, "span", 1'600);
  REQUIRE(from.sets.save(from.tab, "warm").ok());
  to.put(7, "own");
  REQUIRE(to.sets.save(to.tab, "mine").ok());
  const std::string text = from.sets.of(from.tab).to_text();
  const Result<std::size_t> count = to.sets.import_text(to.tab, text);
  REQUIRE(count.ok());
  CHECK(*count == 1);
  CHECK(names_of(to.sets.of(to.tab)) == Names{"mine", "warm"});
  REQUIRE(to.sets.load(to.tab, "warm", LoadMarkers::replace).ok());
  CHECK(names_of(to.tab.markers) == Names{"begin", "span"});
  CHECK(to.tab.markers[1].end_ns == 1'600);
}

TEST_CASE("marker sets: a wrong file says which line, and changes nothing") {
  Session session;
  const auto error = [&](std::string_view text) {
    const Result<std::size_t> done = session.sets.import_text(session.tab, text);
    return done ? std::string() : done.message();
  };
  const std::string head = "accelscope-marker-sets\t1\n";
  CHECK(error("name,time\n1,2\n").find("no file of marker sets") != std::string::npos);
  CHECK(error("accelscope-marker-sets\t2\nset\ta\n").find("newer version") != std::string::npos);
  CHECK(error(head).find("no set of markers") != std::string::npos);
  CHECK(error(head + "set\ta\nmarker\tx\t\t\t\t\n").find("line 3") != std::string::npos);
  CHECK(error(head + "set\ta\nmarker\t9\t5\t\t\t\n").find("line 3") != std::string::npos);
  CHECK(error(head + "marker\t9\t\t\t\t\n").find("line 2") != std::string::npos);
  CHECK(error(head + "set\n").find("line 2") != std::string::npos);
  CHECK(session.sets.of(session.tab).all().empty());
  CHECK(error(head + "remark\tof a later version\r\nset\ta\r\nmarker\t9\t\tn\t\t\r\n").empty());
  CHECK(session.sets.of(session.tab).all().size() == 1);
}

TEST_CASE("marker sets: what a session keeps and cannot be read is told and stays") {
  const auto store = test::make_small_session().store;
  REQUIRE(store->set_overlay_value("marker_sets", "accelscope-marker-sets\t9\nset\ta\n").ok());
  Session session(store);
  CHECK(session.sets.of(session.tab).all().empty());
  CHECK(session.sets.problem().find("newer version") != std::string::npos);
  CHECK(session.retained().values.at(session::kMarkerSetsKey).find("\t9") != std::string::npos);
}

}  // namespace
}  // namespace accelscope::app::view
