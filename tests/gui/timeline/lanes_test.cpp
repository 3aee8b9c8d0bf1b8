// The rows of the timeline as the user arranges them, through real input.
#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"
#include "render/shell/null_shell.h"
#include "tests/gui/timeline/timeline_client.h"

namespace accelscope::app {
namespace {

using namespace render;

// 19 queues, six engines, two counters, four semaphores, and throttling that happened three times.
[[nodiscard]] std::shared_ptr<Store> make_lanes_store() {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "instruction"});
  const SchemaNumber counter = writer.add_schema(
      {.name = "counter",
       .kind = EventKind::counter,
       .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value, .required = true}}});
  const StringId name = writer.intern("WORK");
  const auto add = [&](const std::string& label, const char* kind, int events) {
    const TrackNumber track = writer.add_track({.name = label, .kind = kind, .device = "nc0", .schema = schema});
    for (int i = 0; i < events; ++i) (void)writer.begin_event(track, i * 100'000, 50'000, name);
  };
  for (int i = 0; i < 19; ++i) add("queue" + std::to_string(i), "dma_queue", 10);
  for (const char* engine : {"Tensor", "TensorMatrix", "Vector", "Scalar", "GpSimd", "Sync"}) add(engine, "engine", 10);
  for (const char* each : {"reads", "writes"}) {
    const TrackNumber track =
        writer.add_track({.name = each, .kind = "counter", .device = "nc0", .unit = "B/s", .schema = counter});
    for (int i = 0; i < 10; ++i) writer.sample(track, i * 100'000, each[0] == 'r' ? 1000.0 : 250.0 * (i % 3));
  }
  for (int i = 0; i < 4; ++i) add("S[" + std::to_string(i) + "]", "semaphore", 1);
  add("thermal", "throttle", 3);
  REQUIRE(writer.finish());
  return store;
}

struct Lanes {
  TimelineClient client{make_lanes_store()};
  NullShell shell{client, {.width = 1200, .height = 500}};
  Lanes() { REQUIRE(shell.settle()); }

  [[nodiscard]] const timeline::TimelineState& state() const { return *client.tab.timeline; }
  [[nodiscard]] const rows::RowChoices& choices() const { return client.tab.choices.rows; }
  [[nodiscard]] const rows::TimelineRow& row(const std::string& label) const {
    for (const rows::TimelineRow& each : state().rows) {
      if (each.label == label) return each;
    }
    FAIL("no row ", label);
    return state().rows.front();
  }
  [[nodiscard]] std::string widget(const std::string& label) const { return "timeline.label." + row(label).key; }
  // Whether its label is on the screen.
  [[nodiscard]] bool seen(const std::string& label) const {
    for (const timeline::DrawnRow& each : state().drawn_rows) {
      if (state().rows[each.row].label == label) return true;
    }
    return false;
  }
  [[nodiscard]] Rect label_rect(const std::string& label) const {
    const Rect* rect = shell.find(widget(label));
    REQUIRE_MESSAGE(rect != nullptr, "no label ", label);
    return *rect;
  }
  void choose(const std::string& label, const std::string& item, const char* submenu = nullptr) {
    REQUIRE(shell.click(widget(label), MouseButton::right));
    shell.frame(2);
    std::string menu = "timeline.row_menu.";
    if (submenu != nullptr) {
      menu += submenu;
      REQUIRE(shell.click(menu));
      shell.frame(2);
      menu += '.';
    }
    REQUIRE_MESSAGE(shell.click(menu + item), "no item ", menu + item);
    shell.frame(2);
  }
};

TEST_CASE("a counter's row prints the value that is stored, not one that was rounded for it") {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber counter = writer.add_schema(
      {.name = "counter",
       .kind = EventKind::counter,
       .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value, .required = true}}});
  const TrackNumber held =
      writer.add_track({.name = "allocated", .kind = "counter", .device = "nc0", .unit = "B", .schema = counter});
  for (int i = 0; i < 10; ++i) writer.sample(held, i * 1'000, 60.0 * 1024 * 1024 * 1024);
  REQUIRE(writer.finish());
  TimelineClient client{store};
  NullShell shell{client, {.width = 1200, .height = 500}};
  REQUIRE(shell.settle());
  CHECK(shell.shows("60 GiB"));
  CHECK_FALSE(shell.shows("59.98 GiB"));
}

