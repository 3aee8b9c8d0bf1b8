// The timeline driven by hand through the null shell: what the mouse does, and what is seen.
#include <doctest/doctest.h>

#include <cmath>

#include "core/chunk/session_writer.h"
#include "render/shell/null_shell.h"
#include "tests/gui/timeline/timeline_client.h"
#include "tests/gui/viewer.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr int kWidth = 1200;
constexpr int kHeight = 600;

// Two engines and a counter: MATMUL for 60 of every 100 us for 10 ms, waits between them on the second engine.
[[nodiscard]] std::shared_ptr<Store> make_store() {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "instruction", .name_column = "opcode", .wait_names = {"SEMAPHORE"}, .columns = {}});
  const SchemaNumber counter = writer.add_schema(
      {.name = "counter",
       .kind = EventKind::counter,
       .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value, .required = true}}});
  const TrackNumber tensor = writer.add_track({.name = "Tensor", .kind = "engine", .schema = schema});
  const TrackNumber vector = writer.add_track({.name = "Vector", .kind = "engine", .schema = schema});
  const TrackNumber pending = writer.add_track({.name = "Pending DMA", .kind = "counter", .schema = counter});
  const StringId matmul = writer.intern("MATMUL");
  const StringId copy = writer.intern("TENSOR_COPY");
  const StringId wait = writer.intern("SEMAPHORE");
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t at = i * 100'000;
    (void)writer.begin_event(tensor, at, 60'000, matmul);
    (void)writer.begin_event(vector, at, 80'000, wait);
    (void)writer.begin_event(vector, at + 80'000, 20'000, i % 10 == 0 ? matmul : copy);
    writer.sample(pending, at, static_cast<double>(i % 7));
  }
  REQUIRE(writer.finish());
  return store;
}

struct TimelineFixture {
  TimelineClient client{make_store()};
  NullShell shell{client, {.width = kWidth, .height = kHeight}};
  TimelineFixture() { REQUIRE(shell.settle()); }

  [[nodiscard]] const Rect& canvas() const {
    const Rect* rect = shell.find("timeline.canvas");
    REQUIRE(rect != nullptr);
    return *rect;
  }
  [[nodiscard]] float x(double ns) const {
    const session::ViewRange& view = client.tab.view;
    return canvas().x0 + static_cast<float>((ns - view.begin_ns) / view.span_ns()) * canvas().width();
  }
  [[nodiscard]] double ns(float at) const {
    const session::ViewRange& view = client.tab.view;
    return view.begin_ns + static_cast<double>((at - canvas().x0) / canvas().width()) * view.span_ns();
  }
  // In the middle of the lane of this track.
  [[nodiscard]] Point at(const char* track, double time) const {
    for (const timeline::DrawnRow& row : client.tab.timeline->drawn_rows) {
      if (client.tab.timeline->rows[row.row].label == track) return {x(time), row.rect.centre().y};
    }
    FAIL("no row ", track);
    return {};
  }
  [[nodiscard]] std::string selected_name() {
    if (!client.tab.selected) return {};
    const Result<EventRecord> event = test::read_event(client.tab, *client.tab.selected);
    REQUIRE(event);
    return event->name_text;
  }
};

TEST_CASE_FIXTURE(TimelineFixture, "the lanes, their busy shares and the names of wide slices are seen") {
  CHECK(shell.shows("Engines"));
  CHECK(shell.shows("Tensor"));
  CHECK(shell.shows("MATMUL"));
  CHECK(shell.shows("60 %"));
  CHECK(shell.shows("20 %"));  // Vector: its waits do not count as busy
  CHECK(shell.shows("Pending DMA"));
  CHECK(shell.shows("since start"));
}

