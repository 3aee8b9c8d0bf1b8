#include "core/search/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::search;

namespace {

using Accept = std::function<bool(const PlainEvent&)>;

EventSearch search_for(RandomSession& session, std::string_view text) {
  const auto query = parse_search(text);
  REQUIRE_MESSAGE(query.ok(), text);
  auto search = EventSearch::run(session.context(), *query, all_lanes(*session.snapshot));
  REQUIRE_MESSAGE(search.ok(), text);
  return std::move(search).value();
}

std::vector<SearchPosition> plain_hits(const RandomSession& session, const Accept& accept) {
  std::vector<SearchPosition> hits;
  for (const PlainEvent& event : session.events) {
    if (accept(event)) hits.push_back({event.begin_ns, event.id});
  }
  std::sort(hits.begin(), hits.end());
  return hits;
}

void check_search(RandomSession& session, std::string_view text, const Accept& accept) {
  CAPTURE(text);
  const EventSearch search = search_for(session, text);
  const std::vector<SearchPosition> hits = plain_hits(session, accept);
  CHECK(search.total() == hits.size());
  std::vector<std::uint64_t> by_lane(session.snapshot->lanes.size(), 0);
  for (const PlainEvent& event : session.events) by_lane[event.lane] += accept(event) ? 1 : 0;
  for (std::uint32_t lane = 0; lane < by_lane.size(); ++lane) CHECK(search.hits_of_lane(lane) == by_lane[lane]);

  const auto found = search.hits(session.context());
  REQUIRE(found.ok());
  CHECK(found->mask()->total() == hits.size());
  EventReader reader(*session.store, session.snapshot);
  const auto check_rank = [&](SearchPosition at) {
    const auto rank = found->rank(reader, at);
    REQUIRE(rank.ok());
    const auto place = std::lower_bound(hits.begin(), hits.end(), at);
    CHECK(rank->before == static_cast<std::uint64_t>(place - hits.begin()));
    CHECK(rank->is_hit == (place != hits.end() && *place == at));
  };
  for (std::size_t i = 0; i < session.events.size(); i += 97) {
    check_rank({session.events[i].begin_ns, session.events[i].id});
  }
  check_rank({std::numeric_limits<std::int64_t>::max(), kNoEvent});
  const auto check_step = [&](SearchPosition from) {
    const auto next = found->next(reader, from);
    REQUIRE(next.ok());
    const auto after = std::upper_bound(hits.begin(), hits.end(), from);
    CHECK((*next).has_value() == (after != hits.end()));
    if (*next && after != hits.end()) CHECK((**next == *after));
    const auto previous = found->previous(reader, from);
    REQUIRE(previous.ok());
    const auto before = std::lower_bound(hits.begin(), hits.end(), from);
    CHECK((*previous).has_value() == (before != hits.begin()));
    if (*previous && before != hits.begin()) CHECK((**previous == *(before - 1)));
  };
  for (std::size_t i = 0; i < 12 && !hits.empty(); ++i) check_step(hits[i * 7919 % hits.size()]);
  for (int i = 0; i < 6; ++i) check_step({session.random_range().begin_ns, i % 2 == 0 ? 0 : kNoEvent});
  check_step({std::numeric_limits<std::int64_t>::min(), 0});
  check_step({std::numeric_limits<std::int64_t>::max(), kNoEvent});

  const TimeRange range = session.random_range();
  const auto list = found->list(session.context(), range, 300);
  REQUIRE(list.ok());
  std::vector<SearchPosition> expected;
  for (const PlainEvent& event : session.events) {
    const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
    if (accept(event) && tick_range(lane, range).holds(event.begin_ticks, event.end_ticks)) {
      expected.push_back({event.begin_ns, event.id});
    }
  }
  std::sort(expected.begin(), expected.end());
  if (expected.size() > 300) expected.resize(300);
  CHECK((*list == expected));
}

std::string message_of(RandomSession& session, std::string_view text) {
  const auto query = parse_search(text);
  if (!query) return query.message();
  const auto search = EventSearch::run(session.context(), *query, all_lanes(*session.snapshot));
  return search ? "" : search.message();
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("a search finds, counts and steps through the same events as a look at every event") {
  RandomSession session(21, 9'000);
  check_search(session, "", [](const PlainEvent&) { return true; });
  check_search(session, "MATMUL", [](const PlainEvent& e) { return contains(e.name_text, "matmul"); });
  check_search(session, "/matmul_[0-9]$/",
               [](const PlainEvent& e) { return contains(e.name_text, "matmul_") && e.name_text.size() == 8; });
  check_search(session, "/COPY/i 29",
               [](const PlainEvent& e) { return contains(e.name_text, "Copy") && contains(e.name_text, "29"); });
  check_search(session, "matmul_598", [](const PlainEvent& e) { return contains(e.name_text, "matmul_598"); });
  check_search(session, "nothing_has_this_name", [](const PlainEvent&) { return false; });
}

TEST_CASE("a search compares fields exactly, in every chunk") {
  RandomSession session(22, 9'000);
  check_search(session, "bytes>=9KiB", [](const PlainEvent& e) { return e.bytes >= 9 * 1024; });
  check_search(session, "bytes<12.5", [](const PlainEvent& e) { return e.bytes >= 0 && e.bytes <= 12; });
  check_search(session, "bytes=77", [](const PlainEvent& e) { return e.bytes == 77; });
  check_search(session, "\"bytes\"=77", [](const PlainEvent& e) { return e.bytes == 77; });
  check_search(session, "\"WAIT\" bytes=77", [](const PlainEvent& e) { return e.waits && e.bytes == 77; });
  check_search(session, "bytes!=0x4d", [](const PlainEvent& e) { return e.bytes >= 0 && e.bytes != 77; });
  check_search(session, "bytes>-1", [](const PlainEvent& e) { return e.bytes >= 0; });
  check_search(session, "bytes=1.5", [](const PlainEvent&) { return false; });
  check_search(session, "kernel.py:7", [](const PlainEvent& e) { return e.location == "dir/kernel.py:7"; });
  check_search(session, "line~:1 bytes<500",
               [](const PlainEvent& e) { return contains(e.location, ":1") && e.bytes >= 0 && e.bytes < 500; });
  check_search(session, "duration>20ns WAIT",
               [](const PlainEvent& e) { return e.waits && e.end_ns - e.begin_ns > 20; });
  check_search(session, "dur>20ns dur_ns<=30 ts>=1us", [](const PlainEvent& e) {
    const auto length = e.end_ns - e.begin_ns;
    return length > 20 && length <= 30 && e.begin_ns >= 1'000;
  });
  check_search(session, "opcode=WAIT", [](const PlainEvent& e) { return e.waits; });
  check_search(session, "name!=WAIT start<1ms", [](const PlainEvent& e) { return !e.waits && e.begin_ns < 1'000'000; });
}

TEST_CASE("a search that cannot be understood says which part and what to do") {
  RandomSession session(23, 200);
  CHECK(contains(message_of(session, "/(/"), "/(/ is not a regular expression"));
  CHECK(contains(message_of(session, "/abc"), "has no end"));
  CHECK(contains(message_of(session, "\"abc"), "closing"));
  CHECK(contains(message_of(session, "/a/x"), "'x'"));
  CHECK(contains(message_of(session, "colour=red"), "a field \"colour\"; put the text in quotes"));
  CHECK(contains(message_of(session, "\"a colour\"=red"), "\"a colour\""));
  CHECK(contains(message_of(session, "bytes=many"), "\"many\""));
  CHECK(contains(message_of(session, "bytes~1"), "holds numbers"));
  CHECK(contains(message_of(session, "line<3"), "holds text"));
  CHECK(contains(message_of(session, "bytes="), "compared with nothing"));
}

TEST_CASE("a search finds bytes and layers by these words where the source calls them otherwise") {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber own =
      writer.add_schema({.name = "copy", .columns = {{.name = "transfer_size", .unit = "B", .role = Role::bytes}}});
  const SchemaNumber named =
      writer.add_schema({.name = "op",
                         .columns = {{.name = "bytes", .unit = "B"},
                                     {.name = "moved", .unit = "B", .role = Role::bytes},
                                     {.name = "path", .type = ColumnType::string, .role = Role::layer}}});
  const TrackNumber a = writer.add_track({.name = "a", .schema = own});
  const TrackNumber b = writer.add_track({.name = "b", .schema = named});
  for (std::int64_t i = 0; i < 10; ++i) writer.begin_event(a, i * 10, 5, writer.intern("c")).integer(0, i * 1024);
  for (std::int64_t i = 0; i < 10; ++i) {
    Row row = writer.begin_event(b, i * 10, 5, writer.intern("o"));
    row.integer(0, i);  // a field of that very name comes first
    row.integer(1, i * 1024);
    row.string(2, writer.intern(i < 3 ? "net/up_proj" : "net/down"));
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool{2};
  TaskControl control;
  const QueryContext context{**store, (*store)->snapshot(), pool, control};
  const auto count = [&](std::string_view text) {
    const auto search = EventSearch::run(context, parse_search(text).value(), all_lanes(*context.snapshot));
    REQUIRE_MESSAGE(search.ok(), text);
    return search->total();
  };
  CHECK(count("bytes>=4KiB") == 6);
  CHECK(count("bytes>=4") == 9 + 6);
  CHECK(count("layer~up_proj") == 3);
  const auto none = EventSearch::run(context, parse_search("flops>1").value(), all_lanes(*context.snapshot));
  REQUIRE_FALSE(none.ok());
  CHECK(none.message().find("flops") != std::string::npos);
}
