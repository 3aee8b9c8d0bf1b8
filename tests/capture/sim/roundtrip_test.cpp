#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <random>

#include "capture/sim/output/simulator.h"
#include "capture/sources/base/source.h"
#include "core/store/snapshot.h"
#include "core/store/store.h"
#include "tests/capture/recording_sink.h"
#include "tests/support/neuron/simulated_profile.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

struct Totals {
  std::uint64_t events = 0;
  std::int64_t starts = 0;
  std::int64_t durations = 0;
  bool operator==(const Totals&) const = default;
};

std::map<std::string, Totals> totals_by_schema(const RecordingSink& sink) {
  std::map<std::string, Totals> totals;
  for (const RecordedEvent& event : sink.events()) {
    Totals& each = totals[sink.schema_of(event).name];
    each.events += 1;
    each.starts += event.start;
    each.durations += event.end - event.start;
  }
  return totals;
}

std::map<std::string, std::uint64_t> instructions_by_stack(const RecordingSink& sink) {
  std::map<std::string, std::uint64_t> counts;
  for (const RecordedEvent& event : sink.events()) {
    const Schema& schema = sink.schema_of(event);
    if (schema.name != "instruction") continue;
    const std::size_t column = schema.find("stack_frames").value();
    const ChunkView chunk = sink.view(event);
    ++counts[chunk.has_value(column, event.row) ? sink.strings.at(chunk.uint64(column, event.row)) : ""];
  }
  return counts;
}

}  // namespace

TEST_CASE("a simulated Neuron JSON file imports into the events that the simulation makes") {
  const sim::SimulationOptions options{.seed = 21, .kernels = 2};
  RecordingSink simulated;
  REQUIRE(sim::simulate(options, simulated).ok());

  const std::string path =
      (std::filesystem::temp_directory_path() / (std::to_string(std::random_device{}()) + "accelscope_sim_import.json"))
          .string();
  REQUIRE(write_simulated_profile(options, path).ok());
  const sources::RecognisedFile file = sources::recognise(path);
  REQUIRE(file.name() == "neuron-json");
  RecordingSink imported;
  const Result<void> done = file.format()->run(path, {}, imported);
  std::remove(path.c_str());
  REQUIRE(done.ok());

  const std::map<std::string, Totals> expected = totals_by_schema(simulated);
  const std::map<std::string, Totals> found = totals_by_schema(imported);
  for (const char* schema : {"instruction", "dma", "dma_transfer", "semaphore_update", "cc_op", "cc_instruction",
                             "pending_dma", "dma_throughput", "sbuf_usage", "psum_usage", "throttle", "active_time",
                             "layer_summary", "error", "nc_mem_usage", "dma_queues_info"}) {
    CAPTURE(schema);
    REQUIRE(found.count(schema) == 1);
    CHECK(found.at(schema).events == expected.at(schema).events);
    CHECK(found.at(schema).starts == expected.at(schema).starts);
    CHECK(found.at(schema).durations == expected.at(schema).durations);
  }
  for (const QualityEntry& entry : imported.qualities) {
    CAPTURE(entry.kind);
    CAPTURE(entry.detail);
    CHECK(entry.severity != Severity::error);
  }
  // The file says frames as ids of ids: resolved, they are the stacks of the simulation.
  const std::map<std::string, std::uint64_t> stacks = instructions_by_stack(simulated);
  CHECK(stacks.size() > 5);
  CHECK(instructions_by_stack(imported) == stacks);
  CHECK(found.count("stack_frame") == 1);
  CHECK(imported.meta.count("summary_group_order.tensor_engine") == 1);
  CHECK(imported.meta["source.row.terminology"].find("mfu") != std::string::npos);
}

TEST_CASE("a store takes all that the simulation makes, in either detail") {
  for (const sim::Detail detail : {sim::Detail::full, sim::Detail::slim}) {
    const sim::SimulationOptions options{.seed = 9, .kernels = 3, .devices = 2, .detail = detail};
    RecordingSink counted;
    REQUIRE(sim::simulate(options, counted).ok());
    Result<std::unique_ptr<Store>> store = Store::create();
    REQUIRE(store.ok());
    StoreSink sink(**store);
    const Result<void> done = sim::simulate(options, sink);
    CAPTURE(done.ok() ? "" : done.message());
    REQUIRE(done.ok());
    CHECK((*store)->snapshot()->event_count == counted.event_count);
  }
}

TEST_CASE("a rate keeps the simulation to the clock on the wall") {
  for (const sim::Detail detail : {sim::Detail::full, sim::Detail::slim}) {
    RecordingSink sink;
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(sim::simulate({.events = 20'000, .detail = detail, .rate_events_per_second = 100'000}, sink).ok());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    CHECK(sink.event_count >= 20'000);
    CHECK(taken.count() > 0.15);
    // Flushed while it goes on, so that a viewer sees it grow.
    std::map<LaneNumber, int> chunks;
    int most = 0;
    for (const SealedChunk& chunk : sink.chunks) most = std::max(most, ++chunks[chunk.lane()]);
    CHECK(most > 1);
  }
}

TEST_CASE("a simulation ends by its seconds, whatever is left to do") {
  for (const sim::Detail detail : {sim::Detail::full, sim::Detail::slim}) {
    RecordingSink sink;
    // Without a limit it goes on until it is cancelled.
    REQUIRE(sim::simulate({.seconds = 0.1, .detail = detail, .rate_events_per_second = 1000}, sink).ok());
    CHECK(sink.event_count > 0);
  }
}
