#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/figures/metrics.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "core/search/search.h"
#include "core/sql/base/sql.h"
#include "tests/core/random_session.h"

using namespace accelscope;

namespace {

using Accept = std::function<bool(const PlainEvent&)>;

struct Case {
  EventFilter filter;
  Accept accepts;
};

bool has_name(const PlainEvent& event, std::string_view part) {
  return event.name_text.find(part) != std::string::npos;
}

// Filters of every kind, over a random stretch of time.
std::vector<Case> cases_of(RandomSession& session) {
  const TrackNumber track = session.snapshot->lanes[session.events.back().lane].track;
  const TimeRange range = session.random_range();
  const auto inside = [&session, range](const PlainEvent& e) {
    return tick_range(session.snapshot->lanes[e.lane], range).holds(e.begin_ticks, e.end_ticks);
  };
  const auto on_track = [&session, track](const PlainEvent& e) {
    return session.snapshot->lanes[e.lane].track == track;
  };
  return {
      {{.range = range}, inside},
      {{.tracks = {track}}, on_track},
      {{.terms = {{"bytes>=5000"}}}, [](const PlainEvent& e) { return e.bytes >= 5000; }},
      {{.range = range, .terms = {{"matmul", true}}},
       [=](const PlainEvent& e) { return inside(e) && !has_name(e, "matmul"); }},
      {{.range = range, .tracks = {track}, .terms = {{"matmul"}, {"bytes>=100"}}},
       [=](const PlainEvent& e) { return inside(e) && on_track(e) && has_name(e, "matmul") && e.bytes >= 100; }},
      {{.terms = {{"nosuchname"}}}, [](const PlainEvent&) { return false; }},
  };
}

struct Filtered {
  Filtered(RandomSession& session, const EventFilter& filter)
      : mask(search::filter_mask(session.context(), filter).value()),
        sql(*session.store, session.snapshot, session.pool, mask) {}
  listing::SqlResult ask(const std::string& query) {
    TaskControl control;
    auto result = sql.run(query, {}, control);
    REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.message()));
    return std::move(*result);
  }
  std::shared_ptr<const EventMask> mask;
  sql::Session sql;
};

}  // namespace

