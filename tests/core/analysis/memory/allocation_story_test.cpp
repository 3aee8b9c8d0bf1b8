// Who wrote and read an allocation, told by addresses in operands and by the names of transfers.
#include "core/analysis/memory/tensor_life.h"

#include <doctest/doctest.h>

#include "core/analysis/neuron/facts/operands.h"
#include "core/chunk/session_writer.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct Story {
  Story() {
    auto created = Store::create();
    REQUIRE(created.ok());
    store = std::move(created).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber memory =
        writer.add_schema({.name = "memory",
                           .kind = EventKind::memory,
                           .columns = {{.name = "size", .type = ColumnType::int64, .role = Role::allocation},
                                       {.name = "address", .type = ColumnType::uint64, .role = Role::address}}});
    const SchemaNumber instruction = writer.add_schema(
        {.name = "instruction", .columns = {{.name = "operands", .type = ColumnType::text, .role = Role::operands}}});
    const SchemaNumber dma =
        writer.add_schema({.name = "dma",
                           .columns = {{.name = "size", .type = ColumnType::int64, .role = Role::bytes},
                                       {.name = "source", .type = ColumnType::string},
                                       {.name = "dest", .type = ColumnType::string},
                                       {.name = "dest_offset", .type = ColumnType::text}}});
    const TrackNumber sbuf = writer.add_track({.name = "SBUF", .kind = "memory", .device = "nc0", .schema = memory});
    const TrackNumber engine =
        writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .schema = instruction});
    const TrackNumber other =
        writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc1", .schema = instruction});
    const TrackNumber queue = writer.add_track({.name = "qSync0", .kind = "dma_queue", .device = "nc0", .schema = dma});
    for (const auto& [at, bytes] : {std::pair{100, 64}, {1'100, -64}}) {
      Row row = writer.begin_event(sbuf, at, 0, writer.intern("w1"));
      row.integer(0, bytes);
      row.unsigned_integer(1, 0x400);
    }
    const auto load = [&](std::int64_t at, const char* offset) {
      Row row = writer.begin_event(queue, at, 50, writer.intern("w1"));
      row.integer(0, 64);
      row.string(1, writer.intern("WEIGHT"));
      row.string(2, writer.intern("SB"));
      row.text(3, offset);
    };
    load(100, "[0x400]");
    load(160, "[0x800]");  // of another tile
    const auto run = [&](TrackNumber track, std::int64_t at, const char* operands) {
      writer.begin_event(track, at, 100, writer.intern("MATMUL")).text(0, operands);
    };
    run(engine, 300, "acc_flags=3 src=bf16@0x400[1][64] dst=0x2000400[1][64]");
    run(engine, 450, "src=bf16@0x440[1][64]");  // the first byte behind it
    run(engine, 600, "src=bf16@0x43f[1][64]");
    run(engine, 2'000, "src=bf16@0x400[1][64]");  // after its life
    run(other, 700, "src=bf16@0x400[1][64]");     // another device
    REQUIRE(writer.finish().ok());
    WorkerPool pool(2);
    TaskControl control;
    const QueryContext query{.store = *store, .snapshot = store->snapshot(), .pool = pool, .control = control};
    auto usage = memory_usage(query);
    REQUIRE(usage.ok());
    auto reported = allocation_story(query, **usage, 0);
    REQUIRE(reported.ok());
    story = *reported;
  }
  std::unique_ptr<Store> store;
  std::shared_ptr<const AllocationStory> story;
};

}  // namespace

TEST_CASE("an allocation's story: the transfer that wrote it, the reads inside of it, and how long it lay idle") {
  const Story reported;
  CHECK(reported.story->writer_text == "DMA qSync0");
  CHECK(reported.story->reads_known);
  CHECK(reported.story->reads == 2);
  REQUIRE(reported.story->ticks.size() == 2);
  CHECK(reported.story->ticks[0].ns == 300);
  CHECK(reported.story->ticks[0].event == reported.story->first_reader);
  CHECK(reported.story->ticks[1].ns == 600);
  CHECK(reported.story->reader_name == "MATMUL");
  REQUIRE(reported.story->idle_share.has_value());
  CHECK(*reported.story->idle_share == doctest::Approx(1 - 250.0 / 1'000));
  CHECK_FALSE(reported.story->repeat_factor.has_value());  // nobody states it
}

TEST_CASE("operand addresses are read with their direction, those of other memories left out") {
  std::vector<std::pair<std::uint64_t, bool>> found;
  const auto read = [&](std::string_view text) {
    found.clear();
    neuron::visit_addresses(text, [&](std::uint64_t address, bool written) { found.emplace_back(address, written); });
    return found;
  };
  using Found = std::vector<std::pair<std::uint64_t, bool>>;
  CHECK(read("S[5] (Tensor)++@complete src=bf16@0x8000[1,0] dst=bf16@0x4000[1]") ==
        Found{{0x8000, false}, {0x4000, true}});
  CHECK(read("dst=0x2000300[1] cmp1=0x0 data=0x2,0x2").empty());
  CHECK(read("src=0x").empty());
  CHECK(read("").empty());
}
