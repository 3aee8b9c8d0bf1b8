#include "core/analysis/iterations/iterations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "core/chunk/session_writer.h"
#include "core/search/filter_mask.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// A stream whose steps launch the same kernels, under annotated steps on a thread.
struct SteppedSession {
  static constexpr int kSteps = 20;
  std::unique_ptr<Store> store = Store::create().value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{3};
  TaskControl control;
  std::vector<TimeRange> steps;
  TrackNumber stream = 0;

  explicit SteppedSession(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const SchemaNumber kernel = writer.add_schema({.name = "kernel"}), call = writer.add_schema({.name = "nvtx"});
    stream = writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
    const TrackNumber host = writer.add_track({.name = "main", .kind = "host_thread", .schema = call});
    std::int64_t at = 1'000;
    for (int step = 0; step < kSteps; ++step) {
      TimeRange range{at, at};
      const std::int64_t slow = step == 0 ? 3 : step == 12 ? 2 : 1;
      for (int k = 0; k < 6; ++k) {
        const std::int64_t length = slow * (100 * (k + 1) + static_cast<std::int64_t>(random() % 10));
        writer.begin_event(stream, at, length, writer.intern("kernel " + std::string(1, static_cast<char>('a' + k))));
        at += length;
        range.end_ns = at;
        at += 5;
      }
      steps.push_back(range);
      writer.begin_event(host, range.begin_ns - 10, range.length_ns() + 20,
                         writer.intern("Step#" + std::to_string(step + 40)));
      at += 100;
    }
    REQUIRE(writer.finish().ok());
  }
  QueryContext query() { return {*store, store->snapshot(), pool, control}; }
};

}  // namespace

TEST_CASE("iterations: steps of a stream have their exact bounds, spread, outliers and warm-up") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SteppedSession session(seed);
    const auto list = find_iterations(session.query(), {});
    REQUIRE(list.ok());
    REQUIRE((*list)->loops.size() == 2);
    const IterationLoop& loop = (*list)->loops[0];
    CHECK(loop.track == session.stream);
    const FoldedLoop& folded = loop.folded;
    REQUIRE(folded.iterations.size() == session.steps.size());
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < session.steps.size(); ++i) {
      CHECK(folded.iterations[i].begin_ns == session.steps[i].begin_ns);
      CHECK(folded.iterations[i].end_ns == session.steps[i].end_ns);
      CHECK(folded.iterations[i].outlier == (i == 0 || i == 12));
      lengths.push_back(session.steps[i].length_ns());
    }
    CHECK(folded.warm_up == 1);
    CHECK(folded.duration_ns.outliers == 2);
    std::vector<std::int64_t> steady(lengths.begin() + 1, lengths.end());
    std::sort(steady.begin(), steady.end());
    CHECK(folded.steady_ns == static_cast<double>(steady[9]));
    REQUIRE(folded.body.size() == 6);
    for (std::size_t k = 0; k < 6; ++k) {
      CHECK(folded.body[k].duration_ns.count == SteppedSession::kSteps);
      CHECK(folded.body[k].duration_ns.median >= 100.0 * static_cast<double>(k + 1));
      CHECK(folded.body[k].duration_ns.median < 100.0 * static_cast<double>(k + 1) + 10);
      CHECK(folded.body[k].first_ns == static_cast<std::int64_t>(folded.body[k].duration_ns.max));
    }
    const FoldedLoop& named = (*list)->loops[1].folded;  // Step#40, Step#41 ...
    CHECK(named.iterations.size() == session.steps.size());
    CHECK(named.body.front().numbered == "Step#*");
  }
}

TEST_CASE("iterations: by name the steps are the events, and each stream's work within is folded") {
  SteppedSession session(1);
  for (const char* name : {"Step", "Step#"}) {
    const auto list = find_iterations(session.query(), {}, {name});
    REQUIRE(list.ok());
    REQUIRE((*list)->loops.size() == 2);
    CHECK((*list)->loops[0].folded.body.size() == 6);
    for (const IterationLoop& loop : (*list)->loops) {
      REQUIRE(loop.folded.iterations.size() == session.steps.size());
      for (std::size_t i = 0; i < session.steps.size(); ++i)
        CHECK(loop.folded.iterations[i].begin_ns == session.steps[i].begin_ns - 10);
    }
  }
  CHECK((*find_iterations(session.query(), {}, {"Ste"}))->loops.empty());
  CHECK((*find_iterations(session.query(), {}, {"marker"}))->loops.empty());
  REQUIRE(session.store->put_marker({.ts_ns = session.steps[3].begin_ns, .name = "here"}).ok());
  REQUIRE(session.store->put_marker({.ts_ns = session.steps[5].begin_ns, .name = "there"}).ok());
  const auto marked = find_iterations(session.query(), {}, {"marker"});
  REQUIRE((*marked)->loops.size() == 1);
  CHECK((*marked)->loops[0].folded.iterations[0].end_ns == session.steps[5].begin_ns);
}

TEST_CASE("iterations: a range and a filter leave what lies within, and a cancelled search ends") {
  SteppedSession session(2);
  const auto part = find_iterations(session.query(), {session.steps[4].begin_ns, session.steps[10].end_ns});
  REQUIRE((*part)->loops.size() >= 1);
  CHECK((*part)->loops[0].folded.iterations.size() == 7);
  QueryContext query = session.query();
  const auto mask = search::filter_mask(query, {.terms = {{"name~/kernel [ace]/", false}}}, nullptr);
  REQUIRE(mask.ok());
  query.mask = *mask;
  const auto filtered = find_iterations(query, {});
  REQUIRE((*filtered)->loops.size() == 1);
  CHECK((*filtered)->loops[0].folded.body.size() == 3);
  CHECK((*filtered)->loops[0].folded.iterations.size() == SteppedSession::kSteps);
  session.control.cancel();
  CHECK_FALSE(find_iterations(session.query(), {}).ok());
}

