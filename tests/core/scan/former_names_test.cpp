// Tables that were renamed answer to both names, in new sessions and in old ones; processes are one, whoever tells of
// them.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/analysis/time/track_devices.h"
#include "core/chunk/session_writer.h"
#include "core/sql/base/sql.h"

using namespace accelscope;

namespace {

// A session with one copy in a table of this name.
std::unique_ptr<Store> copies(const std::string& table, const std::string& column) {
  std::unique_ptr<Store> store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = table, .name_column = "operation", .columns = {{.name = column}}});
  const TrackNumber track = writer.add_track({.name = "q", .kind = "dma_queue", .schema = schema});
  writer.begin_event(track, 5, 10, writer.intern("read")).integer(0, 64);
  REQUIRE(writer.finish().ok());
  return store;
}

std::string answer(const Store& store, const std::string& sql) {
  WorkerPool pool;
  TaskControl control;
  sql::Session session(store, store.snapshot(), pool);
  const auto result = session.run(sql, {}, control);
  if (!result) return result.message();
  std::string text;
  for (const listing::SqlValue& value : result->cells) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    text += (text.empty() ? "" : "|") + (integer != nullptr ? std::to_string(*integer) : "?");
  }
  return text;
}

}  // namespace

TEST_CASE("copies are in memcpy and in transfer, whichever of the two a session was written with") {
  for (const char* written : {"memcpy", "transfer"}) {
    CAPTURE(written);
    const auto store = copies(written, "direction");
    for (const char* asked : {"memcpy", "transfer"}) {
      const std::string from = std::string(" FROM ") + asked;
      CHECK(answer(*store, "SELECT count(*), sum(dur_ns), sum(direction)" + from) == "1|10|64");
      CHECK(answer(*store, "SELECT dur_ns + 1" + from + " WHERE operation = 'read' OR 0") == "11");
    }
  }
}

TEST_CASE("a table that only happens to be called transfer or memcpy has no other name") {
  CHECK(answer(*copies("transfer", "size"), "SELECT count(*) FROM memcpy").find("no such table") != std::string::npos);
  CHECK(answer(*copies("memcpy", "bytes"), "SELECT count(*) FROM transfer").find("no such table") != std::string::npos);
}

TEST_CASE("a process that its program and a probe inside it tell of is one, and devices named alike are two") {
  std::unique_ptr<Store> store = Store::create().value();
  for (int source = 0; source < 2; ++source) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema({.name = source == 0 ? "program" : "runtime_call"});
    Track process{.name = "Program", .kind = "process", .schema = schema};
    (source == 0 ? process.device : process.host) = "clpeak (4711)";
    writer.add_track(process);
    writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .schema = schema});
    REQUIRE(writer.finish().ok());
  }
  const auto snapshot = store->snapshot();
  const analysis::TrackDevices devices(*snapshot);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < devices.count(); ++i) labels.push_back(devices.label(i));
  std::sort(labels.begin(), labels.end());
  CHECK(labels == std::vector<std::string>{"clpeak (4711)", "nc0", "nc0 (2)"});
}
