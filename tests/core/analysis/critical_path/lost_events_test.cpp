// Captures that lost events have holes in their ordinals: what is kept for each event must not be looked up by them.
#include <doctest/doctest.h>

#include "core/analysis/figures/metrics.h"
#include "core/scan/event_reader.h"
#include "tests/core/store/session_changes.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// Of each lane the second chunk never comes, and what comes after it has much larger ordinals.
std::unique_ptr<Store> session_with_holes(std::uint64_t hole) {
  test::RecordingSink recorded;
  REQUIRE(test::write_changeable_session(recorded, 6000).ok());
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  for (const Definition& definition : recorded.definitions) REQUIRE(sink.define(definition).ok());
  std::map<LaneNumber, int> seen;
  for (SealedChunk& chunk : recorded.chunks) {
    const int number = seen[chunk.lane()]++;
    if (number == 1) continue;
    if (number > 1) {
      ChunkHeader header = chunk.header();
      header.first_ordinal += hole;
      header.header_checksum = checksum_of_header(header);
      std::memcpy(chunk.bytes.data(), &header, sizeof header);
    }
    REQUIRE(sink.append(std::move(chunk)).ok());
  }
  return store;
}

}  // namespace

TEST_CASE("the graph of work of a capture with lost events has each event's times and nothing outside of it") {
  for (const std::uint64_t hole : {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{1} << 39}) {
    CAPTURE(hole);
    const std::shared_ptr<const Store> store = session_with_holes(hole);
    WorkerPool pool(1);
    TaskControl control;
    const QueryContext query{*store, store->snapshot(), pool, control};
    const auto graph = session_graph(query);
    REQUIRE_MESSAGE(graph.ok(), graph.message());
    REQUIRE((*graph)->count() > 4000);
    EventReader reader(*store, query.snapshot);
    std::size_t wrong = 0;
    for (NodeIndex node = 0; node < (*graph)->count(); node += 7) {
      const EventId id = (*graph)->event(node);
      const Result<EventRecord> event = reader.read(id);
      wrong += !event.ok() || event->begin_ns != (*graph)->begin_ns[node] || (*graph)->find(id) != node ? 1 : 0;
    }
    CHECK(wrong == 0);
    // One that was lost is none.
    const LaneSnapshot& lane = query.snapshot->lanes[(*graph)->lanes[0].lane];
    const ChunkPlace& first = lane.chunk(0);
    CHECK((*graph)->find(make_event_id(lane.number(), first.first_ordinal + first.count)) == kNoNode);

    for (const char* text : {"layer mlp x0.5", "dma bandwidth x2", "engine Vector x0.5"}) {
      CAPTURE(text);
      const auto change = parse_change(text);
      REQUIRE(change.ok());
      const auto replayed = replay_with_changes(query, **graph, {&*change, 1}, 0);
      REQUIRE_MESSAGE(replayed.ok(), replayed.message());
      CHECK(replayed->touched > 1000);
    }
    const auto loops = find_iterations(query, TimeRange{});
    CHECK(loops.ok());
    CHECK((*loops)->too_long == 0);
  }
}

TEST_CASE("dependencies between events after a hole are kept, and steps lead over it") {
  const std::shared_ptr<const Store> store = session_with_holes(0);
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const LaneSnapshot& lane = query.snapshot->lanes[0];
  REQUIRE(lane.chunk_count > 2);
  const ChunkPlace& last = lane.chunk(lane.chunk_count - 1);
  REQUIRE(last.first_ordinal + last.count > lane.event_count);
  const auto dependencies = Dependencies::build(query);
  REQUIRE(dependencies.ok());
  std::size_t behind = 0;
  for (const Dependency& each : (*dependencies)->all()) {
    behind += lane_of(each.target) == lane.number() && ordinal_of(each.target) >= lane.event_count ? 1 : 0;
  }
  CHECK(behind > 0);

  EventReader reader(*store, query.snapshot);
  const EventId before = make_event_id(lane.number(), lane.chunk(0).first_ordinal + lane.chunk(0).count - 1);
  const EventId after = make_event_id(lane.number(), lane.chunk(1).first_ordinal);
  const auto next = reader.neighbour(before, true, false, control);
  REQUIRE(next.ok());
  CHECK(*next == after);
  const auto previous = reader.neighbour(after, false, false, control);
  REQUIRE(previous.ok());
  CHECK(*previous == before);
  const auto end =
      reader.neighbour(make_event_id(lane.number(), last.first_ordinal + last.count - 1), true, false, control);
  REQUIRE(end.ok());
  CHECK_FALSE(end->has_value());
}
