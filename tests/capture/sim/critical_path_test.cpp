// Stall attribution and the critical path against what the simulator knows of its own run.
#include "core/analysis/critical_path/critical_path.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>

#include "capture/sim/output/simulator.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/critical_path/waits.h"
#include "core/analysis/replay/what_if.h"
#include "core/analysis/time/session_activity.h"
#include "core/scan/column_values.h"
#include "core/store/store.h"
#include "tests/capture/sim/planted_run.h"
#include "tests/support/planted/changes.h"
#include "tests/support/planted/kernel.h"
#include "tests/support/planted/true_waits.h"
#include "tests/support/sanitized.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

// With a sanitizer a kernel takes eight times as long, and what it looks for shows in few.
std::uint64_t most_seeds() { return test::sanitized() ? 25 : 200; }

using Ids = std::map<std::uint64_t, EventId>;  // by the key that the profile gives an operation's execution

struct Simulated {
  sim::SimulationOptions options;
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  WorkerPool pool{2};
  TaskControl control;
  std::shared_ptr<const analysis::WorkGraph> graph;
  Ids ids;
  std::map<EventId, std::uint64_t> keys;

  explicit Simulated(sim::SimulationOptions wanted)
      : Simulated([&](EventSink& sink) { return sim::simulate(wanted, sink); }) {
    options = std::move(wanted);
  }
  explicit Simulated(const std::function<Result<void>(EventSink&)>& simulate) {
    StoreSink sink(*store);
    REQUIRE(simulate(sink).ok());
    QueryContext query{*store, store->snapshot(), pool, control};
    const auto dependencies = analysis::Dependencies::build(query);
    REQUIRE(dependencies.ok());
    auto built = analysis::WorkGraph::build(query, **dependencies);
    REQUIRE(built.ok());
    graph = std::move(*built);
    read_keys(query);
  }

  void read_keys(const QueryContext& query) {
    LaneIndices lanes = lanes_with_role(*query.snapshot, Role::key);
    std::erase_if(lanes,
                  [&](std::uint32_t lane) { return query.snapshot->lanes[lane].data->kind != EventKind::slice; });
    std::mutex mutex;
    REQUIRE(scan_chunks(query, lanes, {}, [&](const ScannedChunk& chunk, std::size_t) {
              const std::size_t column = *chunk.lane.schema->find(Role::key);
              const ColumnType type = chunk.lane.schema->columns[column].type;
              const std::scoped_lock lock(mutex);
              for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
                const auto key = number_at(chunk.view, column, type, row);
                if (!key) continue;
                ids.emplace(static_cast<std::uint64_t>(*key), chunk.event_id(row));
                keys.emplace(chunk.event_id(row), static_cast<std::uint64_t>(*key));
              }
            }).ok());
  }
};

// Kernels of different shapes on accelerators of different speeds.
sim::SimulationOptions varied(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  using What = sim::KernelChange::What;
  sim::SimulationOptions options;
  options.seed = seed;
  options.kernels = 1;
  options.shape = {.resident_w1 = one_of(0, 3) == 0,
                   .resident_w2 = one_of(0, 3) == 0,
                   .weight_buffers = one_of(2, 8),
                   .heads = one_of(2, 4)};
  add_changes(options, {{.what = What::bandwidth, .factor = 0.5 + 0.01 * one_of(0, 150)},
                        {.what = What::latency, .factor = 0.5 + 0.01 * one_of(0, 150)},
                        {.what = What::opcode, .factor = 0.5 + 0.01 * one_of(0, 250), .name = "ACTIVATE"},
                        {.what = What::opcode, .factor = 0.5 + 0.01 * one_of(0, 250), .name = "TENSOR_COPY"}});
  return options;
}

analysis::WaitReason reason_of(sim::TrueCause cause) {
  switch (cause) {
    case sim::TrueCause::semaphore:
      return analysis::WaitReason::semaphore;
    case sim::TrueCause::dma:
      return analysis::WaitReason::dma;
    case sim::TrueCause::barrier:
      return analysis::WaitReason::barrier;
    case sim::TrueCause::own_result:
      return analysis::WaitReason::dependency;
    case sim::TrueCause::unknown:
      break;
  }
  return analysis::WaitReason::unknown;
}

}  // namespace

