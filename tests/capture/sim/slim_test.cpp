#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "capture/sim/kernel/demo_source.h"
#include "capture/sim/output/simulator.h"
#include "tests/capture/recording_sink.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

void simulate_into(RecordingSink& sink, sim::SimulationOptions options) {
  options.detail = sim::Detail::slim;
  const Result<void> done = sim::simulate(options, sink);
  REQUIRE(done.ok());
}

std::vector<Bytes> chunk_bytes(const RecordingSink& sink) {
  std::vector<Bytes> all;
  for (const SealedChunk& chunk : sink.chunks) all.push_back(chunk.bytes);
  return all;
}

}  // namespace

TEST_CASE("the same seed gives the same slim bytes, another seed others") {
  RecordingSink first, second, other;
  simulate_into(first, {.seed = 7, .kernels = 3, .devices = 2});
  simulate_into(second, {.seed = 7, .kernels = 3, .devices = 2});
  simulate_into(other, {.seed = 8, .kernels = 3, .devices = 2});
  CHECK(first.definition_bytes == second.definition_bytes);
  CHECK(chunk_bytes(first) == chunk_bytes(second));
  CHECK(chunk_bytes(first) != chunk_bytes(other));
}

TEST_CASE("a slim run ends with the operation that reaches the number of events asked for") {
  for (const std::uint64_t events : {1U, 1000U, 30'000U}) {
    RecordingSink sink;
    simulate_into(sink, {.events = events});
    CHECK(sink.event_count >= events);
    CHECK(sink.event_count < events + 16);
  }
}

TEST_CASE("slim lanes are gapless, sorted and free of overlap, and names and source lines resolve") {
  RecordingSink sink;
  simulate_into(sink, {.kernels = 4, .devices = 2});
  std::map<LaneNumber, std::int64_t> ends;
  std::map<LaneNumber, std::uint64_t> counts;
  for (const SealedChunk& chunk : sink.chunks) {
    CHECK(chunk.first_ordinal() == counts[chunk.lane()]);
    counts[chunk.lane()] += chunk.count();
  }
  std::size_t located = 0;
  for (const RecordedEvent& event : sink.events()) {
    REQUIRE(event.start >= ends[event.lane]);
    REQUIRE(event.end >= event.start);
    ends[event.lane] = event.end;
    REQUIRE_FALSE(event.name.empty());
    const std::string& place = sink.strings.at(sink.view(event).uint64(sim::kSlimSourceLocation, event.row));
    located += place.starts_with(sim::kDemoFile) ? 1 : 0;
    REQUIRE(sink.view(event).int64(sim::kSlimWait, event.row) >= 0);
  }
  CHECK(located * 100 > sink.event_count * 99);
}

TEST_CASE("a cancelled viewer ends a slim run soon") {
  RecordingSink sink;
  sink.cancel_after = 50'000;
  simulate_into(sink, {.events = 50'000'000});
  CHECK(sink.event_count < 1'000'000);
}