TEST_CASE("a counter that varies within a pixel is a pale band from its lowest to its highest value there") {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber counter = writer.add_schema(
      {.name = "counter",
       .kind = EventKind::counter,
       .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value, .required = true}}});
  const TrackNumber track =
      writer.add_track({.name = "power", .kind = "counter", .device = "nc0", .unit = "W", .schema = counter});
  writer.sample(track, 0, 100.0);  // the top of the scale
  writer.sample(track, 250'000, 80.0);
  for (int i = 0; i < 50'000; ++i) writer.sample(track, 500'000 + i * 10, i % 2 == 0 ? 40.0 : 80.0);
  REQUIRE(writer.finish());
  TimelineClient client{store};
  NullShell shell{client, {.width = 1200, .height = 500}};
  REQUIRE(shell.settle());
  const timeline::TimelineState& state = *client.tab.timeline;
  const auto drawn = std::ranges::find_if(state.drawn_rows, [&](const timeline::DrawnRow& row) {
    return state.rows[row.row].kind == rows::RowKind::counter;
  });
  REQUIRE(drawn != state.drawn_rows.end());
  const Rect row = drawn->rect, canvas = *shell.find("timeline.canvas");
  // Of all that is drawn there in the counter's colour, by how much of it covers what lies below.
  std::map<unsigned, Rect> extents;
  const ImDrawData* data = shell.draw_data();
  const Pixel colour = shell.ui().theme().slice(palette_slot("power"));
  for (int i = 0; i < data->CmdListsCount; ++i) {
    for (const ImDrawVert& vertex : data->CmdLists[i]->VtxBuffer) {
      if ((vertex.col & 0xFFFFFFU) != (colour & 0xFFFFFFU) || vertex.pos.y < row.y0 || vertex.pos.y > row.y1) continue;
      if (vertex.pos.x < canvas.x0 || vertex.pos.x > canvas.x1) continue;
      Rect& extent = extents.try_emplace(vertex.col >> 24U, Rect{1e9F, 1e9F, 0, 0}).first->second;
      extent = {std::min(extent.x0, vertex.pos.x), std::min(extent.y0, vertex.pos.y), std::max(extent.x1, vertex.pos.x),
                std::max(extent.y1, vertex.pos.y)};
    }
  }
  REQUIRE(extents.size() == 3);  // the area, the band, the line
  const Rect band = std::next(extents.begin())->second, area = extents.begin()->second;
  const float height = area.y1 - area.y0;                              // of 100 W
  CHECK(band.x0 == doctest::Approx(canvas.centre().x).epsilon(0.01));  // the steady half has none
  CHECK(area.x0 == doctest::Approx(canvas.x0).epsilon(0.01));
  CHECK((area.y1 - band.y0) / height == doctest::Approx(0.8).epsilon(0.06));
  CHECK((area.y1 - band.y1) / height == doctest::Approx(0.4).epsilon(0.06));
}

TEST_CASE_FIXTURE(Lanes, "19 queues start as one lane, so that engines and counters are seen, and a click opens them") {
  CHECK(shell.shows("19 queues"));
  CHECK_FALSE(shell.shows("queue3"));
  CHECK(shell.shows("Tensor"));
  CHECK(shell.shows("reads"));
  CHECK(state().drawn_rows[0].summary_row >= 0);
  REQUIRE(shell.click(widget("DMA queues")));
  shell.frame(2);
  CHECK(shell.shows("queue3"));
  CHECK(choices().open.at("group:DMA queues"));
}

TEST_CASE_FIXTURE(Lanes, "resting on a collapsed group tells how many rows it holds and how busy they are") {
  REQUIRE(shell.hover(widget("DMA queues")));
  shell.wait(0.3);
  CHECK(shell.shows("Busy in view"));
  CHECK(shell.shows("50 %"));
  CHECK(shell.shows("Click to open"));
  const Rect label = label_rect("DMA queues");
  shell.move({label.x1 + 300, label.centre().y});  // its summary lane
  shell.wait(0.3);
  CHECK(shell.shows("Busy in view"));
}

TEST_CASE_FIXTURE(Lanes, "a pinned lane stays while the others scroll, and goes back when unpinned") {
  choose("Sync", "pin");
  CHECK(state().rows.front().label == "Sync");
  const float y = label_rect("Sync").y0;
  REQUIRE(shell.click(widget("DMA queues")));
  shell.frame(2);
  shell.move(label_rect("DMA queues").centre());
  for (int i = 0; i < 6; ++i) shell.wheel({0, -1});
  shell.frame(2);
  CHECK(state().scroll > 100);
  CHECK(label_rect("Sync").y0 == y);
  CHECK(seen("Sync"));
  choose("Sync", "pin");
  CHECK(choices().pinned.empty());
  CHECK(state().rows.front().label == "DMA queues");
}

