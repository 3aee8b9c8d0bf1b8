#include "core/analysis/time/activity.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/analysis/neuron/facts/setup_names.h"
#include "core/lod/range_statistics.h"
#include "tests/core/random_session.h"

using namespace accelscope;

TEST_CASE("the activity of a run that idles and sets up before its work is found") {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "instruction", .wait_names = {"SEMAPHORE_WAIT"}});
  const TrackNumber tensor = writer.add_track({.name = "Tensor", .kind = "engine", .schema = schema});
  const TrackNumber vector = writer.add_track({.name = "Vector", .kind = "engine", .schema = schema});
  const TrackNumber throttle = writer.add_track({.name = "Throttling", .kind = "throttle", .schema = schema});
  const auto add = [&](TrackNumber track, std::int64_t at, std::int64_t duration, const char* name) {
    writer.begin_event(track, at, duration, writer.intern(name));
  };
  for (int i = 0; i < 40'000; ++i) add(tensor, i * 40, 20, "NOP");  // chunks without work
  add(tensor, 1'900'000, 300, "MATMUL");
  for (int i = 0; i < 20'000; ++i) add(tensor, 2'000'000 + i * 40, 20, "DRAIN");
  add(vector, 0, 1'850'000, "SEMAPHORE_WAIT");
  add(vector, 1'850'000, 10, "TENSOR_LOAD");
  add(vector, 1'899'000, 50, "ACTIVATE");
  add(vector, 1'905'000, 0, "MARK");  // an instant is work too
  add(throttle, 0, 3'000'000, "active");
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{**store, (*store)->snapshot(), pool, control};
  constexpr std::array<std::string_view, 2> kWork = {"engine", "dma_queue"};
  const auto found = active_stretch(query, {kWork, neuron::kSetupOpcodes});
  REQUIRE(found.ok());
  REQUIRE(found->has_value());
  CHECK(((*found) == TimeRange{1'899'000, 1'905'000}));
  const auto everything = active_stretch(query, {});
  REQUIRE(everything.ok());
  CHECK(((*everything) == TimeRange{0, 3'000'000}));
  const std::string_view nothing[] = {"no such kind"};
  const auto none = active_stretch(query, {nothing, {}});
  REQUIRE(none.ok());
  CHECK_FALSE(none->has_value());
}

TEST_CASE("a profiler's own spans are no activity") {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "event"});
  const TrackNumber thread = writer.add_track({.name = "main", .kind = "host_thread", .host = "a", .schema = schema});
  const TrackNumber own =
      writer.add_track({.name = "spans", .kind = "host_thread", .host = "profiler", .schema = schema});
  writer.begin_event(thread, 500, 100, writer.intern("work"));
  writer.begin_event(own, 0, 10'000, writer.intern("PyTorch Profiler (0)"));
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{**store, (*store)->snapshot(), pool, control};
  const auto found = active_stretch(query, {});
  REQUIRE(found.ok());
  CHECK(((*found) == TimeRange{500, 600}));
}

TEST_CASE("the active stretch of a random session is that of its events") {
  RandomSession session(81, 3'000);
  TimeRange expected{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const PlainEvent& event : session.events) {
    if (event.waits || event.name_text == "matmul_1") continue;
    expected.begin_ns = std::min(expected.begin_ns, event.begin_ns);
    expected.end_ns = std::max(expected.end_ns, event.end_ns);
  }
  const std::string_view setup[] = {"matmul_1"};
  const auto found = active_stretch(session.context(), {{}, setup});
  REQUIRE(found.ok());
  CHECK((**found == expected));
}
