#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "app/rows/groups.h"
#include "app/rows/rows.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

namespace accelscope::app::rows {
namespace {

struct Tracks {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  SchemaNumber schema = writer.add_schema({.name = "instruction"});

  TrackNumber add(const char* name, const char* kind, const char* device = "nc0", TrackNumber parent = kNone) {
    const TrackNumber track =
        writer.add_track({.parent = parent, .name = name, .kind = kind, .device = device, .schema = schema});
    (void)writer.begin_event(track, 0, 10, writer.intern("x"));
    return track;
  }
  // A track of no events that others lie below.
  TrackNumber add_container(const char* name, const char* kind, const char* device, const char* host = "") {
    return writer.add_track({.name = name, .kind = kind, .device = device, .host = host});
  }
  TrackNumber add_on_host(const char* name, const char* host, TrackNumber parent = kNone, SchemaNumber of = kNone) {
    const TrackNumber track = writer.add_track(
        {.parent = parent, .name = name, .kind = "host_thread", .host = host, .schema = of == kNone ? schema : of});
    (void)writer.begin_event(track, 0, 10, writer.intern("x"));
    return track;
  }
  [[nodiscard]] std::string key(TrackNumber track) {
    REQUIRE(writer.finish());
    return row_key(TrackNames(*store->snapshot()), track);
  }
  [[nodiscard]] std::vector<std::string> labels(const RowChoices& choices = {}) {
    REQUIRE(writer.finish());
    std::vector<std::string> labels;
    for (const TimelineRow& row : compose_rows(*store->snapshot(), nullptr, choices)) labels.push_back(row.label);
    return labels;
  }
};

using Labels = std::vector<std::string>;

TEST_CASE("groups and engines come in the order that users know, whatever the file's order") {
  Tracks tracks;
  for (const char* engine : {"Sync", "GpSimd", "Scalar", "Vector", "TensorMatrix", "Tensor"})
    tracks.add(engine, "engine");
  tracks.add("q10", "dma_queue");
  tracks.add("q2", "dma_queue");
  tracks.add("AllReduce", "collective");
  CHECK(tracks.labels() == Labels{"Collectives", "AllReduce", "DMA queues", "q2", "q10", "Engines", "Tensor",
                                  "TensorMatrix", "Vector", "Scalar", "GpSimd", "Sync"});
}

TEST_CASE("several devices get groups of their own") {
  Tracks tracks;
  tracks.add("Tensor", "engine", "nc1");
  tracks.add("Tensor", "engine", "nc0");
  CHECK(tracks.labels() == Labels{"nc0 Engines", "Tensor", "nc1 Engines", "Tensor"});
}

TEST_CASE("the tenth device comes after the second") {
  Tracks tracks;
  for (const char* device : {"rank 10", "rank 2"}) tracks.add("Tensor", "engine", device);
  CHECK(tracks.labels() == Labels{"rank 2 Engines", "Tensor", "rank 10 Engines", "Tensor"});
}

TEST_CASE("what belongs to no device comes after the devices") {
  Tracks tracks;
  tracks.add("CPU memory", "counter", "");
  tracks.add("stream 7", "stream", "GPU 0");
  CHECK(tracks.labels() == Labels{"GPU 0", "stream 7", "Counters", "CPU memory"});
}

TEST_CASE("semaphores are closed until asked for, and a closed group hides its rows") {
  Tracks tracks;
  tracks.add("S[0]", "semaphore");
  tracks.add("Tensor", "engine");
  CHECK(tracks.labels() == Labels{"Engines", "Tensor", "Semaphores"});
  RowChoices choices;
  choices.open = {{"group:Semaphores", true}, {"group:Engines", false}};
  CHECK(tracks.labels(choices) == Labels{"Engines", "Semaphores", "S[0]"});
}

TEST_CASE("tracks below a queue show when the queue is opened") {
  Tracks tracks;
  const TrackNumber queue = tracks.add("q0", "dma_queue");
  tracks.add("q0-E0", "dma_queue", "nc0", queue);
  tracks.add("q0-E1", "dma_queue", "nc0", queue);
  CHECK(tracks.labels() == Labels{"DMA queues", "q0"});
  RowChoices choices;
  choices.open = {{tracks.key(queue), true}};
  CHECK(tracks.labels(choices) == Labels{"DMA queues", "q0", "E0", "E1"});
}

TEST_CASE("a GPU comes with its streams, collectives and copies, then the threads, the profiler's own rows last") {
  Tracks tracks;
  tracks.add_on_host("PyTorch Profiler", "profiler");
  const TrackNumber main = tracks.add_container("Main thread", "host_thread", "", "a process (12)");
  tracks.add_on_host("Main thread annotations", "a process (12)", main);
  tracks.add_on_host("Main thread operators", "a process (12)", main);
  const TrackNumber other = tracks.add_container("pt_autograd_0", "host_thread", "", "a process (12)");
  tracks.add_on_host("pt_autograd_0 operators", "a process (12)", other);
  tracks.add("sync stream 7", "barrier", "gpu 0");
  tracks.add("memcpy stream 7", "dma_queue", "gpu 0");
  tracks.add("NCCL, stream 24", "collective", "gpu 0");
  tracks.add("stream 7", "stream", "gpu 0");
  const Labels rows = tracks.labels();
  CHECK(rows == Labels{"GPU 0", "stream 7", "NCCL, stream 24", "memcpy stream 7", "sync stream 7",
                       "a process (12) Host", "Main thread", "Annotations", "Operators", "pt_autograd_0",
                       "profiler Host"});
}

TEST_CASE("a closed thread is one row that stands for all that it did, and opens") {
  Tracks tracks;
  const TrackNumber first = tracks.add_container("first", "host_thread", "");
  tracks.add_on_host("first calls", "", first);
  const TrackNumber thread = tracks.add_container("second", "host_thread", "");
  tracks.add_on_host("second calls", "", thread);
  tracks.add_on_host("second operators", "", thread);
  REQUIRE(tracks.writer.finish());
  const auto find = [&](const RowChoices& choices) {
    for (TimelineRow& row : compose_rows(*tracks.store->snapshot(), nullptr, choices)) {
      if (row.label == "second") return row;
    }
    return TimelineRow{};
  };
  const TimelineRow closed = find({});
  CHECK(closed.kind == RowKind::bundle);
  CHECK_FALSE(closed.open);
  CHECK(closed.lanes.size() == 2);
  RowChoices choices;
  choices.open = {{closed.key, true}};
  CHECK(find(choices).open);
  CHECK(tracks.labels(choices) == Labels{"Host", "first", "Calls", "second", "Calls", "Operators"});
}

TEST_CASE("cores are opened as long as the window has room, the others are one row each") {
  Tracks tracks;
  for (int core = 0; core < 20; ++core) {
    const std::string name = "core 1," + std::to_string(core);
    const TrackNumber track = tracks.add_container(name.c_str(), "engine", "chip 0");
    for (const char* risc : {" BRISC", " NCRISC", " TRISC_0", " TRISC_1", " TRISC_2"}) {
      tracks.add((name + risc).c_str(), "engine", "chip 0", track);
    }
  }
  const Labels rows = tracks.labels();
  CHECK(Labels(rows.begin(), rows.begin() + 4) == Labels{"Engines", "Core 1,0", "BRISC", "NCRISC"});
  CHECK(std::count(rows.begin(), rows.end(), "Core 1,19") == 1);
  CHECK(rows.size() == 1 + 20 + 3 * 5);
}

TEST_CASE("engines, transfers, counters and memory of the first device all begin in sight") {
  Tracks tracks;
  const SchemaNumber samples = tracks.writer.add_schema({.name = "counter", .kind = EventKind::counter});
  for (const char* device : {"nc4", "nc5"}) {
    for (const char* name : {"Tensor", "TensorMatrix", "Vector", "Scalar", "GpSimd", "Sync"})
      tracks.add(name, "engine", device);
    for (const char* name : {"q0", "q1", "q2", "q3", "q4"}) tracks.add(name, "dma_queue", device);
    tracks.add("Layers", "layer", device);
    for (const char* name : {"Pending DMA", "DMA throughput", "SBUF usage", "PSUM usage", "PE utilisation"}) {
      const TrackNumber track =
          tracks.writer.add_track({.name = name, .kind = "counter", .device = device, .schema = samples});
      (void)track;
    }
    tracks.add("SBUF", "memory", device);
  }
  REQUIRE(tracks.writer.finish());
  float y = 0;
  std::map<std::string, float> begins;
  bool engines_open = false;
  for (const TimelineRow& row : compose_rows(*tracks.store->snapshot(), nullptr, {})) {
    if (row.kind == RowKind::group) begins.try_emplace(row.label, y);
    engines_open = engines_open || row.label == "TensorMatrix";
    y += row.height;
  }
  CHECK(engines_open);
  for (const char* group : {"nc4 Engines", "nc4 DMA queues", "nc4 Counters", "nc4 Memory"}) {
    REQUIRE(begins.contains(group));
    CHECK_MESSAGE(begins[group] + 20 <= kFold, group);
  }
}

TEST_CASE("counters are named by what tells them apart, not by what their heading says") {
  Tracks tracks;
  const SchemaNumber samples = tracks.writer.add_schema({.name = "counter", .kind = EventKind::counter});
  for (const char* name : {"gpu 0 memory Total Allocated", "gpu 0 memory Total Reserved", "power"}) {
    (void)tracks.writer.add_track({.name = name, .kind = "counter", .device = "gpu 0", .schema = samples});
  }
  tracks.add("stream 7", "stream", "gpu 0");
  tracks.add_on_host("calls", "python (12)");
  CHECK(tracks.labels() ==
        Labels{"GPU 0", "stream 7", "python (12) Host", "calls", "GPU 0 Counters", "Allocated", "Reserved", "power"});
}

TEST_CASE("stacks of calls show a few levels, all of them once the row is tall") {
  Tracks tracks;
  const SchemaNumber python = tracks.writer.add_schema({.name = "python_function"});
  const TrackNumber track = tracks.add_on_host("python", "host", kNone, python);
  for (std::uint32_t depth = 1; depth < 11; ++depth) {
    (void)tracks.writer.begin_event_at(track, depth, 0, 10, tracks.writer.intern("f"));
  }
  REQUIRE(tracks.writer.finish());
  const auto row = compose_rows(*tracks.store->snapshot(), nullptr, {})[1];
  CHECK(row.lanes.size() == 4);
  CHECK(row.hidden_levels == 7);
  RowChoices choices;
  choices.sizes = {{row.key, RowSize::tall}};
  CHECK(compose_rows(*tracks.store->snapshot(), nullptr, choices)[1].lanes.size() == 11);
}

TEST_CASE("overlapping events of a track are sub-lanes of one row") {
  Tracks tracks;
  const TrackNumber queue = tracks.add("q0", "dma_queue");
  (void)tracks.writer.begin_event(queue, 5, 10, tracks.writer.intern("y"));
  REQUIRE(tracks.writer.finish());
  const auto rows = compose_rows(*tracks.store->snapshot(), nullptr, {});
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].lanes.size() == 2);
  CHECK(rows[1].height == 32);
}

