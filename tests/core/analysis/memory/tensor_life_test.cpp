#include "core/analysis/memory/tensor_life.h"

#include "core/search/filter_mask.h"
#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::analysis;

TEST_CASE("tensor life: cells are those in which an event of the name is under way, and all of them are counted") {
  RandomSession session(23, 4'000);
  QueryContext query = session.context();
  EventFilter filter;
  filter.terms.push_back({.search = "name=matmul_4"});
  const auto mask = search::event_mask(query, filter, nullptr);
  REQUIRE(mask.ok());
  query.mask = *mask;
  for (int i = 0; i < 8; ++i) {
    TimeRange range = i == 0 ? TimeRange{session.snapshot->begin_ns, session.snapshot->end_ns} : session.random_range();
    if (range.empty()) range.end_ns = range.begin_ns + 1;
    constexpr std::size_t kCells = 97;
    const auto life = tensor_life(query, range, kCells);
    REQUIRE(life.ok());
    std::uint64_t events = 0;
    std::int64_t first = INT64_MAX, last = INT64_MIN;
    std::vector<bool> expected(kCells);
    for (const PlainEvent& event : session.events) {
      if (event.name_text != "matmul_4") continue;
      ++events;
      first = std::min(first, event.begin_ns);
      last = std::max(last, event.end_ns);
      if (!range.holds(event.begin_ns, event.end_ns)) continue;
      const auto cell_of = [&](std::int64_t ns) {
        const auto share =
            static_cast<double>(std::max(ns, range.begin_ns) - range.begin_ns) / static_cast<double>(range.length_ns());
        return std::min(kCells - 1, static_cast<std::size_t>(share * kCells));
      };
      const std::int64_t end = event.end_ns > event.begin_ns ? event.end_ns - 1 : event.end_ns;
      for (std::size_t cell = cell_of(event.begin_ns); cell <= cell_of(end); ++cell) expected[cell] = true;
    }
    REQUIRE(events > 0);
    CHECK((*life)->events == events);
    CHECK((*life)->transfers == 0);  // all of its tracks are engines
    REQUIRE((*life)->touched);
    CHECK((*life)->touched->begin_ns == first);
    CHECK((*life)->touched->end_ns == last);
    CHECK((*life)->used == expected);
  }
}

TEST_CASE("tensor life: transfers are apart from work, with their bytes, and allocations that touch are one stay") {
  const auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema(
      {.name = "dma", .columns = {{.name = "bytes", .type = ColumnType::int64, .unit = "B", .role = Role::bytes}}});
  const TrackNumber queue = writer.add_track({.name = "q0", .kind = "dma_queue", .schema = schema});
  const TrackNumber engine = writer.add_track({.name = "Tensor", .kind = "engine", .schema = schema});
  writer.begin_event(queue, 0, 10, writer.intern("w1")).integer(0, 64);
  writer.begin_event(queue, 20, 10, writer.intern("w1")).integer(0, 64);
  writer.begin_event(engine, 50, 50, writer.intern("w1")).integer(0, 1'000);
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const auto life = tensor_life({*store, store->snapshot(), pool, control}, {0, 100}, 10);
  REQUIRE(life.ok());
  CHECK((*life)->events == 3);
  CHECK((*life)->transfers == 2);
  CHECK((*life)->bytes == 128);
  CHECK((*life)->moved == std::vector<bool>{true, false, true, false, false, false, false, false, false, false});
  CHECK((*life)->used == std::vector<bool>{false, false, false, false, false, true, true, true, true, true});

  MemoryUsage usage;
  usage.tensors = {"w1", "x"};
  const auto allocation = [](std::uint32_t number, std::uint32_t tensor, std::int64_t begin,
                             std::optional<std::int64_t> end) {
    Allocation made;
    made.pool = number;
    made.tensor = tensor;
    made.begin_ns = begin;
    made.end_ns = end;
    return made;
  };
  usage.allocations = {allocation(1, 0, 0, 10), allocation(0, 1, 0, 90), allocation(1, 0, 10, 20),
                       allocation(0, 0, 30, {}), allocation(1, 0, 40, 50)};
  const std::vector<TensorStay> stays = tensor_stays(usage, "w1", 100);
  REQUIRE(stays.size() == 3);
  CHECK(stays[0].pool == 0);
  CHECK(stays[0].time == TimeRange{30, 100});
  CHECK(stays[0].stays);
  CHECK(stays[1].time == TimeRange{0, 20});
  CHECK(stays[2].time == TimeRange{40, 50});
  CHECK(tensor_stays(usage, "nothing", 100).empty());
}
