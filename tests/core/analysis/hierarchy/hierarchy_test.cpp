#include "core/analysis/hierarchy/hierarchy.h"

#include <map>
#include <tuple>

#include "core/analysis/hierarchy/function_names.h"
#include "core/analysis/hierarchy/hierarchy_index.h"
#include "core/chunk/session_writer.h"
#include "core/search/filter_mask.h"
#include "tests/core/random_session.h"
#include "tests/core/union_length.h"

using namespace accelscope;

namespace {

// What a node adds up to, path by path, with nothing but lists.
struct ExpectedNode {
  std::uint64_t events = 0;
  std::int64_t wait_ns = 0;
  std::int64_t launched_ns = 0;
  Intervals busy, self;
};
using ExpectedTree = std::map<std::vector<std::string>, ExpectedNode>;
using Path = std::vector<std::string>;

void each_level(ExpectedTree& tree, const Path& path, const std::function<void(ExpectedNode&)>& add) {
  for (std::size_t levels = 0; levels <= path.size(); ++levels) {
    add(tree[Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(levels))]);
  }
}

Path path_of(const Hierarchy& tree, std::size_t node) {
  Path path;
  for (std::size_t at = node; at != 0; at = tree.nodes[at].parent) path.insert(path.begin(), tree.text(at));
  return path;
}

void check_tree(const Hierarchy& tree, const ExpectedTree& expected) {
  REQUIRE(tree.nodes.size() == expected.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const HierarchyNode& node = tree.nodes[i];
    const auto found = expected.find(path_of(tree, i));
    CAPTURE(tree.path(i));
    REQUIRE(found != expected.end());
    CHECK(node.totals.events == found->second.events);
    CHECK(node.totals.wait_ns == found->second.wait_ns);
    CHECK(node.totals.launched_ns == found->second.launched_ns);
    CHECK(node.cover.busy_ns == length_of_union(found->second.busy));
    CHECK(node.cover.self_ns == length_of_union(found->second.self));
    std::uint64_t units = 0;
    for (std::size_t unit = 0; unit < tree.units.size(); ++unit) {
      units += tree.unit_events[i * tree.units.size() + unit];
      CHECK(tree.unit_busy_ns[i * tree.units.size() + unit] <= node.cover.busy_ns);
    }
    CHECK(units == node.totals.events);
    std::int64_t below = 0, longest = INT64_MAX;
    for (std::uint32_t child = node.first_child; child < node.first_child + node.child_count; ++child) {
      CHECK(tree.nodes[child].parent == i);
      CHECK(tree.nodes[child].cover.busy_ns <= longest);  // the longest first
      longest = tree.nodes[child].cover.busy_ns;
      below += longest;
    }
    CHECK(node.cover.busy_ns <= below + node.cover.self_ns);
  }
}

Hierarchy hierarchy_of(const QueryContext& query, const HierarchyQuestion& question, const TimeRange& range = {},
                       const HierarchyInput& input = {}) {
  const auto tree = session_hierarchy(query, question, range, input);
  REQUIRE_MESSAGE(tree.ok(), tree.message());
  return **tree;
}

ExpectedTree expected_lines(const RandomSession& session, const TimeRange& range, const std::string& wanted_name) {
  ExpectedTree tree;
  tree[{}];
  for (const PlainEvent& event : session.events) {
    const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
    if (!tick_range(lane, range).holds(event.begin_ticks, event.end_ticks)) continue;
    if (!wanted_name.empty() && event.name_text != wanted_name) continue;
    Path path = {"(no line)"};
    if (!event.location.empty()) path = {"dir/kernel.py", event.location};
    const std::pair part(std::max(event.begin_ns, range.begin_ns), std::min(event.end_ns, range.end_ns));
    const bool any = part.first < part.second;
    each_level(tree, path, [&](ExpectedNode& node) {
      ++node.events;
      if (event.waits && any) node.wait_ns += part.second - part.first;
      if (!event.waits && any) node.busy.push_back(part);
    });
    if (!event.waits && any) tree[path].self.push_back(part);
  }
  return tree;
}

}  // namespace

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
    const auto mask = event_mask(query, {.range = {}, .tracks = {}, .terms = {{"name=Copy.2", false}}});
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

