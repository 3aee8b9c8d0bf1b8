#include "core/analysis/hierarchy/hierarchy.h"

#include <tuple>

#include "core/analysis/hierarchy/hierarchy_index.h"
#include "core/analysis/hierarchy/path_kinds.h"
#include "core/chunk/session_writer.h"
#include "core/search/filter_mask.h"
#include "tests/core/analysis/hierarchy/expected_tree.h"

using namespace accelscope;
using namespace accelscope::analysis;
using namespace accelscope::test;

TEST_CASE("hierarchy: by source line it is what lists of every event give, in any range, over overlapping lanes") {
  RandomSession session(31, 6'000);
  for (int i = 0; i < 12; ++i) {
    const TimeRange range = i == 0 ? TimeRange{} : session.random_range();
    const ExpectedTree expected = expected_lines(session, range, "");
    check_tree(hierarchy_of(session.context(), {.kind = "line"}, range), expected);
    // In many windows at once, whose edges cut events.
    check_tree(hierarchy_of(session.context(), {.kind = "line"}, range, {.window_events = 700}), expected);
  }
}

TEST_CASE("hierarchy: only what passes the filter is in it") {
  RandomSession session(32, 4'000);
  for (int i = 0; i < 4; ++i) {
    const TimeRange range = i == 0 ? TimeRange{} : session.random_range();
    auto query = session.context();
    const auto mask = search::event_mask(query, {.range = {}, .tracks = {}, .terms = {{"name=Copy.2", false}}});
    REQUIRE(mask.ok());
    query.mask = *mask;
    check_tree(hierarchy_of(query, {.kind = "line"}, range), expected_lines(session, range, "Copy.2"));
  }
}

TEST_CASE("hierarchy: what lies deeper than was asked for is counted in the last level") {
  RandomSession session(33, 3'000);
  const Hierarchy whole = hierarchy_of(session.context(), {.kind = "line"});
  const Hierarchy cut = hierarchy_of(session.context(), {.kind = "line", .depth = 1});
  REQUIRE(cut.nodes.size() == 3);  // all, the file, what has no line
  CHECK(cut.nodes[0].cover.busy_ns == whole.nodes[0].cover.busy_ns);
  CHECK(cut.cut_events > 0);
  for (std::size_t i = 1; i < 3; ++i) CHECK(cut.nodes[i].child_count == 0);
}

TEST_CASE("hierarchy: the time of what is looked for is a union, too") {
  RandomSession session(34, 4'000);
  const ExpectedTree expected = expected_lines(session, {}, "");
  Intervals hits;
  for (const auto& [path, node] : expected) {
    if (path.size() == 2 && path[1].find(":1") != std::string::npos) {
      hits.insert(hits.end(), node.busy.begin(), node.busy.end());
    }
  }
  CHECK(hierarchy_of(session.context(), {.kind = "line", .marked = "py:1"}).marked_ns == length_of_union(hits));
}

namespace {

// A layer path, a line and FLOPs on two engines that overlap.
class LayerSession {
 public:
  LayerSession() {
    Schema schema{.name = "instruction"};
    schema.wait_names = {"WAIT"};
    schema.columns = {{.name = "layer", .type = ColumnType::string, .role = Role::layer},
                      {.name = "at", .type = ColumnType::string, .role = Role::source_location},
                      {.name = "flops", .type = ColumnType::int64, .role = Role::flops},
                      {.name = "waited", .type = ColumnType::int64, .role = Role::wait_ns}};
    const SchemaNumber number = writer_.add_schema(schema);
    for (const char* engine : {"Tensor", "Vector"}) {
      engines_.push_back(writer_.add_track({.name = engine, .kind = "engine", .device = "nc0", .schema = number}));
    }
    schema.name = "python";
    host_ = writer_.add_track(
        {.name = "7 python", .kind = "host_thread", .host = "python3 (7)", .schema = writer_.add_schema(schema)});
    runtime_ = writer_.add_track({.name = "7 runtime",
                                  .kind = "host_thread",
                                  .host = "python3 (7)",
                                  .schema = writer_.add_schema({.name = "runtime_call", .wait_names = {"sync"}}),
                                  .order = 1});
    dma_ = writer_.add_track(
        {.name = "q0", .kind = "dma_queue", .device = "nc0", .schema = writer_.add_schema({.name = "dma"})});
  }
  void run(std::size_t engine, std::int64_t begin, std::int64_t end, const char* layer, const char* line,
           std::int64_t flops = 0, const char* name = "MATMUL") {
    Row row = writer_.begin_event(engines_[engine], begin, end - begin, writer_.intern(name));
    if (*layer != 0) row.string(0, writer_.intern(layer));
    if (*line != 0) row.string(1, writer_.intern(line));
    if (flops > 0) row.integer(2, flops);
  }
  void run_late(std::size_t engine, std::int64_t begin, std::int64_t end, const char* layer, std::int64_t waited) {
    Row row = writer_.begin_event(engines_[engine], begin, end - begin, writer_.intern("MATMUL"));
    row.string(0, writer_.intern(layer));
    row.integer(3, waited);
  }
  void calls(std::int64_t begin, std::int64_t end, const char* line, const char* name = "f") {
    Row row = writer_.begin_event(host_, begin, end - begin, writer_.intern(name));
    if (*line != 0) row.string(1, writer_.intern(line));
  }
  void calls_runtime(std::int64_t begin, std::int64_t end, const char* name) {
    writer_.begin_event(runtime_, begin, end - begin, writer_.intern(name));
  }
  void moves(std::int64_t begin, std::int64_t end) {
    writer_.begin_event(dma_, begin, end - begin, writer_.intern("w"));
  }
  QueryContext query() {
    REQUIRE(writer_.finish().ok());
    return {*store_, store_->snapshot(), pool_, control_};
  }

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  std::vector<TrackNumber> engines_;
  TrackNumber dma_ = 0, host_ = 0, runtime_ = 0;
};

const HierarchyNode* node_at(const Hierarchy& tree, const Path& path) {
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (path_of(tree, i) == path) return &tree.nodes[i];
  }
  return nullptr;
}

}  // namespace

TEST_CASE("hierarchy: layers are split at slashes, lines lie below, and their time is the layer's own") {
  LayerSession session;
  session.run(0, 0, 100, "/net/mlp", "mlp.py:3", 1'000);
  session.run(0, 100, 150, "/net/mlp", "mlp.py:4");
  session.run(0, 200, 260, "/net", "");
  session.run(0, 300, 400, "/net/mlp", "mlp.py:3", 0, "WAIT");
  session.run(1, 50, 120, "/net/mlp", "mlp.py:4", 500);
  session.run(1, 240, 300, "", "");
  session.moves(0, 500);
  const Hierarchy tree = hierarchy_of(session.query(), {});
  REQUIRE(tree.kind != nullptr);
  CHECK(tree.kind->name == "layer");
  CHECK(tree.without == std::vector<std::string>{"dma"});
  const HierarchyNode* mlp = node_at(tree, {"net", "mlp"});
  REQUIRE(mlp != nullptr);
  CHECK(mlp->cover.busy_ns == 150);
  CHECK(mlp->cover.self_ns == 150);
  CHECK(mlp->totals.wait_ns == 100);
  CHECK(mlp->totals.sum_ns == 320);
  CHECK(mlp->totals.flops == 1'500);
  CHECK(mlp->totals.events == 4);
  const HierarchyNode* net = node_at(tree, {"net"});
  REQUIRE(net != nullptr);
  CHECK(net->cover.busy_ns == 210);
  CHECK(net->cover.self_ns == 60);
  const HierarchyNode* line = node_at(tree, {"net", "mlp", "mlp.py:4"});
  REQUIRE(line != nullptr);
  CHECK(line->detail);
  CHECK(line->cover.busy_ns == 100);
  CHECK(node_at(tree, {"(no layer)"})->missing);
  CHECK(tree.nodes[0].cover.busy_ns == 250);
  CHECK(tree.units.size() == 2);
  CHECK(tree.achieved_flops(0) == doctest::Approx(1'500 * 1e9 / 250));
}

TEST_CASE("hierarchy: an event waited no longer than its engine was free, and no longer than the range") {
  LayerSession session;
  session.run(0, 0, 100, "net", "");
  session.run_late(0, 140, 200, "net", 500);
  session.run_late(0, 230, 300, "net", 10);
  session.run_late(1, 50, 60, "other", 500);
  const QueryContext query = session.query();
  const Hierarchy tree = hierarchy_of(query, {});
  CHECK(node_at(tree, {"net"})->totals.wait_ns == 50);
  CHECK(node_at(tree, {"other"})->totals.wait_ns == 50);
  const Hierarchy part = hierarchy_of(query, {}, {130, 250});
  CHECK(node_at(part, {"net"})->totals.wait_ns == 20);
}

TEST_CASE("hierarchy: a line of the host has the time in which it is the innermost one") {
  LayerSession session;
  session.calls(0, 100, "a.py:1");
  session.calls(20, 50, "b.py:2");
  session.calls(25, 35, "");  // counts for the line that called it
  session.calls(60, 80, "b.py:3", "WAIT");
  session.calls_runtime(5, 10, "launch");
  session.calls_runtime(85, 95, "sync");  // whoever called it waits
  const Hierarchy tree = hierarchy_of(session.query(), {.kind = "line"});
  CHECK(node_at(tree, {"a.py", "a.py:1"})->cover.busy_ns == 40);
  CHECK(node_at(tree, {"a.py", "a.py:1"})->totals.wait_ns == 10);
  CHECK(node_at(tree, {"b.py", "b.py:2"})->cover.busy_ns == 30);
  CHECK(node_at(tree, {"b.py", "b.py:3"})->cover.busy_ns == 0);
  CHECK(node_at(tree, {"b.py"})->totals.wait_ns == 20);
  CHECK(tree.nodes[0].cover.busy_ns == 70);
  CHECK(tree.nodes[0].totals.events == 4);
}

TEST_CASE("hierarchy: what was asked for and is not there leaves an empty tree that says so") {
  LayerSession session;
  session.run(0, 0, 10, "", "");
  const QueryContext query = session.query();
  const Hierarchy tree = hierarchy_of(query, {.kind = "layer"});
  CHECK(tree.kind == nullptr);
  CHECK(tree.nodes.size() == 1);
  CHECK_FALSE(session_hierarchy(query, {.kind = "no such kind"}).ok());
  CHECK(hierarchy_of(query, {}).kind->name == "name");
  const auto store = Store::create().value();
  WorkerPool pool(1);
  TaskControl control;
  const Hierarchy empty = hierarchy_of({*store, store->snapshot(), pool, control}, {});
  CHECK(empty.kind == nullptr);
  CHECK(empty.kinds.empty());
}

TEST_CASE("hierarchy: lines stand in functions, as the text of the kernel or a recorded stack says") {
  const std::vector<std::string> functions = functions_by_line(
      "import nki\n"
      "def tile(\n"
      "    a,\n"
      "):\n"
      "  x = \"(\"\n"
      "  def inner(b):\n"
      "    \"\"\"a text\n"
      "that goes on\n"
      "    \"\"\"\n"
      "    return b\n"
      "\n"
      "  return inner(a)  # (\n"
      "print(tile)\n");
  CHECK(functions == std::vector<std::string>{"", "tile", "tile", "tile", "tile", "inner", "inner", "inner", "inner",
                                              "inner", "inner", "tile", ""});
  const auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  Schema schema{.name = "instruction"};
  schema.columns = {{.name = "at", .type = ColumnType::string, .role = Role::source_location},
                    {.name = "frames", .type = ColumnType::string, .role = Role::stack}};
  const TrackNumber engine =
      writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .schema = writer.add_schema(schema)});
  writer.add_source_file("kernels/mlp.py", "def up(x):\n  y = x\n  return y\ndef down(x):\n  return x\n");
  std::int64_t at = 0;
  const auto run = [&](std::int64_t length, const char* line, const char* stack) {
    Row row = writer.begin_event(engine, at, length, writer.intern("MATMUL"));
    if (*line != 0) row.string(0, writer.intern(line));
    if (*stack != 0) row.string(1, writer.intern(stack));
    at += length;
  };
  run(10, "mlp.py:2", "");
  run(20, "mlp.py:3", "");
  run(5, "mlp.py:5", "");
  run(7, "other.py:5", "gelu (lib/other.py:5)\nup (mlp.py:2)");
  run(3, "nowhere.py:1", "");
  run(2, "", "");
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const Hierarchy tree = hierarchy_of(query, {.kind = "function"});
  const auto busy = [&](const Path& path) {
    const HierarchyNode* node = node_at(tree, path);
    return node == nullptr ? -1 : node->cover.busy_ns;
  };
  CHECK(busy({"mlp.py:up"}) == 30);
  CHECK(busy({"mlp.py:up", "mlp.py:3"}) == 20);
  CHECK(busy({"mlp.py:down"}) == 5);
  CHECK(busy({"other.py:gelu"}) == 7);
  CHECK(busy({"(no function)"}) == 5);
  CHECK(busy({"(no function)", "nowhere.py:1"}) == 3);
}

TEST_CASE("hierarchy: transfers and their packets are charged to the layer whose instruction set them off") {
  const auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const auto key = [](const char* name) { return Column{.name = name, .type = ColumnType::uint64}; };
  Schema instruction{.name = "instruction"};
  instruction.columns = {{.name = "layer", .type = ColumnType::string, .role = Role::layer}, key("id")};
  instruction.columns[1].role = Role::key;
  Schema transfer{.name = "dma_transfer"}, packet{.name = "dma"};
  transfer.columns = {key("id"), {.name = "size", .type = ColumnType::int64, .role = Role::bytes}};
  transfer.columns[0].role = Role::key;
  packet.columns = {key("packet_aggregation_id"), {.name = "size", .type = ColumnType::int64, .role = Role::bytes}};
  Schema flow{.name = "flow", .kind = EventKind::flow};
  flow.columns = {key("from"), key("to")};
  flow.columns[0].role = Role::flow_source;
  flow.columns[1].role = Role::flow_target;
  const TrackNumber engine =
      writer.add_track({.name = "Sync", .kind = "engine", .device = "nc0", .schema = writer.add_schema(instruction)});
  const TrackNumber transfers =
      writer.add_track({.name = "q0", .kind = "dma_queue", .device = "nc0", .schema = writer.add_schema(transfer)});
  const TrackNumber packets =
      writer.add_track({.name = "q0-E0", .kind = "dma_queue", .device = "nc0", .schema = writer.add_schema(packet)});
  const TrackNumber flows = writer.add_track({.name = "flows", .kind = "flow", .schema = writer.add_schema(flow)});
  const auto run = [&](TrackNumber track, std::int64_t begin, std::int64_t end) {
    return writer.begin_event(track, begin, end - begin, writer.intern("x"));
  };
  Row trigger = run(engine, 0, 10);
  trigger.string(0, writer.intern("net/mlp"));
  trigger.unsigned_integer(1, 1);
  Row other = run(engine, 10, 20);
  other.string(0, writer.intern("net/norm"));
  other.unsigned_integer(1, 2);
  for (const std::uint64_t id : {100U, 200U}) {
    Row row = run(transfers, id == 100 ? 15 : 60, id == 100 ? 50 : 90);
    row.unsigned_integer(0, id);
    row.integer(1, 4'096);
  }
  for (const auto& [begin, end, id] :
       {std::tuple(15, 30, 100), std::tuple(35, 50, 100), std::tuple(60, 90, 200), std::tuple(95, 99, 0)}) {
    Row row = run(packets, begin, end);
    if (id != 0) row.unsigned_integer(0, static_cast<std::uint64_t>(id));
    row.integer(1, 1'024);
  }
  Row caused = run(flows, 0, 0);
  caused.unsigned_integer(0, 1);
  caused.unsigned_integer(1, 100);
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const Hierarchy tree = hierarchy_of(query, {.kind = "layer"});
  const HierarchyNode* mlp = node_at(tree, {"net", "mlp"});
  REQUIRE(mlp != nullptr);
  CHECK(mlp->totals.events == 3);  // the instruction and two packets, the transfer itself is made of them
  CHECK(mlp->totals.bytes == 2'048);
  CHECK(mlp->cover.busy_ns == 10 + 15 + 15);
  CHECK(node_at(tree, {"net", "norm"})->totals.events == 1);
  CHECK(node_at(tree, {"(no layer)"}) == nullptr);  // what nothing set off is not in it
  CHECK(tree.without.empty());
  CHECK(tree.borrowing_events == 4);
  const auto index = index_of(query, "layer", 2);
  check_same(hierarchy_of(query, {.kind = "layer"}, {}, {.index = index.get()}), tree);
}
