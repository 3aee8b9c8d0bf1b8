// The Layers panel with real clicks on a simulated session: the tree opens and selects, the flame graph zooms, a search
// says what its hits hold, the scope narrows, and a session without layers says what would bring them.
#include <algorithm>
#include <cmath>
#include <latch>

#include "app/session/analysis.h"
#include "capture/sim/output/simulator.h"
#include "core/analysis/hierarchy/hierarchy.h"
#include "core/base/format.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct LayersViewer : Viewer {
  TemporaryFolder folder;
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  LayersViewer() {
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
    REQUIRE(store->save(folder.file("simulated.accel")).ok());
    open(folder.file("simulated.accel"));
    app.layout().show("layers");
    REQUIRE(wait_for([&] { return shell.find("layers.tree.row.0") != nullptr && has_box(); }));
  }
  [[nodiscard]] std::vector<std::string> boxes() {
    std::vector<std::string> names;
    for (const auto& [name, rect] : shell.ui().widgets()) {
      if (name.starts_with("layers.flame.box.")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  [[nodiscard]] bool has_box() { return !boxes().empty(); }
  [[nodiscard]] std::shared_ptr<const analysis::Hierarchy> tree(const analysis::HierarchyQuestion& question = {}) {
    WorkerPool pool(1);
    TaskControl control;
    const auto found = analysis::session_hierarchy({*store, store->snapshot(), pool, control}, question);
    REQUIRE(found.ok());
    return *found;
  }
  [[nodiscard]] std::size_t row_count() {
    std::size_t rows = 0;
    while (shell.find("layers.tree.row." + std::to_string(rows)) != nullptr) ++rows;
    return rows;
  }
};

}  // namespace

TEST_CASE("layers: the columns of engines have heads that tell them apart") {
  LayersViewer viewer;
  viewer.shell.resize(1600, 900, 1);
  viewer.app.layout().maximise("layers");
  REQUIRE(viewer.shell.settle());
  for (const char* head : {"V", "Sc", "Sy", "Te", "TM"}) {
    CAPTURE(head);
    CHECK(viewer.shell.shows(head));
  }
}

TEST_CASE("layers: a click on a row selects its events, a second one on its caret closes it") {
  LayersViewer viewer;
  const auto tree = viewer.tree();
  CHECK(viewer.shell.shows(tree->text(1)));
  REQUIRE(viewer.shell.click("layers.tree.row.0"));
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms[0].search.starts_with("layer~"));
  std::shared_ptr<const session::SessionSummary> summary;
  REQUIRE(viewer.wait_for([&] {
    summary = viewer.tab().analysis->summary(*viewer.tab().region);
    return summary && summary->summary->filter == *viewer.tab().region;
  }));
  // Transfers are counted by what set them off; a search finds what names the layer itself.
  std::uint64_t named = tree->nodes[1].totals.events;
  for (std::size_t unit = 0; unit < tree->units.size(); ++unit) {
    if ((tree->borrowing >> unit & 1U) != 0) named -= tree->unit_events[tree->units.size() + unit];
  }
  CHECK(named < tree->nodes[1].totals.events);
  CHECK(summary->summary->event_count == named);
  const std::size_t before = viewer.row_count();
  REQUIRE(viewer.shell.click("layers.tree.cell.0.0.caret"));
  viewer.shell.frame(3);
  CHECK(viewer.row_count() < before);
  REQUIRE(viewer.shell.click("layers.tree.cell.0.0.caret"));
  viewer.shell.frame(3);
  CHECK(viewer.row_count() == before);
}

TEST_CASE("layers: with Ctrl held a click adds to what is selected, in the table and in the flame graph") {
  LayersViewer viewer;
  const auto count = [&] {
    std::shared_ptr<const session::SessionSummary> summary;
    REQUIRE(viewer.wait_for([&] {
      summary = viewer.tab().analysis->summary(*viewer.tab().region);
      return summary && summary->summary->filter == *viewer.tab().region;
    }));
    return summary->summary->event_count;
  };
  REQUIRE(viewer.shell.click("layers.tree.row.1"));
  REQUIRE(viewer.shell.settle());
  const std::uint64_t one = count();
  REQUIRE(viewer.shell.click("layers.tree.row.2"));
  REQUIRE(viewer.shell.settle());
  const std::uint64_t other = count();
  const auto search = viewer.tab().region->terms[0].search;
  viewer.shell.hold(render::Key::left_ctrl);
  REQUIRE(viewer.shell.click("layers.tree.row.1"));
  viewer.shell.hold(render::Key::left_ctrl, false);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().region->terms[0].search != search);
  CHECK(count() > other);
  CHECK(count() >= one);
  REQUIRE(viewer.shell.click("layers.tree.row.2"));  // a plain click selects it alone
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().region->terms[0].search == search);
}