TEST_CASE("iterations: an engine whose instructions overlap has its iterations over all its lanes") {
  std::mt19937_64 random(4);
  auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "instruction"});
  const TrackNumber engine = writer.add_track({.name = "PE", .kind = "engine", .device = "nc0", .schema = schema});
  constexpr int kTiles = 40;
  std::int64_t at = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int k = 0; k < 8; ++k) {
      const std::int64_t length = random() % 2 == 0 ? 150 : 90;  // into the next, or not
      writer.begin_event(engine, at, length, writer.intern(std::string("OP_") + static_cast<char>('A' + k)));
      at += 100;
    }
  }
  REQUIRE(writer.finish().ok());
  REQUIRE(store->snapshot()->find_track(engine)->lanes.size() == 2);
  WorkerPool pool{2};
  TaskControl control;
  const auto list = find_iterations({*store, store->snapshot(), pool, control}, {});
  REQUIRE(list.ok());
  REQUIRE((*list)->loops.size() == 1);
  const FoldedLoop& folded = (*list)->loops[0].folded;
  REQUIRE(folded.iterations.size() == kTiles);
  CHECK(folded.iterations[7].begin_ns == 7 * 800);
  CHECK(folded.body.size() == 8);
}

TEST_CASE("regions: annotations, names, collectives and markers have their counts, sums and quantiles") {
  SteppedSession session(3);
  std::int64_t total = 0;
  for (const TimeRange& step : session.steps) total += step.length_ns() + 20;
  for (const char* by : {"annotation", "Step"}) {
    const auto list = find_regions(session.query(), {}, by);
    REQUIRE(list.ok());
    REQUIRE((*list)->regions.size() == 1);
    const NamedRegion& region = (*list)->regions[0];
    CHECK(region.name == "Step#*");
    CHECK(region.numbered);
    CHECK(region.duration_ns.count == SteppedSession::kSteps);
    CHECK(region.total_ns == total);
    CHECK(region.longest.begin_ns == session.steps[0].begin_ns - 10);
  }
  CHECK((*find_regions(session.query(), {}, "kernel a"))->regions.size() == 1);
  CHECK((*find_regions(session.query(), {}, "collective"))->regions.empty());
  CHECK((*find_regions(session.query(), {}, "layer"))->regions.empty());
  REQUIRE(session.store->put_marker({.ts_ns = 10, .end_ns = 30, .name = "a"}).ok());
  REQUIRE(session.store->put_marker({.ts_ns = 40, .end_ns = 90, .name = "a"}).ok());
  const auto marked = find_regions(session.query(), {}, "marker");
  REQUIRE((*marked)->regions.size() == 1);
  CHECK((*marked)->regions[0].total_ns == 70);
  CHECK((*marked)->regions[0].duration_ns.median == 35);
}

TEST_CASE("regions: layers down to a level and functions are stretches of their lane, with how many are how long") {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "instruction",
                         .columns = {{.name = "layer", .type = ColumnType::string, .role = Role::layer},
                                     {.name = "stack_frames", .type = ColumnType::string, .role = Role::stack}}});
  const TrackNumber engine = writer.add_track({.name = "Vector", .kind = "engine", .device = "nc0", .schema = schema});
  const auto add = [&](std::int64_t at, const char* layer, const char* stack) {
    Row row = writer.begin_event(engine, at, 100, writer.intern("ADD"));
    row.string(0, writer.intern(layer));
    if (stack != nullptr) row.string(1, writer.intern(stack));
  };
  for (int step = 0; step < 4; ++step) {
    const std::int64_t at = step * 1'000;
    add(at, "decoder/0/norm", "norm (k.py:5)\nmlp (k.py:50)");
    add(at + 100, "decoder/0/mlp", "up (k.py:9)\nmlp (k.py:51)");
    add(at + 200, "decoder/1/mlp", "up (k.py:10)\nmlp (k.py:51)");
    if (step == 3) add(at + 300, "decoder/1/mlp", "up (k.py:10)\nmlp (k.py:51)");
    add(at + 500, "head", nullptr);
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool{2};
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto find = [&](const char* by, std::size_t depth, std::string_view name) {
    const auto list = find_regions(query, {}, by, depth);
    REQUIRE(list.ok());
    for (const NamedRegion& each : (*list)->regions) {
      if (each.name == name) return each;
    }
    return NamedRegion{};
  };
  CHECK(find("layer", 0, "decoder/0/norm").duration_ns.count == 4);
  CHECK(find("layer", 2, "decoder/0").duration_ns.median == 200);
  const NamedRegion outer = find("layer", 1, "decoder");
  CHECK(outer.duration_ns.count == 4);
  CHECK(outer.duration_ns.max == 400);
  CHECK(outer.bins.front() == 3);
  CHECK(outer.bins.back() == 1);
  CHECK(outer.is_level);
  const NamedRegion up = find("function", 0, "k.py:up");
  CHECK(up.duration_ns.count == 4);
  CHECK(up.duration_ns.min == 200);
  CHECK(up.lines == std::vector<std::string>{"up (k.py:10)", "up (k.py:9)"});
}
