#include "core/analysis/figures/derived_counters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/figures/metrics.h"
#include "tests/core/analysis/figures/metrics_session.h"
#include "tests/core/random_session.h"

namespace accelscope::analysis {
namespace {

// How much of an event lies in each cell, times `amount`.
void spread(double amount, std::int64_t begin_ns, std::int64_t end_ns, const TimeRange& range,
            std::vector<double>& cells) {
  const double cell_ns = static_cast<double>(range.length_ns()) / static_cast<double>(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double from = static_cast<double>(range.begin_ns) + cell_ns * static_cast<double>(i);
    const auto begin = static_cast<double>(begin_ns);
    const auto end = static_cast<double>(end_ns);
    if (end_ns == begin_ns) {
      if (begin >= from && begin < from + cell_ns) cells[i] += amount;
      continue;
    }
    const double shared = std::min(from + cell_ns, end) - std::max(from, begin);
    if (shared > 0) cells[i] += amount * shared / (end - begin);
  }
}

// What leaves that are not decoded may shift over an edge, as a share of a cell.
double slack_of(const LaneSnapshot& lane, const TimeRange& range, std::size_t cells) {
  const double cell_ns = static_cast<double>(range.length_ns()) / static_cast<double>(cells);
  double longest = 0;
  for (std::uint32_t leaf = 0; leaf < lane.tree.nodes[0]; ++leaf) {
    const SliceNode& node = lane.data->slices.node(0, leaf);
    const auto length = static_cast<double>(lane.clock->to_ns(node.end) - lane.clock->to_ns(node.begin));
    if (length <= cell_ns / 4) longest = std::max(longest, length / cell_ns);
  }
  return 2 * longest;
}

std::vector<double> busy_plainly(const RandomSession& session, const LaneIndices& lanes, const TimeRange& range,
                                 std::size_t count) {
  std::vector<double> cells(count);
  for (const PlainEvent& event : session.events) {
    if (event.waits || std::find(lanes.begin(), lanes.end(), event.lane) == lanes.end()) continue;
    spread(static_cast<double>(event.end_ns - event.begin_ns), event.begin_ns, event.end_ns, range, cells);
  }
  return cells;
}

TEST_CASE("an engine's utilisation over time is what adding up its events in each stretch gives") {
  RandomSession session(11, 2500);
  const std::vector<DerivedCounter> counters = derived_counters(*session.snapshot);
  REQUIRE_FALSE(counters.empty());
  int exact = 0;
  for (int round = 0; round < 12; ++round) {
    const TimeRange range = session.random_range();
    if (range.empty()) continue;
    const std::size_t cells = round % 3 == 0 ? 7 : 301;
    for (const DerivedCounter& counter : counters) {
      if (counter.tracks.size() != 1) continue;
      const LaneIndices& lanes = counter.tracks.front();
      const auto values = derived_values(session.context(), counter, {}, range, cells);
      REQUIRE(values.ok());
      const std::vector<double> expected = busy_plainly(session, lanes, range, cells);
      const double cell_ns = static_cast<double>(range.length_ns()) / static_cast<double>(cells);
      const LaneSnapshot& lane = session.snapshot->lanes[lanes.front()];
      const double slack = slack_of(lane, range, cells) + (lane.clock->is_affine() ? 1e-4 : 2e-3) + 2 / cell_ns;
      for (std::size_t i = 0; i < cells; ++i) {
        const double share = std::min(1.0, expected[i] / cell_ns);
        CHECK(std::abs(static_cast<double>((*values)[i]) - share) <= slack);
      }
      if (slack < 0.05) ++exact;
    }
  }
  CHECK(exact > 10);  // the slack does not hide everything
}

TEST_CASE("a device's utilisation is the mean of its engines', of streams that of the busiest") {
  for (const char* kind : {"engine", "stream"}) {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema({.name = "work", .wait_names = {"WAIT"}});
    const TrackNumber one = writer.add_track({.name = "one", .kind = kind, .device = "d0", .schema = schema});
    const TrackNumber two = writer.add_track({.name = "two", .kind = kind, .device = "d0", .schema = schema});
    const TrackNumber idle = writer.add_track({.name = "idle", .kind = kind, .device = "d0", .schema = schema});
    (void)idle;
    (void)writer.begin_event(one, 0, 100, writer.intern("A"));
    (void)writer.begin_event(one, 100, 100, writer.intern("WAIT"));
    (void)writer.begin_event(two, 50, 100, writer.intern("B"));
    REQUIRE(writer.finish());
    const std::vector<DerivedCounter> counters = derived_counters(*store->snapshot());
    REQUIRE(counters.size() == 3);  // the idle one has none
    CHECK(counters[0].name == "Utilisation");
    CHECK(counters[1].parent == counters[0].key);
    WorkerPool pool(1);
    TaskControl control;
    const QueryContext query{*store, store->snapshot(), pool, control};
    const auto values = derived_values(query, counters[0], {}, {0, 200}, 4);
    REQUIRE(values.ok());
    const bool mean = kind == std::string("engine");
    CHECK(*values == (mean ? std::vector<float>{0.5F, 1, 0.5F, 0} : std::vector<float>{1, 1, 1, 0}));
  }
}

TEST_CASE("what the source recorded itself is not derived a second time") {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "instruction", .columns = {{.name = "elements"}}});
  const SchemaNumber counter = writer.add_schema(
      {.name = "counter",
       .kind = EventKind::counter,
       .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value, .required = true}}});
  writer.set_meta("metadata.pe_clock_freq", "2.8");
  for (const char* engine : {"Tensor", "TensorMatrix", "Vector"}) {
    const TrackNumber track = writer.add_track({.name = engine, .kind = "engine", .device = "nc0", .schema = schema});
    (void)writer.begin_event(track, 0, 100, writer.intern("MATMUL"));
  }
  const auto names = [&] {
    std::vector<std::string> all;
    for (const DerivedCounter& each : derived_counters(*store->snapshot())) all.push_back(each.name);
    return all;
  };
  writer.flush();
  CHECK(names() == std::vector<std::string>{"MFU", "Utilisation", "Tensor utilisation", "TensorMatrix utilisation",
                                            "Vector utilisation"});
  for (const char* recorded : {"PE utilisation (estimated)", "Vector util", "MFU"}) {
    (void)writer.add_track({.name = recorded, .kind = "counter", .device = "nc0", .schema = counter});
  }
  REQUIRE(writer.finish());
  CHECK(names() == std::vector<std::string>{"Utilisation", "Tensor utilisation"});
}

