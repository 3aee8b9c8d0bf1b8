// The Roofline panel with real clicks on a simulated Neuron session: points under their roof, what a click selects,
// peaks that are typed, the hierarchy's boxes and the reason of what limits, empty states, little width.
#include <algorithm>
#include <cmath>

#include "app/panels/roofline/panel.h"
#include "app/persist/persist.h"
#include "app/session/analysis.h"
#include "capture/sim/output/simulator.h"
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct RooflineViewer : Viewer {
  TemporaryFolder folder;
  explicit RooflineViewer(app::frame::AppOptions options = {}) : Viewer(std::move(options)) {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
    REQUIRE(store->save(folder.file("simulated.accel")).ok());
    open(folder.file("simulated.accel"));
    show();
  }
  void show() {
    app.layout().show("roofline");
    app.layout().maximise("roofline");
    REQUIRE(wait_for([&] { return !points().empty(); }));
    REQUIRE(shell.settle());  // the verdict's line comes above it, and moves it
  }
  // Names of the points that are drawn, the busiest first.
  [[nodiscard]] std::vector<std::string> points() {
    std::vector<std::string> names;
    for (int i = 0; i < 400; ++i) {
      const std::string name = "roofline.point." + std::to_string(i);
      if (shell.find(name) != nullptr) names.push_back(name);
    }
    return names;
  }
  void rest() { REQUIRE(shell.settle()); }
};

}  // namespace

TEST_CASE("roofline: points stand under their roof, and memories beside them as boxes") {
  RooflineViewer viewer;
  CHECK(viewer.points().size() >= 3);
  for (const char* box : {"HBM", "DMA", "SBUF", "Vector", "PSUM", "Tensor"})
    CHECK(viewer.shell.find(std::string("roofline.box.") + box) != nullptr);
  CHECK(viewer.shell.shows("HBM 410 GB/s"));  // the roof
  CHECK(viewer.shell.shows("bf16 91.75 TFLOP/s"));
  CHECK(viewer.shell.shows("fp32 22.94 TFLOP/s"));  // another ceiling
  CHECK(viewer.shell.shows("HBM to SBUF"));         // the table
  CHECK(viewer.shell.shows("FLOP per byte of HBM"));
  const render::Rect plot = *viewer.shell.find("roofline.plot");
  for (const std::string& name : viewer.points()) CHECK(plot.contains(viewer.shell.find(name)->centre()));
}

TEST_CASE("roofline: a click on a point selects its events everywhere, and a double click zooms to them") {
  RooflineViewer viewer;
  const std::string last = viewer.points().back();
  const session::ViewRange before = viewer.tab().view;
  viewer.shell.click(viewer.shell.find(last)->centre());
  viewer.rest();
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms[0].search.find("layer=\"layers.") != std::string::npos);
  const EventFilter chosen = *viewer.tab().region;
  CHECK(viewer.tab().view.whole_ns() == before.whole_ns());
  viewer.shell.click(viewer.shell.find(last)->centre(), render::MouseButton::left, 2);
  viewer.rest();
  CHECK(*viewer.tab().region == chosen);
  CHECK(viewer.tab().view.span_ns() < before.span_ns());
}

TEST_CASE("roofline: the selection's own figures are a segment away") {
  RooflineViewer viewer;
  viewer.shell.click(viewer.shell.find(viewer.points().front())->centre());
  viewer.rest();
  const std::size_t all = viewer.points().size();
  REQUIRE(viewer.shell.click("roofline.scope.2"));
  REQUIRE(viewer.wait_for([&] { return viewer.points().size() == 1; }));
  CHECK(all > 1);
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("what is selected"); }));
}

