// The source view with real input events: lines and files by cost where no text is stored, texts out of a folder, and
// what a lit line's foot says and does.
#include <filesystem>
#include <fstream>

#include "app/timeline/frame.h"
#include "core/chunk/session_writer.h"
#include "core/scan/event_mask.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

// Lines of two files and no text: model.py:7 costs most, ops/load.py:3 waits and is waited for by it.
std::string save_session_without_text(const std::string& folder, std::uint64_t turns) {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber work = writer.add_schema(
      {.name = "work",
       .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key},
                   {.name = "source", .type = ColumnType::string, .title = "Source", .role = Role::source_location},
                   {.name = "wait", .type = ColumnType::int64, .unit = "ns", .role = Role::wait_ns}}});
  const SchemaNumber flow =
      writer.add_schema({.name = "flow",
                         .kind = EventKind::flow,
                         .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source},
                                     {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target}}});
  const TrackNumber queue = writer.add_track({.name = "q0", .kind = "dma_queue", .device = "nc0", .schema = work});
  const TrackNumber engine = writer.add_track({.name = "Engine", .kind = "engine", .device = "nc0", .schema = work});
  const TrackNumber flows = writer.add_track({.name = "flows", .kind = "flow", .device = "nc0", .schema = flow});
  const auto event = [&](TrackNumber track, const char* name, const char* source, std::uint64_t id, std::int64_t at,
                         std::int64_t takes, std::int64_t wait) {
    Row row = writer.begin_event(track, at, takes, writer.intern(name));
    row.unsigned_integer(0, id);
    row.string(1, writer.intern(source));
    row.integer(2, wait);
  };
  for (std::uint64_t i = 0; i < turns; ++i) {
    const auto at = static_cast<std::int64_t>(i) * 1'000;
    event(queue, "load w", "ops/load.py:3", 100'000 + i, at, 300, 0);
    event(engine, "MATMUL", "model.py:7", i, at + 350, 100, 340);
    event(engine, "ADD", "model.py:9", 50'000 + i, at + 500, 40, 0);
    Row row = writer.begin_event(flows, at + 300, 0, writer.intern("semaphore"));
    row.unsigned_integer(0, 100'000 + i);
    row.unsigned_integer(1, i);
  }
  REQUIRE(writer.finish().ok());
  const std::string path = folder + "/no_text.accel";
  REQUIRE((*store)->save(path).ok());
  return path;
}

struct NoTextViewer : Viewer {
  explicit NoTextViewer(std::uint64_t turns = 5) : path(save_session_without_text(folder.path(), turns)) {
    open(path);
    REQUIRE(wait_for([&] { return shell.find("source.lines.row.2") != nullptr; }));
  }
  [[nodiscard]] std::string name_of(EventId id) { return read_event(tab(), id)->name_text; }
  TemporaryFolder folder;
  std::string path;
};

}  // namespace

TEST_CASE("source without text: lines stand by cost, a click lights their events and a double click zooms to them") {
  NoTextViewer viewer;
  CHECK(viewer.shell.shows("Lines by cost"));
  CHECK(viewer.shell.shows("2 files without text"));
  CHECK(viewer.shell.shows("model.py:7"));
  CHECK(viewer.shell.shows("load.py:3"));
  CHECK(viewer.shell.shows("1.5 µs"));       // five loads of 300 ns: the costliest, in the first row
  CHECK_FALSE(viewer.shell.shows("Bytes"));  // no line moves any
  REQUIRE(viewer.shell.click("source.lines.row.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.tab().lit && viewer.tab().lit->total() == 5; }));
  CHECK(viewer.tab().lit->passes(*viewer.tab().snapshot, make_event_id(1, 0)));  // MATMUL
  CHECK(viewer.tab().selected_source == "model.py:7");
  CHECK(viewer.shell.shows("5 events lit"));
  viewer.tab().show({0, 1e6});
  REQUIRE(viewer.shell.click("source.lines.row.1", render::MouseButton::left, 2));
  REQUIRE(viewer.wait_for([&] { return viewer.tab().view.span_ns() < 1e5; }));
}

TEST_CASE("source without text: the heat and the heads order the table, and typing narrows it") {
  NoTextViewer viewer;
  REQUIRE(viewer.shell.click("source.heat"));
  REQUIRE(viewer.shell.click("source.heat.1"));
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.click("source.lines.row.0"));  // MATMUL waits most
  CHECK(viewer.tab().selected_source == "model.py:7");
  REQUIRE(viewer.shell.click("source.lines.head.0"));  // by file and line, last first
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.click("source.lines.row.0"));
  const std::string first = viewer.tab().selected_source;
  REQUIRE(viewer.shell.click("source.lines.head.0"));
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.click("source.lines.row.0"));
  CHECK(viewer.tab().selected_source != first);
  REQUIRE(viewer.shell.click("source.narrow"));
  viewer.shell.type("LOAD");
  viewer.shell.frame(3);
  CHECK(viewer.shell.find("source.lines.row.0") != nullptr);
  CHECK(viewer.shell.find("source.lines.row.1") == nullptr);
}

