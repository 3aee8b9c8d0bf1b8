// The memory panel with real input events: cursor, slider, map, peak, its own range, and the card of an allocation.
#include "app/session/analysis.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct MemoryViewer : OpenViewer {
  MemoryViewer() {
    app.layout().maximise("memory");
    REQUIRE(wait_for([&] { return shell.find("memory.map") != nullptr; }));
    tab().show({1'000, 5'000});
    REQUIRE(shell.settle());
  }
  [[nodiscard]] render::Point at(const char* widget, float share, float below_top) {
    const render::Rect rect = *shell.find(widget);
    return {rect.x0 + rect.width() * share, rect.y0 + below_top};
  }
};

}  // namespace

TEST_CASE("memory: the cursor tells the exact bytes, hovering moves it and a click holds it") {
  MemoryViewer viewer;
  viewer.shell.move(viewer.at("memory.plot", 0.25F, 30));  // 2,000 ns: two tiles of w1 and x
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("163,840 B at the cursor"));
  viewer.shell.move(viewer.at("memory.plot", 0.9F, 30));  // 4,600 ns: one tile of w1 is left
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("65,536 B at the cursor"));
  viewer.shell.click(viewer.at("memory.plot", 0.9F, 30));
  viewer.shell.move(viewer.at("memory.plot", 0.25F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("65,536 B at the cursor"));
  CHECK(viewer.shell.shows("1 never freed"));
}

