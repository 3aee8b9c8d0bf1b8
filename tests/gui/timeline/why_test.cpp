// What is wrong, why, and what if in one panel: findings, bounds, gaps and path of a simulated kernel; changes that are
// ticked or typed are replayed.
#include <algorithm>

#include "capture/sim/output/simulator.h"
#include "core/analysis/advice/advice.h"
#include "core/base/format.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

std::string saved_kernel(const TemporaryFolder& folder) {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
  const std::string path = folder.file("why.accel");
  REQUIRE(store->save(path).ok());
  return path;
}

}  // namespace

TEST_CASE("why panel: it shows what bounds a session and its gaps, and marks the path on the timeline") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(saved_kernel(folder));
  CHECK(viewer.tab().marked_path == nullptr);
  viewer.app.layout().show("why");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("why.marks") != nullptr; }));
  REQUIRE(viewer.shell.click("why.page.4"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("why.rows.row.0") != nullptr; }));
  CHECK(viewer.shell.find("why.bound.memory") != nullptr);
  CHECK(viewer.shell.find("why.bound.compute") != nullptr);
  REQUIRE(viewer.tab().marked_path != nullptr);
  const auto& parts = viewer.tab().marked_path->parts;
  REQUIRE(parts.size() > 10);
  for (std::size_t i = 1; i < parts.size(); ++i) REQUIRE(parts[i].begin_ns == parts[i - 1].end_ns);
  // Where it is seen in detail its events have an edge.
  const auto middle = std::find_if(parts.begin() + static_cast<std::ptrdiff_t>(parts.size() / 2), parts.end(),
                                   [](const session::ShownPath::Part& part) { return !part.is_gap; });
  REQUIRE(middle != parts.end());
  viewer.tab().show(
      {static_cast<double>(middle->event_begin_ns) - 500, static_cast<double>(middle->event_end_ns) + 500});
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("timeline.overview.path") != nullptr);
  // All that is not on it is dimmed.
  const EventMask& bright = *viewer.tab().marked_path->mask;
  CHECK(bright.passes(*viewer.tab().snapshot, middle->event));
  CHECK(bright.total() >= 10);
  CHECK(bright.total() < viewer.tab().snapshot->event_count);
  // Its lane above the others selects what was under way in its middle.
  const std::int64_t at_ns = (middle->event_begin_ns + middle->event_end_ns) / 2;
  const auto under = std::find_if(parts.begin(), parts.end(), [&](const session::ShownPath::Part& part) {
    return part.begin_ns <= at_ns && at_ns < part.end_ns;
  });
  REQUIRE(viewer.shell.click("timeline.path_lane"));
  CHECK(viewer.tab().selected == under->event);
  viewer.app.layout().show("why");  // the event's details came to the front
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("why.marks") != nullptr; }));
  REQUIRE(viewer.shell.click("why.marks"));
  viewer.shell.frame(3);
  CHECK(viewer.tab().marked_path == nullptr);
  CHECK(viewer.shell.find("timeline.path") == nullptr);
  CHECK(viewer.shell.find("timeline.path_lane") == nullptr);
  for (const char* page : {"why.page.2", "why.page.3", "why.page.5", "why.page.6"}) {
    CAPTURE(page);
    REQUIRE(viewer.shell.click(page));
    CHECK(viewer.wait_for([&] { return viewer.shell.find("why.rows.row.0") != nullptr; }));
  }
}

TEST_CASE("why panel: a ticked change shows both timelines, one that is typed is added, and clearing takes them back") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(saved_kernel(folder));
  viewer.app.layout().show("why");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("why.change.0") != nullptr; }));
  const auto shows_ghost = [&] { return viewer.shell.find("why.ghost.then.TensorMatrix") != nullptr; };
  CHECK(viewer.wait_for(shows_ghost));  // of the first change
  REQUIRE(viewer.shell.click("why.change.0"));
  CHECK(viewer.wait_for([&] { return !shows_ghost(); }));
  REQUIRE(viewer.shell.click("why.change.1"));
  CHECK(viewer.wait_for(shows_ghost));
  REQUIRE(viewer.shell.click("why.clear"));
  CHECK(viewer.wait_for([&] { return !shows_ghost(); }));
  REQUIRE(viewer.shell.click("why.typed"));
  viewer.shell.type("opcode MATMUL x0.5");
  viewer.shell.key(render::Key::enter);
  CHECK(viewer.wait_for(shows_ghost));
}