TEST_CASE("source: the foot says what a line waits for, and steps through its events") {
  NoTextViewer viewer;
  REQUIRE(viewer.shell.click("source.lines.row.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("load w"); }));
  REQUIRE(viewer.shell.hover("source.figure.Bound by"));
  viewer.shell.wait(0.3);
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("load w on q0, 1.7 µs (100 %)"); }));
  CHECK(viewer.shell.shows("77 %"));  // 340 of 440 ns
  REQUIRE(viewer.shell.click("source.event.next"));
  CHECK(viewer.tab().selected == make_event_id(1, 0));
  CHECK(viewer.shell.shows("1 of 5"));
  REQUIRE(viewer.shell.click("source.event.next"));
  CHECK(viewer.tab().selected == make_event_id(1, 2));
  REQUIRE(viewer.shell.click("source.event.previous"));
  REQUIRE(viewer.shell.click("source.event.previous"));
  CHECK(viewer.tab().selected == make_event_id(1, 8));  // round again
  CHECK(viewer.tab().lit);                              // all of them stay lit
  viewer.tab().selected = make_event_id(0, 0);
  viewer.shell.frame(2);
  CHECK_FALSE(viewer.tab().lit);  // of another line
}

TEST_CASE("source: every event of a line is lit where it is seen, however many there are and however far out") {
  NoTextViewer viewer(2'000);
  REQUIRE(viewer.shell.click("source.lines.row.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("2,000 events lit"); }));
  const auto lit_pixels = [&] {
    std::size_t pixels = 0;
    const timeline::TimelineState& timeline = *viewer.tab().timeline;
    for (std::size_t i = 0; i < timeline.lane_count; ++i) {
      for (const render::PixelRun& run : timeline.lanes[i].strip->lit)
        pixels += static_cast<std::size_t>(run.end - run.begin);
    }
    return pixels;
  };
  viewer.run("fit_all");
  REQUIRE(viewer.shell.settle());
  const float width = viewer.shell.find("timeline.canvas")->width();
  CHECK(static_cast<float>(lit_pixels()) > 0.8F * width);  // as far as the session goes
  viewer.tab().show({1'990'000, 1'996'000});               // the last ones, each wide
  REQUIRE(viewer.shell.settle());
  std::size_t lit_slices = 0;
  const timeline::TimelineState& timeline = *viewer.tab().timeline;
  for (std::size_t i = 0; i < timeline.lane_count; ++i) {
    for (const render::WideSlice& slice : timeline.lanes[i].strip->slices) {
      if (slice.lit) CHECK(viewer.name_of(slice.id) == "MATMUL");
      lit_slices += slice.lit ? 1 : 0;
    }
  }
  CHECK(lit_slices == 6);
  viewer.tab().show({-50'000, -1'000});
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("2,000 events lit, none in view"));
  REQUIRE(viewer.shell.click("source.show"));
  REQUIRE(
      viewer.wait_for([&] { return viewer.shell.shows("2,000 events lit") && !viewer.shell.shows("none in view"); }));
}

TEST_CASE("source: a line that no event names offers no way to its events") {
  OpenViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("source.line.1") != nullptr; }));
  REQUIRE(viewer.shell.click("source.line.1"));  // an import
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("source.show") != nullptr; }));
  viewer.tab().show({0, 1e6});
  REQUIRE(viewer.shell.settle());
  (void)viewer.shell.click("source.show");
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view.span_ns() == doctest::Approx(1e6));
  CHECK_FALSE(viewer.tab().lit);
  REQUIRE(viewer.shell.hover("source.show"));
  viewer.shell.wait(0.6);
  CHECK(viewer.shell.shows("No event names this line"));
}

TEST_CASE("source: stepping to an event that is narrower than a pixel goes so near that it is seen") {
  NoTextViewer viewer(2'000);
  viewer.run("fit_all");
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("source.lines.row.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("2,000 events lit"); }));
  REQUIRE(viewer.shell.click("source.event.next"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view.begin_ns < 350);
  CHECK(viewer.tab().view.end_ns > 450);
  const double pixels =
      100 / viewer.tab().view.span_ns() * static_cast<double>(viewer.shell.find("timeline.canvas")->width());
  CHECK(pixels > 20);
  const double span = viewer.tab().view.span_ns();
  REQUIRE(viewer.shell.click("source.event.next"));
  CHECK(viewer.tab().view.span_ns() == doctest::Approx(span));  // near enough already
}

TEST_CASE("source: texts below a chosen folder are stored with the session, and the lines lead to them") {
  NoTextViewer viewer;
  const std::string text = "def forward(x):\n\n\n\n\n\n    y = matmul(x)\n\n    return y + 1\n";
  write_file(viewer.folder.file("tree/deep/model.py"), text);
  REQUIRE(viewer.shell.click("source.folder"));
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("Choose the folder with the sources"));
  viewer.shell.type(viewer.folder.file("tree"));
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("file_dialog.done"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("matmul"); }));
  REQUIRE(viewer.tab().snapshot->sources.size() == 1);
  CHECK(viewer.tab().snapshot->sources.front()->content == text);
  CHECK(viewer.tab().snapshot->sources.front()->path == "model.py");
  CHECK(viewer.shell.shows("model.py"));

  REQUIRE(viewer.shell.settle());  // shown a moment before it is written
  auto stored = Store::open(viewer.path);
  REQUIRE(stored.ok());
  CHECK((*stored)->snapshot()->sources.size() == 1);
}