TEST_CASE("layers: a double click in the flame graph zooms, the path above it leads back, Backspace too") {
  LayersViewer viewer;
  const auto tree = viewer.tree();
  REQUIRE(tree->nodes[1].child_count > 0);
  const std::string inner = "layers.flame.box." + std::to_string(tree->nodes[1].first_child);
  const auto width = [&](const std::string& name) {
    const render::Rect* box = viewer.shell.find(name);
    return box == nullptr ? 0 : box->width();
  };
  const float whole = width("layers.flame.box.0"), part = width(inner);
  REQUIRE(part > 0);
  CHECK(part < whole - 4);
  REQUIRE(viewer.shell.click(inner, render::MouseButton::left, 2));
  REQUIRE(viewer.wait_for([&] { return width(inner) > whole - 4; }));
  REQUIRE(viewer.shell.find("layers.path.0") != nullptr);
  REQUIRE(viewer.shell.click("layers.path.0"));
  REQUIRE(viewer.wait_for([&] { return width(inner) < whole - 4; }));
  REQUIRE(viewer.shell.click(inner, render::MouseButton::left, 2));
  REQUIRE(viewer.wait_for([&] { return width(inner) > whole - 4; }));
  viewer.shell.key(render::Key::backspace);
  viewer.shell.key(render::Key::backspace);
  REQUIRE(viewer.wait_for([&] { return width(inner) < whole - 4; }));
  // What is selected in the graph is so in the tree and everywhere.
  REQUIRE(viewer.shell.click(inner));
  viewer.shell.frame(3);
  CHECK(viewer.tab().region.has_value());
}

TEST_CASE("layers: boxes are as wide as the measure that is chosen") {
  LayersViewer viewer;
  const auto tree = viewer.tree();
  REQUIRE(tree->nodes[1].child_count > 1);
  const std::uint32_t first = tree->nodes[1].first_child;
  const auto share = [&] {
    const render::Rect* box = viewer.shell.find("layers.flame.box." + std::to_string(first));
    const render::Rect* all = viewer.shell.find("layers.flame.box.1");
    return box == nullptr || all == nullptr ? 0.0 : static_cast<double>(box->width() / all->width());
  };
  const auto events = [&](std::uint32_t node) { return static_cast<double>(tree->nodes[node].totals.events); };
  REQUIRE(viewer.shell.click("layers.width.5"));
  REQUIRE(viewer.wait_for([&] { return std::abs(share() - events(first) / events(1)) < 0.02; }));
  REQUIRE(viewer.shell.click("layers.depth"));
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.click("layers.depth.1"));
  REQUIRE(viewer.wait_for(
      [&] { return viewer.row_count() == viewer.tree({.kind = "layer", .depth = 1})->nodes.size() - 1; }));
}

TEST_CASE("layers: a search says what its hits hold together") {
  LayersViewer viewer;
  REQUIRE(viewer.shell.click("layers.search"));
  viewer.shell.type("proj");
  const auto marked = viewer.tree({.kind = "layer", .marked = "proj"});
  REQUIRE(marked->marked_ns > 0);
  const std::string time = format_duration(marked->marked_ns);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.visible_text().find("hold " + time) != std::string::npos; }));
  viewer.shell.type("zzz");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.visible_text().find("nothing has it") != std::string::npos; }));
}

TEST_CASE("layers: what is no longer asked for is not waited for, and is asked anew when it is wanted again") {
  LayersViewer viewer;
  REQUIRE(viewer.shell.settle());
  std::latch busy(1);
  // No worker is free while the text is there.
  std::vector<Task<Result<int>>> at_work;
  const auto wait = [&](const QueryContext&) -> Result<int> {
    busy.wait();
    return 0;
  };
  WorkerPool* pool = nullptr;
  auto asked = viewer.tab().analysis->start([&](const QueryContext& query) -> Result<int> {
    pool = &query.pool;
    return 0;
  });
  REQUIRE(asked.take().ok());
  for (std::size_t i = 0; i < pool->concurrency(); ++i) at_work.push_back(viewer.tab().analysis->start(wait));
  REQUIRE(viewer.shell.click("layers.search"));
  viewer.shell.type("proj");
  viewer.shell.wait(0.5);
  CHECK_FALSE(viewer.app.settled());
  for (int i = 0; i < 4; ++i) viewer.shell.key(render::Key::backspace);
  busy.count_down();
  for (auto& each : at_work) REQUIRE(each.take().ok());
  REQUIRE(viewer.shell.settle());
  CHECK_FALSE(viewer.shell.shows(" hold "));
  viewer.shell.type("proj");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows(" hold "); }));
  REQUIRE(viewer.shell.settle());
}