TEST_CASE("many queues start as one lane when the rows do not fit a window, and the choice to open them stays") {
  Tracks tracks;
  for (int i = 0; i < 19; ++i) tracks.add(("q" + std::to_string(i)).c_str(), "dma_queue");
  for (int i = 0; i < 6; ++i) tracks.add(("engine" + std::to_string(i)).c_str(), "engine");
  const Labels closed = tracks.labels();
  CHECK(closed.size() == 2 + 6);
  CHECK(closed[0] == "DMA queues");
  CHECK(closed[1] == "Engines");
  RowChoices choices;
  choices.open = {{"group:DMA queues", true}};
  CHECK(tracks.labels(choices).size() == 2 + 6 + 19);
}

TEST_CASE("many queues stay open when there is room, or nothing else to be seen") {
  Tracks few;
  for (int i = 0; i < 10; ++i) few.add(("q" + std::to_string(i)).c_str(), "dma_queue");
  few.add("Tensor", "engine");
  CHECK(few.labels().size() == 2 + 10 + 1);
  Tracks alone;
  for (int i = 0; i < 60; ++i) alone.add(("q" + std::to_string(i)).c_str(), "dma_queue");
  CHECK(alone.labels().size() == 1 + 60);
}

TEST_CASE("pinned rows come first in their own order and leave their groups") {
  Tracks tracks;
  tracks.add("q0", "dma_queue");
  const TrackNumber q1 = tracks.add("q1", "dma_queue");
  const TrackNumber tensor = tracks.add("Tensor", "engine");
  RowChoices choices;
  choices.pinned = {tracks.key(tensor), tracks.key(q1), "track:engine/Gone@nc0"};
  CHECK(tracks.labels(choices) == Labels{"Tensor", "q1", "DMA queues", "q0", "Engines"});
}

