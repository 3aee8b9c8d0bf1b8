#include "core/analysis/hierarchy/hierarchy.h"

#include <tuple>

#include "core/analysis/hierarchy/hierarchy_index.h"
#include "core/analysis/hierarchy/path_kinds.h"
#include "core/chunk/session_writer.h"
#include "core/search/filter_mask.h"
#include "tests/core/analysis/hierarchy/expected_tree.h"
#include "tests/core/analysis/hierarchy/random_calls.h"

using namespace accelscope;
using namespace accelscope::analysis;
using namespace accelscope::test;

TEST_CASE(
    "hierarchy: host stacks are what lists of every call give, and launched work counts for each of its callers") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    RandomCalls calls(seed, 3);
    const QueryContext query = calls.query();
    const Hierarchy tree = hierarchy_of(query, {});
    CHECK(tree.kind->name == "host");
    check_tree(tree, calls.expected({}, ""));
    std::int64_t own = 0;  // no launch is charged twice
    for (const HierarchyNode& node : tree.nodes) {
      if (node.child_count == 0) own += node.totals.launched_ns;
    }
    CHECK(own <= tree.nodes[0].totals.launched_ns);
  }
}

TEST_CASE("hierarchy: of a range, launched work counts as far as it lies inside") {
  RandomCalls calls(7, 3);
  const QueryContext query = calls.query();
  for (const TimeRange& range : {TimeRange{2'000, 50'731}, TimeRange{500, 5'000}, TimeRange{3'000, 1'000'000}})
    check_tree(hierarchy_of(query, {.kind = "host"}, range), calls.expected(range, ""));
}

TEST_CASE("hierarchy: calls have their share of the bytes, and marks are no calls") {
  const auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber call = writer.add_schema(
      {.name = "call", .columns = {{.name = "moved", .type = ColumnType::int64, .role = Role::bytes}}});
  const TrackNumber thread =
      writer.add_track({.name = "1", .kind = "host_thread", .host = "python3 (7)", .schema = call});
  writer.begin_event(thread, 0, 400, writer.intern("ProfilerStep#1")).integer(0, 1'000);
  writer.begin_event(thread, 100, 200, writer.intern("copy")).integer(0, 1'000);
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  for (const char* kind : {"host", "name"}) {
    CAPTURE(kind);
    const Hierarchy tree = hierarchy_of(query, {.kind = kind}, {150, 400});
    CHECK(tree.nodes[0].totals.events == 1);
    CHECK(tree.nodes[0].totals.bytes == 750);
    CHECK(tree.nodes[0].cover.busy_ns == 150);
  }
}

TEST_CASE("hierarchy: host stacks follow a filter, with the calls around what passes as its path") {
  for (std::uint32_t seed = 11; seed <= 14; ++seed) {
    RandomCalls calls(seed, 2);
    auto query = calls.query();
    const auto mask = search::event_mask(query, {.range = {}, .tracks = {}, .terms = {{"name=\"step\"", false}}});
    REQUIRE(mask.ok());
    query.mask = *mask;
    check_tree(hierarchy_of(query, {.kind = "host"}), calls.expected({}, "step"));
  }
}