TEST_CASE_FIXTURE(Lanes, "events of pinned lanes are clicked, not those that have scrolled below them") {
  choose("Sync", "pin");
  REQUIRE(shell.click(widget("DMA queues")));
  shell.frame(2);
  shell.move(label_rect("DMA queues").centre());
  for (int i = 0; i < 3; ++i) shell.wheel({0, -1});
  REQUIRE(shell.settle());
  const Rect label = label_rect("Sync");
  const Rect canvas = *shell.find("timeline.canvas");
  shell.click({canvas.x0 + canvas.width() * 0.325F, label.centre().y});
  shell.frame();
  REQUIRE(client.tab.selected);
  const LaneSnapshot* lane = client.tab.snapshot->find_lane(lane_of(*client.tab.selected));
  CHECK(client.tab.snapshot->find_track(lane->track)->track->name == "Sync");
}

TEST_CASE_FIXTURE(Lanes, "hidden lanes are counted in their group and come back with a click on the count") {
  choose("Vector", "hide");
  choose("Scalar", "hide");
  CHECK_FALSE(seen("Vector"));
  CHECK(shell.shows("2 hidden"));
  REQUIRE(shell.click("timeline.hidden.group:Engines"));
  shell.frame(2);
  CHECK(seen("Vector"));
  CHECK(seen("Scalar"));
  CHECK_FALSE(shell.shows("hidden"));
}

TEST_CASE_FIXTURE(Lanes, "a hidden group is named at the end and comes back from there") {
  choose("Engines", "hide");
  CHECK_FALSE(seen("Tensor"));
  CHECK(shell.shows("Hidden groups"));
  REQUIRE(shell.click("timeline.hidden.group:#hidden"));
  shell.frame(2);
  CHECK(seen("Tensor"));
}

TEST_CASE_FIXTURE(Lanes, "a lane moves by the menu and by dragging its label") {
  choose("Sync", "up");
  CHECK(label_rect("Sync").y0 < label_rect("GpSimd").y0);
  shell.drag(label_rect("Sync").centre(), {label_rect("Tensor").centre().x, label_rect("Tensor").y0 + 3});
  shell.frame(2);
  CHECK(label_rect("Sync").y0 < label_rect("Tensor").y0);
  CHECK(label_rect("Tensor").y0 < label_rect("Vector").y0);
}

TEST_CASE_FIXTURE(Lanes, "what was done to the lanes can be undone and done again") {
  choose("Vector", "hide");
  choose("Sync", "pin");
  client.run("view_back");
  shell.frame(2);
  CHECK(choices().pinned.empty());
  CHECK_FALSE(seen("Vector"));
  client.run("view_back");
  shell.frame(2);
  CHECK(seen("Vector"));
  client.run("view_forward");
  shell.frame(2);
  CHECK_FALSE(seen("Vector"));
}

TEST_CASE_FIXTURE(Lanes, "a group is dragged with its rows, and the drag is no click") {
  shell.drag(label_rect("Engines").centre(), {60, label_rect("DMA queues").y0 + 2});
  shell.frame(2);
  CHECK(label_rect("Engines").y0 < label_rect("DMA queues").y0);
  CHECK(seen("Tensor"));
  CHECK(label_rect("Sync").y0 < label_rect("DMA queues").y0);
}

TEST_CASE_FIXTURE(Lanes, "heights, collapse all and expand all are in the menu") {
  const float normal = label_rect("Vector").height();
  choose("Vector", "size:tall", "size");
  CHECK(label_rect("Vector").height() > normal * 1.5F);
  choose("Vector", "size:small", "size");
  CHECK(label_rect("Vector").height() < normal);
  choose("Vector", "collapse_all");
  CHECK_FALSE(seen("Vector"));
  CHECK_FALSE(seen("reads"));
  choose("Engines", "expand_all");
  CHECK(seen("queue0"));
}

TEST_CASE_FIXTURE(Lanes, "the name filter leaves what matches, says how many, and is given up with a click") {
  REQUIRE(shell.click("timeline.filter"));
  shell.type("ENG sync");
  shell.frame(2);
  CHECK(seen("Sync"));
  CHECK_FALSE(seen("Tensor"));
  CHECK_FALSE(seen("DMA queues"));
  CHECK(shell.shows("1 of 32"));
  shell.key(Key::enter);
  shell.frame(2);
  CHECK(choices().name_filter == "ENG sync");
  REQUIRE(shell.click("timeline.filter.clear"));
  shell.frame(2);
  CHECK(seen("Tensor"));
  CHECK(choices().name_filter.empty());
}

TEST_CASE_FIXTURE(Lanes, "a filter that nothing matches says so and offers the way back") {
  REQUIRE(shell.click("timeline.filter"));
  shell.type("no such lane");
  shell.frame(2);
  CHECK(shell.shows("No lane is called \"no such lane\"."));
  REQUIRE(shell.click("timeline.no_rows.0"));
  shell.frame(2);
  CHECK(seen("Tensor"));
}