TEST_CASE("roofline: points by line and by name, and bytes of other memories") {
  RooflineViewer viewer;
  REQUIRE(viewer.shell.click("roofline.by"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("roofline.by.0"));
  // Multiplications move nothing from HBM: no name has both.
  REQUIRE(
      viewer.wait_for([&] { return viewer.shell.shows("No name states both its operations and its bytes of HBM"); }));
  REQUIRE(viewer.shell.click("roofline.memory"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("roofline.memory.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.points().size() == 1; }));
  CHECK(viewer.shell.shows("FLOP per byte of SBUF"));
  CHECK(viewer.shell.shows("without FLOPs"));
  viewer.shell.click(viewer.shell.find(viewer.points().front())->centre());
  viewer.rest();
  REQUIRE(viewer.tab().region);
  CHECK(viewer.tab().region->terms[0].search.find("MATMUL") != std::string::npos);
}

TEST_CASE("roofline: hovering a point tells its figures") {
  RooflineViewer viewer;
  REQUIRE(viewer.shell.hover(viewer.points().back()));
  viewer.shell.wait(0.3);
  CHECK(viewer.shell.shows("Intensity"));
  CHECK(viewer.shell.shows("Of its roof"));
  CHECK(viewer.shell.shows("Achieved"));
}

TEST_CASE("roofline: a peak that is typed changes the roof, is there in the next run, and goes back") {
  const TemporaryFolder state;
  {
    RooflineViewer viewer({.state_directory = state.path()});
    REQUIRE(viewer.shell.click("roofline.edit_peaks"));
    viewer.shell.frame(2);
    CHECK(viewer.shell.shows("NeuronCore of simulated"));
    REQUIRE(viewer.shell.click("roofline.peak.hbm"));
    viewer.shell.frame(2);
    viewer.shell.type("fast");  // all of it is marked when it takes the keyboard
    viewer.shell.key(render::Key::enter);
    viewer.shell.frame(2);
    CHECK(viewer.shell.shows("is not a peak; try 435 GB/s"));
    CHECK(viewer.shell.shows("HBM 410 GB/s"));
    viewer.shell.type("2 TB/s");  // the field has kept the keyboard
    viewer.shell.key(render::Key::enter);
    REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("HBM 2 TB/s"); }));
    CHECK(viewer.shell.shows("entered by you"));
    CHECK_FALSE(viewer.shell.shows("HBM 410 GB/s"));
    REQUIRE(viewer.shell.click("roofline.peaks.done"));
    viewer.rest();
    CHECK(viewer.shell.shows("HBM to SBUF"));
  }
  persist::PeakBook book(persist::peak_book_file(state.path()));
  REQUIRE(book.load().ok());
  REQUIRE(book.edits().size() == 1);
  CHECK(book.edits()[0] == analysis::PeakEdit{"NeuronCore of simulated", "hbm", 2e12});
  RooflineViewer viewer({.state_directory = state.path()});
  CHECK(viewer.shell.shows("HBM 2 TB/s"));
  REQUIRE(viewer.shell.click("roofline.edit_peaks"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("roofline.peak.hbm.reset"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("HBM 410 GB/s"); }));
  REQUIRE(book.load().ok());
  CHECK(book.edits().empty());
}

TEST_CASE("roofline: in a narrow place both parts lie one above the other, and the lower one is a scroll away") {
  RooflineViewer viewer;
  viewer.shell.resize(492, 1000, 1);
  viewer.rest();
  const render::Rect* box = viewer.shell.find("roofline.box.SBUF");
  const render::Rect* plot = viewer.shell.find("roofline.plot");
  REQUIRE(box != nullptr);
  REQUIRE(plot != nullptr);
  CHECK(box->x1 <= 492);
  CHECK(plot->y0 > box->y1);
  CHECK(plot->x1 <= 492);
}

TEST_CASE("roofline: what cannot be shown says what would fill it") {
  OpenViewer viewer;  // a session that counts no operations beside bytes
  viewer.app.layout().show("roofline");
  viewer.app.layout().maximise("roofline");
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("roofline.point.0") == nullptr);
  CHECK(viewer.shell.shows("states both its operations and its bytes"));
}

