#include "core/listing/analysis_listings.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/chunk/session_writer.h"
#include "core/search/filter_mask.h"
#include "tests/app/program_run.h"
#include "tests/support/simulated_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

struct SimulatedLayers {
  std::shared_ptr<Store> store = test::simulated_session();
  WorkerPool pool{1};
  TaskControl control;
  [[nodiscard]] QueryContext query() { return {*store, store->snapshot(), pool, control}; }
};

}  // namespace

TEST_CASE("layers: view --table prints the tree, by kind and depth, within a filter") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  const SimulatedLayers session;
  REQUIRE(session.store->save(path).ok());
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const auto all = run({"view", path, "--table", "layers", "--output-format", "csv"});
  REQUIRE(all.code == terminal::kExitDone);
  CHECK(
      all.out.starts_with("path,depth,events,busy_ns,self_ns,wait_ns,share,flops,bytes,flops_per_s,mfu,launched_ns,"));
  CHECK(holds(all.out, "\nlayers.0/mlp,2,"));
  const auto shallow = run({"view", path, "--table", "layers", "--by", "layer,1", "--output-format", "csv"});
  CHECK(lines(shallow.out) < lines(all.out));
  CHECK_FALSE(holds(shallow.out, "layers.0/mlp"));
  CHECK(holds(run({"view", path, "--table", "layers", "--by", "operator", "--output-format", "csv"}).out, "dot("));
  CHECK(holds(run({"view", path, "--table", "layers", "--by", "host"}).err, "No calls of a host recorded"));
  const auto wrong = run({"view", path, "--table", "layers", "--by", "colour"});
  CHECK(wrong.code != terminal::kExitDone);
  CHECK(holds(wrong.err, "colour"));
  const auto some = run({"view", path, "--table", "layers", "--range", "0%:40%", "--output-format", "csv"});
  CHECK(some.code == terminal::kExitDone);
  CHECK(some.out != all.out);
}

TEST_CASE("layers: what a row selects is what it counts") {
  SimulatedLayers session;
  const QueryContext query = session.query();
  for (const char* kind : {"layer", "operator", "compiler", "function", "line", "name"}) {
    CAPTURE(kind);
    const auto tree = analysis::session_hierarchy(query, {.kind = kind});
    REQUIRE(tree.ok());
    REQUIRE((*tree)->nodes.size() > 4);
    const std::vector<listing::NameUse> names = listing::name_uses(**tree);
    for (std::size_t at = 1; at < std::min<std::size_t>((*tree)->nodes.size(), 12); ++at) {
      CAPTURE((*tree)->path(at));
      const listing::NodeTarget target = listing::target_of_node(*query.snapshot, **tree, names, at);
      const auto* filter = std::get_if<EventFilter>(&target.events);
      if (filter == nullptr) {
        CHECK(std::get<EventId>(target.events) == (*tree)->nodes[at].totals.longest);
        CHECK(((*tree)->nodes[at].totals.events == 1 || !target.besides.empty()));
        continue;
      }
      QueryContext filtered = query;
      const auto mask = search::event_mask(query, *filter);
      REQUIRE_MESSAGE(mask.ok(), mask.message());
      filtered.mask = *mask;
      const auto part = analysis::session_hierarchy(filtered, {.kind = kind});
      REQUIRE(part.ok());
      // What borrows its layer is not among what names it, and the row says so.
      std::uint64_t borrowed = 0, found = (*part)->nodes[0].totals.events;
      for (std::size_t unit = 0; unit < (*tree)->units.size(); ++unit) {
        if (((*tree)->borrowing >> unit & 1U) == 0) continue;
        borrowed += (*tree)->unit_events[at * (*tree)->units.size() + unit];
        found -= (*part)->unit_events[unit];
      }
      CAPTURE(target.besides);
      CHECK((borrowed == 0) == target.besides.empty());
      CHECK(found == (*tree)->nodes[at].totals.events - borrowed);
      if (target.besides.empty()) CHECK((*part)->nodes[0].cover.busy_ns == (*tree)->nodes[at].cover.busy_ns);
    }
  }
}

