// Lanes by keys and commands, what dense parts and values at the left say.
#include <doctest/doctest.h>

#include "app/timeline/frame.h"
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr std::int64_t kStep = 100'000;

// Engines whose events begin together, one that is idle in the middle, one with so many events that thousands share a
// pixel, and a thread of nine levels.
struct LaneViewer : test::Viewer {
  LaneViewer() {
    path = folder.path() + "/lanes.accel";
    {
      std::shared_ptr<Store> store = std::move(Store::create()).value();
      StoreSink sink(*store);
      SessionWriter writer(sink);
      const SchemaNumber schema = writer.add_schema({.name = "instruction"});
      const StringId name = writer.intern("WORK");
      for (const char* engine : {"Tensor", "Vector", "Scalar", "GpSimd"}) {
        const TrackNumber track =
            writer.add_track({.name = engine, .kind = "engine", .device = "nc0", .schema = schema});
        const std::string label = engine;
        if (label == "GpSimd") {
          for (std::int64_t i = 0; i < 50'000; ++i) (void)writer.begin_event(track, i * 20, 10, name);
          continue;
        }
        for (std::int64_t i = 0; i < 10; ++i) {
          if (label == "Scalar" && i > 1) continue;
          (void)writer.begin_event(track, i * kStep, label == "Tensor" ? kStep / 2 : kStep / 4, name);
        }
      }
      const TrackNumber thread = writer.add_track({.name = "main", .kind = "host_thread", .schema = schema});
      for (std::int64_t depth = 0; depth < 9; ++depth) {
        (void)writer.begin_event(thread, depth * 1000, 10 * kStep - 2 * depth * 1000, name);
      }
      REQUIRE(writer.finish());
      REQUIRE(store->save(path));
    }
    open(path);
    tab().show({0, 1'000'000});
    REQUIRE(shell.settle());
  }
  [[nodiscard]] const timeline::TimelineState& state() { return *tab().timeline; }
  [[nodiscard]] const rows::TimelineRow& row(const std::string& label) {
    for (const rows::TimelineRow& each : state().rows) {
      if (each.label == label) return each;
    }
    FAIL("no row ", label);
    return state().rows.front();
  }
  [[nodiscard]] std::string widget(const std::string& label) { return "timeline.label." + row(label).key; }
  [[nodiscard]] bool has_row(const std::string& label) {
    return std::any_of(state().rows.begin(), state().rows.end(),
                       [&](const rows::TimelineRow& each) { return each.label == label; });
  }
  [[nodiscard]] Point at(const std::string& label, double ns) {
    const Rect* rect = shell.find(widget(label));
    REQUIRE_MESSAGE(rect != nullptr, "no label ", label);
    const Rect canvas = *shell.find("timeline.canvas");
    return {canvas.x0 + canvas.width() * static_cast<float>(ns / 1e6), rect->centre().y};
  }
  [[nodiscard]] std::string selected_lane() {
    REQUIRE(tab().selected);
    return tab().snapshot->find_track(tab().snapshot->find_lane(lane_of(*tab().selected))->track)->track->name;
  }
  void press(Key key, Modifiers modifiers = {}) {
    shell.key(key, modifiers);
    shell.frame(3);
  }
  test::TemporaryFolder folder;
  std::string path;
};

constexpr Modifiers kShift{.shift = true};

TEST_CASE_FIXTURE(LaneViewer,
                  "the selection steps over lanes at the time where it began, past those without an event") {
  tab().show({400'000, 800'000});
  tab().selected = make_event_id(tab().snapshot->lanes[0].number(), 5);
  shell.frame(2);
  press(Key::down, kShift);
  CHECK(selected_lane() == "Vector");
  CHECK(ordinal_of(*tab().selected) == 5);
  press(Key::down, kShift);
  CHECK(selected_lane() == "GpSimd");  // Scalar has nothing in the view
  press(Key::up, kShift);
  press(Key::up, kShift);
  CHECK(selected_lane() == "Tensor");
  CHECK(ordinal_of(*tab().selected) == 5);
}

TEST_CASE_FIXTURE(LaneViewer,
                  "keys pin and hide the lane under the pointer, else that of the selection, and show all") {
  shell.move(at("Vector", 900'000));
  shell.frame();
  press(Key::h);
  CHECK_FALSE(has_row("Vector"));
  press(Key::h, kShift);
  CHECK(has_row("Vector"));
  shell.move({2, 2});
  tab().selected = make_event_id(tab().snapshot->lanes[0].number(), 5);
  shell.frame();
  press(Key::p);
  REQUIRE(state().rows.front().pinned);
  CHECK(state().rows.front().track->name == "Tensor");
  press(Key::p);
  CHECK_FALSE(row("Tensor").pinned);
}

TEST_CASE_FIXTURE(LaneViewer, "keys collapse and expand every group, and take the keyboard to the name filter") {
  press(Key::c);
  CHECK_FALSE(has_row("Tensor"));
  CHECK_FALSE(has_row("main"));
  press(Key::e);
  CHECK(has_row("Tensor"));
  press(Key::l);
  shell.type("vec");
  shell.frame(2);
  CHECK(has_row("Vector"));
  CHECK_FALSE(has_row("Tensor"));
}

TEST_CASE_FIXTURE(LaneViewer, "the commands are in the list of keys") {
  run("keys");
  REQUIRE(shell.click("keys.filter"));
  shell.type("collapse");
  shell.frame(2);
  CHECK(shell.shows("Collapse all groups of lanes"));
}

TEST_CASE_FIXTURE(LaneViewer,
                  "where many events share a pixel the card tells how many and how busy, and no single one") {
  shell.move(at("GpSimd", 510'000));
  shell.wait(0.3);
  CHECK_FALSE(tab().hovered);
  CHECK(shell.shows(" events"));
  CHECK(shell.shows("50 %"));
  CHECK(shell.shows("A click selects the nearest"));
  shell.click(at("GpSimd", 510'000));
  shell.frame(2);
  CHECK(selected_lane() == "GpSimd");
}

TEST_CASE_FIXTURE(LaneViewer, "a small row says how many levels it leaves out, and a click shows them") {
  tab().change([&](session::ViewChoices& all) { all.rows.sizes[row("main").key] = rows::RowSize::small; });
  shell.frame(2);
  CHECK(row("main").hidden_levels == 3);
  CHECK(shell.shows("6 of 9"));
  REQUIRE(shell.click("timeline.levels." + row("main").key));
  shell.frame(2);
  CHECK(row("main").hidden_levels == 0);
  CHECK(row("main").size == rows::RowSize::tall);
}

TEST_CASE_FIXTURE(LaneViewer,
                  "the value at the left is of the view, or of the box while one is selected, and says so") {
  REQUIRE(shell.hover(widget("Tensor")));
  shell.wait(0.3);
  CHECK(shell.shows("busy 50 % of the view"));
  tab().region = EventFilter{.range = TimeRange{0, kStep / 2}, .tracks = {}, .terms = {}};
  shell.frame(3);
  CHECK(shell.shows("busy 100 % of the selected box"));
}

}  // namespace
}  // namespace accelscope::app
