// The links of a chip's network that are asked for most, of simulated timelines and of traces.
#include "core/analysis/tenstorrent/link_demand.h"

#include <doctest/doctest.h>

#include "core/analysis/advice/advice.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;
using namespace accelscope::analysis::tenstorrent;

namespace {

struct NetworkSession {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{2};
  TaskControl control;

  [[nodiscard]] QueryContext query() {
    REQUIRE(writer.finish().ok());
    return {*store, store->snapshot(), pool, control};
  }
};

// Two links of a core, in steps of 100 ns; transfers throughout.
void add_timeline(NetworkSession& session, const std::vector<std::pair<double, double>>& demands) {
  const SchemaNumber schema = session.writer.add_schema(
      {.name = "link_demand", .columns = {{.name = "demand", .type = ColumnType::float64, .unit = "%"}}});
  const TrackNumber row =
      session.writer.add_track({.name = "core 5,1 links", .kind = "layer", .device = "chip 0", .schema = schema});
  const SchemaNumber transfer = session.writer.add_schema(
      {.name = "noc_transfer", .columns = {{.name = "bytes", .unit = "B", .role = Role::bytes}}});
  const TrackNumber queue = session.writer.add_track(
      {.name = "core 5,1 network", .kind = "dma_queue", .device = "chip 0", .schema = transfer});
  std::int64_t at = 0;
  for (const auto& [south, east] : demands) {
    session.writer.begin_event_at(row, 0, at, 100, session.writer.intern("NOC0_SOUTH")).real(0, south);
    session.writer.begin_event_at(row, 1, at, 100, session.writer.intern("NOC0_EAST")).real(0, east);
    session.writer.begin_event(queue, at, 100, session.writer.intern("WRITE")).integer(0, 1024);
    at += 100;
  }
}

}  // namespace

TEST_CASE("links: the most crowded one is named with its demand, and what its steps take longer is the saving") {
  NetworkSession session;
  add_timeline(session, {{50, 20}, {200, 125}, {80, 160}});
  const QueryContext query = session.query();
  const auto demand = link_demand(query, {});
  REQUIRE(demand.ok());
  REQUIRE(demand->links.size() == 2);
  CHECK(demand->links[0].name == "NOC0_SOUTH of core 5,1");
  CHECK(demand->links[0].most_demand == doctest::Approx(2));
  CHECK(demand->links[0].most_range == TimeRange{100, 200});
  CHECK(demand->links[0].crowded_ns == doctest::Approx(50));
  CHECK(demand->links[1].count == 2);
  CHECK(demand->crowded_ns == doctest::Approx(50 + 37.5));
  CHECK(demand_text(*demand) == "NOC0_SOUTH of core 5,1 is asked for 200.0 % of what it carries");
  const auto advice = find_advice(query, {});
  REQUIRE(advice.ok());
  const auto found = std::find_if((*advice)->findings.begin(), (*advice)->findings.end(),
                                  [](const Finding& each) { return each.rule->id == RuleId::crowded_links; });
  REQUIRE(found != (*advice)->findings.end());
  CHECK(found->saving_ns == 87);
  CHECK(found->evidence == "2 of 2 links are asked for more than they carry at some time");
}

TEST_CASE("links: a network that carries all that is asked of it raises no finding") {
  NetworkSession session;
  add_timeline(session, {{50, 20}, {90, 99}});
  const auto advice = find_advice(session.query(), {});
  REQUIRE(advice.ok());
  for (const Finding& each : (*advice)->findings) CHECK(each.rule->id != RuleId::crowded_links);
}

TEST_CASE("links: of a trace the core that most bytes go into is named, for reads the one that asks") {
  NetworkSession session;
  const SchemaNumber schema = session.writer.add_schema({.name = "noc_event",
                                                         .columns = {{.name = "num_bytes", .role = Role::bytes},
                                                                     {.name = "sx"},
                                                                     {.name = "sy"},
                                                                     {.name = "dx"},
                                                                     {.name = "dy"},
                                                                     {.name = "noc", .type = ColumnType::string}}});
  const TrackNumber track =
      session.writer.add_track({.name = "core 1,1 network", .kind = "dma_queue", .device = "chip 0", .schema = schema});
  std::int64_t at = 0;
  const auto transfer = [&](const char* type, const char* network, std::int64_t bytes, std::int64_t sx,
                            std::int64_t dx) {
    Row row = session.writer.begin_event(track, at++, 0, session.writer.intern(type));
    row.integer(0, bytes);
    row.integer(1, sx);
    row.integer(2, 1);
    row.integer(3, dx);
    row.integer(4, 2);
    row.string(5, session.writer.intern(network));
  };
  transfer("READ", "NOC_0", 4096, 1, 7);
  transfer("WRITE_", "NOC_1", 2048, 1, 4);
  transfer("READ", "NOC_0", 4096, 1, 8);
  transfer("READ_BARRIER_START", "NOC_0", 0, 1, 8);
  const auto demand = link_demand(session.query(), {});
  REQUIRE(demand.ok());
  REQUIRE(demand->links.size() == 2);
  CHECK(demand->bytes == 10'240);
  CHECK(demand_text(*demand) == "most goes over NOC_0 into core 1,1: 8 KiB of 10 KiB in 2 transfers");
}