TEST_CASE("every wait of 200 simulated kernels is put down to its true cause, its semaphore and who signalled it") {
  std::uint64_t looked_at = 0, wrong_cause = 0, wrong_source = 0, wrong_semaphore = 0, wrong_time = 0, missing = 0;
  std::uint64_t too_many = 0;
  for (std::uint64_t seed = 1; seed <= most_seeds(); ++seed) {
    Simulated simulated(varied(seed));
    const analysis::WorkGraph& graph = *simulated.graph;
    auto report = analysis::attribute_waits(graph, TimeRange{}, simulated.pool, simulated.control);
    REQUIRE(report.ok());
    std::map<EventId, const analysis::AttributedWait*> found;
    for (const analysis::AttributedWait& wait : report->waits) found[graph.event(wait.node)] = &wait;
    std::uint64_t expected = 0;
    sim::TracedRun run(simulated.options);
    while (run.advance()) {
      const sim::KernelTrace& trace = run.traces().front();
      for (const sim::TrueWait& truth : sim::true_waits(trace)) {
        ++expected;
        ++looked_at;
        const auto event = simulated.ids.find(trace.id(truth.operation));
        REQUIRE(event != simulated.ids.end());
        const auto wait = found.find(event->second);
        if (wait == found.end()) {
          ++missing;
          continue;
        }
        const analysis::AttributedWait& is = *wait->second;
        wrong_time += is.begin_ns != truth.begin || is.end_ns != truth.end ? 1 : 0;
        wrong_cause += is.reason != reason_of(truth.cause) ? 1 : 0;
        std::set<EventId> sources;
        for (const std::uint32_t source : truth.sources) sources.insert(simulated.ids.at(trace.id(source)));
        const bool same =
            is.source == analysis::kNoNode ? sources.empty() : sources.contains(graph.whole_event(is.source));
        wrong_source += same ? 0 : 1;
        const bool one = truth.sources.size() < 2 && truth.cause != sim::TrueCause::own_result;
        const std::uint32_t semaphore = truth.semaphore == 0 ? kNone : static_cast<std::uint32_t>(truth.semaphore);
        wrong_semaphore +=
            one && (is.semaphore != semaphore || (semaphore != kNone && is.value != truth.value)) ? 1 : 0;
        if (!same || is.reason != reason_of(truth.cause)) {
          MESSAGE("seed " << seed << " pass " << trace.pass << " operation " << truth.operation << " waited "
                          << truth.end - truth.begin << " cause " << analysis::wait_reason_name(is.reason)
                          << " instead of " << analysis::wait_reason_name(reason_of(truth.cause)));
        }
      }
    }
    // Collectives wait for the last rank, which is no engine's wait.
    const auto of_engines = std::count_if(
        report->waits.begin(), report->waits.end(),
        [&](const analysis::AttributedWait& wait) { return graph.lane(wait.node).kind == WorkKind::compute; });
    too_many += static_cast<std::uint64_t>(of_engines) -
                std::min<std::uint64_t>(expected, static_cast<std::uint64_t>(of_engines));
  }
  MESSAGE(looked_at << " waits");
  CHECK(missing == 0);
  CHECK(too_many == 0);
  CHECK(wrong_time == 0);
  CHECK(wrong_cause == 0);
  CHECK(wrong_source == 0);
  CHECK(wrong_semaphore == 0);
  CHECK(looked_at > 500 * most_seeds());
}

