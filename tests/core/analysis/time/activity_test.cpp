#include "core/analysis/time/session_activity.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/analysis/neuron/facts/operands.h"
#include "core/lod/range_statistics.h"
#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::analysis;

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

namespace {

// A session of a device and its host, by what lies where.
struct Looked {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  SchemaNumber schema = writer.add_schema({.name = "event", .wait_names = {"wait"}});

  TrackNumber track(const char* name, const char* kind) {
    return writer.add_track({.name = name, .kind = kind, .host = "a", .schema = schema});
  }
  void add(TrackNumber track, std::int64_t at, std::int64_t length, const char* name = "work") {
    (void)writer.begin_event(track, at, length, writer.intern(name));
  }
  [[nodiscard]] TimeRange shown() {
    REQUIRE(writer.finish().ok());
    WorkerPool pool(2);
    TaskControl control;
    const auto look = find_first_look({*store, store->snapshot(), pool, control});
    REQUIRE(look.ok());
    REQUIRE(look->shown.has_value());
    return *look->shown;
  }
};
constexpr std::int64_t kMs = 1'000'000;

}  // namespace

TEST_CASE("a first view holds all work of the devices, copies before and after the kernels too") {
  Looked session;
  session.add(session.track("main", "host_thread"), 0, 900 * kMs);
  session.add(session.track("stream 7", "stream"), 300 * kMs, 8 * kMs);
  const TrackNumber copies = session.track("memcpy stream 7", "dma_queue");
  session.add(copies, 200 * kMs, 30 * kMs);
  session.add(copies, 380 * kMs, 26 * kMs);
  CHECK(session.shown() == TimeRange{200 * kMs, 406 * kMs});
}

TEST_CASE("a first view does not blow a few hits of a device up to nothing") {
  Looked session;
  const TrackNumber main = session.track("main", "host_thread");
  for (int i = 0; i < 60; ++i) session.add(main, i * 9 * kMs, 9 * kMs - 100);
  session.add(session.track("memset stream 7", "dma_queue"), 300 * kMs, 1'500);
  CHECK(session.shown() == TimeRange{0, 540 * kMs - 100});
}

TEST_CASE("a first view of kernels that no pixel would show is of the host that they are spread over") {
  Looked session;
  session.add(session.track("main", "host_thread"), 0, 4'000 * kMs);
  const TrackNumber core = session.track("core 1,1", "engine");
  for (int run = 0; run < 4; ++run) session.add(core, 4'800 * kMs + run * 700 * kMs, 10'000);
  CHECK(session.shown() == TimeRange{0, 6'900 * kMs + 10'000});
}

TEST_CASE("a first view is of what computes, where what was loaded for it lies so far away that neither were seen") {
  Looked session;
  const TrackNumber queue = session.track("q0", "dma_queue");
  session.add(queue, 3'558, 403);
  session.add(session.track("Layers", "layer"), 0, 1'871'000);
  const TrackNumber tensor = session.track("Tensor", "engine");
  for (int i = 0; i < 20; ++i) session.add(tensor, 1'864'000 + i * 100, 60);
  session.add(queue, 1'868'000, 66);
  CHECK(session.shown() == TimeRange{1'864'000, 1'865'960});
}

TEST_CASE("a first view of many kernels leaves out the seconds in which a program loads") {
  Looked session;
  session.add(session.track("main", "host_thread"), 0, 20'000 * kMs);
  const TrackNumber stream = session.track("stream 7", "stream");
  for (int i = 0; i < 3'000; ++i) session.add(stream, 19'000 * kMs + i * 50'000, 40'000);
  CHECK(session.shown() == TimeRange{19'000 * kMs, 19'000 * kMs + 2'999 * 50'000 + 40'000});
}

TEST_CASE("a first view of a few ns of work in a recording of counters is of the recording") {
  Looked session;
  const SchemaNumber samples = session.writer.add_schema(
      {.name = "sample", .kind = EventKind::counter, .columns = {{.name = "value", .role = Role::value}}});
  const TrackNumber power = session.writer.add_track({.name = "power", .kind = "counter", .schema = samples});
  for (int i = 0; i <= 9; ++i) session.writer.begin_event(power, i * kMs, 0, 0).integer(0, i);
  session.add(session.track("main", "host_thread"), 4 * kMs, 3);
  const TimeRange shown = session.shown();
  CHECK(shown.begin_ns == 0);
  CHECK(shown.end_ns >= 9 * kMs);
}

TEST_CASE("a first view of a capture that was started paused is of what it recorded") {
  Looked session;
  const SchemaNumber state = session.writer.add_schema({.name = "capture_state"});
  const TrackNumber own = session.writer.add_track({.name = "Capture", .kind = "capture", .schema = state});
  session.add(own, 0, 60'000 * kMs, "paused");
  session.add(session.track("main", "host_thread"), 60'000 * kMs, 3 * kMs);
  // What is known of the program while nothing is recorded is no reason to show the pause.
  session.add(session.track("Program", "process"), 20 * kMs, 59'983 * kMs, "./solve");
  CHECK(session.shown() == TimeRange{60'000 * kMs, 60'003 * kMs});
  CHECK(recorded_stretch(*session.store->snapshot()) == TimeRange{20 * kMs, 60'003 * kMs});
}
