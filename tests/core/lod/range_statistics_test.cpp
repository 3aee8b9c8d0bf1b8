#include "core/lod/range_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::lod;

namespace {

struct Expected {
  std::uint64_t count = 0;
  double time_ns = 0;
};

double rate_of(const LaneSnapshot& lane) { return lane.clock->is_affine() ? lane.clock->ns_per_tick() : 0; }

// Time that an event shares with the range, in ns.
double shared_ns(const LaneSnapshot& lane, const PlainEvent& event, const TimeRange& range) {
  const TickRange ticks = tick_range(lane, range);
  const std::int64_t begin = std::max(ticks.begin, event.begin_ticks);
  const std::int64_t end = std::min(ticks.end, event.end_ticks);
  if (end <= begin) return 0;
  if (rate_of(lane) > 0) return static_cast<double>(end - begin) * rate_of(lane);
  return static_cast<double>(end - begin) * 2.0;  // the drifting clock, to 40 in a million
}

bool counts(const LaneSnapshot& lane, const PlainEvent& event, const TimeRange& range) {
  return tick_range(lane, range).holds(event.begin_ticks, event.end_ticks);
}

std::map<StringId, Expected> plain_statistics(const RandomSession& session, const LaneIndices& lanes,
                                              const TimeRange& range) {
  std::map<StringId, Expected> sums;
  for (const PlainEvent& event : session.events) {
    if (std::find(lanes.begin(), lanes.end(), event.lane) == lanes.end()) continue;
    const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
    if (!counts(lane, event, range)) continue;
    Expected& sum = sums[event.name];
    ++sum.count;
    sum.time_ns += shared_ns(lane, event, range);
  }
  return sums;
}

bool affine_only(const Snapshot& snapshot, const LaneIndices& lanes) {
  for (const std::uint32_t lane : lanes) {
    if (!snapshot.lanes[lane].clock->is_affine()) return false;
  }
  return true;
}

void check_range(RandomSession& session, const LaneIndices& lanes, const TimeRange& range) {
  const auto result = name_statistics(session.context(), lanes, range);
  REQUIRE(result.ok());
  const auto expected = plain_statistics(session, lanes, range);
  REQUIRE(result->names.size() == expected.size());
  const bool exact = affine_only(*session.snapshot, lanes);
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < result->names.size(); ++i) {
    const NameStatistic& name = result->names[i];
    const auto found = expected.find(name.name);
    REQUIRE(found != expected.end());
    CHECK(name.count == found->second.count);
    const double tolerance = exact ? 0.5001 : 1 + found->second.time_ns * 2e-4;
    CHECK(std::abs(static_cast<double>(name.time_ns) - found->second.time_ns) <= tolerance);
    if (i > 0) CHECK(result->names[i - 1].time_ns >= name.time_ns);
    events += name.count;
  }
  CHECK(result->event_count == events);
}

}  // namespace

TEST_CASE("statistics by name of any range count every event once and clip it to the range") {
  RandomSession session(11, 12'000);
  const LaneIndices lanes = all_lanes(*session.snapshot);
  check_range(session, lanes, {});
  check_range(session, lanes, {session.snapshot->begin_ns, session.snapshot->end_ns});
  check_range(session, lanes, {5, 5});
  for (int i = 0; i < 40; ++i) check_range(session, lanes, session.random_range());
}

TEST_CASE("statistics of one lane are exact for clocks of one rate") {
  RandomSession session(12, 30'000);
  for (std::uint32_t lane = 0; lane < session.snapshot->lanes.size(); ++lane) {
    for (int i = 0; i < 12; ++i) check_range(session, {lane}, session.random_range());
  }
}

TEST_CASE("statistics of a long lane of few names decode only its edges") {
  RandomSession session(13, 60'000);
  const TimeRange all{session.snapshot->begin_ns + 1000, session.snapshot->end_ns - 1000};
  REQUIRE(session.snapshot->lanes[0].chunk_count >= 12);
  const auto result = name_statistics(session.context(), {0}, all);
  REQUIRE(result.ok());
  CHECK(result->event_count > 200'000);
  CHECK(result->decoded_chunks <= 2);
}

TEST_CASE("statistics can be cancelled") {
  RandomSession session(14, 2'000);
  session.control.cancel();
  CHECK_FALSE(name_statistics(session.context(), all_lanes(*session.snapshot), {}).ok());
}

TEST_CASE("busy and wait share of a lane agree with its events in any range") {
  RandomSession session(15, 10'000);
  for (int i = 0; i < 60; ++i) {
    const TimeRange range = i == 0 ? TimeRange{} : session.random_range();
    std::vector<Expected> busy(session.snapshot->lanes.size());
    std::vector<Expected> wait(session.snapshot->lanes.size());
    for (const PlainEvent& event : session.events) {
      const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
      if (!counts(lane, event, range)) continue;
      Expected& sum = event.waits ? wait[event.lane] : busy[event.lane];
      ++sum.count;
      sum.time_ns += shared_ns(lane, event, range);
    }
    for (std::uint32_t lane = 0; lane < busy.size(); ++lane) {
      const auto share = lane_share(*session.store, *session.snapshot, lane, range);
      REQUIRE(share.ok());
      CHECK(share->event_count == busy[lane].count + wait[lane].count);
      const bool exact = session.snapshot->lanes[lane].clock->is_affine();
      const auto near = [&](std::int64_t value, double expected) {
        return std::abs(static_cast<double>(value) - expected) <= (exact ? 0.5001 : 2 + expected * 2e-4);
      };
      CHECK(near(share->busy_ns, busy[lane].time_ns));
      CHECK(near(share->wait_ns, wait[lane].time_ns));
    }
  }
}