TEST_CASE("source: a folder without the files says so, and cancelling chooses nothing") {
  NoTextViewer viewer;
  write_file(viewer.folder.file("other/readme.py"), "x = 1\n");
  REQUIRE(viewer.shell.click("source.folder"));
  viewer.shell.frame(3);
  viewer.shell.type(viewer.folder.file("other"));
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("file_dialog.done"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("none of the 2 source files"); }));
  CHECK(viewer.tab().snapshot->sources.empty());
  REQUIRE(viewer.shell.click("source.folder"));
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.click("file_dialog.cancel"));
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.shell.shows("Choose the folder with the sources"));
}

TEST_CASE("source: files stand by cost, one opens as its lines, and the page is kept with the session") {
  NoTextViewer viewer;
  viewer.app.layout().show("details");  // the summary lists lines too
  REQUIRE(viewer.shell.click("source.file"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("source.files.files"));
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("Files by cost"));
  CHECK(viewer.shell.shows("700 ns"));  // model.py: 500 and 200 ns
  CHECK(viewer.tab().store->overlay_value("source.page") == "files");
  REQUIRE(viewer.shell.click("source.files_by_cost.row.1", render::MouseButton::left, 2));
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("model.py:9"));
  CHECK_FALSE(viewer.shell.shows("load.py:3"));
}

TEST_CASE("source text: finding goes from hit to hit, a number goes to the line, hot lines go by cost") {
  OpenViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("500 ns"); }));
  REQUIRE(viewer.shell.click("source.find"));
  viewer.shell.type("NL");
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("1 of 3"));  // the import and two calls
  viewer.shell.key(Key::enter);
  CHECK(viewer.shell.shows("2 of 3"));
  REQUIRE(viewer.shell.click("source.find.previous"));
  CHECK(viewer.shell.shows("1 of 3"));
  REQUIRE(viewer.shell.click("source.find"));
  viewer.shell.type("nowhere");
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("none"));
  REQUIRE(viewer.shell.click("source.hot.next"));
  CHECK(viewer.tab().selected_source == "/kernels/kernel.py:3");  // 20 events of 100 ns
  REQUIRE(viewer.shell.click("source.hot.next"));
  CHECK(viewer.tab().selected_source == "/kernels/kernel.py:4");
  REQUIRE(viewer.shell.click("source.hot.next"));
  CHECK(viewer.shell.shows("No line costs less"));
  REQUIRE(viewer.shell.click("source.hot.previous"));
  CHECK(viewer.tab().selected_source == "/kernels/kernel.py:3");
}

TEST_CASE("source: the instruction listing is in the order of the program, of the lit line or of all, and selects") {
  NoTextViewer viewer;
  REQUIRE(viewer.shell.click("source.file"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("source.files.instructions"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("source.instructions.row.1") != nullptr; }));
  CHECK(viewer.shell.shows("MATMUL"));
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("2 places"); }));  // a queue executes nothing
  REQUIRE(viewer.shell.click("source.instructions.row.1"));
  viewer.shell.frame(2);
  REQUIRE(viewer.tab().region);
  CHECK(viewer.tab().region->tracks.size() == 1);
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms[0].search.find("ADD") != std::string::npos);
  // With a line lit only its instructions, unless all are wanted.
  viewer.tab().selected_source = "model.py:7";
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("source.file"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("source.files.instructions"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("source.instructions.row.1") == nullptr; }));
  REQUIRE(viewer.shell.find("source.instructions.row.0") != nullptr);
  CHECK(viewer.shell.shows_in(*viewer.shell.find("source.instructions.row.0"), "MATMUL"));
  REQUIRE(viewer.shell.click("source.instructions.of.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("source.instructions.row.1") != nullptr; }));
}

TEST_CASE("source: the lit line opens in the user's editor, whose command is asked for first") {
  NoTextViewer viewer;
  const std::string file = viewer.folder.file("kernel.py"), reported = viewer.folder.file("told");
  write_file(file, "x = 1\n");
  viewer.tab().selected_source = file + ":7";
  viewer.shell.frame(2);
  viewer.shell.key(Key::f4);
  viewer.shell.frame(3);
  INFO(viewer.tab().selected_source, viewer.shell.visible_text());
  CHECK(viewer.shell.shows("Command of the editor"));
  viewer.shell.type("touch '" + reported + "-{line}'");
  viewer.shell.frame(2);
  viewer.shell.key(Key::enter);
  viewer.shell.frame(3);
  viewer.shell.key(Key::f4);
  REQUIRE(viewer.wait_for([&] { return std::filesystem::exists(reported + "-7"); }));
}