TEST_CASE("roofline: a device without known peaks has points without a roof, and asks for peaks") {
  TemporaryFolder folder;
  const std::string path = folder.file("plain.accel");
  {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    Schema schema;
    schema.name = "kernel";
    schema.columns = {{.name = "flops", .type = ColumnType::int64, .role = Role::flops},
                      {.name = "bytes", .type = ColumnType::int64, .role = Role::bytes}};
    const TrackNumber track =
        writer.add_track({.name = "stream", .kind = "stream", .device = "npu 0", .schema = writer.add_schema(schema)});
    for (int i = 0; i < 3; ++i) {
      Row row = writer.begin_event(track, i * 1000, 900, writer.intern("kernel " + std::to_string(i)));
      row.integer(0, 1000 << i);
      row.integer(1, 100);
    }
    REQUIRE(writer.finish().ok());
    REQUIRE(store->save(path).ok());
  }
  Viewer viewer;
  viewer.open(path);
  viewer.app.layout().show("roofline");
  viewer.app.layout().maximise("roofline");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("roofline.point.2") != nullptr; }));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("No peaks are known of this device"));
  REQUIRE(viewer.shell.click("roofline.enter_peaks"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("roofline.peak.hbm"));
  viewer.shell.frame(2);
  viewer.shell.type("1 GB/s");
  viewer.shell.key(render::Key::enter);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("Device memory 1 GB/s"); }));
  CHECK_FALSE(viewer.shell.shows("No peaks are known of this device"));
}

TEST_CASE("roofline: labels are placed once for an answer, a size and a zoom, and cover nothing") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  const std::shared_ptr<const Snapshot> snapshot = store->snapshot();
  auto line = std::make_shared<analysis::Roofline>();
  line->memories = {{"HBM", "hbm"}};
  for (int i = 0; i < 300; ++i) {
    analysis::RoofPoint point{.text = "kernel " + std::to_string(i), .count = 1, .flops = 1e6 * (1 + i * 37 % 91)};
    point.bytes[0] = 1e4 * (1 + i * 53 % 67);
    point.busy_ns = 1'000 + i * 7;
    line->points.push_back(point);
  }
  panels::RoofQuestion question{
      .line = line,
      .ceilings = {{.is_compute = true, .title = "bf16", .value = 9e13}, {.title = "HBM", .value = 4e11}},
      .filter = {},
      .width = 800,
      .height = 500};
  int measured = 0;
  const panels::LabelWidth width_of = [&measured](std::string_view text) {
    ++measured;
    return 7.0F * static_cast<float>(text.size());
  };
  panels::RoofLayouts layouts;
  const panels::RoofLayout first = layouts.of(question, *snapshot, width_of);
  CHECK(layouts.made() == 1);
  const int after_one = measured;
  CHECK(after_one > 0);
  for (int frame = 0; frame < 100; ++frame) (void)layouts.of(question, *snapshot, width_of);
  CHECK(layouts.made() == 1);
  CHECK(measured == after_one);
  REQUIRE(first.dots.size() == 300);
  CHECK(first.labels.size() > 10);
  for (const panels::RoofLayout::Label& label : first.labels) {
    CHECK(label.rect.x0 >= 0);
    CHECK(label.rect.x1 <= question.width);
    for (const panels::RoofLayout::Label& other : first.labels)
      CHECK((&other == &label || !other.rect.overlaps(label.rect)));
    for (const panels::RoofLayout::Dot& dot : first.dots) CHECK_FALSE(dot.box().overlaps(label.rect));
  }
  const auto changed = [&](const auto& change) {
    const std::size_t before = layouts.made();
    change(question);
    (void)layouts.of(question, *snapshot, width_of);
    return layouts.made() == before + 1;
  };
  CHECK(changed([](panels::RoofQuestion& of) { of.width = 640; }));
  CHECK(changed([](panels::RoofQuestion& of) { of.unit = 2; }));
  CHECK(changed([](panels::RoofQuestion& of) { of.ceilings.pop_back(); }));
  CHECK(changed([&](panels::RoofQuestion& of) { of.line = std::make_shared<const analysis::Roofline>(*line); }));
}