namespace {

// Random calls within calls on several threads, some of which wait, some launch work of a device.
class RandomCalls {
 public:
  RandomCalls(std::uint32_t seed, int threads) : random_(seed) {
    const SchemaNumber call =
        writer_.add_schema({.name = "call",
                            .wait_names = {"sync"},
                            .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
    const SchemaNumber kernel = writer_.add_schema(
        {.name = "kernel", .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
    const SchemaNumber flow =
        writer_.add_schema({.name = "flow",
                            .kind = EventKind::flow,
                            .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source},
                                        {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target}}});
    stream_ = writer_.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
    flows_ = writer_.add_track({.name = "flows", .kind = "flow", .schema = flow});
    for (int i = 0; i < threads; ++i) {
      const TrackNumber track = writer_.add_track(
          {.name = std::to_string(i + 1), .kind = "host_thread", .host = "python3 (7)", .schema = call});
      std::int64_t at = 0;
      for (int top = 0; top < 40; ++top) {
        const std::int64_t end = at + 20 + number(400);
        make_call(track, at, end, {});
        at = end + number(30);
      }
    }
    for (const auto& [begin, work] : launches_) {
      writer_.begin_event(stream_, work.begin_ns, work.length_ns(), writer_.intern("gemm")).unsigned_integer(0, ++key_);
      Row row = writer_.begin_event(flows_, begin, 0, writer_.intern("launch"));
      row.unsigned_integer(0, kFirstLaunch + launched_++);
      row.unsigned_integer(1, key_);
    }
    REQUIRE(writer_.finish().ok());
  }
  [[nodiscard]] QueryContext query() { return {*store_, store_->snapshot(), pool_, control_}; }

  struct Plain {
    Path path;
    std::int64_t begin = 0, end = 0;
    TimeRange launched{0, 0};
    Intervals own;  // without what lies in it
  };
  [[nodiscard]] ExpectedTree expected(const TimeRange& range, const std::string& wanted_name) const {
    ExpectedTree tree;
    tree[{}];
    for (const Plain& call : calls_) {
      const bool counts = wanted_name.empty() || call.path.back() == wanted_name;
      if (!range.holds(call.begin, call.end)) continue;
      if (counts) {
        each_level(tree, call.path, [&](ExpectedNode& node) {
          ++node.events;
          node.launched_ns += std::max<std::int64_t>(
              0, std::min(call.launched.end_ns, range.end_ns) - std::max(call.launched.begin_ns, range.begin_ns));
        });
      }
      // Its own time is that of the innermost call around it that counts.
      Path counted = call.path;
      while (!counted.empty() && !wanted_name.empty() && counted.back() != wanted_name) counted.pop_back();
      if (counted.empty()) continue;
      for (const auto& [begin, end] : call.own) {
        const std::pair part(std::max(begin, range.begin_ns), std::min(end, range.end_ns));
        if (part.first >= part.second) continue;
        const bool waits = call.path.back() == "sync";
        each_level(tree, counted, [&](ExpectedNode& node) {
          if (waits) node.wait_ns += part.second - part.first;
          if (!waits) node.busy.push_back(part);
        });
        if (!waits) tree[counted].self.push_back(part);
      }
    }
    return tree;
  }

 private:
  static constexpr std::uint64_t kFirstLaunch = 1'000'000;
  std::int64_t number(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }
  void make_call(TrackNumber track, std::int64_t begin, std::int64_t end, const Path& above) {
    static const char* const kNames[] = {"f", "g", "step", "sync", "launch"};
    const std::string name = kNames[number(5)];
    Plain call{above, begin, end, {0, 0}, {}};
    call.path.push_back(name);
    Row row = writer_.begin_event(track, begin, end - begin, writer_.intern(name));
    if (name == "launch") {
      call.launched = {device_at_, device_at_ + 10 + number(90)};
      device_at_ = call.launched.end_ns + 3;
      row.unsigned_integer(0, kFirstLaunch + launches_.size());
      launches_.emplace_back(begin, call.launched);
    }
    const std::size_t mine = calls_.size();
    calls_.push_back(call);
    std::int64_t at = begin;
    while (above.size() < 5 && number(3) != 0) {
      const std::int64_t from = at + 1 + number(20), to = from + 4 + number(80);
      if (to >= end) break;
      if (from > at) calls_[mine].own.emplace_back(at, from);
      make_call(track, from, to, calls_[mine].path);
      at = to;
    }
    calls_[mine].own.emplace_back(at, end);
  }

  std::mt19937_64 random_;
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  TrackNumber stream_ = 0, flows_ = 0;
  std::vector<std::pair<std::int64_t, TimeRange>> launches_;
  std::vector<Plain> calls_;
  std::uint64_t key_ = 0, launched_ = 0;
  std::int64_t device_at_ = 50'000;
};

}  // namespace

TEST_CASE(
    "hierarchy: host stacks are what lists of every call give, and launched work counts for each of its callers") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    RandomCalls calls(seed, 3);
    const QueryContext query = calls.query();
    const Hierarchy tree = hierarchy_of(query, {});
    CHECK(tree.kind->name == "host");
    check_tree(tree, calls.expected({}, ""));
    std::int64_t own = 0;  // no launch is charged twice
    for (const HierarchyNode& node : tree.nodes) {
      if (node.child_count == 0) own += node.totals.launched_ns;
    }
    CHECK(own <= tree.nodes[0].totals.launched_ns);
  }
}