TEST_CASE("the critical path of 200 simulated kernels adds up to the total and goes through what really held it up") {
  std::uint64_t steps = 0, elsewhere = 0;
  for (std::uint64_t seed = 1; seed <= most_seeds(); ++seed) {
    Simulated simulated(varied(seed));
    const analysis::WorkGraph& graph = *simulated.graph;
    const TimeRange all{simulated.store->snapshot()->begin_ns, graph.end_of_all_ns};
    const analysis::CriticalPath path = analysis::find_critical_path(graph, all);
    std::int64_t at = all.begin_ns;
    for (const analysis::PathSegment& segment : path.segments) {
      REQUIRE(segment.begin_ns == at);
      REQUIRE(segment.end_ns > segment.begin_ns);
      at = segment.end_ns;
    }
    REQUIRE(at == all.end_ns);
    for (const analysis::PathBy by :
         {analysis::PathBy::resource, analysis::PathBy::line, analysis::PathBy::name, analysis::PathBy::kind}) {
      std::int64_t sum = 0;
      for (const analysis::PathShare& share : analysis::path_shares(graph, path, by)) sum += share.length_ns;
      REQUIRE(sum == all.length_ns());
    }

    std::set<EventId> on_path;
    for (const analysis::PathSegment& segment : path.segments) {
      if (segment.node != analysis::kNoNode) on_path.insert(graph.whole_event(segment.node));
    }
    sim::TracedRun run(simulated.options);
    while (run.advance()) {
      const sim::KernelTrace& trace = run.traces().front();
      if (trace.pass == 0) continue;
      for (const std::uint32_t operation : sim::true_path(trace)) {
        if (trace.starts[operation] == trace.ends[operation]) continue;
        ++steps;
        elsewhere += on_path.contains(simulated.ids.at(trace.id(operation))) ? 0 : 1;
      }
    }
  }
  MESSAGE(steps << " operations on the true paths, " << elsewhere << " of them not on the path found");
  // Where two things would have let an operation begin at the same time, either is the path.
  CHECK(elsewhere * 100 < steps);
}

TEST_CASE("an event on the critical path has no slack, and no event has less than none") {
  Simulated simulated(varied(11));
  const analysis::WorkGraph& graph = *simulated.graph;
  const auto slack = analysis::event_slack(graph, simulated.control);
  REQUIRE(slack.ok());
  CHECK(*std::min_element(slack->begin(), slack->end()) >= 0);
  const analysis::CriticalPath path = analysis::find_critical_path(graph, {graph.begin_of_all_ns, graph.end_of_all_ns});
  for (const analysis::PathSegment& segment : path.segments) {
    if (segment.node == analysis::kNoNode || segment.is_gap) continue;
    CHECK((*slack)[segment.node] <= 16);
  }
}

