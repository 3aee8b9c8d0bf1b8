#include "app/content/listings/layers.h"

#include <doctest/doctest.h>

#include <algorithm>

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
  REQUIRE(all.code == kExitDone);
  CHECK(
      all.out.starts_with("path,depth,events,busy_ns,self_ns,wait_ns,share,flops,bytes,flops_per_s,mfu,launched_ns,"));
  CHECK(holds(all.out, "\nlayers.0/mlp,2,"));
  const auto shallow = run({"view", path, "--table", "layers", "--by", "layer,1", "--output-format", "csv"});
  CHECK(lines(shallow.out) < lines(all.out));
  CHECK_FALSE(holds(shallow.out, "layers.0/mlp"));
  CHECK(holds(run({"view", path, "--table", "layers", "--by", "operator", "--output-format", "csv"}).out, "dot("));
  CHECK(holds(run({"view", path, "--table", "layers", "--by", "host"}).err, "No calls of a host recorded"));
  const auto wrong = run({"view", path, "--table", "layers", "--by", "colour"});
  CHECK(wrong.code != kExitDone);
  CHECK(holds(wrong.err, "colour"));
  const auto some = run({"view", path, "--table", "layers", "--range", "0%:40%", "--output-format", "csv"});
  CHECK(some.code == kExitDone);
  CHECK(some.out != all.out);
}

TEST_CASE("layers: what a row selects is what it counts") {
  SimulatedLayers session;
  const QueryContext query = session.query();
  for (const char* kind : {"layer", "operator", "line", "name"}) {
    CAPTURE(kind);
    const auto tree = session_hierarchy(query, {.kind = kind});
    REQUIRE(tree.ok());
    REQUIRE((*tree)->nodes.size() > 4);
    for (std::size_t at = 1; at < std::min<std::size_t>((*tree)->nodes.size(), 12); ++at) {
      CAPTURE((*tree)->path(at));
      const ListingTarget target = target_of_node(*query.snapshot, **tree, at);
      const auto* filter = std::get_if<EventFilter>(&target);
      if (filter == nullptr) {
        CHECK(std::get<EventId>(target) == (*tree)->nodes[at].totals.longest);
        continue;
      }
      QueryContext filtered = query;
      const auto mask = event_mask(query, *filter);
      REQUIRE_MESSAGE(mask.ok(), mask.message());
      filtered.mask = *mask;
      const auto part = session_hierarchy(filtered, {.kind = kind});
      REQUIRE(part.ok());
      CHECK((*part)->nodes[0].totals.events == (*tree)->nodes[at].totals.events);
      CHECK((*part)->nodes[0].cover.busy_ns == (*tree)->nodes[at].cover.busy_ns);
    }
  }
}