TEST_CASE("why panel: what mends findings that were known before it was opened is offered too") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(saved_kernel(folder));
  REQUIRE(viewer.wait_for([&] { return viewer.tab().analysis->advice() != nullptr; }));
  viewer.app.layout().show("why");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("why.ghost.then.TensorMatrix") != nullptr; }));
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("bottom.maximise"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("drop transposes"));
}

TEST_CASE("why panel: a finding's what-if is replayed beside it, and saves what it says") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(saved_kernel(folder));
  viewer.shell.resize(1920, 1080, 1);
  viewer.app.layout().show("warnings");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("warnings.table.row.0") != nullptr; }));
  const std::shared_ptr<const analysis::Advice> advice = viewer.tab().analysis->advice();
  REQUIRE(advice != nullptr);
  REQUIRE(analysis::costliest_finding(*advice) != nullptr);
  const analysis::Finding& first =
      *analysis::costliest_finding(*advice);  // an error of the hardware may stand above it
  const std::string row = "warnings.table.row." + std::to_string(&first - advice->findings.data());
  REQUIRE(first.change == "drop reload of w1");
  const auto shows_ghost = [&] { return viewer.shell.find("why.ghost.then.TensorMatrix") != nullptr; };
  const std::string saved = "≈ −" + format_duration(first.saving_ns);
  CHECK(viewer.wait_for([&] { return viewer.shell.shows(saved); }));  // ticked unasked: the best that can be done
  CHECK(viewer.tab().marked_path == nullptr);                         // the timeline shows the findings
  REQUIRE(viewer.shell.click("why.clear"));
  CHECK(viewer.wait_for([&] { return !shows_ghost(); }));
  REQUIRE(viewer.shell.click(row));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().chosen_warning == first.key);
  CHECK_FALSE(shows_ghost());  // one looks through findings without trying them
  REQUIRE(viewer.shell.click("warnings.what_if"));
  CHECK(viewer.wait_for(shows_ghost));
  CHECK(viewer.shell.shows(saved));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("why.both") != nullptr; }));
  REQUIRE(viewer.shell.click("why.both"));
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("drop reload of w2") && shows_ghost(); }));
}

TEST_CASE("why panel: on a laptop a finding's what-if has the place to itself, and every part is in reach") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(saved_kernel(folder));
  viewer.shell.resize(1280, 720, 1);
  viewer.app.layout().show("warnings");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("warnings.table.row.1") != nullptr; }));
  REQUIRE(viewer.shell.click("warnings.table.row.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("warnings.what_if") != nullptr; }));
  REQUIRE(viewer.shell.click("warnings.what_if"));
  CHECK(viewer.wait_for([&] { return viewer.shell.find("why.ghost.then.TensorMatrix") != nullptr; }));
  viewer.shell.resize(1000, 600, 2);
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("why.pages"));
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("By resource"));
}

TEST_CASE("why panel: the timeline is bright again once another page is in front, and dim while one reads an event") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(saved_kernel(folder));
  viewer.app.layout().show("why");
  REQUIRE(viewer.wait_for([&] { return viewer.tab().marked_path != nullptr; }));
  REQUIRE(viewer.shell.click("timeline.path_lane"));
  viewer.shell.frame(3);
  CHECK(viewer.app.layout().is_seen("details"));
  CHECK(viewer.tab().marked_path != nullptr);
  REQUIRE(viewer.shell.click("questions.time"));
  viewer.shell.frame(3);
  CHECK(viewer.tab().marked_path == nullptr);
  REQUIRE(viewer.shell.click("questions.why"));  // as it was left
  CHECK(viewer.wait_for([&] { return viewer.tab().marked_path != nullptr; }));
  REQUIRE(viewer.shell.click("why.page.0"));
  viewer.shell.frame(2);
  CHECK(viewer.tab().marked_path == nullptr);
}
