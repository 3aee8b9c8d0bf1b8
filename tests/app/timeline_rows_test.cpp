#include "app/timeline_rows.h"

#include <doctest/doctest.h>

#include "core/model/session_writer.h"
#include "core/store/store.h"

namespace accelscope::app {
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
  tracks.add("stream 7", "stream", "gpu 0");
  CHECK(tracks.labels() == Labels{"gpu 0 Streams", "stream 7", "Counters", "CPU memory"});
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
  choices.open = {{"track:" + std::to_string(queue), true}};
  CHECK(tracks.labels(choices) == Labels{"DMA queues", "q0", "q0-E0", "q0-E1"});
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

TEST_CASE("a kind that nobody knows is shown all the same") {
  Tracks tracks;
  tracks.add("odd", "something_new");
  CHECK(tracks.labels() == Labels{"Other", "odd"});
}

}  // namespace
}  // namespace accelscope::app
