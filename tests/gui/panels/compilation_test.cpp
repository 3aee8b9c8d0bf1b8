// The Compilation and Hotspots panels with real clicks: what rows and bars select, scope, pages, the sentence, signs on
// the timeline, and sessions without anything to tell.
#include <algorithm>

#include "app/session/analysis.h"
#include "tests/core/analysis/compilation/compiling_program.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

// Steps of which the first and the fifth compile, and a compiler that says so twice.
void write_compiling(SessionWriter& writer) {
  CompilingProgram program(writer);
  std::int64_t at = 0;
  for (const std::int64_t ms : {400, 5, 5, 5, 300, 5, 5, 5}) {
    program.call(at, ms * kMillisecond, "train_step");
    program.launch(at + ms * kMillisecond - 500'000, 400'000, at + ms * kMillisecond, 200'000);
    at += (ms + 1) * kMillisecond;
  }
  program.line(200 * kMillisecond, "INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc model.MODULE_a.hlo");
  program.line(260 * kMillisecond, "Compiler status PASS");
}

struct CompilationViewer : Viewer {
  TemporaryFolder folder;
  explicit CompilationViewer(const char* panel, bool compiles = true) {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    if (compiles) {
      write_compiling(writer);
    } else {
      const SchemaNumber zone = writer.add_schema({.name = "zone"});
      const TrackNumber thread = writer.add_track({.name = "main", .kind = "layer", .schema = zone});
      writer.begin_event(thread, 0, 100, writer.intern("x"));
    }
    REQUIRE(writer.finish().ok());
    REQUIRE(store->save(folder.file("s.accel")).ok());
    open(folder.file("s.accel"));
    app.layout().show(panel);
    REQUIRE(wait_for([&] { return tab().analysis->compilations() != nullptr; }));
    shell.frame(3);
    REQUIRE(shell.settle());
  }
  void press(std::string_view name, int times = 1) {
    REQUIRE(shell.click(name, render::MouseButton::left, times));
    REQUIRE(shell.settle());
  }
};

}  // namespace

TEST_CASE("compilation panel: the sentence counts, a function's row selects all its calls, a call's row the call") {
  CompilationViewer viewer("compilation");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("compilation.functions.row.0") != nullptr; }));
  CHECK(viewer.shell.visible_text().find("3 compilations take 690 ms") != std::string::npos);
  CHECK(viewer.shell.visible_text().find("1 of what had been compiled before") != std::string::npos);
  CHECK(viewer.shell.visible_text().find("6 cache hits") != std::string::npos);
  viewer.press("compilation.functions.row.0");
  REQUIRE(viewer.tab().region);
  CHECK(viewer.tab().region->terms.front().search == "name=\"train_step\"");
  viewer.press("compilation.page.1");
  viewer.press("compilation.calls.row.4");
  REQUIRE(viewer.tab().selected);
  const auto all = viewer.tab().analysis->compilations();
  CHECK(*viewer.tab().selected == all->calls.list[4].event);
  viewer.press("compilation.page.2");
  viewer.press("compilation.events.row.0");
  CHECK(*viewer.tab().selected == all->calls.list[0].event);  // the costliest comes first
}

TEST_CASE("compilation panel: a bar selects its call, and the scope leaves only what is in view") {
  CompilationViewer viewer("compilation");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("compilation.bars") != nullptr; }));
  viewer.press("compilation.bars");  // in its middle
  REQUIRE(viewer.tab().selected);
  viewer.tab().view = {0, 410.0 * kMillisecond};
  viewer.press("compilation.scope.1");
  REQUIRE(viewer.wait_for(
      [&] { return viewer.shell.visible_text().find("2 compilations take 395 ms") != std::string::npos; }));
}

TEST_CASE("compilation panel: compilations have signs on the timeline that select them, and cache hits are no signs") {
  CompilationViewer viewer("details");
  viewer.tab().view = {-5.0 * kMillisecond, 745.0 * kMillisecond};  // at first it is where the device works
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.find("timeline.compile.0") != nullptr);
  CHECK(viewer.shell.find("timeline.compile.2") != nullptr);
  CHECK(viewer.shell.find("timeline.compile.3") == nullptr);
  viewer.press("timeline.compile.1");
  REQUIRE(viewer.tab().selected);
  const auto all = viewer.tab().analysis->compilations();
  CHECK(*viewer.tab().selected == all->events[all->compiled[1]].event);
}

TEST_CASE("compilation panel: a session that tells of nothing says what would") {
  CompilationViewer viewer("compilation", false);
  REQUIRE(viewer.wait_for(
      [&] { return viewer.shell.visible_text().find("Nothing tells of compiling") != std::string::npos; }));
  CHECK(viewer.shell.find("timeline.compile.0") == nullptr);
}

TEST_CASE("hotspots panel: a row selects all events of its kernel, a double click shows its source") {
  CompilationViewer viewer("hotspots");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("hotspots.rows.row.0") != nullptr; }));
  viewer.press("hotspots.rows.row.0");
  REQUIRE(viewer.tab().region);
  CHECK(viewer.tab().region->terms.front().search == "name=\"gemm\"");
  REQUIRE(viewer.wait_for([&] {
    const auto summary = viewer.tab().analysis->summary(*viewer.tab().region);
    return summary && summary->summary->filter == *viewer.tab().region;
  }));
  CHECK(viewer.tab().analysis->summary(*viewer.tab().region)->summary->event_count == 8);
  viewer.press("hotspots.rows.row.0", 2);
  CHECK(viewer.tab().selected);
  CHECK(viewer.tab().region);
}

TEST_CASE("hotspots panel: without work of a device it says what would bring it") {
  CompilationViewer viewer("hotspots", false);
  REQUIRE(viewer.wait_for(
      [&] { return viewer.shell.visible_text().find("No work of a device in this session") != std::string::npos; }));
}