TEST_CASE("a replay predicts what the simulator takes with the change") {
  using What = sim::KernelChange::What;
  struct Pair {
    std::string text;
    sim::KernelChange change;
    bool drops_w1 = false, drops_w2 = false;
  };
  std::map<std::string, std::pair<int, double>> worst;  // by kind of change
  int pairs = 0, off = 0;
  for (std::uint64_t seed = 1; seed <= most_seeds(); ++seed) {
    std::mt19937_64 random(seed * 77);
    const double factor = 0.5 + 0.01 * static_cast<double>(random() % 151);
    const std::string times = " x" + std::to_string(factor);
    const std::vector<Pair> all = {
        {"dma bandwidth" + times, {.what = What::bandwidth, .factor = factor}},
        {"dma latency" + times, {.what = What::latency, .factor = factor}},
        {"opcode MATMUL" + times, {.what = What::opcode, .factor = factor, .name = "MATMUL"}},
        {"opcode ACTIVATE" + times, {.what = What::opcode, .factor = factor, .name = "ACTIVATE"}},
        {"queue qSyncIOParam0" + times, {.what = What::queue, .factor = factor, .name = "qSyncIOParam0"}},
        {"layer mlp/up_proj" + times, {.what = What::layer, .factor = factor, .name = "mlp/up_proj"}},
        {"drop reload of w1", {}, true, false},
        {"drop reload of w2", {}, false, true},
        {"remove wait S[4] on TensorMatrix", {.what = What::wait, .name = "TensorMatrix", .semaphore = 4}},
        {"remove wait S[6] on Tensor", {.what = What::wait, .name = "Tensor", .semaphore = 6}}};
    const Pair& pair = all[random() % all.size()];
    sim::SimulationOptions options = varied(seed);
    if (pair.drops_w1) options.shape.resident_w1 = false;
    if (pair.drops_w2) options.shape.resident_w2 = false;
    Simulated before(options);
    if (pair.drops_w1) options.shape.resident_w1 = true;
    if (pair.drops_w2) options.shape.resident_w2 = true;
    if (!pair.drops_w1 && !pair.drops_w2) add_changes(options, {pair.change});
    sim::TracedRun run(options);
    std::int64_t begin = 0, end = 0;
    while (run.advance()) {
      begin = run.traces().front().pass == 0 ? run.traces().front().end : begin;
      end = run.traces().front().end;
    }
    const auto change = analysis::parse_change(pair.text);
    REQUIRE(change.ok());
    QueryContext query{*before.store, before.store->snapshot(), before.pool, before.control};
    const auto predicted = analysis::replay_with_changes(query, *before.graph, {&*change, 1}, begin);
    REQUIRE_MESSAGE(predicted.ok(), pair.text);
    CHECK(predicted->path.range.length_ns() == predicted->total_after_ns);
    // All is joined: there is one reading.
    CHECK(predicted->least_ns == predicted->total_before_ns - predicted->total_after_ns);
    CHECK(predicted->most_ns == predicted->least_ns);
    const double error = 100 * (static_cast<double>(predicted->total_after_ns) / static_cast<double>(end - begin) - 1);
    auto& [count, most] = worst[pair.text.substr(0, pair.text.find(" x"))];
    ++count;
    most = std::max(most, std::abs(error));
    ++pairs;
    if (std::abs(error) > 3) {
      ++off;
      MESSAGE("seed " << seed << " " << pair.text << " " << predicted->total_before_ns << " to "
                      << predicted->total_after_ns << ", simulated " << end - begin << ": " << error << " %");
    }
  }
  for (const auto& [kind, figures] : worst) {
    MESSAGE(kind << ": " << figures.first << " pairs, at most " << figures.second << " % off");
  }
  CHECK(pairs == most_seeds());
  CHECK(off == 0);
}

TEST_CASE("merging small transfers is predicted as the kernel that was written so takes it") {
  double worst = 0;
  const auto run = [](std::uint64_t seed, bool repaired) {
    return [=](EventSink& sink) {
      return sim::simulate_planted(sim::plant_kernel(sim::Defect::small_dmas, seed, repaired), sink);
    };
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Simulated before(run(seed, false));
    Simulated after(run(seed, true));
    const auto change = analysis::parse_change("merge dmas x8");
    REQUIRE(change.ok());
    QueryContext query{*before.store, before.store->snapshot(), before.pool, before.control};
    const auto predicted =
        analysis::replay_with_changes(query, *before.graph, {&*change, 1}, before.graph->begin_of_all_ns);
    REQUIRE(predicted.ok());
    const std::int64_t simulated = after.graph->end_of_all_ns - after.graph->begin_of_all_ns;
    QueryContext repaired{*after.store, after.store->snapshot(), after.pool, after.control};
    const auto active = analysis::find_active_stretch(repaired);
    REQUIRE((active.ok() && active->has_value()));
    // Of the kernel alone: the start-up before it is the same in all.
    const double error =
        100 * static_cast<double>(predicted->total_after_ns - simulated) / static_cast<double>((*active)->length_ns());
    worst = std::max(worst, std::abs(error));
    CHECK_MESSAGE(std::abs(error) <= 3, "seed " << seed << ": " << predicted->total_before_ns << " to "
                                                << predicted->total_after_ns << ", simulated " << simulated);
  }
  MESSAGE("merge dmas: 20 pairs, at most " << worst << " % off");
}

