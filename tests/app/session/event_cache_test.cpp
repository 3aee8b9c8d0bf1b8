#include "app/session/event_cache.h"

#include <doctest/doctest.h>

#include <thread>

#include "app/session/retained_beside.h"
#include "app/session/tab.h"
#include "core/chunk/session_writer.h"
#include "tests/support/small_session.h"

namespace accelscope::app::session {
namespace {

struct Answers {
  test::SmallSession session = test::make_small_session();
  WorkerPool pool{2};
  EventCache events{pool, session.store};

  void frame() {
    while (events.under_way()) std::this_thread::yield();
    events.begin_frame(session.store->snapshot());
  }
  [[nodiscard]] const EventRecord* read(EventId id) {
    (void)events.find(id);
    frame();
    return events.find(id);
  }
};

TEST_CASE_FIXTURE(Answers, "events: asked for in one frame, there in a later one, as long as they are asked for") {
  CHECK(events.find(session.first_matmul) == nullptr);
  CHECK(events.pending());
  frame();
  const EventRecord* event = events.find(session.first_matmul);
  REQUIRE(event != nullptr);
  CHECK(event->name_text == "MATMUL");
  CHECK(event->begin_ns == 1'000);
  CHECK(event->lane == session.store->snapshot()->find_lane(lane_of(session.first_matmul)));
  CHECK_FALSE(events.pending());
}

TEST_CASE_FIXTURE(Answers, "events: a later state of the session keeps what is known, and finds what has come") {
  StoreSink sink(*session.store);
  SessionWriter writer(sink);
  const TrackNumber track = writer.add_track(
      {.name = "late", .kind = "engine", .schema = writer.add_schema({.name = "late", .name_column = "name"})});
  Row row = writer.begin_event(track, 9'000, 10, writer.intern("LATE"));
  const EventId late = make_event_id(scoped_number(sink.scope(), lane_of(row.id())), ordinal_of(row.id()));
  REQUIRE(read(session.first_matmul) != nullptr);
  CHECK(read(late) == nullptr);
  CHECK(events.problem(late).find("no such event") != std::string::npos);
  REQUIRE(writer.finish());
  frame();
  const EventRecord* known = events.find(session.first_matmul);  // without being read again
  REQUIRE(known != nullptr);
  CHECK(known->lane == session.store->snapshot()->find_lane(lane_of(session.first_matmul)));
  const EventRecord* come = read(late);
  REQUIRE(come != nullptr);
  CHECK(come->name_text == "LATE");
  CHECK(events.problem(late).empty());
}

TEST_CASE("events: memory is bounded, and what a frame shows is never let go") {
  const test::SmallSession session = test::make_small_session();
  WorkerPool pool(1);
  EventCache events(pool, session.store, 4'000);  // bytes: a few of them
  const auto frame = [&] {
    while (events.under_way()) std::this_thread::yield();
    events.begin_frame(session.store->snapshot());
  };
  for (std::uint64_t i = 0; i < 20; ++i) {
    const EventId id = session.first_matmul + i;
    for (int asked = 0; asked < 3; ++asked) {
      (void)events.find(session.first_matmul);
      (void)events.find(id);
      frame();
    }
    CHECK(events.find(session.first_matmul) != nullptr);
    CHECK(events.find(id) != nullptr);
  }
  frame();
  frame();
  CHECK(events.memory_bytes() <= 4'000);
}

TEST_CASE_FIXTURE(Answers,
                  "events: a wish is fulfilled once, at once where all is known, and a newer one replaces it") {
  std::string done;
  events.when_known(EventIntent::view, {session.first_matmul}, [&] { done += "a"; });
  events.when_known(EventIntent::view, {session.first_matmul, session.activate}, [&] { done += "b"; });
  events.when_known(EventIntent::marker, {kNoEvent}, [&] { done += "c"; });  // unreadable is known as well
  events.when_known(EventIntent::menu, {session.activate}, [&] { done += "d"; });
  events.drop(EventIntent::menu);
  CHECK(done.empty());
  for (int i = 0; i < 4; ++i) frame();
  CHECK(done.size() == 2);
  CHECK(done.find('b') != std::string::npos);
  CHECK(done.find('c') != std::string::npos);
  events.when_known(EventIntent::view, {session.first_matmul}, [&] { done = "now"; });
  CHECK(done == "now");
  CHECK_FALSE(events.pending());
}

TEST_CASE_FIXTURE(Answers, "events: steps from one place are all made, those from another begin anew") {
  const auto next = [](EventReader& reader, StepPlace& place, const TaskControl& control) -> Result<void> {
    const auto found = reader.neighbour(*place.event, true, false, control);
    if (!found) return found.error();
    place.event = *found;
    return {};
  };
  std::optional<EventId> at;
  const auto arrived = [&](const Result<StepPlace>& place) { at = place ? place->event : std::nullopt; };
  const StepPlace first{session.first_matmul, {}, {}};
  events.step(first, next, arrived);
  events.step(first, next, arrived);
  frame();
  CHECK(at == session.first_matmul + 2);
  CHECK(events.find(*at) != nullptr);  // known at once
  events.step(first, next, arrived);
  frame();
  CHECK(at == session.first_matmul + 1);
  events.step(first, next, arrived);
  events.step({session.first_matmul + 5, {}, {}}, next, arrived);
  frame();
  CHECK(at == session.first_matmul + 6);
  events.step({kNoEvent, {}, {}}, next, arrived);
  frame();
  CHECK_FALSE(at);  // it failed, and that is told
}

TEST_CASE("kept beside: what cannot be written is told, and what follows is written") {
  WorkerPool pool(1);
  const std::shared_ptr<Store> store = test::make_small_session().store;
  StoreWriter writer(pool, store);
  std::string reported;
  writer.write([](Store&) -> Result<void> { return Error{"the disk is full"}; });
  writer.write([](Store&) -> Result<void> { return Error{"still full"}; },
               [&](const Result<void>& done) { reported = done.message(); });
  writer.write([](Store& s) { return s.set_overlay_value("key", "value"); });
  StoreWriter::flush(*writer.queue());
  CHECK_FALSE(writer.unwritten());
  CHECK(writer.pending());
  CHECK(writer.begin_frame() == std::vector<std::string>{"the disk is full"});
  CHECK(reported == "still full");
  CHECK_FALSE(writer.pending());
  CHECK(store->overlay_value("key") == "value");
}

}  // namespace
}  // namespace accelscope::app::session
