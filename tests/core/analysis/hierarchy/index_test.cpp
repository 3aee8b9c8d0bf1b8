#include "core/analysis/hierarchy/hierarchy.h"

#include <tuple>

#include "core/analysis/hierarchy/hierarchy_index.h"
#include "core/analysis/hierarchy/path_kinds.h"
#include "core/chunk/session_writer.h"
#include "core/search/filter_mask.h"
#include "tests/core/analysis/hierarchy/expected_tree.h"
#include "tests/core/analysis/hierarchy/random_calls.h"

using namespace accelscope;
using namespace accelscope::analysis;
using namespace accelscope::test;

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
  std::size_t retained_pieces = 0;
  for (int stage = 0; stage < 12; ++stage) {
    session.run(static_cast<std::size_t>(stage) % 3, 1'500);
    session.run(static_cast<std::size_t>(stage + 1) % 3, 1'100);
    if (stage == 7) session.add_engine("Vector");  // of a second core: the same unit
    if (stage > 7) session.run(3, 700);
    const QueryContext query = session.query();
    if (index) retained_pieces += pieces_in(*index, query);
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
  CHECK(retained_pieces > 0);
}

TEST_CASE("hierarchy: a filter or a search does not ask the index, which knows of neither") {
  RandomSession session(36, 4'000);
  const auto index = index_of(session.context(), "line", 2'000);
  auto query = session.context();
  const auto mask = search::event_mask(query, {.range = {}, .tracks = {}, .terms = {{"name=Copy.2", false}}});
  REQUIRE(mask.ok());
  query.mask = *mask;
  check_tree(hierarchy_of(query, {.kind = "line"}, {}, {.index = index.get()}), expected_lines(session, {}, "Copy.2"));
  const HierarchyQuestion marked{.kind = "line", .marked = "py:1"};
  CHECK(hierarchy_of(session.context(), marked, {}, {.index = index.get()}).marked_ns ==
        hierarchy_of(session.context(), marked).marked_ns);
}