TEST_CASE("a pinned row of one of several devices says which") {
  Tracks tracks;
  tracks.add("Tensor", "engine", "nc0");
  const TrackNumber tensor = tracks.add("Tensor", "engine", "nc1");
  RowChoices choices;
  choices.pinned = {tracks.key(tensor)};
  CHECK(tracks.labels(choices).front() == "nc1 Engines Tensor");
}

TEST_CASE("hidden rows are counted in their heading and hidden groups at the end") {
  Tracks tracks;
  const TrackNumber q0 = tracks.add("q0", "dma_queue");
  tracks.add("q1", "dma_queue");
  tracks.add("Tensor", "engine");
  RowChoices choices;
  choices.hidden = {tracks.key(q0), "group:Engines"};
  REQUIRE(tracks.writer.finish());
  const auto rows = compose_rows(*tracks.store->snapshot(), nullptr, choices);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].label == "DMA queues");
  CHECK(rows[0].hidden_count == 1);
  CHECK(rows[0].members.size() == 2);
  CHECK(rows[1].label == "q1");
  CHECK(rows[2].label == "Hidden groups");
  REQUIRE(rows[2].members.size() == 1);
  CHECK(rows[2].members[0].key == "group:Engines");
}

TEST_CASE("moved rows keep the user's order, and new ones come behind those they follow by default") {
  Tracks tracks;
  for (const char* name : {"q0", "q1", "q2", "q3"}) tracks.add(name, "dma_queue");
  REQUIRE(tracks.writer.finish());
  const auto rows = compose_rows(*tracks.store->snapshot(), nullptr, {});
  RowChoices moved = with_row_moved({}, rows, rows[4].key, rows[1].key);  // q3 before q0
  CHECK(tracks.labels(moved) == Labels{"DMA queues", "q3", "q0", "q1", "q2"});
  moved = with_row_stepped(moved, compose_rows(*tracks.store->snapshot(), nullptr, moved), rows[1].key, 1);
  CHECK(tracks.labels(moved) == Labels{"DMA queues", "q3", "q1", "q0", "q2"});
  std::erase(moved.order["group:DMA queues"], rows[3].key);  // as if q2 were new: it follows q1 by default
  CHECK(tracks.labels(moved) == Labels{"DMA queues", "q3", "q1", "q2", "q0"});
  CHECK(with_row_stepped(moved, rows, rows[1].key, -1) == moved);  // the first cannot go up
}