TEST_CASE("MFU over time is the useful work of the events over the peak, and adds up to the vendor's figure") {
  MetricsSession session(5, 900);
  const QueryContext query = session.context();
  const auto work = leaf_work(query, nullptr);
  REQUIRE(work.ok());
  const auto metrics = session_metrics(query, TimeRange{}, nullptr);
  REQUIRE(metrics.ok());
  std::vector<std::string> seen;
  for (const DerivedCounter& counter : derived_counters(*session.snapshot)) {
    if (counter.kind != DerivedCounter::Kind::mfu) continue;
    seen.push_back(counter.device);
    CHECK(counter.peak == doctest::Approx(2 * 128 * 128 * 2.8e9 * 2));
    const TimeRange range{session.snapshot->begin_ns, session.snapshot->end_ns};
    for (const std::size_t cells : {std::size_t{5}, std::size_t{400}}) {
      const auto values = derived_values(query, counter, {.work = work->get()}, range, cells);
      REQUIRE(values.ok());
      std::vector<double> expected(cells);
      for (const PlainRow& row : session.rows) {
        if (row.table != "instruction" || row.device != counter.device || row.name != "MATMUL") continue;
        if (row.text("instruction_type") == "TRANSPOSE") continue;
        spread(2.0 * static_cast<double>(row.number("elements")), row.begin, row.end, range, expected);
      }
      const double cell_s = static_cast<double>(range.length_ns()) * 1e-9 / static_cast<double>(cells);
      double sum = 0, expected_sum = 0;
      for (std::size_t i = 0; i < cells; ++i) {
        const double share = expected[i] / (counter.peak * cell_s);
        CHECK(static_cast<double>((*values)[i]) == doctest::Approx(share).epsilon(cells > 100 ? 1e-4 : 0.25));
        sum += static_cast<double>((*values)[i]);
        expected_sum += share;
      }
      CHECK(sum == doctest::Approx(expected_sum).epsilon(1e-4));
    }
  }
  CHECK(seen == std::vector<std::string>{"nc0", "nc1"});
}

TEST_CASE("the work of a session that grew is the same as if it had been read at once") {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "instruction", .columns = {{.name = "elements"}}});
  const TrackNumber track = writer.add_track({.name = "Tensor", .kind = "engine", .schema = schema});
  WorkerPool pool(2);
  TaskControl control;
  std::shared_ptr<const LeafWork> grown;
  for (std::int64_t i = 0; i < 1000; ++i) {
    writer.begin_event(track, i * 10, 5, writer.intern("MATMUL")).integer(0, i);
    if (i % 190 != 0) continue;
    writer.flush();
    const auto next = leaf_work({*store, store->snapshot(), pool, control}, grown.get());
    REQUIRE(next.ok());
    grown = *next;
  }
  REQUIRE(writer.finish());
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto next = leaf_work(query, grown.get());
  const auto whole = leaf_work(query, nullptr);
  REQUIRE(next.ok());
  REQUIRE(whole.ok());
  CHECK((*next)->lanes[0].sums == (*whole)->lanes[0].sums);
  CHECK((*whole)->lanes[0].sums.back() == 999.0 * 1000);  // two operations for each element
}

}  // namespace
}  // namespace accelscope::analysis
