#include "core/scan/event_reader.h"

#include <doctest/doctest.h>

#include "tests/core/random_session.h"

using namespace accelscope;

TEST_CASE("every event can be read by its id, with its fields") {
  RandomSession session(31, 4'000);
  EventReader reader(*session.store, session.snapshot);
  for (std::size_t i = 0; i < session.events.size(); i += 97) {
    const PlainEvent& event = session.events[i];
    const auto record = reader.read(event.id);
    REQUIRE(record.ok());
    CHECK(record->begin_ns == event.begin_ns);
    CHECK(record->end_ns == event.end_ns);
    CHECK(record->name_text == event.name_text);
    CHECK(record->waits == event.waits);
    if (event.location.empty()) {
      CHECK(std::holds_alternative<std::monostate>(record->fields[0]));
    } else {
      CHECK(std::get<std::string>(record->fields[0]) == event.location);
    }
    const bool has_bytes = !std::holds_alternative<std::monostate>(record->fields[1]);
    CHECK(has_bytes == (event.bytes >= 0));
  }
  CHECK_FALSE(reader.read(kNoEvent).ok());
  CHECK_FALSE(reader.read(make_event_id(session.snapshot->lanes[0].number(), 1'000'000'000)).ok());
}

TEST_CASE("a look at a time finds the event there, or the nearest within the slack") {
  RandomSession session(32, 1'500);
  EventReader reader(*session.store, session.snapshot);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t ns = session.random_range().begin_ns;
    const auto lane_index = static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(session.snapshot->lanes.size());
    const LaneSnapshot& lane = session.snapshot->lanes[lane_index];
    const std::int64_t slack = i % 3 == 0 ? 0 : i % 40;
    const auto found = reader.event_at(lane, ns, slack);
    const auto first = reader.first_from(lane, ns);
    const auto last = reader.last_before(lane, ns);
    REQUIRE(found.ok());
    REQUIRE(first.ok());
    REQUIRE(last.ok());

    std::optional<EventId> plain_first;
    std::optional<EventId> plain_last;
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    const auto distance = [ns](const PlainEvent& event) {
      if (event.begin_ns > ns) return event.begin_ns - ns;
      return std::max<std::int64_t>(0, ns - std::max(event.begin_ns, event.end_ns - 1));
    };
    for (const PlainEvent& event : session.events) {
      if (event.lane != lane_index) continue;
      if (event.begin_ns >= ns && !plain_first) plain_first = event.id;
      if (event.begin_ns < ns) plain_last = event.id;
      nearest = std::min(nearest, distance(event));
    }
    CHECK((*first == plain_first));
    CHECK((*last == plain_last));
    REQUIRE(found->has_value() == (nearest <= slack));
    if (!*found) continue;
    for (const PlainEvent& event : session.events) {
      if (event.id == **found) CHECK(distance(event) == nearest);
    }
  }
}

TEST_CASE("a step along a lane finds the event beside it, or the nearest of its name however far that is") {
  RandomSession session(33, 3'000);
  EventReader reader(*session.store, session.snapshot);
  TaskControl control;
  for (std::size_t i = 0; i < session.events.size(); i += 53) {
    const PlainEvent& from = session.events[i];
    for (const bool after : {true, false}) {
      for (const bool same_name : {true, false}) {
        std::optional<EventId> plain;
        for (const PlainEvent& each : session.events) {
          if (each.lane != from.lane || (same_name && each.name_text != from.name_text)) continue;
          if (after ? each.id <= from.id : each.id >= from.id) continue;
          if (!plain || (after ? each.id < *plain : each.id > *plain)) plain = each.id;
        }
        const auto found = reader.neighbour(from.id, after, same_name, control);
        REQUIRE(found.ok());
        CHECK((*found == plain));
      }
    }
  }
  control.cancel();
  CHECK_FALSE(reader.neighbour(session.events[0].id, true, true, control).ok());
  CHECK_FALSE(reader.neighbour(kNoEvent, true, false, control).ok());
}

TEST_CASE("fields read as users write them") {
  CHECK(field_text({.name = "size", .unit = "B"}, std::uint64_t{1234}) == "1,234 B");
  CHECK(field_text({.name = "at", .role = Role::address}, std::uint64_t{0x2000000}) == "0x2000000");
  CHECK(field_text({.name = "id", .role = Role::key}, std::uint64_t{1234567}) == "1234567");
  CHECK(field_text({.name = "ok"}, true) == "yes");
  CHECK(field_text({.name = "none"}, FieldValue{}) == "–");
  CHECK(field_text({.name = "text"}, std::string("abc")) == "abc");
}