TEST_CASE("hierarchy: of a range, launched work counts as far as it lies inside") {
  RandomCalls calls(7, 3);
  const QueryContext query = calls.query();
  for (const TimeRange& range : {TimeRange{2'000, 50'731}, TimeRange{500, 5'000}, TimeRange{3'000, 1'000'000}})
    check_tree(hierarchy_of(query, {.kind = "host"}, range), calls.expected(range, ""));
}

TEST_CASE("hierarchy: calls have their share of the bytes, and marks are no calls") {
  const auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber call = writer.add_schema(
      {.name = "call", .columns = {{.name = "moved", .type = ColumnType::int64, .role = Role::bytes}}});
  const TrackNumber thread =
      writer.add_track({.name = "1", .kind = "host_thread", .host = "python3 (7)", .schema = call});
  writer.begin_event(thread, 0, 400, writer.intern("ProfilerStep#1")).integer(0, 1'000);
  writer.begin_event(thread, 100, 200, writer.intern("copy")).integer(0, 1'000);
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  for (const char* kind : {"host", "name"}) {
    CAPTURE(kind);
    const Hierarchy tree = hierarchy_of(query, {.kind = kind}, {150, 400});
    CHECK(tree.nodes[0].totals.events == 1);
    CHECK(tree.nodes[0].totals.bytes == 750);
    CHECK(tree.nodes[0].cover.busy_ns == 150);
  }
}

TEST_CASE("hierarchy: host stacks follow a filter, with the calls around what passes as its path") {
  for (std::uint32_t seed = 11; seed <= 14; ++seed) {
    RandomCalls calls(seed, 2);
    auto query = calls.query();
    const auto mask = event_mask(query, {.range = {}, .tracks = {}, .terms = {{"name=\"step\"", false}}});
    REQUIRE(mask.ok());
    query.mask = *mask;
    check_tree(hierarchy_of(query, {.kind = "host"}), calls.expected({}, "step"));
  }
}

namespace {

void check_same(const Hierarchy& tree, const Hierarchy& expected) {
  REQUIRE(tree.nodes.size() == expected.nodes.size());
  CHECK(tree.cut_events == expected.cut_events);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const HierarchyNode& node = tree.nodes[i];
    const HierarchyNode& wanted = expected.nodes[i];
    CAPTURE(expected.path(i));
    REQUIRE(tree.path(i) == expected.path(i));
    CHECK(node.totals.events == wanted.totals.events);
    CHECK(node.totals.sum_ns == wanted.totals.sum_ns);
    CHECK(node.totals.wait_ns == wanted.totals.wait_ns);
    CHECK(node.totals.bytes == wanted.totals.bytes);
    CHECK(node.totals.flops == doctest::Approx(wanted.totals.flops));
    CHECK(node.totals.launched_events == wanted.totals.launched_events);
    CHECK(node.totals.launched_ns == wanted.totals.launched_ns);
    CHECK(node.totals.devices == wanted.totals.devices);
    CHECK(node.totals.longest == wanted.totals.longest);
    CHECK(node.totals.stretch == wanted.totals.stretch);
    CHECK(node.cover.busy_ns == wanted.cover.busy_ns);
    CHECK(node.cover.self_ns == wanted.cover.self_ns);
  }
  CHECK(tree.unit_events == expected.unit_events);
  CHECK(tree.unit_busy_ns == expected.unit_busy_ns);
}

std::shared_ptr<const HierarchyIndex> index_of(const QueryContext& query, const std::string& kind,
                                               std::uint64_t window_events,
                                               const std::shared_ptr<const HierarchyIndex>& previous = nullptr) {
  const auto index = HierarchyIndex::build(query, kind, previous, window_events);
  REQUIRE_MESSAGE(index.ok(), index.message());
  REQUIRE(*index != nullptr);
  return *index;
}

std::size_t pieces_in(const HierarchyIndex& index, const QueryContext& query) {
  return index.pieces_of(*query.snapshot, PathSubject(*query.snapshot, index.kind())).size();
}

}  // namespace

TEST_CASE("hierarchy: from an index it is the same as from the events, in any range and to any depth") {
  RandomSession session(35, 6'000);
  for (const char* kind : {"line", "name"}) {
    CAPTURE(kind);
    const auto index = index_of(session.context(), kind, 9'000);
    CHECK((pieces_in(*index, session.context()) > 1 || index->kind().name == "name"));  // which has many nodes
    for (int i = 0; i < 24; ++i) {
      const TimeRange range = i == 0 ? TimeRange{} : session.random_range();
      const HierarchyQuestion question{.kind = kind, .depth = i % 3 == 2 ? 1U : HierarchyQuestion::kMostDepth};
      check_same(hierarchy_of(session.context(), question, range, {.index = index.get()}),
                 hierarchy_of(session.context(), question, range));
    }
  }
}

TEST_CASE("hierarchy: an index of calls knows what they launched, wherever a range ends") {
  for (std::uint32_t seed = 21; seed <= 24; ++seed) {
    RandomCalls calls(seed, 3);
    const QueryContext query = calls.query();
    const auto index = index_of(query, "host", 60);
    for (const TimeRange& range : {TimeRange{}, TimeRange{2'000, 50'731}, TimeRange{500, 5'000},
                                   TimeRange{3'000, 1'000'000}, TimeRange{-5, 9'000}}) {
      const Hierarchy tree = hierarchy_of(query, {.kind = "host"}, range, {.index = index.get()});
      check_tree(tree, calls.expected(range, ""));
      check_same(tree, hierarchy_of(query, {.kind = "host"}, range));
      check_same(hierarchy_of(query, {.kind = "host", .depth = 2}, range, {.index = index.get()}),
                 hierarchy_of(query, {.kind = "host", .depth = 2}, range));
    }
  }
}

namespace {

// Calls of one thread, that may each launch a kernel which runs some time after it.
class LaunchingThread {
 public:
  LaunchingThread() {
    const auto keyed = [](const char* name) {
      return Schema{.name = name, .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}};
    };
    const SchemaNumber call = writer_.add_schema(keyed("call")), kernel = writer_.add_schema(keyed("kernel"));
    const SchemaNumber flow =
        writer_.add_schema({.name = "flow",
                            .kind = EventKind::flow,
                            .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source},
                                        {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target}}});
    thread_ = writer_.add_track({.name = "1", .kind = "host_thread", .host = "python3 (7)", .schema = call});
    stream_ = writer_.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
    flows_ = writer_.add_track({.name = "flows", .kind = "flow", .schema = flow});
  }
  void call(std::int64_t begin, std::int64_t end, const char* name, bool launches) {
    constexpr std::uint64_t kFirstKernel = 10'000'000;
    constexpr std::int64_t kDelay = 5'000;
    constexpr std::uint64_t kChunk = 1'000;  // windows are of whole chunks
    if (calls_ % kChunk == 0) writer_.flush();
    writer_.begin_event(thread_, begin, end - begin, writer_.intern(name)).unsigned_integer(0, ++calls_);
    if (!launches) return;
    writer_.begin_event(stream_, begin + kDelay, 1, writer_.intern("gemm")).unsigned_integer(0, kFirstKernel + calls_);
    Row row = writer_.begin_event(flows_, begin, 0, writer_.intern("launch"));
    row.unsigned_integer(0, calls_);
    row.unsigned_integer(1, kFirstKernel + calls_);
  }
  [[nodiscard]] QueryContext finish() {
    REQUIRE(writer_.finish().ok());
    return {*store_, store_->snapshot(), pool_, control_};
  }

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  TrackNumber thread_ = 0, stream_ = 0, flows_ = 0;
  std::uint64_t calls_ = 0;
};

void check_index_in_ranges(const QueryContext& query, const HierarchyIndex& index, const HierarchyQuestion& question) {
  const std::int64_t end = query.snapshot->end_ns;
  for (const TimeRange& range : {TimeRange{}, TimeRange{end / 5, end / 2}, TimeRange{-5, end / 3},
                                 TimeRange{end / 7, end + 9}, TimeRange{end / 2, end / 2 + 300}}) {
    check_same(hierarchy_of(query, question, range, {.index = &index}), hierarchy_of(query, question, range));
  }
}

}  // namespace

TEST_CASE("hierarchy: an index of calls that nearly all launch work has as many pieces as another one") {
  LaunchingThread thread;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const bool has_inner = i % 20 == 0;
    thread.call(10 * i, 10 * i + 8, has_inner ? "step" : "launch", true);
    if (has_inner) thread.call(10 * i + 2, 10 * i + 6, "launch", true);
  }
  const QueryContext query = thread.finish();
  const auto index = index_of(query, "host", 2'000);
  CHECK(pieces_in(*index, query) > 4);
  CHECK(hierarchy_of(query, {.kind = "host"}, {}, {.index = index.get()}).nodes[0].totals.launched_events == 21'000);
  check_index_in_ranges(query, *index, {.kind = "host"});
}

TEST_CASE("hierarchy: what lies deeper than any tree goes is told with an index, too") {
  constexpr std::int64_t kStacks = 200, kDeep = 130;
  LaunchingThread thread;
  for (std::int64_t stack = 0; stack < kStacks; ++stack) {
    for (std::int64_t i = 0; i < kDeep; ++i) thread.call(1'000 * stack + i, 1'000 * stack + 900 - i, "f", false);
  }
  const QueryContext query = thread.finish();
  const auto index = index_of(query, "host", 500);
  CHECK(pieces_in(*index, query) > 1);
  const auto cut_of = [&](std::size_t depth, const HierarchyInput& input) {
    return hierarchy_of(query, {.kind = "host", .depth = depth}, {}, input).cut_events;
  };
  for (const std::size_t depth : {HierarchyQuestion::kMostDepth, std::size_t{95}, std::size_t{2}}) {
    CAPTURE(depth);
    const std::uint64_t deeper = kStacks * (kDeep - depth);
    CHECK(cut_of(depth, {}) == deeper);
    CHECK(cut_of(depth, {.index = index.get()}) == deeper);
    check_index_in_ranges(query, *index, {.kind = "host", .depth = depth});
  }
}

TEST_CASE("hierarchy: an index does not outlive the text that told its functions, though a file took its place") {
  const auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  Schema schema{.name = "instruction"};
  schema.columns = {{.name = "at", .type = ColumnType::string, .role = Role::source_location}};
  const TrackNumber engine =
      writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .schema = writer.add_schema(schema)});
  writer.add_source_file("kernels/mlp.py", "def up(x):\n  return x\n");
  for (int i = 0; i < 3'000; ++i) {
    Row row = writer.begin_event(engine, 10 * i, 8, writer.intern("MATMUL"));
    row.string(0, writer.intern(i % 3 == 0 ? "nowhere.py:1" : "mlp.py:2"));
  }
  writer.flush();
  WorkerPool pool(2);
  TaskControl control;
  const auto query = [&] { return QueryContext{*store, store->snapshot(), pool, control}; };
  const auto old = index_of(query(), "function", 400);
  check_index_in_ranges(query(), *old, {.kind = "function"});
  writer.add_source_file("kernels/mlp.py", "def down(x):\n  return x\n");
  REQUIRE(writer.finish().ok());
  REQUIRE(query().snapshot->sources.size() == 1);
  const auto index = index_of(query(), "function", 400, old);
  for (const auto& each : {old, index}) {
    const Hierarchy tree = hierarchy_of(query(), {.kind = "function"}, {}, {.index = each.get()});
    CHECK(node_at(tree, {"mlp.py:up"}) == nullptr);
    const HierarchyNode* down = node_at(tree, {"mlp.py:down"});
    REQUIRE(down != nullptr);
    CHECK(down->totals.events == 2'000);
    CHECK(tree.nodes[0].totals.events == 3'000);
  }
}

namespace {

// Engines that run on at their own pace: long events, waits and layers with lines, some of them over several windows.
class GrowingSession {
 public:
  GrowingSession() {
    Schema schema{.name = "instruction"};
    schema.wait_names = {"WAIT"};
    schema.columns = {{.name = "layer", .type = ColumnType::string, .role = Role::layer},
                      {.name = "at", .type = ColumnType::string, .role = Role::source_location},
                      {.name = "bytes", .type = ColumnType::int64, .role = Role::bytes},
                      {.name = "waited", .type = ColumnType::int64, .role = Role::wait_ns}};
    schema_ = writer_.add_schema(schema);
    for (const char* name : {"Tensor", "Vector", "Scalar"}) add_engine(name);
  }
  void add_engine(const char* name) {
    engines_.push_back({writer_.add_track({.name = name, .kind = "engine", .device = "nc0", .schema = schema_}), at_});
  }
  void run(std::size_t engine, int events) {
    auto& [track, at] = engines_[engine];
    for (int i = 0; i < events; ++i) {
      at += number(4) == 0 ? number(900) : number(9);
      const std::int64_t length = number(50) == 0 ? number(9'000) : number(120);
      const char* name = number(9) == 0 ? "WAIT" : "MATMUL";
      Row row = writer_.begin_event(track, at, length, writer_.intern(name));
      const std::string layer = "net/block." + std::to_string(number(4)) + "/part." + std::to_string(number(3));
      if (number(6) != 0) row.string(0, writer_.intern(layer.substr(0, number(3) == 0 ? 11 : layer.size())));
      if (number(3) != 0) row.string(1, writer_.intern("net.py:" + std::to_string(number(30))));
      if (number(2) != 0) row.integer(2, number(5'000));
      if (number(2) != 0) row.integer(3, number(1'500));
      at += length;
      at_ = std::max(at_, at);
    }
    writer_.flush();
  }
  [[nodiscard]] std::int64_t number(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }
  QueryContext query() { return {*store_, store_->snapshot(), pool_, control_}; }

 private:
  std::mt19937_64 random_{77};
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{3};
  TaskControl control_;
  SchemaNumber schema_ = 0;
  std::int64_t at_ = 0;
  std::vector<std::pair<TrackNumber, std::int64_t>> engines_;
};

}  // namespace

TEST_CASE("hierarchy: an index grows with its session, and an old one still serves") {
  GrowingSession session;
  std::shared_ptr<const HierarchyIndex> index, first;
  std::size_t kept_pieces = 0;
  for (int stage = 0; stage < 12; ++stage) {
    session.run(static_cast<std::size_t>(stage) % 3, 1'500);
    session.run(static_cast<std::size_t>(stage + 1) % 3, 1'100);
    if (stage == 7) session.add_engine("Vector");  // of a second core: the same unit
    if (stage > 7) session.run(3, 700);
    const QueryContext query = session.query();
    if (index) kept_pieces += pieces_in(*index, query);
    index = index_of(query, "layer", 1'200, index);
    if (!first) first = index;
    const std::int64_t length = query.snapshot->end_ns;
    for (int i = 0; i < 8; ++i) {
      const std::int64_t a = session.number(length), b = session.number(length);
      const TimeRange range = i == 0 ? TimeRange{} : TimeRange{std::min(a, b), std::max(a, b)};
      const HierarchyQuestion question{.kind = "layer", .depth = i % 4 == 3 ? 2U : HierarchyQuestion::kMostDepth};
      const Hierarchy expected = hierarchy_of(query, question, range, {.window_events = 900});
      check_same(hierarchy_of(query, question, range, {.index = index.get()}), expected);
      check_same(hierarchy_of(query, question, range, {.index = first.get()}), expected);
    }
  }
  CHECK(kept_pieces > 0);
}

TEST_CASE("hierarchy: a filter or a search does not ask the index, which knows of neither") {
  RandomSession session(36, 4'000);
  const auto index = index_of(session.context(), "line", 2'000);
  auto query = session.context();
  const auto mask = event_mask(query, {.range = {}, .tracks = {}, .terms = {{"name=Copy.2", false}}});
  REQUIRE(mask.ok());
  query.mask = *mask;
  check_tree(hierarchy_of(query, {.kind = "line"}, {}, {.index = index.get()}), expected_lines(session, {}, "Copy.2"));
  const HierarchyQuestion marked{.kind = "line", .marked = "py:1"};
  CHECK(hierarchy_of(session.context(), marked, {}, {.index = index.get()}).marked_ns ==
        hierarchy_of(session.context(), marked).marked_ns);
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
