#include "core/analysis/dependencies/wait_causes.h"

#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"

using namespace accelscope;
using namespace accelscope::analysis;

TEST_CASE(
    "what events waited for is put down to the predecessor that ended last, and waits of nothing known are kept") {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber work =
      writer.add_schema({.name = "work",
                         .wait_names = {"WAIT"},
                         .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key},
                                     {.name = "wait", .type = ColumnType::int64, .role = Role::wait_ns}}});
  const SchemaNumber flow =
      writer.add_schema({.name = "flow",
                         .kind = EventKind::flow,
                         .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source},
                                     {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target}}});
  const TrackNumber queue = writer.add_track({.name = "q0", .kind = "dma_queue", .schema = work});
  const TrackNumber engine = writer.add_track({.name = "Engine", .kind = "engine", .schema = work});
  const TrackNumber flows = writer.add_track({.name = "flows", .kind = "flow", .schema = flow});
  const auto event = [&](TrackNumber track, const char* name, std::uint64_t id, std::int64_t begin, std::int64_t takes,
                         std::int64_t wait) {
    Row row = writer.begin_event(track, begin, takes, writer.intern(name));
    row.unsigned_integer(0, id);
    row.integer(1, wait);
    return row.id();
  };
  const auto arrow = [&](std::uint64_t from, std::uint64_t to) {
    Row row = writer.begin_event(flows, 0, 0, writer.intern("semaphore"));
    row.unsigned_integer(0, from);
    row.unsigned_integer(1, to);
  };
  event(queue, "w1", 1, 0, 100, 0);
  event(queue, "w2", 2, 100, 100, 0);
  event(queue, "w1", 3, 200, 100, 0);
  std::vector<EventId> asked;
  asked.push_back(event(engine, "MATMUL", 10, 210, 10, 150));  // after 1 and 2: w2 ended last
  asked.push_back(event(engine, "MATMUL", 11, 310, 10, 90));   // after 3
  asked.push_back(event(engine, "MATMUL", 12, 330, 10, 7));    // after nothing known
  asked.push_back(event(engine, "WAIT", 13, 340, 80, 0));      // waits itself, after 3
  asked.push_back(event(engine, "MATMUL", 14, 400, 10, 0));
  arrow(1, 10);
  arrow(2, 10);
  arrow(3, 11);
  arrow(3, 13);
  arrow(3, 14);
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const auto dependencies = Dependencies::build({**store, (*store)->snapshot(), pool, control});
  REQUIRE(dependencies.ok());
  EventReader reader(**store, (*store)->snapshot());
  const auto causes = wait_causes(**dependencies, asked, reader, control);
  REQUIRE(causes.ok());
  CHECK(causes->looked_at == 5);
  CHECK(causes->wait_ns == 327);
  REQUIRE(causes->causes.size() == 2);
  CHECK(causes->causes[0].name == "w1");
  CHECK(causes->causes[0].track == "q0");
  CHECK(causes->causes[0].count == 2);
  CHECK(causes->causes[0].wait_ns == 170);
  CHECK(causes->causes[1].name == "w2");
  CHECK(causes->causes[1].wait_ns == 150);
  control.cancel();
  CHECK_FALSE(wait_causes(**dependencies, asked, reader, control).ok());
}
