// A paused capture makes nothing, however fast its source is, and goes on where it was.
#include <doctest/doctest.h>

#include "capture/sim/output/simulator.h"
#include "capture/sources/base/sinks.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

// Pauses for a few looks once something has come, and notes whether more came meanwhile.
struct PauseInTheMiddle {
  explicit PauseInTheMiddle(SteeredSink& sink) {
    sink.pause_when = [this](const RecordingSink& retained) {
      if (retained.event_count == 0 || looks >= 4) return false;
      if (looks == 1) at_pause = retained.event_count;  // what was open is sealed at the first look
      if (looks > 1) grew = grew || retained.event_count != at_pause;
      ++looks;
      return true;
    };
  }
  int looks = 0;
  std::uint64_t at_pause = 0;
  bool grew = false;
};

TEST_CASE("a paused simulation makes nothing and then goes on to its last event") {
  for (const sim::Detail detail : {sim::Detail::full, sim::Detail::slim}) {
    for (const double rate : {std::numeric_limits<double>::infinity(), 2e6}) {
      sim::SimulationOptions options;
      options.events = 300'000;
      options.detail = detail;
      options.rate_events_per_second = rate;
      RecordingSink whole;
      REQUIRE(sim::simulate(options, whole).ok());
      SteeredSink sink;
      const PauseInTheMiddle pause(sink);
      REQUIRE(sim::simulate(options, sink).ok());
      CHECK(pause.looks == 4);
      CHECK_FALSE(pause.grew);
      CHECK(sink.retained.event_count == whole.event_count);
    }
  }
}

TEST_CASE("a paused replay holds its chunks back, as fast as it may be") {
  SteeredSink sink;
  PauseInTheMiddle pause(sink);
  sources::PacedSink paced(sink, std::numeric_limits<double>::infinity());
  const SyntheticStream stream{.events = 70'000, .lanes = 2};
  REQUIRE(write_stream(stream, paced).ok());
  CHECK(pause.looks == 4);
  CHECK_FALSE(pause.grew);
  CHECK(sink.retained.event_count == stream.events);
}

TEST_CASE("a source behind other sinks learns that the capture is paused") {
  SteeredSink sink;
  bool paused = false;
  sink.pause_when = [&paused](const RecordingSink&) { return paused; };
  sources::SharedFacts facts;
  sources::LabelledSink labelled(sink, "rank 1", facts);
  sources::PacedSink paced(labelled, 1);
  sources::AsyncSink async(paced);
  CHECK_FALSE(async.paused());
  paused = true;
  CHECK(async.paused());
  REQUIRE(async.finish().ok());
}

}  // namespace
}  // namespace accelscope::capture
