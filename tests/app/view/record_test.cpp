#include "app/view/record.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/chunk/session_writer.h"

namespace accelscope::app::view {
namespace {

TEST_CASE("links: lanes of a filter that have not come yet join it when they do, unless it was changed") {
  WorkerPool pool(1);
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  Schema schema;
  schema.name = "work";
  const SchemaNumber table = writer.add_schema(schema);
  session::SessionTab tab;
  const auto come = [&](const char* name) {
    Track made{.name = name, .kind = "engine", .device = "nc0"};
    made.schema = table;
    const TrackNumber track = writer.add_track(made);
    (void)writer.begin_event(track, 0, 10, writer.intern("MATMUL"));
    writer.flush();
    (void)session::begin_frame(tab);
    take_awaited_lanes(tab);
    return store->snapshot()->tracks.back().track->number;
  };
  session::attach(tab, pool, store);
  const TrackNumber tensor = come("Tensor");
  tab.live = session::LiveState::recording;
  ViewLink link;
  link.filter_tracks = {"engine/Tensor@nc0", "engine/Vector@nc0", "engine/Scalar@nc0"};
  std::vector<std::string> reported;
  follow_link(tab, link, [&](std::string text) { reported.push_back(std::move(text)); });
  CHECK(reported == std::vector<std::string>{"2 of 3 lanes of the view's filter have not come yet"});
  CHECK(tab.choices.filter.tracks == std::vector<TrackNumber>{tensor});

  (void)come("GpSimd");
  CHECK(tab.choices.filter.tracks == std::vector<TrackNumber>{tensor});
  const TrackNumber vector = come("Vector");
  CHECK(tab.choices.filter.tracks == std::vector<TrackNumber>{tensor, vector});
  tab.choices.filter.tracks = {vector};
  (void)come("Scalar");
  CHECK(tab.choices.filter.tracks == std::vector<TrackNumber>{vector});
}

}  // namespace
}  // namespace accelscope::app::view
