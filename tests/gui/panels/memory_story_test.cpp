// The card of an allocation: its links lead to who wrote and read it, and it stays meanwhile. Partitions of one memory.
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

Column column(const char* name, ColumnType type, Role role) {
  return {.name = name, .type = type, .unit = "", .group = "", .title = "", .explanation = "", .role = role};
}

// A tile that one instruction writes and two read, in one of two partitions.
std::string save_story(const std::string& folder) {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber instructions =
      writer.add_schema({.number = 0,
                         .name = "instruction",
                         .kind = EventKind::slice,
                         .name_column = "opcode",
                         .name_explanation = "",
                         .wait_names = {},
                         .columns = {column("operands", ColumnType::text, Role::operands)}});
  const SchemaNumber allocations = writer.add_schema({.number = 0,
                                                      .name = "allocation",
                                                      .kind = EventKind::memory,
                                                      .name_column = "",
                                                      .name_explanation = "",
                                                      .wait_names = {},
                                                      .columns = {column("size", ColumnType::int64, Role::allocation),
                                                                  column("address", ColumnType::uint64, Role::address),
                                                                  column("pool", ColumnType::string, Role::pool)}});
  const auto track = [&](const char* name, const char* kind, SchemaNumber schema) {
    return writer.add_track({.name = name, .kind = kind, .device = "nc0", .host = "", .unit = "", .schema = schema});
  };
  const TrackNumber vector = track("Vector", "engine", instructions);
  const TrackNumber tensor = track("Tensor", "engine", instructions);
  const TrackNumber memory = track("SBUF", "memory", allocations);
  writer.begin_event(vector, 1'100, 100, writer.intern("TENSOR_COPY")).text(0, "dst=bf16@0x400[1][64]");
  for (const std::int64_t at : {2'000, 3'000}) {
    writer.begin_event(tensor, at, 100, writer.intern("MATMUL")).text(0, "src=bf16@0x400[1][64] dst=0x2000400[1]");
  }
  const auto allocate = [&](std::int64_t at, std::int64_t bytes, const char* pool, const char* name) {
    Row row = writer.begin_event(memory, at, 0, writer.intern(name));
    row.integer(0, bytes);
    row.unsigned_integer(1, 0x400);
    row.string(2, writer.intern(pool));
  };
  allocate(1'000, 4'096, "SBUF partition 0", "tile");
  allocate(1'000, 2'048, "SBUF partition 32", "other");
  allocate(5'000, -4'096, "SBUF partition 0", "tile");
  REQUIRE(writer.finish().ok());
  const std::string path = folder + "/story.accel";
  REQUIRE((*store)->save(path).ok());
  return path;
}

struct StoryViewer : Viewer {
  StoryViewer() {
    open(save_story(folder.path()));
    app.layout().maximise("memory");
    REQUIRE(wait_for([&] { return shell.find("memory.map") != nullptr; }));
  }
  [[nodiscard]] std::string selected_name() {
    return tab().selected ? std::string(read_event(tab(), *tab().selected)->name_text) : std::string();
  }
  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("memory: the links of an allocation lead to its writer and its readers, and the card stays") {
  StoryViewer viewer;
  const render::Rect map = *viewer.shell.find("memory.map");
  viewer.shell.click(map.centre());
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("memory.card.Written by") != nullptr; }));
  CHECK(viewer.selected_name() == "tile");
  CHECK(viewer.shell.shows("2 MATMUL"));

  REQUIRE(viewer.shell.click("memory.card.Written by"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.selected_name() == "TENSOR_COPY");
  REQUIRE(viewer.shell.click("memory.card.Read by"));  // still there
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.selected_name() == "MATMUL");
  CHECK(read_event(viewer.tab(), *viewer.tab().selected)->begin_ns == 2'000);

  const render::Rect reads = *viewer.shell.find("memory.card.reads");  // 1,000 to 5,000 ns
  viewer.shell.click({reads.x0 + (reads.width() - 3) * 0.5F + 1, reads.centre().y});
  REQUIRE(viewer.shell.settle());
  CHECK(read_event(viewer.tab(), *viewer.tab().selected)->begin_ns == 3'000);

  const std::optional<EventId> read = viewer.tab().selected;
  viewer.tab().selected.reset();
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("memory.card.show") == nullptr);
  viewer.tab().selected = read;  // now it was not the card that led there
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("memory.card.show") == nullptr);
}

TEST_CASE("memory: an instruction that is selected on the timeline outlines the blocks that it wrote and read") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(save_story(folder.path()));
  viewer.app.layout().show("memory");
  viewer.app.layout().maximise("memory");
  viewer.shell.frame(3);
  viewer.tab().selected = make_event_id(0, 0);  // the copy
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("memory.written.0") != nullptr; }));
  CHECK(viewer.shell.find("memory.read.0") == nullptr);
  viewer.tab().selected = make_event_id(1, 0);  // a multiplication
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("memory.read.0") != nullptr; }));
  CHECK(viewer.shell.find("memory.written.0") == nullptr);
  viewer.tab().selected.reset();
  viewer.shell.frame(3);
  CHECK(viewer.shell.find("memory.read.0") == nullptr);
}

TEST_CASE("memory: the partitions of a memory are one pool with a list of them") {
  StoryViewer viewer;
  CHECK(viewer.shell.shows("4 KiB"));
  REQUIRE(viewer.shell.click("memory.pool_part"));
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("memory.pool_part.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("1 allocation, 2 KiB"); }));
  CHECK(viewer.shell.shows("1 never freed"));
  CHECK(viewer.shell.shows("not freed"));
}