TEST_CASE("groups move with their rows") {
  Tracks tracks;
  tracks.add("q0", "dma_queue");
  tracks.add("Tensor", "engine");
  REQUIRE(tracks.writer.finish());
  const auto rows = compose_rows(*tracks.store->snapshot(), nullptr, {});
  CHECK(tracks.labels(with_row_stepped({}, rows, "group:Engines", -1)) ==
        Labels{"Engines", "Tensor", "DMA queues", "q0"});
}

TEST_CASE("the name filter wants every word in device, group and name, whatever the case") {
  Tracks tracks;
  tracks.add("Tensor", "engine", "nc0");
  tracks.add("Vector", "engine", "nc0");
  tracks.add("Tensor", "engine", "nc1");
  RowChoices choices;
  choices.name_filter = "TENS nc1";
  CHECK(tracks.labels(choices) == Labels{"nc1 Engines", "Tensor"});
  choices.name_filter = "engines vec";
  CHECK(tracks.labels(choices) == Labels{"nc0 Engines", "Vector"});
  RowCount count;
  choices.name_filter = "tensor";
  (void)compose_rows(*tracks.store->snapshot(), nullptr, choices, &count);
  CHECK(count.matching == 2);
  CHECK(count.all == 3);
  choices.name_filter = "tensor gpu";
  CHECK(tracks.labels(choices).empty());
}