TEST_CASE("layers: several nodes of one level select what they count together") {
  SimulatedLayers session;
  const QueryContext query = session.query();
  for (const char* kind : {"layer", "operator", "compiler"}) {
    CAPTURE(kind);
    const auto tree = analysis::session_hierarchy(query, {.kind = kind});
    REQUIRE(tree.ok());
    // The first two of the deepest level that is no line.
    std::vector<std::uint32_t> nodes;
    std::uint64_t events = 0;
    for (auto at = static_cast<std::uint32_t>((*tree)->nodes.size() - 1); at > 0 && nodes.size() < 2; --at) {
      const analysis::HierarchyNode& node = (*tree)->nodes[at];
      const bool is_level = !node.detail && !node.missing && (*tree)->borrowing == 0;
      const bool is_named = (*tree)->text(at) != (*tree)->kind->missing;
      const bool beside = nodes.empty() || (*tree)->nodes[nodes[0]].depth == node.depth;
      const bool other = nodes.empty() || (*tree)->text(nodes[0]) != (*tree)->text(at);
      if (!is_level || !is_named || !beside || !other || node.depth > 4) continue;
      nodes.push_back(at);
      events += node.totals.events;
    }
    if ((*tree)->borrowing != 0) continue;  // a search finds what names it itself
    REQUIRE(nodes.size() == 2);
    const auto filter = listing::filter_of_nodes(*query.snapshot, **tree, nodes);
    REQUIRE(filter);
    QueryContext filtered = query;
    const auto mask = search::event_mask(query, *filter);
    REQUIRE_MESSAGE(mask.ok(), mask.message());
    filtered.mask = *mask;
    const auto part = analysis::session_hierarchy(filtered, {.kind = kind});
    REQUIRE(part.ok());
    CHECK((*part)->nodes[0].totals.events >= events);  // nodes of these names may lie elsewhere, too
    CHECK((*part)->nodes[0].totals.events < (*tree)->nodes[0].totals.events);
    const std::uint32_t root = 0;
    CHECK_FALSE(listing::filter_of_nodes(*query.snapshot, **tree, std::span(&root, 1)));
  }
}

TEST_CASE("layers: a row of calls selects those of its stack, or says that it selects others, too") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber call = writer.add_schema({.name = "call"});
  std::vector<TrackNumber> threads;
  for (const char* name : {"1", "2"}) {
    threads.push_back(writer.add_track({.name = name, .kind = "host_thread", .host = "python3 (7)", .schema = call}));
  }
  const auto add = [&](std::size_t thread, std::int64_t begin, std::int64_t end, const char* name) {
    writer.begin_event(threads[thread], begin, end - begin, writer.intern(name));
  };
  // step: gemm twice, then later gemm again below another call; copy on both threads at the same time.
  add(0, 0, 1'000, "step");
  add(0, 100, 200, "gemm");
  add(0, 200, 300, "gemm");
  add(0, 300, 310, "once");
  add(0, 400, 500, "copy");
  add(0, 520, 600, "copy");
  add(0, 2'000, 3'000, "check");
  add(0, 2'100, 2'200, "gemm");
  add(0, 2'200, 2'300, "gemm");
  add(0, 2'300, 2'300, "gemm");
  add(1, 0, 900, "load");
  add(1, 450, 550, "copy");
  add(1, 550, 700, "copy");
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto tree = analysis::session_hierarchy(query, {.kind = "host"});
  REQUIRE(tree.ok());
  const std::vector<listing::NameUse> names = listing::name_uses(**tree);
  std::size_t exact = 0, shared = 0, single = 0;
  for (std::size_t at = 1; at < (*tree)->nodes.size(); ++at) {
    const analysis::HierarchyNode& node = (*tree)->nodes[at];
    CAPTURE((*tree)->path(at));
    std::uint64_t own = node.totals.events;
    for (std::uint32_t i = 0; i < node.child_count; ++i) own -= (*tree)->nodes[node.first_child + i].totals.events;
    const listing::NodeTarget target = listing::target_of_node(*query.snapshot, **tree, names, at);
    const auto* filter = std::get_if<EventFilter>(&target.events);
    if (filter == nullptr) {
      CHECK(own == 1);
      ++single;
      continue;
    }
    const auto passing = search::filter_mask(query, *filter, nullptr);
    REQUIRE(passing.ok());
    const std::uint64_t selected = count_passing(*query.snapshot, passing->get());
    if (target.besides.empty()) {
      CHECK(selected == own);
      ++exact;
    } else {
      CHECK((*tree)->text(at) == "copy");
      CHECK(selected > own);
      ++shared;
    }
  }
  CHECK(exact == 2);   // gemm below step and below check
  CHECK(shared == 2);  // copy of both threads
  CHECK(single == 4);  // step, once, check, load
}

TEST_CASE("layers: a row of recorded stacks selects those that begin as it does") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber kernel = writer.add_schema(
      {.name = "kernel", .columns = {{.name = "stack", .type = ColumnType::string, .role = Role::stack}}});
  const TrackNumber stream =
      writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
  std::int64_t at = 0;
  for (const char* stack : {"gemm (a.py:3)\nmain", "gemm (a.py:3)\nstep\nmain", "gemm (a.py:3)\nmain_loop", "main"}) {
    writer.begin_event(stream, at, 10, writer.intern("k")).string(0, writer.intern(stack));
    at += 20;
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto tree = analysis::session_hierarchy(query, {.kind = "stack"});
  REQUIRE(tree.ok());
  for (std::size_t node = 1; node < (*tree)->nodes.size(); ++node) {
    CAPTURE((*tree)->path(node));
    const listing::NodeTarget target = listing::target_of_node(*query.snapshot, **tree, {}, node);
    REQUIRE(std::holds_alternative<EventFilter>(target.events));
    const auto passing = search::filter_mask(query, std::get<EventFilter>(target.events), nullptr);
    REQUIRE_MESSAGE(passing.ok(), passing.message());
    CHECK(count_passing(*query.snapshot, passing->get()) == (*tree)->nodes[node].totals.events);
  }
}