TEST_CASE(
    "the what-if that a finding names is predicted as the mended kernel takes it, and saves what the finding says") {
  using sim::Defect;
  const test::PlantedSeeds seeds(4);
  int pairs = 0;
  for (const Defect defect :
       {Defect::reload, Defect::small_dmas, Defect::serial_engines, Defect::single_buffer, Defect::narrow_tile,
        Defect::spill, Defect::throttle, Defect::transposes, Defect::late_collective}) {
    double worst = 0;
    for (int i = 0; i < seeds.count; ++i) {
      const std::uint64_t seed = seeds.first + static_cast<std::uint64_t>(i);
      const auto run = [&](bool repaired) {
        return [=](EventSink& sink) { return sim::simulate_planted(sim::plant_kernel(defect, seed, repaired), sink); };
      };
      Simulated before(run(false));
      Simulated after(run(true));
      QueryContext query{*before.store, before.store->snapshot(), before.pool, before.control};
      const auto active = analysis::find_active_stretch(query);
      REQUIRE((active.ok() && active->has_value()));
      const auto dependencies = analysis::Dependencies::build(query);
      REQUIRE(dependencies.ok());
      const auto advice = analysis::find_advice(query, {}, dependencies->get());
      REQUIRE(advice.ok());
      REQUIRE_FALSE((*advice)->findings.empty());
      const analysis::Finding& first = (*advice)->findings.front();
      CAPTURE(first.headline);
      const auto change = analysis::parse_change(first.change);
      REQUIRE_MESSAGE(change.ok(), first.change);
      const auto predicted = analysis::replay_with_changes(query, *before.graph, {&*change, 1}, (*active)->begin_ns);
      REQUIRE(predicted.ok());
      const auto simulated = static_cast<double>(after.graph->end_of_all_ns - (*active)->begin_ns);
      const double error = 100 * (static_cast<double>(predicted->total_after_ns) / simulated - 1);
      worst = std::max(worst, std::abs(error));
      CHECK_MESSAGE(std::abs(error) <= 3, sim::defect_name(defect) << " seed " << seed);
      // Stores after the last work are in the one and not in the other.
      const auto saving = static_cast<double>(predicted->total_before_ns - predicted->total_after_ns);
      CHECK(saving == doctest::Approx(static_cast<double>(first.saving_ns)).epsilon(0.12));
      ++pairs;
    }
    MESSAGE(sim::defect_name(defect) << ": " << seeds.count << " pairs, at most " << worst << " % off");
  }
  CHECK(pairs == 9 * seeds.count);
}

TEST_CASE("a replay without an effect gives every event its own time, and nonsense is refused with what there is") {
  Simulated simulated(varied(5));
  QueryContext query{*simulated.store, simulated.store->snapshot(), simulated.pool, simulated.control};
  const auto same = analysis::parse_change("dma bandwidth x1");
  REQUIRE(same.ok());
  const auto result = analysis::replay_with_changes(query, *simulated.graph, {&*same, 1}, 0);
  REQUIRE(result.ok());
  CHECK(result->begin_ns == simulated.graph->begin_ns);
  CHECK(result->end_ns == simulated.graph->end_ns);
  for (const char* text :
       {"", "dma", "dma bandwidth", "dma bandwidth x0", "dma bandwidth x-1", "opcode x2", "opcode A xx",
        "remove wait 5", "remove wait S[5] of", "merge", "merge dmas", "merge dmas x1", "merge dmas x2.5", "host 2",
        "host you x2", "drop spills now", "double buffers of", "ask early for"}) {
    CHECK_MESSAGE(!analysis::parse_change(text).ok(), text);
  }
  for (const char* text :
       {"opcode NONE x2", "queue none x2", "layer none x2", "line none:3 x2", "drop reload of none",
        "merge dmas of none x8", "remove wait S[99]", "double queue none", "host x2", "launch latency x2",
        "widen tiles", "double buffers of none", "double buffers of w1 after NONE", "ask early for none"}) {
    const auto change = analysis::parse_change(text);
    REQUIRE_MESSAGE(change.ok(), text);
    CHECK_MESSAGE(!analysis::replay_with_changes(query, *simulated.graph, {&*change, 1}, 0).ok(), text);
  }
}
