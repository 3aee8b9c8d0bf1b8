#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"

#include <doctest/doctest.h>

#include <bit>
#include <functional>
#include <map>

#include "core/analysis/source/source_lines.h"
#include "core/lod/range_statistics.h"
#include "tests/core/random_session.h"

using namespace accelscope;

namespace {

using Accept = std::function<bool(const PlainEvent&)>;

std::shared_ptr<const EventMask> mask_for(RandomSession& session, const EventFilter& filter,
                                          const EventMask* previous = nullptr) {
  auto mask = search::event_mask(session.context(), filter, previous);
  REQUIRE_MESSAGE(mask.ok(), (mask.ok() ? "" : mask.message()));
  return *mask;
}

// Bit by bit, and the sums of every node of every lane's tree.
void check_mask(const RandomSession& session, const EventMask& mask, const Accept& accept) {
  std::uint64_t expected = 0;
  std::uint64_t wrong = 0;
  for (const PlainEvent& event : session.events) {
    expected += accept(event) ? 1 : 0;
    wrong += mask.passes(*session.snapshot, event.id) != accept(event) ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(mask.total() == expected);
  for (std::uint32_t i = 0; i < session.snapshot->lanes.size(); ++i) {
    const LaneSnapshot& lane = session.snapshot->lanes[i];
    for (std::size_t level = 1; level < kTreeLevels; ++level) {
      for (std::size_t node = 0; node < lane.tree.nodes[level]; ++node) {
        std::uint64_t below = 0;
        for (std::size_t child = 0; child < kTreeFanout; ++child) {
          below += mask.passing(i, level - 1, node * kTreeFanout + child);
        }
        wrong += mask.passing(i, level, node) != below ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("event mask: events of chosen tracks that match every term and no excluded one, to the last bit") {
  RandomSession session(11, 9'000);
  const std::string name = session.events.front().name_text;
  const TrackNumber track = session.snapshot->lanes[session.events.back().lane].track;
  const auto on_track = [&](const PlainEvent& e) { return session.snapshot->lanes[e.lane].track == track; };
  const auto named = [&](const PlainEvent& e) { return e.name_text.find(name) != std::string::npos; };
  const auto large = [](const PlainEvent& e) { return e.bytes >= 1000; };

  check_mask(session, *mask_for(session, {}), [](const PlainEvent&) { return true; });
  check_mask(session, *mask_for(session, {.tracks = {track}}), on_track);
  check_mask(session, *mask_for(session, {.terms = {{"\"" + name + "\""}}}), named);
  check_mask(session, *mask_for(session, {.terms = {{"\"" + name + "\"", true}}}),
             [&](const PlainEvent& e) { return !named(e); });
  check_mask(session, *mask_for(session, {.tracks = {track}, .terms = {{"bytes>=1000"}, {"\"" + name + "\"", true}}}),
             [&](const PlainEvent& e) { return on_track(e) && large(e) && !named(e); });
}

TEST_CASE("event mask: a term that cannot be understood is an error that says so") {
  RandomSession session(12, 200);
  const auto mask = search::event_mask(session.context(), {.terms = {{"nosuchfield=3"}}});
  REQUIRE_FALSE(mask.ok());
  CHECK(mask.message().find("nosuchfield") != std::string::npos);
}

TEST_CASE("event mask: statistics and source lines of a masked query are those of the passing events alone") {
  RandomSession session(13, 9'000);
  const EventFilter filter{.terms = {{"bytes>=500"}}};
  QueryContext query = session.context();
  query.mask = mask_for(session, filter);
  for (int round = 0; round < 8; ++round) {
    const TimeRange range = session.random_range();
    std::map<StringId, std::uint64_t> counts;
    std::map<std::string, std::uint64_t> by_location;
    for (const PlainEvent& event : session.events) {
      const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
      if (event.bytes < 500 || !tick_range(lane, range).holds(event.begin_ticks, event.end_ticks)) continue;
      ++counts[event.name];
      if (!event.location.empty()) ++by_location[event.location];
    }
    const auto statistics = lod::name_statistics(query, all_lanes(*session.snapshot), range);
    REQUIRE(statistics.ok());
    CHECK(statistics->names.size() == counts.size());
    for (const lod::NameStatistic& each : statistics->names) CHECK(each.count == counts[each.name]);
    const auto lines = analysis::source_lines(query, range);
    REQUIRE(lines.ok());
    for (const analysis::SourceLine& line : (*lines)->lines) {
      CHECK(line.event_count == by_location[line.path + ":" + std::to_string(line.line)]);
    }
  }
}

TEST_CASE("event filter: two of them together let through what both do") {
  const EventFilter a{.range = TimeRange{0, 100}, .tracks = {1, 2}, .terms = {{"x"}}};
  const EventFilter b{.range = TimeRange{50, 200}, .tracks = {2, 3}, .terms = {{"x"}, {"y", true}}};
  const EventFilter together = both(a, b);
  CHECK(together.range == TimeRange{50, 100});
  CHECK(together.tracks == std::vector<TrackNumber>{2});
  CHECK(together.terms == std::vector<FilterTerm>{{"x"}, {"y", true}});
  CHECK(both(a, {}) == a);
  CHECK(both({.range = TimeRange{0, 10}}, {.range = TimeRange{20, 30}}).range->empty());
  CHECK_FALSE(both({.tracks = {1}}, {.tracks = {2}}).has_track(1));
}
