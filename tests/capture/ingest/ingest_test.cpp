#include <doctest/doctest.h>

#include <limits>

#include "capture/ingest/stream_ingest.h"
#include "tests/capture/client/client_support.h"
#include "tests/capture/recording_sink.h"
#include "tests/capture/wire/wire_support.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

class RecordingSinks final : public ingest::SinkProvider {
 public:
  EventSink& sink(std::uint32_t scope) override { return sinks[scope]; }
  [[nodiscard]] const QualityEntry* quality(const std::string& kind) const {
    for (const auto& [scope, sink] : sinks) {
      for (const QualityEntry& entry : sink.qualities) {
        if (entry.kind == kind) return &entry;
      }
    }
    return nullptr;
  }
  std::map<std::uint32_t, RecordingSink> sinks;
};

// Two kinds whose lanes have the same numbers, frame by frame in turns.
std::vector<wire::Frame> two_scopes(std::uint64_t events) {
  std::vector<wire::Frame> frames;
  const std::vector<wire::Frame> stream = frames_of({.events = events, .lanes = 2});
  for (const wire::Frame& frame : stream) {
    for (std::uint32_t scope = 0; scope < 2; ++scope) {
      frames.push_back(wire::make_frame(frame.header.type, frame.body, frames.size() + 1, scope));
    }
  }
  return frames;
}

}  // namespace

TEST_CASE("kinds that number their lanes alike are kept apart, to the last event") {
  const std::vector<wire::Frame> frames = two_scopes(70'000);
  RecordingSinks sinks;
  ingest::StreamIngest ingest(sinks);
  for (const wire::Frame& frame : frames) REQUIRE(ingest.take(frame).ok());
  CHECK(ingest.finish(end_of(frames)).value() == "");
  REQUIRE(sinks.sinks.size() == 2);
  CHECK(sinks.sinks[0].event_count == 70'000);
  CHECK(sinks.sinks[1].event_count == 70'000);
  CHECK(ingest.lost_events() == 0);
  CHECK(sinks.quality("lost_events") == nullptr);
}

TEST_CASE("what a capture lost in an announced gap is counted to the event, with the reason") {
  const std::vector<wire::Frame> frames = two_scopes(200'000);
  const std::size_t first = frames.size() / 2;  // index of the first frame that is gone
  std::uint64_t gone = 0;
  for (std::size_t i = first; i < first + 3; ++i) gone += ChunkView::parse(frames[i].body).value().count();
  RecordingSinks sinks;
  ingest::StreamIngest ingest(sinks);
  for (std::size_t i = 0; i < first; ++i) REQUIRE(ingest.take(frames[i]).ok());
  REQUIRE(ingest.take(wire::Gap{first + 1, first + 3, gone, "the buffer was full"}).ok());
  for (std::size_t i = first + 3; i < frames.size(); ++i) REQUIRE(ingest.take(frames[i]).ok());
  CHECK(ingest.lost_frames() == 3);
  CHECK(contains(ingest.finish(end_of(frames)).value(), "no longer had"));
  CHECK(ingest.lost_events() == gone);
  CHECK(ingest.events() == 400'000 - gone);
  const QualityEntry* frames_lost = sinks.quality("lost_frames");
  REQUIRE(frames_lost != nullptr);
  CHECK(frames_lost->count == 3);
  CHECK(contains(frames_lost->detail, "the buffer was full"));
  REQUIRE(sinks.quality("lost_events") != nullptr);
  CHECK(sinks.quality("lost_events")->count == gone);
}

TEST_CASE("numbers jump only after a gap was announced, and a gap behind what came is refused") {
  const std::vector<wire::Frame> frames = two_scopes(1'000);
  RecordingSinks sinks;
  ingest::StreamIngest ingest(sinks);
  REQUIRE(ingest.take(frames[0]).ok());
  CHECK_FALSE(ingest.take(wire::Gap{3, 4, 0, ""}).ok());
  CHECK_FALSE(ingest.take(wire::Gap{2, 1, 0, ""}).ok());
  const Result<void> jumped = ingest.take(frames[2]);
  REQUIRE_FALSE(jumped.ok());
  CHECK(contains(jumped.message(), "left out frames 2 to 2"));
}

TEST_CASE("frames that come again after a connection was taken up are dropped and counted") {
  const std::vector<wire::Frame> frames = two_scopes(30'000);
  RecordingSinks sinks;
  ingest::StreamIngest ingest(sinks);
  for (const wire::Frame& frame : frames) REQUIRE(ingest.take(frame).ok());
  REQUIRE(ingest.take(wire::Gap{1, 5, 99, "old news"}).ok());
  for (std::size_t i = 4; i < frames.size(); ++i) REQUIRE(ingest.take(frames[i]).ok());
  CHECK(ingest.doubled_frames() == frames.size() - 4);
  CHECK(ingest.finish(end_of(frames)).value() == "");
  CHECK(ingest.lost_events() == 0);
  CHECK(sinks.sinks[0].event_count + sinks.sinks[1].event_count == 60'000);
}

TEST_CASE("an agent whose end counts other events, chunks, lanes or frames than it sent is not told as complete") {
  const std::vector<wire::Frame> frames = two_scopes(30'000);
  const wire::StreamEnd right = end_of(frames);
  REQUIRE(right.lanes.size() >= 2);
  std::vector<wire::StreamEnd> ends(7, right);
  ends[0].events += 1;
  ends[1].events -= 1;
  ends[2].chunks += 1;
  ends[3].last_sequence = std::uint64_t{1} << 63U;
  ends[4].lanes[0].events = std::numeric_limits<std::uint64_t>::max();
  ends[4].lanes[1].events = std::numeric_limits<std::uint64_t>::max();
  ends[5].lanes[0].events -= 1;
  ends[6].lanes[0].events -= 1;
  ends[6].lanes[1].events += 1;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    CAPTURE(i);
    RecordingSinks sinks;
    ingest::StreamIngest ingest(sinks);
    for (const wire::Frame& frame : frames) REQUIRE(ingest.take(frame).ok());
    CHECK(ingest.finish(ends[i]).value() != "");
    CHECK_FALSE(ingest.totals_agree());
    CHECK((sinks.quality("totals_disagree") != nullptr) == (ingest.lost_events() == 0));
    CHECK((sinks.quality("lost_events") != nullptr) == (ingest.lost_events() > 0));
  }
  RecordingSinks sinks;
  ingest::StreamIngest ingest(sinks);
  for (const wire::Frame& frame : frames) REQUIRE(ingest.take(frame).ok());
  CHECK(ingest.finish(right).value() == "");
  CHECK(ingest.totals_agree());
}
