// The memory panel with real input events: cursor, slider, map, peak, its own range, and the card of an allocation.
#include "app/session_analysis.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct MemoryViewer : OpenViewer {
  MemoryViewer() {
    app.layout().maximise(PanelId::memory);
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
  CHECK(viewer.tab().reader->read(*viewer.tab().selected)->name_text == "x");
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
  const ViewRange before = viewer.tab().view;
  REQUIRE(viewer.shell.click("memory.follow"));
  viewer.shell.drag(viewer.at("memory.plot", 0.6F, 30), viewer.at("memory.plot", 0.8F, 30));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view == before);
  viewer.shell.move(viewer.at("memory.plot", 0.5F, 30));  // 3,800 ns: the middle of what was dragged over
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("98,304 B at the cursor"));
  CHECK(std::abs(viewer.tab().cursor_ns.value() - 3'800) < 30);
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