TEST_CASE("a filter opens closed groups and queues around what it finds") {
  Tracks tracks;
  tracks.add("S[0]", "semaphore");
  tracks.add("S[1]", "semaphore");
  const TrackNumber queue = tracks.add("q0", "dma_queue");
  tracks.add("ring 7", "dma_queue", "nc0", queue);
  tracks.add("ring 8", "dma_queue", "nc0", queue);
  RowChoices choices;
  choices.name_filter = "s[1]";
  CHECK(tracks.labels(choices) == Labels{"Semaphores", "S[1]"});
  choices.name_filter = "ring 8";
  CHECK(tracks.labels(choices) == Labels{"DMA queues", "q0", "ring 8"});
}

TEST_CASE("errors come before empty rows of their kind, and a closed group tells how many it hides") {
  Tracks tracks;
  tracks.writer.add_track({.name = "A errors", .kind = "error", .device = "nc0", .schema = tracks.schema});
  tracks.add("B errors", "error");
  tracks.add("Tensor", "engine");
  CHECK(tracks.labels() == Labels{"Engines", "Tensor", "Errors", "B errors", "A errors"});
  RowChoices choices;
  choices.open = {{"group:Errors", false}};
  const auto open = compose_rows(*tracks.store->snapshot(), nullptr, {});
  CHECK(open[2].alerts == 0);
  CHECK(open[3].alerts == 1);
  CHECK(open[4].alerts == 0);
  const auto closed = compose_rows(*tracks.store->snapshot(), nullptr, choices);
  CHECK(closed[2].alerts == 1);
  CHECK(closed[1].alerts == 0);
}

TEST_CASE("a small row of a deep stack shows its first levels") {
  Tracks tracks;
  const TrackNumber thread = tracks.add("main", "stream");
  for (int i = 0; i < 9; ++i) (void)tracks.writer.begin_event(thread, 1, 5, tracks.writer.intern("y"));
  REQUIRE(tracks.writer.finish());
  RowChoices choices;
  choices.sizes = {{tracks.key(thread), RowSize::small}};
  const auto normal = compose_rows(*tracks.store->snapshot(), nullptr, {});
  const auto small = compose_rows(*tracks.store->snapshot(), nullptr, choices);
  CHECK(normal[1].lanes.size() == 10);
  CHECK(small[1].lanes.size() == kSmallLevels);
  CHECK(small[1].hidden_levels == 4);
  CHECK(small[1].height < normal[1].height / 2);
}

struct Counters : Tracks {
  SchemaNumber value = writer.add_schema(
      {.name = "counter",
       .kind = EventKind::counter,
       .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value, .required = true}}});
  void add_counter(const char* name, const char* unit) {
    const TrackNumber track = writer.add_track({.name = name, .kind = "counter", .unit = unit, .schema = value});
    writer.sample(track, 0, 1.0);
  }
};

TEST_CASE("the layers' depth leaves out levels of a track and tracks below tracks, of layers alone") {
  Tracks tracks;
  const TrackNumber layers = tracks.add("model", "layer");
  for (int i = 0; i < 4; ++i) (void)tracks.writer.begin_event(layers, 1, 5, tracks.writer.intern("y"));
  const TrackNumber part = tracks.add("part", "layer", "nc0", layers);
  tracks.add("of the part", "layer", "nc0", part);
  const TrackNumber thread = tracks.add("main", "host_thread");
  for (int i = 0; i < 4; ++i) (void)tracks.writer.begin_event(thread, 1, 5, tracks.writer.intern("y"));
  REQUIRE(tracks.writer.finish());
  RowChoices choices;
  choices.open = {{tracks.key(layers), true}, {tracks.key(part), true}};
  CHECK(tracks.labels(choices) == Labels{"Layers", "model", "part", "of the part", "Host", "main"});
  choices.layer_depth = 2;
  CHECK(tracks.labels(choices) == Labels{"Layers", "model", "part", "Host", "main"});
  const auto rows = compose_rows(*tracks.store->snapshot(), nullptr, choices);
  CHECK(rows[1].lanes.size() == 2);
  CHECK(rows[1].hidden_levels == 3);
  CHECK(rows[4].lanes.size() == 5);
  choices.layer_depth = 9;
  CHECK(compose_rows(*tracks.store->snapshot(), nullptr, choices)[1].lanes.size() == 5);
}