TEST_CASE_FIXTURE(Lanes, "the heading of the topmost row stays in sight, until the next group pushes it out") {
  REQUIRE(shell.click(widget("DMA queues")));
  shell.frame(2);
  const Rect top = label_rect("DMA queues");
  shell.move({60, 300});
  for (int i = 0; i < 4; ++i) shell.wheel({0, -1});
  shell.frame(2);
  CHECK_FALSE(seen("queue0"));
  CHECK(label_rect("DMA queues").y0 == top.y0);
  CHECK(label_rect("DMA queues").height() == top.height());
  shell.resize(1200, 300, 1);
  shell.move({60, 200});
  for (int i = 0; i < 40; ++i) shell.wheel({0, -1});
  shell.frame(2);
  CHECK_FALSE(seen("DMA queues"));
  CHECK(shell.click(widget("Engines")));
}

TEST_CASE("a lane of many levels keeps its name in sight, however far it is scrolled") {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "instruction"});
  const TrackNumber deep = writer.add_track({.name = "Deep", .kind = "engine", .device = "nc0", .schema = schema});
  for (int i = 0; i < 40; ++i) (void)writer.begin_event(deep, i * 1'000, 200'000 - i * 2'000, writer.intern("WORK"));
  REQUIRE(writer.finish());
  TimelineClient client(store);
  NullShell shell(client, {.width = 1200, .height = 320});
  REQUIRE(shell.settle());
  const auto place = [&]() -> std::pair<Rect, Rect> {  // of its name, and what is seen of its row
    std::pair<Rect, Rect> found;
    for (const VisibleText& text : shell.ui().texts()) {
      if (text.text == "Deep") found.first = text.rect;
    }
    for (const timeline::DrawnRow& each : client.tab.timeline->drawn_rows) {
      if (client.tab.timeline->rows[each.row].label == "Deep") found.second = each.clip.intersected(each.rect);
    }
    return found;
  };
  shell.move({60, 200});
  for (int i = 0; i < 6; ++i) {
    CAPTURE(i);
    const auto [name, seen] = place();
    REQUIRE_FALSE(name.empty());
    REQUIRE(seen.height() > 20);
    CHECK(name.y0 >= seen.y0 - 1);
    CHECK(name.y1 <= seen.y1 + 1);
    shell.wheel({0, -1});
    shell.frame(2);
  }
}

TEST_CASE_FIXTURE(Lanes, "throttling carries a sign with its count, on the heading too when the group is closed") {
  choose("Engines", "collapse_all");
  CHECK(row("Throttling").alerts == 3);
  REQUIRE(shell.hover("timeline.alerts.group:Throttling"));
  shell.wait(0.3);
  CHECK(shell.shows("3 events of errors or throttling"));
  REQUIRE(shell.click(widget("Throttling")));
  shell.frame(2);
  CHECK(row("Throttling").alerts == 0);
  CHECK(row("thermal").alerts == 3);
  CHECK(shell.find("timeline.alerts.group:Throttling") == nullptr);
  CHECK(shell.find("timeline.alerts." + row("thermal").key) != nullptr);
}

TEST_CASE_FIXTURE(Lanes, "the user chooses which semaphores are shown") {
  choose("Engines", "collapse_all");
  CHECK_FALSE(seen("S[0]"));
  choose("Semaphores", "hide_all", "members");
  choose("Semaphores", "member:" + row("Semaphores").members[2].key, "members");
  CHECK(seen("S[2]"));
  CHECK_FALSE(seen("S[1]"));
  CHECK(shell.shows("3 hidden"));
}

TEST_CASE_FIXTURE(Lanes, "counters share a row when the user wants it, and the pointer tells their names and values") {
  choose("reads", "counters:stacked", "counters");
  CHECK(shell.shows("2 counters, B/s"));
  const Rect* label = shell.find("timeline.label.counters:group:Counters:B/s");
  REQUIRE(label != nullptr);
  const float canvas_x = shell.find("timeline.canvas")->x0;
  shell.move({canvas_x + 0.25F * (1200 - canvas_x), label->centre().y});  // both have their third sample
  shell.frame(2);
  CHECK(shell.shows("writes"));
  CHECK(shell.shows("500 B/s"));
  choose("2 counters, B/s", "counters:overlaid", "counters");
  CHECK(row("2 counters, B/s").own_scales);
  choose("2 counters, B/s", "counters:shared", "counters");
  CHECK_FALSE(row("2 counters, B/s").own_scales);
  choose("2 counters, B/s", "counters:separate", "counters");
  CHECK(seen("reads"));
  CHECK(seen("writes"));
}

TEST_CASE_FIXTURE(Lanes, "an event that lies in a collapsed group is brought to light") {
  client.panel.reveal(client.tab, make_event_id(7, 0));
  shell.frame(3);
  CHECK(seen("queue7"));
}

}  // namespace
}  // namespace accelscope::app