TEST_CASE("memory: a larger smallest size hides what is below it from table and map") {
  MemoryViewer viewer;
  viewer.shell.move(viewer.at("memory.plot", 0.25F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("3 allocations, 160 KiB"));
  viewer.shell.click(viewer.at("memory.smallest", 0.55F, 10));  // 64 KiB
  viewer.shell.move(viewer.at("memory.plot", 0.25F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("2 allocations, 128 KiB"));
  CHECK(viewer.shell.shows("163,840 B at the cursor"));  // the use stays what it is
}

TEST_CASE("memory: a click on a block selects its event, and its card says what is known and a dash for the rest") {
  MemoryViewer viewer;
  viewer.shell.click(viewer.at("memory.map", 0.25F, 10));  // the highest address: x
  REQUIRE(viewer.tab().selected.has_value());
  CHECK(read_event(viewer.tab(), *viewer.tab().selected)->name_text == "x");
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("0x21000 – 0x28FFF"));
  CHECK(viewer.shell.shows("Repeat factor"));
  CHECK(viewer.shell.shows("–"));
  viewer.tab().show({4'500, 4'600});
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("memory.card.show"));
  CHECK(viewer.tab().view.begin_ns < 1'500);
  CHECK(viewer.tab().view.end_ns > 4'000);
}

TEST_CASE("memory: with a range of its own the wheel leaves the timeline alone, and a double click shows all") {
  MemoryViewer viewer;
  const session::ViewRange before = viewer.tab().view;
  REQUIRE(viewer.shell.click("memory.follow"));
  viewer.shell.drag(viewer.at("memory.plot", 0.6F, 30), viewer.at("memory.plot", 0.8F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view == before);
  viewer.shell.move(viewer.at("memory.plot", 0.5F, 30));  // 3,800 ns: the middle of what was dragged over
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("98,304 B at the cursor"));
  CHECK(std::abs(viewer.tab().cursor_ns.value() - 3'800) < 30);
}

TEST_CASE("memory: the way back through the panel's own ranges, by the wheel and by drags") {
  MemoryViewer viewer;
  const auto time_at = [&](float share) {  // under the pointer
    viewer.shell.move(viewer.at("memory.plot", share, 30));
    REQUIRE(viewer.shell.settle());
    return viewer.tab().cursor_ns.value();
  };
  CHECK(viewer.shell.find("memory.back") == nullptr);  // following: the timeline has its own
  REQUIRE(viewer.shell.click("memory.follow"));
  const std::int64_t middle = time_at(0.5F);
  const std::int64_t early = time_at(0.1F);
  viewer.shell.move(viewer.at("memory.plot", 0.5F, 30));
  for (int i = 0; i < 4; ++i) viewer.shell.wheel({0, 1});
  REQUIRE(viewer.shell.settle());
  CHECK(std::abs(time_at(0.5F) - middle) < 20);  // what the pointer shows keeps its place
  const std::int64_t zoomed = time_at(0.1F);
  CHECK(zoomed > early + 500);
  viewer.shell.wait(0.6);  // the wheel has come to rest
  viewer.shell.drag(viewer.at("memory.plot", 0.4F, 30), viewer.at("memory.plot", 0.6F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(time_at(0.1F) > zoomed + 100);
  REQUIRE(viewer.shell.click("memory.back"));
  CHECK(std::abs(time_at(0.1F) - zoomed) < 20);
  REQUIRE(viewer.shell.click("memory.back"));
  CHECK(std::abs(time_at(0.1F) - early) < 20);
  viewer.shell.drag(viewer.at("memory.plot", 0.3F, 30), viewer.at("memory.plot", 0.5F, 30), render::MouseButton::right);
  REQUIRE(viewer.shell.settle());
  CHECK(time_at(0.1F) < early - 400);  // the right button pans
}

TEST_CASE("memory: a wheel that follows the timeline is one step of its history") {
  MemoryViewer viewer;
  const session::ViewRange before = viewer.tab().view;
  viewer.shell.move(viewer.at("memory.plot", 0.5F, 30));
  for (int i = 0; i < 3; ++i) viewer.shell.wheel({0, 1});
  viewer.shell.wait(0.6);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view.span_ns() < before.span_ns() * 0.6);
  REQUIRE(viewer.tab().history.can_go_back());
  CHECK(viewer.tab().history.back().view == before);
}

TEST_CASE("memory: a held cursor moves with the next click and is let go by a click on its chip") {
  MemoryViewer viewer;
  viewer.shell.click(viewer.at("memory.plot", 0.9F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("65,536 B at the cursor"));
  viewer.shell.wait(1);  // no double click
  viewer.shell.click(viewer.at("memory.plot", 0.25F, 30));
  viewer.shell.move(viewer.at("memory.plot", 0.9F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("163,840 B at the cursor"));
  REQUIRE(viewer.shell.click("memory.cursor"));
  viewer.shell.move(viewer.at("memory.plot", 0.9F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("65,536 B at the cursor"));
  CHECK(viewer.shell.find("memory.cursor") == nullptr);
}

TEST_CASE("memory: lines instead of areas bear no names, and the peak's label leads to the peak") {
  MemoryViewer viewer;
  const auto names = [&] {
    const std::string text = viewer.shell.visible_text();
    std::size_t count = 0;
    for (std::size_t at = text.find("w1  128 KiB"); at != std::string::npos; at = text.find("w1  128 KiB", at + 1)) {
      ++count;
    }
    return count;
  };
  CHECK(names() == 1);
  REQUIRE(viewer.shell.click("memory.shape.1"));
  REQUIRE(viewer.shell.settle());
  CHECK(names() == 0);
  viewer.tab().show({4'500, 4'600});
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("Peak 160 KiB, earlier"));
  REQUIRE(viewer.shell.click("memory.peak_chip"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view.begin_ns <= 1'500);
  CHECK(viewer.shell.shows("163,840 B at the cursor"));
}

TEST_CASE("memory: a card says what lies under the pointer and stands beside it") {
  MemoryViewer viewer;
  const render::Rect plot = *viewer.shell.find("memory.plot");
  const render::Point at{plot.x0 + plot.width() * 0.25F, plot.y1 - 6};  // the lowest area: w1
  viewer.shell.move(at);
  viewer.shell.wait(0.3);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("Share of what is in use"));
  CHECK(viewer.shell.shows("80.0 %"));  // 128 of 160 KiB
  const render::Rect map = *viewer.shell.find("memory.map");
  viewer.shell.move({map.x0 + map.width() * 0.25F, map.y0 + 8});
  viewer.shell.wait(0.3);
  REQUIRE(viewer.wait_for([&] {
    viewer.shell.wait(0.2);
    return viewer.shell.shows("From");  // of the block's card
  }));
  CHECK_FALSE(viewer.shell.shows("Share of what is in use"));
}

TEST_CASE("memory: go to the peak holds the cursor there and shows the stretch round it") {
  MemoryViewer viewer;
  viewer.tab().show({4'500, 4'600});
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("memory.peak"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("163,840 B at the cursor"));
  CHECK(viewer.shell.shows("1,500 ns"));
  CHECK(viewer.tab().view.begin_ns <= 1'500);
  CHECK(viewer.tab().view.end_ns >= 1'500);
}

TEST_CASE("memory: table and map follow the filter, the use says that it does not") {
  MemoryViewer viewer;
  viewer.shell.move(viewer.at("memory.plot", 0.25F, 30));
  const auto filter = [&](const char* search) {
    viewer.tab().change(
        [&](session::ViewChoices& choices) { choices.filter = {.range = {}, .tracks = {}, .terms = {{search}}}; });
    viewer.shell.frame(2);
    REQUIRE(viewer.shell.settle());
  };
  CHECK_FALSE(viewer.shell.shows("not filtered"));
  filter("w1");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("2 allocations, 128 KiB"); }));
  CHECK(viewer.shell.shows("not filtered; SBUF"));
  CHECK(viewer.shell.shows("163,840 B at the cursor"));
  CHECK(viewer.shell.shows("what passes the filter"));
  filter("MATMUL");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("3 allocations, 160 KiB"); }));
  CHECK(viewer.shell.shows("no allocation passes the filter"));
}

TEST_CASE("memory: the table sorts by a head, and shows only rows with a text") {
  MemoryViewer viewer;
  viewer.shell.move(viewer.at("memory.plot", 0.25F, 30));
  REQUIRE(viewer.shell.settle());
  const auto height_of = [&](const char* tensor) {  // in the table
    const render::Rect table = *viewer.shell.find("memory.alive.head.0");
    for (const render::VisibleText& text : viewer.shell.ui().texts()) {
      if (text.text == tensor && text.rect.x0 > table.x0 && text.rect.y0 > table.y1) return text.rect.y0;
    }
    return -1.0F;
  };
  CHECK(height_of("w1") < height_of("x"));  // the larger first
  REQUIRE(viewer.shell.click("memory.alive.head.2"));
  REQUIRE(viewer.shell.settle());
  CHECK(height_of("x") < height_of("w1"));
  REQUIRE(viewer.shell.click("memory.alive.filter"));
  viewer.shell.frame(2);
  viewer.shell.type("w1");
  REQUIRE(viewer.shell.settle());
  CHECK(height_of("w1") > 0);
  CHECK(height_of("x") < 0);
}