TEST_CASE("counters of one unit share a row or a scale, those of another do not") {
  Counters tracks;
  tracks.add_counter("reads", "B/s");
  tracks.add_counter("pending", "");
  tracks.add_counter("writes", "B/s");
  REQUIRE(tracks.writer.finish());
  const auto compose = [&](const RowChoices& choices) {
    return compose_rows(*tracks.store->snapshot(), nullptr, choices);
  };
  RowChoices choices;
  CHECK(compose(choices).size() == 1 + 3);
  CHECK(compose(choices)[1].scale_lanes.size() == 1);
  choices.shared_scale = {"group:Counters"};
  CHECK(compose(choices)[1].scale_lanes.size() == 1);  // pending
  CHECK(compose(choices)[2].scale_lanes.size() == 2);
  choices.counter_mode = {{"group:Counters", CounterMode::stacked}};
  const auto rows = compose(choices);
  REQUIRE(rows.size() == 1 + 2);
  CHECK(rows[1].series.size() == 1);
  CHECK(rows[2].series.size() == 2);
  CHECK(rows[2].counters == CounterMode::stacked);
  CHECK(rows[2].label == "2 counters, B/s");
}

TEST_CASE("the minimal view has what executes and how well it is used, whatever the vendor calls it") {
  Counters tracks;
  tracks.add("Tensor", "engine");
  tracks.add("stream 7", "stream");
  tracks.add("q0", "dma_queue");
  tracks.add("main", "host_thread");
  tracks.add_counter("PE utilisation", "share");
  tracks.add_counter("GPU Utilization", "%");
  tracks.add_counter("MFU", "share");
  tracks.add_counter("reads", "B/s");
  RowChoices choices;
  choices.minimal = true;
  CHECK(tracks.labels(choices) == Labels{"nc0 Engines", "Tensor", "nc0 Streams", "stream 7", "Counters",
                                         "GPU Utilization", "MFU", "PE utilisation"});
}

TEST_CASE("the minimal view of a session that names nothing that executes keeps all but counters") {
  Counters tracks;
  tracks.add("main", "host_thread");
  tracks.add("odd", "something_new");
  tracks.add_counter("reads", "B/s");
  RowChoices choices;
  choices.minimal = true;
  CHECK(tracks.labels(choices) == Labels{"Host", "main", "Other", "odd"});
}

TEST_CASE("the platform view has threads, calls, engines, transfers and counters in this order, a device at a time") {
  Counters tracks;
  const SchemaNumber calls = tracks.writer.add_schema({.name = "runtime_call"});
  for (const char* device : {"gpu 0", "gpu 1"}) {
    tracks.add("stream 7", "stream", device);
    tracks.add("copies", "dma_queue", device);
    tracks.add("layers", "layer", device);
    tracks.add("semaphores", "semaphore", device);
  }
  tracks.add_counter("reads", "B/s");
  const TrackNumber launching = tracks.add_container("main", "host_thread", "", "host");
  tracks.add_on_host("operators", "host", launching);
  tracks.add_on_host("main runtime", "host", launching, calls);
  const TrackNumber idle = tracks.add_container("worker", "host_thread", "", "host");
  tracks.add_on_host("worker runtime", "host", idle, calls);
  RowChoices choices;
  choices.platform = true;
  const Labels labels = tracks.labels(choices);
  const auto at = [&](const char* label) { return std::ranges::find(labels, label) - labels.begin(); };
  CHECK(at("main") < at("operators"));
  CHECK(at("operators") < at("main runtime"));
  CHECK(at("worker runtime") < at("stream 7"));
  CHECK(at("stream 7") < at("copies"));
  CHECK(at("copies") < at("reads"));
  for (const char* left_out : {"worker", "layers", "semaphores"}) {
    CAPTURE(left_out);
    CHECK(std::ranges::count(labels, left_out) == 0);
  }
  CHECK(std::ranges::count(labels, "stream 7") == 2);
}

