// Details and dependencies with real input events: what is listed for an event, and what a click or key leads to.
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

// One engine with a hundred events, each of which waits for the one before; the last of all also for a short one that
// ended long ago. Saved; the events' keys are their places.
std::string save_chain_session(const std::string& folder) {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber work =
      writer.add_schema({.name = "work", .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
  const SchemaNumber flow =
      writer.add_schema({.name = "flow",
                         .kind = EventKind::flow,
                         .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source},
                                     {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target}}});
  const TrackNumber early = writer.add_track({.name = "Early", .kind = "engine", .device = "nc0", .schema = work});
  const TrackNumber engine = writer.add_track({.name = "Engine", .kind = "engine", .device = "nc0", .schema = work});
  const TrackNumber flows = writer.add_track({.name = "flows", .kind = "flow", .device = "nc0", .schema = flow});
  const auto arrow = [&](std::int64_t at, std::uint64_t from, std::uint64_t to) {
    Row row = writer.begin_event(flows, at, 0, writer.intern("semaphore"));
    row.unsigned_integer(0, from);
    row.unsigned_integer(1, to);
  };
  writer.begin_event(early, 10, 20, writer.intern("EARLY")).unsigned_integer(0, 500);
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto at = static_cast<std::int64_t>(1'000 + i * 100);
    writer.begin_event(engine, at, 80, writer.intern("STEP" + std::to_string(i))).unsigned_integer(0, i);
    if (i == 99) arrow(at, 500, i);
    if (i > 0) arrow(at, i - 1, i);
  }
  REQUIRE(writer.finish().ok());
  const std::string path = folder + "/chain.accel";
  REQUIRE((*store)->save(path).ok());
  return path;
}

struct ChainViewer : Viewer {
  ChainViewer() { open(save_chain_session(folder.path())); }
  [[nodiscard]] std::string selected_name() {
    return tab().selected ? read_event(tab(), *tab().selected)->name_text : "";
  }
  void select(std::uint64_t step) {
    tab().selected = make_event_id(1, step);
    shell.frame(2);
    REQUIRE(shell.settle());
    REQUIRE(wait_for([&] { return shell.find("details.dependency.0") != nullptr; }));
  }
  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("dependencies: direct ones are listed with lane and distance, and a key goes back to the last") {
  ChainViewer viewer;
  viewer.select(99);
  CHECK(viewer.shell.shows("EARLY"));
  CHECK(viewer.shell.shows("STEP98"));
  CHECK(viewer.shell.shows("−20 ns"));      // STEP98 ends 20 ns before it begins
  CHECK(viewer.shell.shows("−10,870 ns"));  // EARLY long before
  viewer.shell.key(Key::bracket_left);
  CHECK(viewer.selected_name() == "STEP98");
  viewer.shell.key(Key::bracket_right);
  CHECK(viewer.selected_name() == "STEP99");
}

TEST_CASE("dependencies: the chain goes on to the start, is cut and counted, and a click selects one of its events") {
  ChainViewer viewer;
  viewer.select(90);
  CHECK_FALSE(viewer.shell.shows("STEP86"));
  REQUIRE(viewer.shell.click("details.reach.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("STEP86"); }));
  REQUIRE(viewer.tab().chain != nullptr);
  CHECK(viewer.tab().chain->before_total == 90);
  CHECK(viewer.tab().chain->before.size() == 64);
  CHECK(viewer.tab().chain->after_total == 9);
  REQUIRE(viewer.shell.hover("details.dependency.3"));
  viewer.shell.wait(0.5);
  CHECK(viewer.shell.visible_text().find("+20 ns from its end to the begin of the next in the chain") !=
        std::string::npos);  // STEP87
  REQUIRE(viewer.shell.click("details.dependency.3"));
  CHECK(viewer.selected_name() == "STEP86");
  REQUIRE(viewer.wait_for([&] { return viewer.tab().chain->event == *viewer.tab().selected; }));
  viewer.app.layout().maximise("details");
  viewer.shell.frame(3);
  const render::Rect* last = viewer.shell.find("details.dependency.3");
  REQUIRE(last != nullptr);
  viewer.shell.move(last->centre());
  for (int i = 0; i < 60; ++i) viewer.shell.wheel({0, -5});
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("77 of 99 shown"));  // 64 of 86 before, all 13 after
}

TEST_CASE("details: a click on the operands pins the card that takes them apart, a key does too, Esc closes it") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  REQUIRE(viewer.shell.click("details.field.operands"));
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("In general"));
  CHECK(viewer.shell.shows("where the first element lies"));
  CHECK(viewer.shell.shows("0x2fa00"));
  REQUIRE(viewer.shell.find("details.operand.1.1") != nullptr);
  REQUIRE(viewer.shell.click("details.operand.1.1"));
  CHECK(viewer.shell.clipboard() == "0x2fa00");
  viewer.shell.key(Key::escape);
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.shell.shows("where the first element lies"));
  CHECK(viewer.tab().selected == kFirstMatmul);
  viewer.run("explain_operands");
  CHECK(viewer.shell.shows("where the first element lies"));
}

