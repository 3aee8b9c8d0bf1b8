// The Iterations panel with real clicks: loops, bars that open an iteration, the body, by name, regions, and sessions
// in which nothing repeats.
#include "app/session/analysis.h"
#include "capture/sim/output/simulator.h"
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

constexpr std::int64_t kStepNs = 1'000'000;
constexpr int kStepCount = 20;

// Steps on a stream, of which one is slow, under annotated steps of a thread.
void write_steps(SessionWriter& writer) {
  const SchemaNumber kernel = writer.add_schema({.name = "kernel"}), call = writer.add_schema({.name = "nvtx"});
  const TrackNumber stream =
      writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
  const TrackNumber host = writer.add_track({.name = "main", .kind = "host_thread", .schema = call});
  for (int step = 0; step < kStepCount; ++step) {
    const std::int64_t begin = step * kStepNs;
    for (int k = 0; k < 6; ++k) {
      const std::int64_t length = k == 3 && step == 11 ? 300'000 : 90'000;
      writer.begin_event(stream, begin + k * 100'000 + (k > 3 && step == 11 ? 210'000 : 0), length,
                         writer.intern(std::string("kernel_") + static_cast<char>('a' + k)));
    }
    writer.begin_event(host, begin, kStepNs - 1'000, writer.intern("Step#" + std::to_string(step + 40)));
    if (step % 2 == 0) writer.begin_event(host, begin + 1'000, 100'000, writer.intern("load"));
  }
}

struct IterationsViewer : Viewer {
  TemporaryFolder folder;
  explicit IterationsViewer(bool repeats = true) {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    if (repeats) {
      write_steps(writer);
    } else {
      const SchemaNumber zone = writer.add_schema({.name = "zone"});
      const TrackNumber thread = writer.add_track({.name = "main", .kind = "engine", .schema = zone});
      for (int i = 0; i < 4; ++i)
        writer.begin_event(thread, i * 100, 50, writer.intern(std::string("once ") + static_cast<char>('a' + i)));
    }
    REQUIRE(writer.finish().ok());
    REQUIRE(store->save(folder.file("s.accel")).ok());
    open(folder.file("s.accel"));
    app.layout().show("iterations");
    shell.frame(3);
    REQUIRE(shell.settle());
  }
  void press(std::string_view name, int times = 1) {
    REQUIRE(shell.click(name, render::MouseButton::left, times));
    REQUIRE(shell.settle());
  }
  [[nodiscard]] bool contains_words(std::string_view text) {
    return shell.visible_text().find(text) != std::string::npos;
  }
};

}  // namespace

TEST_CASE("iterations panel: loops are listed, and a click on a bar opens its iteration") {
  IterationsViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("iterations.loops.row.0") != nullptr; }));
  CHECK(viewer.contains_words("stream 7"));
  CHECK(viewer.contains_words("20 iterations, median 590"));
  CHECK(viewer.contains_words("1 outlier"));
  viewer.press("iterations.bars");  // in its middle
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->range);
  CHECK(viewer.tab().region->range->begin_ns == 10 * kStepNs);
  viewer.shell.wait(1);  // the view glides there
  CHECK(viewer.tab().view.begin_ns > 9.0 * kStepNs);
  CHECK(viewer.tab().view.end_ns < 12.0 * kStepNs);
  viewer.press("iterations.page.1");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("iterations.each.row.0") != nullptr; }));
  viewer.press("iterations.each.row.0");
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->range);
  CHECK(viewer.tab().region->range->begin_ns == 0);
  CHECK(viewer.tab().region->range->end_ns == 590'000);
  viewer.shell.wait(1);
  CHECK(viewer.tab().view.end_ns < 2.0 * kStepNs);
}

TEST_CASE("iterations panel: an operation of the body selects its events, the other loop has its own") {
  IterationsViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("iterations.body.row.0") != nullptr; }));
  viewer.press("iterations.body.row.2");
  REQUIRE(viewer.tab().region);
  CHECK(viewer.tab().region->terms.front().search == "name=\"kernel_c\"");
  viewer.press("iterations.loops.row.1");
  REQUIRE(viewer.wait_for([&] { return viewer.contains_words("Step#*"); }));
}

TEST_CASE("iterations panel: by name, and of no such name it says so") {
  IterationsViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("iterations.loops.row.0") != nullptr; }));
  viewer.press("iterations.by");
  viewer.shell.type("Step");
  viewer.shell.key(render::Key::enter);
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("iterations.loops.row.1") != nullptr; }));
  viewer.press("iterations.by");
  viewer.shell.type("Nowhere");
  viewer.shell.key(render::Key::enter);
  REQUIRE(viewer.wait_for([&] { return viewer.contains_words("No event is named"); }));
}

TEST_CASE("iterations panel: regions have the spread of their lengths, and where nothing repeats it says so") {
  IterationsViewer viewer;
  viewer.press("iterations.page.2");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("iterations.named.row.0") != nullptr; }));
  viewer.press("iterations.named.row.0");
  REQUIRE(viewer.tab().region);
  CHECK(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.shell.find("iterations.spread.0") != nullptr);
  CHECK(viewer.shell.find("iterations.spread.1") == nullptr);
  viewer.press("iterations.named.row.1");
  CHECK(viewer.shell.find("iterations.spread.1") != nullptr);
  CHECK(viewer.contains_words("times the first"));
  viewer.press("iterations.regions.2");
  REQUIRE(viewer.wait_for([&] { return viewer.contains_words("none of these"); }));
  IterationsViewer none(false);
  REQUIRE(none.wait_for([&] { return none.contains_words("Nothing repeats clearly enough"); }));
}

TEST_CASE("iterations panel: layers down to a level are regions, and a click selects all that lies below it") {
  const TemporaryFolder folder;
  const auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 3}, sink).ok());
  REQUIRE(store->save(folder.file("simulated.accel")).ok());
  Viewer viewer;
  viewer.open(folder.file("simulated.accel"));
  viewer.app.layout().show("iterations");
  const auto press = [&](std::string_view name) {
    REQUIRE(viewer.shell.click(name));
    REQUIRE(viewer.shell.settle());
  };
  viewer.shell.frame(3);
  press("iterations.page.2");
  CHECK(viewer.shell.find("iterations.depth") == nullptr);  // annotations have none
  press("iterations.regions.1");
  press("iterations.depth");
  press("iterations.depth.1");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("iterations.named.row.0") != nullptr; }));
  press("iterations.named.row.0");
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms[0].search.starts_with("layer~/^"));
  CHECK(viewer.tab().region->terms[0].search.find("\\/mlp") == std::string::npos);
  CHECK(viewer.shell.find("iterations.spread.0") != nullptr);
  press("iterations.regions.2");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("iterations.named.row.0") != nullptr; }));
  press("iterations.named.row.0");
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms[0].search.starts_with("stack_frames~/^"));
}