TEST_CASE_FIXTURE(TimelineFixture, "the wheel zooms at the pointer: the time below it stays") {
  const Point pointer = at("Tensor", 333'000);
  shell.move(pointer);
  const double before = ns(pointer.x);
  shell.wheel({0, 3});
  shell.frame();
  CHECK(client.tab.view.span_ns() == doctest::Approx(1e6 / std::pow(1.25, 3)));
  CHECK(ns(pointer.x) == doctest::Approx(before).epsilon(1e-6));
  shell.wheel({0, -3});
  shell.frame();
  CHECK(client.tab.view.span_ns() == doctest::Approx(1e6));
}

TEST_CASE_FIXTURE(TimelineFixture, "shift and wheel pans, and a wheel that rests is one step of the history") {
  shell.move(at("Tensor", 300'000));
  for (int notch = 0; notch < 4; ++notch) shell.wheel({0, 1});
  const session::ViewRange zoomed = client.tab.view;
  shell.wait(1.0);
  client.run("view_back");
  CHECK(client.tab.view.span_ns() == doctest::Approx(1e6));
  client.run("view_forward");
  CHECK(client.tab.view.span_ns() == doctest::Approx(zoomed.span_ns()));
}

TEST_CASE_FIXTURE(TimelineFixture, "a drag across the lanes zooms to what it covered") {
  shell.drag(at("Tensor", 200'000), at("Vector", 600'000));
  shell.frame();
  CHECK(client.tab.view.begin_ns == doctest::Approx(200'000).epsilon(0.01));
  CHECK(client.tab.view.end_ns == doctest::Approx(600'000).epsilon(0.01));
  CHECK_FALSE(client.tab.selected);
  client.run("view_back");
  CHECK(client.tab.view.end_ns == doctest::Approx(1'000'000));
}

TEST_CASE_FIXTURE(TimelineFixture, "a drag with the right or middle button pans and opens no menu") {
  client.tab.view = {2'000'000, 3'000'000};
  shell.frame();
  for (const MouseButton button : {MouseButton::right, MouseButton::middle}) {
    const double begin = client.tab.view.begin_ns;
    const Point from = at("Tensor", begin + 500'000);
    shell.drag(from, {from.x - 100, from.y}, button);
    shell.frame();
    const double expected = 100.0 / static_cast<double>(canvas().width()) * 1e6;
    CHECK(client.tab.view.begin_ns == doctest::Approx(begin + expected).epsilon(0.01));
    CHECK_FALSE(shell.shows("Drop a marker here"));
  }
}

TEST_CASE_FIXTURE(TimelineFixture, "a click selects the event under it and a click beside it clears") {
  shell.click(at("Tensor", 330'000));
  shell.frame();
  REQUIRE(client.tab.selected);
  CHECK(ordinal_of(*client.tab.selected) == 3);
  CHECK(selected_name() == "MATMUL");
  shell.click(at("Vector", 385'000));
  shell.frame();
  CHECK(selected_name() == "TENSOR_COPY");
  shell.click(at("Tensor", 380'000));
  shell.frame();
  CHECK_FALSE(client.tab.selected);
}

TEST_CASE_FIXTURE(TimelineFixture, "a click selects in dense lanes too") {
  client.tab.view = {0, 10'000'000};
  REQUIRE(shell.settle());
  client.tab.view = {-40'000'000, 60'000'000};  // a slice is less than a pixel
  REQUIRE(shell.settle());
  shell.click(at("Tensor", 5'030'000));
  shell.frame();
  REQUIRE(client.tab.selected);
  CHECK(std::abs(static_cast<double>(ordinal_of(*client.tab.selected)) - 50) < 3);
}

TEST_CASE_FIXTURE(TimelineFixture, "a double click fits the event") {
  shell.click(at("Tensor", 330'000), MouseButton::left, 2);
  shell.frame();
  CHECK(client.tab.view.begin_ns < 300'000);
  CHECK(client.tab.view.end_ns > 360'000);
  CHECK(client.tab.view.span_ns() == doctest::Approx(120'000));
}

TEST_CASE_FIXTURE(TimelineFixture, "next and previous step along the lane, with shift to the same name") {
  shell.click(at("Vector", 190'000));
  shell.frame();
  CHECK(selected_name() == "TENSOR_COPY");
  const EventId first = *client.tab.selected;
  client.run("next_event");
  CHECK(selected_name() == "SEMAPHORE");
  client.run("previous_event");
  CHECK(client.tab.selected == first);
  client.run("next_same_name");
  CHECK(*client.tab.selected == first + 2);
  client.run("previous_same_name");
  CHECK(client.tab.selected == first);
  client.run("clear_selection");
  CHECK_FALSE(client.tab.selected);
}

TEST_CASE_FIXTURE(TimelineFixture, "keys zoom, pan and fit") {
  client.run("zoom_in");
  CHECK(client.tab.view.span_ns() == doctest::Approx(1e6 / 1.5));
  client.run("zoom_out");
  const session::ViewRange before = client.tab.view;
  client.run("pan_right");
  CHECK(client.tab.view.begin_ns == doctest::Approx(before.begin_ns + 0.2 * before.span_ns()));
  client.run("fit_all");
  CHECK(client.tab.view.begin_ns <= 0);
  CHECK(client.tab.view.end_ns >= 10'000'000);
  client.tab.active = TimeRange{4'000'000, 6'000'000};
  client.run("fit_activity");
  CHECK(client.tab.view.begin_ns == doctest::Approx(4'000'000).epsilon(0.02));
  CHECK(client.tab.view.end_ns == doctest::Approx(6'000'000).epsilon(0.02));
}

TEST_CASE_FIXTURE(TimelineFixture, "any zoom or pan ends following, and the control turns it on again") {
  client.tab.live = session::LiveState::recording;
  client.tab.follow = true;
  shell.frame(2);
  shell.move(at("Tensor", 300'000));
  shell.wheel({0, 1});
  CHECK_FALSE(client.tab.follow);
  shell.frame();
  CHECK(shell.click("timeline.follow"));
  CHECK(client.tab.follow);
}

TEST_CASE_FIXTURE(TimelineFixture, "a marker drops at the cursor, moves with a drag, is renamed and deleted") {
  shell.move(at("Tensor", 400'000));
  shell.frame(2);
  client.run("drop_marker");
  shell.frame(2);
  REQUIRE(client.tab.markers.size() == 1);
  CHECK(client.tab.markers[0].ts_ns == doctest::Approx(400'000).epsilon(0.01));
  const Rect flag = *shell.find("timeline.marker.0");
  const float to = x(700'000);
  shell.drag({flag.x0 + 3, flag.centre().y}, {to + 3, flag.centre().y});
  shell.frame();
  CHECK(client.tab.markers[0].ts_ns == doctest::Approx(700'000).epsilon(0.01));
  CHECK(client.tab.store->markers().at(0).ts_ns == client.tab.markers[0].ts_ns);

  CHECK(shell.click("timeline.marker.0", MouseButton::left, 2));
  shell.frame(3);
  shell.type("w1 load");
  shell.key(Key::enter);
  shell.frame(2);
  CHECK(client.tab.markers[0].name == "w1 load");
  CHECK(shell.shows("w1 load"));

  CHECK(shell.click("timeline.marker.0", MouseButton::right));
  shell.frame(2);
  CHECK(shell.click("timeline.menu.delete"));
  shell.frame();
  CHECK(client.tab.markers.empty());
  CHECK(client.tab.store->markers().empty());
}

TEST_CASE_FIXTURE(TimelineFixture, "M on a selection measures it as a span") {
  shell.click(at("Tensor", 330'000));
  shell.frame();
  client.run("drop_marker");
  REQUIRE(client.tab.markers.size() == 1);
  CHECK(client.tab.markers[0].ts_ns == 300'000);
  CHECK(client.tab.markers[0].end_ns == 360'000);
}

TEST_CASE_FIXTURE(TimelineFixture, "a right click drops a marker where it was made") {
  shell.click(at("Tensor", 500'000), MouseButton::right);
  shell.frame(2);
  REQUIRE(shell.click("timeline.menu.drop"));
  shell.frame();
  REQUIRE(client.tab.markers.size() == 1);
  CHECK(client.tab.markers[0].ts_ns == doctest::Approx(500'000).epsilon(0.01));
}

TEST_CASE_FIXTURE(TimelineFixture, "the hover card opens on an event after a moment and never covers its slice") {
  shell.move(at("Tensor", 330'000));
  shell.frame();
  CHECK_FALSE(shell.shows("300,000 ns"));
  shell.wait(0.3);
  CHECK(shell.shows("300,000 ns"));
  CHECK(client.tab.hovered);
}

TEST_CASE_FIXTURE(TimelineFixture,
                  "a group closes and opens with a click, and closed it keeps its activity in one lane") {
  REQUIRE(shell.click("timeline.label.group:Engines"));
  shell.frame(2);
  CHECK_FALSE(shell.shows("Tensor"));
  CHECK(shell.shows("Engines"));
  REQUIRE(client.tab.timeline->drawn_rows.size() > 0);
  CHECK(client.tab.timeline->drawn_rows[0].summary_row >= 0);
  REQUIRE(shell.click("timeline.label.group:Engines"));
  shell.frame(2);
  CHECK(shell.shows("Tensor"));
}

TEST_CASE_FIXTURE(TimelineFixture, "the brush of the overview moves the view") {
  const Rect brush = *shell.find("timeline.brush");
  const double begin = client.tab.view.begin_ns;
  shell.drag(brush.centre(), {brush.centre().x + 200, brush.centre().y});
  shell.frame();
  CHECK(client.tab.view.begin_ns > begin + 500'000);
  CHECK(client.tab.view.span_ns() == doctest::Approx(1e6));
}

// 200 us of work, ten seconds of nothing, twice.
[[nodiscard]] std::string save_bursts(const std::string& folder) {
  const std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "instruction", .columns = {}});
  const TrackNumber tensor = writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .schema = schema});
  const StringId matmul = writer.intern("MATMUL");
  for (std::int64_t burst = 0; burst < 3; ++burst) {
    for (std::int64_t i = 0; i < 20; ++i) {
      (void)writer.begin_event(tensor, burst * 10'000'000'000 + i * 10'000, 8'000, matmul);
    }
  }
  REQUIRE(writer.finish());
  const std::string path = folder + "/bursts.accel";
  REQUIRE(store->save(path).ok());
  return path;
}

TEST_CASE("gaps between bursts are folded in the overview, and the activity is fitted burst by burst") {
  const test::TemporaryFolder folder;
  test::Viewer viewer;
  viewer.open(save_bursts(folder.path()));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("timeline.folded.1") != nullptr; }));
  REQUIRE(viewer.shell.find("timeline.folded.3") != nullptr);
  CHECK(viewer.shell.shows("10 s idle"));
  // The burst in the middle has its own third of the room, and a click on it goes there.
  const Rect first = *viewer.shell.find("timeline.folded.1"), second = *viewer.shell.find("timeline.folded.3");
  CHECK(second.x0 - first.x1 > 200);
  const auto begin = [&] { return viewer.tab().view.begin_ns; };
  const auto span = [&] { return viewer.tab().view.span_ns(); };
  CHECK(span() > 20e9);  // a fresh view has all of it
  viewer.run("fit_activity");
  CHECK(span() < 1e6);
  CHECK(begin() < 1e6);
  viewer.run("fit_activity");
  CHECK(span() < 1e6);
  CHECK(begin() == doctest::Approx(10e9).epsilon(0.001));
  viewer.run("fit_activity");
  CHECK(begin() == doctest::Approx(20e9).epsilon(0.001));
  viewer.run("fit_activity");
  CHECK(span() > 20e9);
}

}  // namespace
}  // namespace accelscope::app
