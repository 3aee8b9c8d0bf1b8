// A queue that serves its transfers itself, and the same with a second one beside it.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "core/analysis/replay/what_if.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// Tiles that are copied one after another by one queue or by two in turn, each asked for at once, and worked on in
// their order.
struct CopySession {
  std::unique_ptr<Store> store = Store::create().value();
  WorkerPool pool{1};
  TaskControl control;
  std::int64_t end_ns = 0;

  CopySession(std::uint64_t seed, std::size_t queues) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber work =
        writer.add_schema({.name = "work", .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
    const SchemaNumber flow =
        writer.add_schema({.name = "dependency",
                           .kind = EventKind::flow,
                           .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source},
                                       {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target}}});
    const TrackNumber engine = writer.add_track({.name = "Engine", .kind = "engine", .device = "d", .schema = work});
    std::vector<TrackNumber> tracks;
    for (std::size_t q = 0; q < queues; ++q) {
      tracks.push_back(
          writer.add_track({.name = "q" + std::to_string(q), .kind = "dma_queue", .device = "d", .schema = work}));
    }
    const TrackNumber flows = writer.add_track({.name = "flows", .kind = "flow", .device = "d", .schema = flow});
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> free(queues, 0);
    std::int64_t engine_free = 0;
    for (std::uint64_t i = 0; i < 40; ++i) {
      const auto copy = static_cast<std::int64_t>(300 + random() % 300),
                 take = static_cast<std::int64_t>(100 + random() % 400);
      std::int64_t& queue = free[i % queues];
      writer.begin_event(tracks[i % queues], queue, copy, writer.intern("tile")).unsigned_integer(0, 2 * i + 1);
      queue += copy;
      engine_free = std::max(engine_free, queue);
      writer.begin_event(engine, engine_free, take, writer.intern("MATMUL")).unsigned_integer(0, 2 * i + 2);
      engine_free += take;
      Row row = writer.begin_event(flows, 0, 0, writer.intern("tile"));
      row.unsigned_integer(0, 2 * i + 1);
      row.unsigned_integer(1, 2 * i + 2);
    }
    end_ns = engine_free;
    REQUIRE(writer.finish().ok());
  }
  std::int64_t predicted(const char* text) {
    const QueryContext query{*store, store->snapshot(), pool, control};
    const auto dependencies = Dependencies::build(query);
    REQUIRE(dependencies.ok());
    const auto graph = WorkGraph::build(query, **dependencies);
    REQUIRE(graph.ok());
    const auto change = parse_change(text);
    REQUIRE(change.ok());
    const auto result = replay_with_changes(query, **graph, {&*change, 1}, 0);
    REQUIRE_MESSAGE(result.ok(), result.message());
    return result->total_after_ns;
  }
};

}  // namespace

TEST_CASE("what-if: a second queue serves every second transfer, 50 seeds") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    CopySession one(seed, 1);
    const CopySession two(seed, 2);
    CHECK(one.predicted("double queue q0") == two.end_ns);
    CHECK(two.end_ns < one.end_ns);
  }
}

TEST_CASE("what-if: transfers of which nobody tells the size are not merged as small ones") {
  CopySession session(1, 1);
  const QueryContext query{*session.store, session.store->snapshot(), session.pool, session.control};
  const auto dependencies = Dependencies::build(query);
  REQUIRE(dependencies.ok());
  const auto graph = WorkGraph::build(query, **dependencies);
  REQUIRE(graph.ok());
  const auto change = parse_change("merge dmas x2");
  REQUIRE(change.ok());
  CHECK_FALSE(replay_with_changes(query, **graph, {&*change, 1}, 0).ok());
}
