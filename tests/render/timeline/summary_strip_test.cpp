// Collapsed groups and the overview: many lanes as one.
#include "render/timeline/summary_strip.h"

#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"

namespace accelscope::render {
namespace {

// 40 lanes that work in their own quarter of 4,000 ns: lane i in quarter i % 4.
struct Group {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  std::shared_ptr<const Snapshot> snapshot;
  WorkerPool pool{2};
  lod::LaneWindows windows{pool};
  StripCrew crew{pool};
  SummaryBuilder builder;
  std::vector<std::uint32_t> lanes;

  Group() {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema({.name = "work"});
    for (std::int64_t i = 0; i < 40; ++i) {
      const TrackNumber track =
          writer.add_track({.name = "lane " + std::to_string(i), .kind = "engine", .schema = schema});
      (void)writer.begin_event(track, (i % 4) * 1000, 500, writer.intern("WORK"));
    }
    REQUIRE(writer.finish());
    snapshot = store->snapshot();
    for (std::uint32_t i = 0; i < snapshot->lanes.size(); ++i) lanes.push_back(i);
  }
  // Frames until it is complete; how many lanes the busiest frame took.
  std::size_t build(const TimeView& view, std::size_t lanes_a_frame, const SummaryBuilder::ShadeOf& shade_of) {
    std::size_t most = 0;
    for (int round = 0; round < 3; ++round) {
      builder.begin(lanes, view);
      while (builder.busy()) {
        windows.begin_frame(store, snapshot);
        std::size_t budget = lanes_a_frame;
        builder.advance(*snapshot, windows, crew, shade_of, budget);
        most = std::max(most, lanes_a_frame - budget);
        windows.end_frame();
        windows.wait_until_settled();
      }
    }
    REQUIRE(builder.strip().complete);
    return most;
  }
};

LaneShade plain(std::uint32_t) { return {}; }

TEST_CASE_FIXTURE(Group, "a summary is the same however few lanes a frame adds") {
  const TimeView view{0, 4000, 400};
  CHECK(build(view, 1000, plain) == 40);
  const std::vector<Pixel> at_once = builder.strip().texels;
  CHECK(build(view, 7, plain) == 7);
  CHECK(builder.strip().texels == at_once);
  CHECK(at_once[25] != 0);  // a quarter of the lanes works
  CHECK(at_once[75] == 0);  // none does
  CHECK(at_once[125] == at_once[25]);
}

TEST_CASE_FIXTURE(Group, "what is dimmed in the lanes is dimmed in their summary") {
  const TimeView view{0, 4000, 400};
  build(view, 1000, plain);
  const Pixel bright = builder.strip().texels[25];
  build(view, 1000, [](std::uint32_t lane) {
    LaneShade shade;
    shade.lane_index = lane;
    shade.bright_begin_ns = 1000;
    return shade;
  });
  const Pixel dim = builder.strip().texels[25];
  CHECK((dim & 0xffU) < (bright & 0xffU));  // the background is black here
  CHECK(builder.strip().texels[125] == bright);
}

TEST_CASE_FIXTURE(Group, "another view shows the last summary where it lies there, until its own is made") {
  build({0, 4000, 400}, 1000, plain);
  const SummaryStrip& whole = builder.strip();
  const SummaryStrip moved = at_view(whole, {1000, 5000, 400});
  CHECK(moved.texels[25] == whole.texels[125]);
  CHECK(moved.texels[399] == 0);
  const SummaryStrip zoomed = at_view(whole, {0, 1000, 400});
  CHECK(zoomed.texels[100] == whole.texels[25]);
  CHECK(zoomed.texels[300] == 0);
}

}  // namespace
}  // namespace accelscope::render