TEST_CASE("choices come back from their text as they were") {
  RowChoices choices;
  choices.open = {{"group:DMA queues", true}, {"group:nc0 \t odd\nname\\", false}};
  choices.hidden = {"track:1", "pool:a\tb"};
  choices.pinned = {"track:9", "track:2"};
  choices.sizes = {{"track:3", RowSize::small}, {"track:4", RowSize::tall}};
  choices.order = {{"", {"group:B", "group:A"}}, {"group:A", {}}, {"group:B", {"track:2", "track:1"}}};
  choices.name_filter = "nc0 tensor ";
  choices.counter_mode = {{"group:Counters", CounterMode::overlaid}, {"group:X", CounterMode::stacked}};
  choices.shared_scale = {"group:Counters"};
  choices.counter_lines = {"group:Counters"};
  choices.layer_depth = 3;
  choices.minimal = choices.platform = true;
  CHECK(RowChoices::from_text(choices.to_text()) == choices);
  CHECK(RowChoices::from_text("") == RowChoices{});
  CHECK(RowChoices::from_text("of a newer version\t1\nopen\nsize\ttrack:1\thuge\n\n") == RowChoices{});
}

TEST_CASE("a kind that nobody knows is shown all the same") {
  Tracks tracks;
  tracks.add("odd", "something_new");
  CHECK(tracks.labels() == Labels{"Other", "odd"});
}

TEST_CASE("hundreds of streams with a kernel or two are one row below all that work, and open one by one") {
  Tracks tracks;
  for (int i = 0; i < 40; ++i) tracks.add(("stream " + std::to_string(100 + i)).c_str(), "stream", "GPU 0");
  const TrackNumber busy = tracks.add("stream 7", "stream", "GPU 0");
  const TrackNumber nccl = tracks.add("NCCL, stream 24", "collective", "GPU 0");
  for (int i = 1; i < 60'000; ++i) {
    for (const TrackNumber track : {busy, nccl}) (void)tracks.writer.begin_event(track, i * 20, 10, 0);
  }
  tracks.add("memcpy stream 7", "dma_queue", "GPU 0");
  CHECK(tracks.labels() == Labels{"Streams", "stream 7", "NCCL, stream 24", "41 quiet rows"});
  RowChoices choices;
  choices.open = {{"quiet:group:Streams", true}};
  const Labels open = tracks.labels(choices);
  CHECK(open.size() == 4 + 41);
  CHECK(open[4] == "stream 100");
}

TEST_CASE("the streams of a GPU are open before the many threads of its host are") {
  Tracks tracks;
  for (int i = 0; i < 12; ++i) tracks.add(("stream " + std::to_string(i)).c_str(), "stream", "GPU 0");
  for (int i = 0; i < 30; ++i) tracks.add_on_host(("thread " + std::to_string(i)).c_str(), "service (8)");
  const Labels rows = tracks.labels();
  REQUIRE(rows.size() > 13);
  CHECK(rows[0] == "GPU 0");
  CHECK(rows[1] == "stream 0");
  CHECK(rows[12] == "stream 11");
}

TEST_CASE("a pause of a capture is a group of its own, and no group stands twice") {
  Tracks tracks;
  tracks.add("Program", "process", "run 7");
  tracks.add("Capture", "capture", "");
  CHECK(tracks.labels() == Labels{"Other", "Program", "Capture", "Capture"});
}

TEST_CASE("counters of two parts keep the words that tell these apart, where a third has none") {
  Tracks tracks;
  const SchemaNumber samples = tracks.writer.add_schema({.name = "counter", .kind = EventKind::counter});
  for (const char* name :
       {"NOC0 avg_link_util", "NOC0 max_link_demand", "NOC1 avg_link_util", "NOC1 max_link_demand", "avg_link_util"}) {
    (void)tracks.writer.add_track({.name = name, .kind = "counter", .device = "chip 0", .schema = samples});
  }
  CHECK(tracks.labels() == Labels{"Counters", "NOC0 avg_link_util", "NOC0 max_link_demand", "NOC1 avg_link_util",
                                  "NOC1 max_link_demand", "avg_link_util"});
}

}  // namespace
}  // namespace accelscope::app::rows