TEST_CASE("filter mask: the events of the range, the tracks and the terms, to the last bit and in every sum") {
  for (const std::uint32_t seed : {21U, 22U, 23U, 24U}) {
    RandomSession session(seed, 3'000);
    for (const Case& each : cases_of(session)) {
      const auto mask = search::filter_mask(session.context(), each.filter).value();
      REQUIRE(mask);
      CHECK(mask->filter() == each.filter);
      std::uint64_t expected = 0, wrong = 0;
      for (const PlainEvent& event : session.events) {
        expected += each.accepts(event) ? 1 : 0;
        wrong += mask->passes(*session.snapshot, event.id) != each.accepts(event) ? 1 : 0;
      }
      CHECK(wrong == 0);
      CHECK(mask->total() == expected);
      CHECK(count_passing(*session.snapshot, mask.get()) == expected);
    }
    CHECK(search::filter_mask(session.context(), {}).value() == nullptr);
  }
}

TEST_CASE("SQL: with a mask every way of answering sees the events that a plain filter leaves, and no others") {
  for (const std::uint32_t seed : {31U, 32U, 33U}) {
    RandomSession session(seed, 3'000);
    for (const Case& each : cases_of(session)) {
      Filtered filtered(session, each.filter);
      std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_name;  // count, duration
      std::set<std::int64_t> ids, long_ids;
      std::int64_t bytes = 0;
      for (const PlainEvent& event : session.events) {
        if (!each.accepts(event)) continue;
        auto& [count, duration] = by_name[event.name_text];
        ++count;
        duration += event.end_ns - event.begin_ns;
        ids.insert(static_cast<std::int64_t>(event.id));
        if (event.end_ns - event.begin_ns > 20) long_ids.insert(static_cast<std::int64_t>(event.id));
        if (session.snapshot->lanes[event.lane].schema->name == "instruction")
          bytes += std::max<std::int64_t>(0, event.bytes);
      }
      for (const bool planned : {true, false}) {
        CAPTURE(planned);
        filtered.sql.set_planned(planned);
        CHECK(filtered.ask("SELECT count(*) FROM slice").at(0, 0) ==
              listing::SqlValue(static_cast<std::int64_t>(ids.size())));
        const listing::SqlResult groups = filtered.ask("SELECT name, count(*), sum(dur_ns) FROM slice GROUP BY name");
        CHECK(groups.row_count() == by_name.size());
        for (std::size_t row = 0; row < groups.row_count(); ++row) {
          const auto& [count, duration] = by_name[std::get<std::string>(groups.at(row, 0))];
          CHECK(groups.at(row, 1) == listing::SqlValue(count));
          CHECK(groups.at(row, 2) == listing::SqlValue(duration));
        }
        const auto check_ids = [&](const std::string& query, const std::set<std::int64_t>& expected) {
          CAPTURE(query);
          const listing::SqlResult rows = filtered.ask(query);
          std::set<std::int64_t> found;
          for (std::size_t row = 0; row < rows.row_count(); ++row)
            found.insert(std::get<std::int64_t>(rows.at(row, 0)));
          CHECK(found == expected);
          CHECK(rows.row_count() == expected.size());
        };
        check_ids("SELECT id FROM slice", ids);
        check_ids("SELECT id FROM slice WHERE dur_ns > 20", long_ids);
        check_ids("SELECT s.id FROM slice s WHERE s.dur_ns > 20 OR s.dur_ns > 1000", long_ids);
        check_ids("SELECT id FROM slice ORDER BY ts_ns", ids);
        if (ids.size() <= 10'000) check_ids("SELECT id FROM slice ORDER BY dur_ns DESC LIMIT 10000", ids);
        CHECK(filtered.ask("SELECT total(bytes) FROM instruction").at(0, 0) ==
              listing::SqlValue(static_cast<double>(bytes)));
        // OFFSET leaves out rows by whole chunks where all of them pass.
        const listing::SqlResult tail = filtered.ask("SELECT id FROM slice LIMIT -1 OFFSET 2500");
        CHECK(tail.row_count() == (ids.size() > 2500 ? ids.size() - 2500 : 0));
      }
    }
  }
}

TEST_CASE("SQL: source lines and figures of a masked session are those of what passes") {
  RandomSession session(41, 3'000);
  const TimeRange range = session.random_range();
  Filtered filtered(session, {.range = range, .terms = {{"bytes>=5000"}}});
  std::map<std::string, std::int64_t> by_location;
  std::int64_t count = 0;
  for (const PlainEvent& event : session.events) {
    const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
    if (event.bytes < 5000 || !tick_range(lane, range).holds(event.begin_ticks, event.end_ticks)) continue;
    ++count;
    if (!event.location.empty()) ++by_location[event.location];
  }
  const listing::SqlResult lines = filtered.ask("SELECT path || ':' || line, event_count FROM source_line");
  CHECK(lines.row_count() == by_location.size());
  for (std::size_t row = 0; row < lines.row_count(); ++row) {
    CHECK(lines.at(row, 1) == listing::SqlValue(by_location[std::get<std::string>(lines.at(row, 0))]));
  }
  const listing::SqlResult figure = filtered.ask("SELECT value FROM metric WHERE name = 'session_event_count'");
  REQUIRE(figure.row_count() == 1);
  CHECK(figure.at(0, 0) == listing::SqlValue(static_cast<double>(count)));
  CHECK(filtered.ask("SELECT count(*) FROM track").at(0, 0) ==
        listing::SqlValue(static_cast<std::int64_t>(session.snapshot->tracks.size())));
}

TEST_CASE("figures: with a mask they are of the events that pass, and the others say so") {
  RandomSession session(42, 3'000);
  QueryContext query = session.context();
  query.mask = search::filter_mask(query, {.terms = {{"matmul"}}}).value();
  std::map<std::string, std::pair<double, double>> expected;  // by schema: events, bytes
  for (const PlainEvent& event : session.events) {
    if (!has_name(event, "matmul")) continue;
    auto& [count, bytes] = expected[session.snapshot->lanes[event.lane].schema->name];
    count += 1;
    bytes += static_cast<double>(std::max<std::int64_t>(0, event.bytes));
  }
  const auto metrics = analysis::session_metrics(query);
  REQUIRE(metrics.ok());
  const auto value = [&](const std::string& name) {
    double sum = 0;
    for (const analysis::SessionMetric& metric : *metrics) {
      if (metric.name == name) sum += metric.value.value_or(0);
      if (metric.name == name) CHECK(metric.unfiltered == (name == "session_time"));
    }
    return sum;
  };
  CHECK(value("instruction_event_count") == expected["instruction"].first);
  CHECK(value("dma_event_count") == expected["dma"].first);
  CHECK(value("instruction_moved_bytes") == expected["instruction"].second);
  CHECK(value("dma_moved_bytes") == expected["dma"].second);
  CHECK(value("session_time") > 0);
}

TEST_CASE("search: in a mask its total, its steps, its list and its ranks are those of the hits that pass") {
  for (const std::uint32_t seed : {51U, 52U}) {
    RandomSession session(seed, 2'000);
    for (const Case& each : cases_of(session)) {
      QueryContext query = session.context();
      query.mask = search::filter_mask(query, each.filter).value();
      std::vector<search::SearchPosition> expected;
      for (const PlainEvent& event : session.events) {
        if (each.accepts(event) && has_name(event, "Copy.")) expected.push_back({event.begin_ns, event.id});
      }
      std::sort(expected.begin(), expected.end());
      const auto search =
          search::EventSearch::run(query, search::parse_search("Copy.").value(), all_lanes(*session.snapshot));
      REQUIRE(search.ok());
      CHECK(search->total() == expected.size());
      const auto hits = search->hits(query);
      REQUIRE(hits.ok());
      const auto list = hits->list(query, {}, expected.size() + 10);
      REQUIRE(list.ok());
      CHECK(*list == expected);
      EventReader reader(*session.store, session.snapshot);
      for (std::size_t i = 0; i < expected.size(); i += 1 + expected.size() / 7) {
        const auto rank = hits->rank(reader, expected[i]);
        REQUIRE(rank.ok());
        CHECK(rank->before == i);
        CHECK(rank->is_hit);
        const auto next = hits->next(reader, expected[i]);
        REQUIRE(next.ok());
        CHECK(*next == (i + 1 < expected.size() ? std::optional(expected[i + 1]) : std::nullopt));
      }
      const auto none = hits->rank(reader, {session.events.front().begin_ns, kNoEvent});
      REQUIRE(none.ok());
      CHECK_FALSE(none->is_hit);
    }
  }
}