TEST_CASE("layers: in a narrow panel the search has its room, and facts keep their names") {
  LayersViewer viewer;
  viewer.app.layout().maximise("layers");
  for (const int width : {640, 400}) {
    CAPTURE(width);
    viewer.shell.resize(width, 700, 1);
    viewer.shell.frame(3);
    const render::Rect* search = viewer.shell.find("layers.search");
    const render::Rect* measure = viewer.shell.find("layers.width");
    REQUIRE(search != nullptr);
    REQUIRE(measure != nullptr);
    CHECK(search->width() >= 100);
    CHECK(search->x1 <= measure->x0);
    CHECK(measure->x1 <= static_cast<float>(width));
    CHECK(viewer.shell.shows("Sum of events"));
    CHECK(viewer.shell.shows("Self, union"));
  }
}

TEST_CASE("layers: a click on a head sorts, another kind and the visible range make another tree") {
  LayersViewer viewer;
  REQUIRE(viewer.shell.click("layers.tree.head.0"));
  viewer.shell.frame(3);
  CHECK(viewer.shell.find("layers.tree.row.0") != nullptr);
  REQUIRE(viewer.shell.click("layers.kind"));
  viewer.shell.frame(3);
  const auto tree = viewer.tree();
  const auto name =
      std::find_if(tree->kinds.begin(), tree->kinds.end(), [](const auto* k) { return k->name == "name"; });
  REQUIRE(name != tree->kinds.end());
  REQUIRE(viewer.shell.click("layers.kind." + std::to_string(name - tree->kinds.begin())));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.visible_text().find("Engine and name") != std::string::npos; }));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows(viewer.tree({.kind = "name"})->text(1)); }));
  const auto begin = static_cast<double>(viewer.tab().snapshot->begin_ns);
  viewer.tab().show({begin, begin + 10});
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.click("layers.scope.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("layers.none") != nullptr || viewer.row_count() < 3; }));
}

TEST_CASE("layers: a session without layers shows what it has, and says what would bring them") {
  OpenViewer viewer;
  viewer.app.layout().show("layers");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("layers.tree.row.0") != nullptr; }));
  REQUIRE(viewer.shell.click("layers.kind"));
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.click("layers.kind.0"));
  REQUIRE(viewer.wait_for([&] {
    return viewer.shell.visible_text().find("No layers recorded: compile with HLO metadata") != std::string::npos;
  }));
  REQUIRE(viewer.shell.click("layers.empty.0"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("layers.tree.row.0") != nullptr; }));
}

TEST_CASE("layers: while a capture runs a new tree takes the place of the old one at once, and keeps what was chosen") {
  Viewer viewer;
  REQUIRE(viewer.shell.click("start.demo"));
  REQUIRE(viewer.frames_until([&] { return viewer.app.workspace().tab_count() == 1; }));
  viewer.app.layout().show("layers");
  const auto has_rows = [&] { return viewer.shell.find("layers.tree.row.0") != nullptr; };
  const auto has_boxes = [&] {
    const auto& widgets = viewer.shell.ui().widgets();
    return std::any_of(widgets.begin(), widgets.end(),
                       [](const auto& each) { return each.first.starts_with("layers.flame.box."); });
  };
  REQUIRE(viewer.frames_until([&] { return has_rows() && has_boxes(); }));
  REQUIRE(viewer.shell.click("layers.search"));
  viewer.shell.type("mlp");
  REQUIRE(viewer.frames_until([&] { return viewer.shell.visible_text().find(" hold ") != std::string::npos; }));
  // At first what has no layer is the most: of it an event is selected.
  REQUIRE(viewer.frames_until([&] {
    REQUIRE(viewer.shell.click("layers.tree.row.0"));
    return viewer.tab().region.has_value();
  }));
  const EventFilter chosen = *viewer.tab().region;
  const std::uint64_t events = viewer.tab().snapshot->event_count;
  std::size_t without_rows = 0, without_boxes = 0, without_hits = 0;
  REQUIRE(viewer.frames_until([&] {
    without_rows += has_rows() ? 0 : 1;
    without_boxes += has_boxes() ? 0 : 1;
    without_hits += viewer.shell.visible_text().find(" hold ") != std::string::npos ? 0 : 1;
    return viewer.tab().snapshot->event_count > events + 60'000;
  }));
  CHECK(without_rows == 0);
  CHECK(without_boxes == 0);
  CHECK(without_hits == 0);
  CHECK(viewer.tab().region == chosen);
}
