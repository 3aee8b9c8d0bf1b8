#include "core/analysis/dependencies/dependencies.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "core/chunk/session_writer.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct PlainFlow {
  EventId source, target;
  auto operator<=>(const PlainFlow&) const = default;
};

}  // namespace

TEST_CASE("predecessors and successors of every event are those that the flows name, per source") {
  auto store = Store::create();
  REQUIRE(store.ok());
  std::mt19937_64 random(71);
  std::vector<PlainFlow> flows;
  std::vector<EventId> events;
  std::uint64_t unresolved = 0;
  for (int source = 0; source < 2; ++source) {
    StoreSink sink(**store);
    SessionWriter writer(sink);
    const bool texts = source == 1;  // the second source's keys are texts
    const ColumnType type = texts ? ColumnType::text : ColumnType::uint64;
    const SchemaNumber instruction =
        writer.add_schema({.name = "instruction", .columns = {{.name = "id", .type = type, .role = Role::key}}});
    const SchemaNumber triggered =
        writer.add_schema({.name = "dma", .columns = {{.name = "trigger", .type = type, .role = Role::flow_source}}});
    const SchemaNumber flow =
        writer.add_schema({.name = "flow",
                           .kind = EventKind::flow,
                           .columns = {{.name = "in", .type = type, .role = Role::flow_source},
                                       {.name = "out", .type = type, .role = Role::flow_target}}});
    const auto set_key = [&](Row& row, std::size_t column, std::uint64_t key) {
      if (texts) row.text(column, "I-" + std::to_string(key));
      if (!texts) row.unsigned_integer(column, key);
    };
    const TrackNumber engine = writer.add_track({.name = "Tensor", .kind = "engine", .schema = instruction});
    const TrackNumber queue = writer.add_track({.name = "q0", .kind = "dma_queue", .schema = triggered});
    const TrackNumber arrows = writer.add_track({.name = "flows", .kind = "flow", .schema = flow});
    const std::uint64_t first_key = 0xfffffffffffff000U;  // keys are exact over all 64 bits
    std::vector<EventId> ids;
    const auto in_scope = [&](EventId id) {
      return make_event_id(scoped_number(sink.scope(), lane_of(id)), ordinal_of(id));
    };
    for (std::uint64_t i = 0; i < 500; ++i) {
      Row row = writer.begin_event(engine, static_cast<std::int64_t>(i) * 10, 5, writer.intern("MATMUL"));
      set_key(row, 0, first_key + i);
      ids.push_back(in_scope(row.id()));
    }
    for (int i = 0; i < 1500; ++i) {
      const std::uint64_t a = random() % 520;  // some keys belong to no event
      const std::uint64_t b = random() % 520;
      Row row = writer.begin_event(arrows, i, 0, writer.intern("semaphore"));
      set_key(row, 0, first_key + a);
      set_key(row, 1, first_key + b);
      if (a < 500 && b < 500) {
        flows.push_back({ids[a], ids[b]});
      } else {
        ++unresolved;
      }
    }
    for (int i = 0; i < 100; ++i) {
      Row row = writer.begin_event(queue, i * 20, 10, writer.intern("dma"));
      const std::uint64_t a = random() % 500;
      set_key(row, 0, first_key + a);
      flows.push_back({ids[a], in_scope(row.id())});
    }
    events.insert(events.end(), ids.begin(), ids.end());
    REQUIRE(writer.finish().ok());
  }
  WorkerPool pool(2);
  TaskControl control;
  const auto built = Dependencies::build({**store, (*store)->snapshot(), pool, control});
  REQUIRE(built.ok());
  const Dependencies& dependencies = **built;
  CHECK(dependencies.total() == flows.size());
  CHECK(dependencies.unresolved() == unresolved);
  for (const EventId event : events) {
    std::vector<EventId> before;
    std::vector<EventId> after;
    for (const PlainFlow& flow : flows) {
      if (flow.target == event) before.push_back(flow.source);
      if (flow.source == event) after.push_back(flow.target);
    }
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    const DependencyList predecessors = dependencies.predecessors(event, 1000);
    const DependencyList successors = dependencies.successors(event, 1000);
    REQUIRE(predecessors.dependencies.size() == before.size());
    REQUIRE(successors.dependencies.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) CHECK(predecessors.dependencies[i].source == before[i]);
    for (std::size_t i = 0; i < after.size(); ++i) CHECK(successors.dependencies[i].target == after[i]);
    const DependencyList bounded = dependencies.successors(event, 2);
    CHECK(bounded.total == after.size());
    CHECK(bounded.dependencies.size() == std::min<std::size_t>(2, after.size()));
  }
}

TEST_CASE("flows that name events by id find them in every source, and those that name none are counted") {
  auto store = Store::create();
  REQUIRE(store.ok());
  std::vector<PlainFlow> flows;
  for (int source = 0; source < 3; ++source) {
    StoreSink sink(**store);
    SessionWriter writer(sink);
    const SchemaNumber kernel = writer.add_schema({.name = "kernel"});
    const SchemaNumber flow =
        writer.add_schema({.name = "flow",
                           .kind = EventKind::flow,
                           .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source_event},
                                       {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target_event}}});
    const TrackNumber host = writer.add_track({.name = "thread 1", .kind = "host_thread", .schema = kernel});
    const TrackNumber stream = writer.add_track({.name = "stream 7", .kind = "stream", .schema = kernel});
    const TrackNumber arrows = writer.add_track({.name = "flows", .kind = "flow", .schema = flow});
    const auto in_scope = [&](EventId id) {
      return make_event_id(scoped_number(sink.scope(), lane_of(id)), ordinal_of(id));
    };
    for (std::int64_t i = 0; i < 200; ++i) {
      const EventId launch = writer.begin_event(host, i * 10, 3, writer.intern("launch")).id();
      const EventId run = writer.begin_event(stream, i * 10 + 5, 8, writer.intern("run")).id();
      Row row = writer.begin_event(arrows, i * 10, 0, writer.intern("ac2g"));
      row.unsigned_integer(0, launch);
      row.unsigned_integer(1, i == 7 ? make_event_id(lane_of(run), 1'000'000) : run);
      if (i != 7) flows.push_back({in_scope(launch), in_scope(run)});
    }
    REQUIRE(writer.finish().ok());
  }
  WorkerPool pool(2);
  TaskControl control;
  const auto built = Dependencies::build({**store, (*store)->snapshot(), pool, control});
  REQUIRE(built.ok());
  CHECK((*built)->unresolved() == 3);
  REQUIRE((*built)->total() == flows.size());
  for (const PlainFlow& flow : flows) {
    const DependencyList after = (*built)->successors(flow.source, 10);
    REQUIRE(after.dependencies.size() == 1);
    CHECK(after.dependencies[0].target == flow.target);
  }
}
