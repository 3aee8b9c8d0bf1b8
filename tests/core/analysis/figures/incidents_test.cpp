#include "core/analysis/figures/incidents.h"

#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"

namespace accelscope::analysis {
namespace {

struct IncidentSession {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{2};
  TaskControl control;
  SchemaNumber events = writer.add_schema({.name = "throttle"});
  SchemaNumber errors = writer.add_schema({.name = "error", .kind = EventKind::instant});
  SchemaNumber warnings = writer.add_schema({.name = "warnings", .kind = EventKind::table});

  TrackNumber track(const char* name, const char* kind, SchemaNumber schema) {
    return writer.add_track({.name = name, .kind = kind, .device = "nc0", .schema = schema});
  }
  std::shared_ptr<const Incidents> find() {
    REQUIRE(writer.finish());
    const auto found = find_incidents({*store, store->snapshot(), pool, control});
    REQUIRE(found.ok());
    return *found;
  }
};

TEST_CASE("errors, throttling and warnings with a time are found in the order of time, work is not") {
  IncidentSession session;
  const TrackNumber throttle = session.track("Throttling", "throttle", session.events);
  const TrackNumber error = session.track("Errors", "error", session.errors);
  const TrackNumber warning = session.track("Warnings", "table", session.warnings);
  const TrackNumber engine = session.track("Tensor", "engine", session.events);
  SessionWriter& writer = session.writer;
  (void)writer.begin_event(engine, 5, 10, writer.intern("MATMUL"));
  (void)writer.begin_event(throttle, 100, 50, writer.intern("thermal"));
  (void)writer.begin_event(throttle, 300, 50, writer.intern("power"));
  (void)writer.begin_event(error, 200, 0, writer.intern("out of bounds"));
  (void)writer.begin_event(warning, 0, 0, writer.intern("no compiler metrics"));
  (void)writer.begin_event(warning, 250, 0, writer.intern("late"));
  const auto found = session.find();
  const StringPool& strings = *session.store->snapshot()->strings;
  REQUIRE(found->list.size() == 4);
  CHECK(strings.text(found->list[0].name) == "thermal");
  CHECK(found->list[0].alert == Alert::throttling);
  CHECK(found->list[0].end_ns == 150);
  CHECK(strings.text(found->list[1].name) == "out of bounds");
  CHECK(found->list[1].alert == Alert::error);
  CHECK(strings.text(found->list[2].name) == "late");
  CHECK(found->list[2].alert == Alert::warning);
  CHECK(found->list[3].begin_ns == 300);
  CHECK(found->left_out == 0);
}

TEST_CASE("of too many incidents the gravest are kept and the rest is counted") {
  IncidentSession session;
  const TrackNumber throttle = session.track("Throttling", "throttle", session.events);
  const TrackNumber error = session.track("Errors", "error", session.errors);
  const StringId name = session.writer.intern("x");
  for (std::int64_t i = 0; i < 80'000; ++i) (void)session.writer.begin_event(throttle, i * 2, 1, name);
  for (std::int64_t i = 0; i < 100; ++i) (void)session.writer.begin_event(error, i, 0, name);
  const auto found = session.find();
  CHECK(found->left_out > 0);
  CHECK(found->list.size() + found->left_out == 80'100);
  CHECK(std::count_if(found->list.begin(), found->list.end(),
                      [](const Incident& each) { return each.alert == Alert::error; }) == 100);
}

}  // namespace
}  // namespace accelscope::analysis
