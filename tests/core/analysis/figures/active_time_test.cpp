#include "core/analysis/figures/range_activity.h"

#include <algorithm>
#include <cmath>

#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "tests/core/random_session.h"

using namespace accelscope;

namespace {

// The same, interval by interval.
std::int64_t naive_active(const RandomSession& session, const EventFilter& filter, const std::string& name) {
  const TimeRange range = filter.range.value_or(TimeRange{});
  std::vector<std::pair<std::int64_t, std::int64_t>> busy;
  for (const PlainEvent& event : session.events) {
    const bool wanted = name.empty() || event.name_text == name;
    if (event.waits || !wanted || !filter.has_track(session.snapshot->lanes[event.lane].track)) continue;
    const std::int64_t begin = std::max(event.begin_ns, range.begin_ns);
    const std::int64_t end = std::min(event.end_ns, range.end_ns);
    if (begin < end) busy.emplace_back(begin, end);
  }
  std::sort(busy.begin(), busy.end());
  std::int64_t sum = 0, reached = INT64_MIN;
  for (const auto& [begin, end] : busy) {
    if (end > reached) sum += end - std::max(begin, reached);
    reached = std::max(reached, end);
  }
  return sum;
}

}  // namespace

TEST_CASE("the active time of a selection counts each moment once, whichever lanes and events are selected") {
  RandomSession session(17, 8'000);
  std::mt19937_64 random(5);
  for (int i = 0; i < 16; ++i) {
    EventFilter filter;
    if (i != 0) filter.range = session.random_range();
    for (const TrackSnapshot& track : session.snapshot->tracks) {
      if (i % 3 == 1 && random() % 2 == 0) filter.tracks.push_back(track.track->number);
    }
    QueryContext query = session.context();
    const std::string name = i % 4 == 3 ? "matmul_4" : "";
    if (!name.empty()) {
      filter.terms.push_back({.search = "name=" + name});
      EventFilter terms;
      terms.terms = filter.terms;
      const auto mask = event_mask(query, terms, nullptr);
      REQUIRE(mask.ok());
      query.mask = *mask;
    }
    const auto active = range_activity(query, filter);
    REQUIRE(active.ok());
    CHECK((*active)->filter == filter);
    // Edges of the range fall between the ticks of a lane: at most a tick at either end.
    CHECK(std::abs((*active)->active_ns - naive_active(session, filter, name)) <= 4);
  }
}

TEST_CASE("the active time of nothing is nothing") {
  RandomSession session(18, 500);
  EventFilter filter;
  filter.range = TimeRange{session.snapshot->end_ns + 10, session.snapshot->end_ns + 20};
  const auto active = range_activity(session.context(), filter);
  REQUIRE(active.ok());
  CHECK((*active)->active_ns == 0);
}