TEST_CASE("details: a name is a link to all events that have it, and its icon copies it") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  REQUIRE(viewer.shell.click("details.field.opcode"));
  REQUIRE(viewer.tab().region.has_value());
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms.front().search == "name=\"MATMUL\"");
  const render::Rect field = *viewer.shell.find("details.field.opcode");
  viewer.shell.move({field.x1 - 6, field.centre().y});
  viewer.shell.frame(2);
  viewer.shell.click({field.x1 - 6, field.centre().y});
  CHECK(viewer.shell.clipboard() == "MATMUL");
}

TEST_CASE("dependencies: buttons walk along them as the keys do") {
  ChainViewer viewer;
  viewer.select(50);
  REQUIRE(viewer.shell.click("details.predecessor"));
  viewer.shell.frame(2);
  CHECK(viewer.selected_name() == "STEP49");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("details.dependency.0") != nullptr; }));
  REQUIRE(viewer.shell.click("details.successor"));
  viewer.shell.frame(2);
  CHECK(viewer.selected_name() == "STEP50");
}

TEST_CASE("details: a field whose source explains nothing says where it comes from") {
  ChainViewer viewer;
  viewer.select(5);
  REQUIRE(viewer.shell.hover("details.field.id"));
  viewer.shell.wait(0.3);
  CHECK(viewer.shell.shows("As recorded in the field \"id\""));
}

TEST_CASE("details: an instruction made of several leads to the lines of all, and its loop turn selects its like") {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema(
      {.name = "instruction",
       .columns = {
           {.name = "stack_frames", .type = ColumnType::string, .role = Role::stack},
           {.name = "other_stack_frames", .type = ColumnType::string, .title = "Also from", .role = Role::stack},
           {.name = "loop_variables", .type = ColumnType::string, .title = "Loop variables"}}});
  const TrackNumber engine = writer.add_track({.name = "Vector", .kind = "engine", .device = "nc0", .schema = schema});
  for (int i = 0; i < 4; ++i) {
    Row row = writer.begin_event(engine, i * 100, 80, writer.intern("ADD"));
    row.string(0, writer.intern("relu (a.py:5)"));
    row.string(1, writer.intern("add (b.py:7)\nmul (c.py:9)"));
    row.string(2, writer.intern("i=" + std::to_string(i / 2)));
  }
  REQUIRE(writer.finish().ok());
  const TemporaryFolder folder;
  REQUIRE(store->save(folder.file("s.accel")).ok());
  Viewer viewer;
  viewer.open(folder.file("s.accel"));
  viewer.tab().selected = make_event_id(0, 1);
  viewer.app.layout().show("details");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("c.py:9"); }));
  CHECK(viewer.shell.shows("b.py:7"));
  REQUIRE(viewer.shell.click("details.field.loop_variables"));
  REQUIRE(viewer.tab().region);
  CHECK(viewer.tab().region->terms[0].search == "loop_variables=\"i=0\"");
  REQUIRE(viewer.shell.click("details.field.other_stack_frames.more"));
  viewer.shell.frame(2);
  CHECK(viewer.tab().selected_source == "c.py:9");
}
