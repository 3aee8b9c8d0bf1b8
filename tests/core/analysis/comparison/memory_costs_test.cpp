#include "core/analysis/comparison/cost_kinds.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/chunk/session_writer.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// An allocator with a segment of the common pool at 1000 and one of a graph's pool at 5000.
class PooledMemory {
 public:
  PooledMemory() : store_(std::move(Store::create()).value()), sink_(*store_), writer_(sink_) {
    segments_ = writer_.add_track(
        {.name = "segments",
         .kind = "memory",
         .schema = writer_.add_schema({.name = "segment",
                                       .kind = EventKind::memory,
                                       .columns = {{.name = "bytes", .role = Role::reserved},
                                                   {.name = "at", .type = ColumnType::uint64, .role = Role::address},
                                                   {.name = "segment_pool_id", .type = ColumnType::string},
                                                   {.name = "of", .type = ColumnType::string, .role = Role::pool}}})});
    heap_ = writer_.add_track(
        {.name = "heap",
         .kind = "memory",
         .schema = writer_.add_schema(
             {.name = "block",
              .kind = EventKind::memory,
              .columns = {{.name = "bytes", .role = Role::allocation},
                          {.name = "at", .type = ColumnType::uint64, .role = Role::address},
                          {.name = "stack", .type = ColumnType::string, .role = Role::stack},
                          {.name = "line", .type = ColumnType::string, .role = Role::source_location}}})});
    hold(1000, "");
    hold(5000, "(0, 1)");
  }
  void block(std::int64_t ns, std::int64_t bytes, std::uint64_t address, const std::string& line) {
    Row row = writer_.begin_event(heap_, ns, 0, writer_.intern("tensor"));
    row.integer(0, bytes);
    row.unsigned_integer(1, address);
    row.string(2, writer_.intern(line + "\nmain.py:1"));
    row.string(3, writer_.intern(line));
  }
  std::vector<CostRow> costs(UsageGrouping by) {
    REQUIRE(writer_.finish().ok());
    WorkerPool pool{2};
    TaskControl control;
    auto found = memory_costs({*store_, store_->snapshot(), pool, control}, by);
    REQUIRE(found.ok());
    return *found;
  }

 private:
  void hold(std::uint64_t address, const std::string& pool) {
    Row row = writer_.begin_event(segments_, 1, 0, writer_.intern("segment"));
    row.integer(0, 1000);
    row.unsigned_integer(1, address);
    row.string(2, writer_.intern(pool));
    row.string(3, writer_.intern("heap"));
  }
  std::unique_ptr<Store> store_;
  StoreSink sink_;
  SessionWriter writer_;
  TrackNumber segments_ = 0, heap_ = 0;
};

double bytes_of(const std::vector<CostRow>& rows, const std::string& key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const CostRow& row) { return row.key == key; });
  return found == rows.end() ? -1 : found->amount;
}

}  // namespace

TEST_CASE("memory costs: each pool is told at its own peak, a graph's private pool apart from the common one") {
  PooledMemory memory;
  memory.block(10, 300, 1000, "train.py:41");
  memory.block(20, 100, 1300, "train.py:52");
  memory.block(30, -300, 1000, "train.py:41");  // the common pool's peak is over
  memory.block(40, 50, 5000, "graph.py:7");
  memory.block(50, 200, 5100, "graph.py:9");
  const std::vector<CostRow> rows = memory.costs(UsageGrouping::site);
  CHECK(rows.size() == 4);
  CHECK(bytes_of(rows, "heap: train.py:41") == 300);
  CHECK(bytes_of(rows, "heap: train.py:52") == 100);
  CHECK(bytes_of(rows, "heap, private pool (0, 1): graph.py:7") == 50);
  CHECK(bytes_of(rows, "heap, private pool (0, 1): graph.py:9") == 200);
}

TEST_CASE("memory costs: a stack stands in a row of its own, from the inside outwards") {
  PooledMemory memory;
  memory.block(10, 300, 1000, "train.py:41");
  CHECK(bytes_of(memory.costs(UsageGrouping::stack), "heap: train.py:41 < main.py:1") == 300);
}
