// What one event costs in each step of the path, without a network or a simulator.
#include <random>

#include "core/chunk/chunk_builder.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/base/plain_rows.h"
#include "tests/support/recording_sink.h"

namespace accelscope::bench {
namespace {

constexpr int kLanes = 8;
constexpr const char* kRecipe =
    "8 lanes; columns start, duration, name (20 names), source line (60 strings), bytes (1 to 4 x 64 KiB), wait_ns "
    "(0 to 511); gaps 0 to 127, durations 64 to 575, uniform";

struct Event {
  std::uint32_t gap, duration, name, line, bytes, wait;
};

std::vector<Event> make_events() {
  std::mt19937 random(1);
  std::vector<Event> events(1U << 16);
  for (Event& e : events) {
    e = {static_cast<std::uint32_t>(random() % 128),
         64 + static_cast<std::uint32_t>(random() % 512),
         static_cast<std::uint32_t>(random() % 20),
         static_cast<std::uint32_t>(random() % 60),
         65536 * (1 + static_cast<std::uint32_t>(random() % 4)),
         static_cast<std::uint32_t>(random() % 512)};
  }
  return events;
}

}  // namespace

void bench_codec(const BenchOptions& options) {
  const auto count = static_cast<std::size_t>(20e6 * options.scale);
  const std::vector<Event> events = make_events();
  test::RecordingSink made;
  SessionWriter writer(made);
  Schema schema;
  schema.name = "slice";
  schema.columns = {{.name = "line", .type = ColumnType::string, .required = true},
                    {.name = "bytes", .type = ColumnType::uint64, .required = true},
                    {.name = "wait_ns", .type = ColumnType::int64, .required = true}};
  const SchemaNumber number = writer.add_schema(schema);
  StringId names[80];
  for (int i = 0; i < 80; ++i) names[i] = writer.intern("name " + std::to_string(i));
  std::vector<std::unique_ptr<ChunkBuilder>> builders;
  for (int i = 0; i < kLanes; ++i) {
    const TrackNumber track = writer.add_track({.name = "lane", .kind = "engine", .schema = number});
    writer.begin_event(track, 0, 0, 0);
    builders.push_back(std::make_unique<ChunkBuilder>(schema, static_cast<LaneNumber>(i)));
  }
  writer.flush();
  made.chunks.clear();

  std::vector<SealedChunk> chunks;
  std::vector<std::int64_t> at(kLanes);
  const double make = seconds([&] {
    for (std::size_t i = 0; i < count; ++i) {
      const Event& e = events[i % events.size()];
      ChunkBuilder& builder = *builders[i % kLanes];
      std::int64_t& now = at[i % kLanes];
      now += e.gap;
      const std::uint32_t row = builder.append(now, e.duration, names[e.name]);
      now += e.duration;
      builder.set_uint64(0, row, names[20 + e.line]);
      builder.set_uint64(1, row, e.bytes);
      builder.set_int64(2, row, e.wait);
      if (builder.full()) chunks.push_back(builder.seal());
    }
  });
  std::uint64_t sealed = 0;
  for (const SealedChunk& chunk : chunks) sealed += chunk.count();

  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return;
  StoreSink sink(**store);
  bool failed = false;
  for (const Definition& definition : made.definitions) failed |= !sink.define(definition);
  const double insert = seconds([&] {
    for (SealedChunk& chunk : chunks) failed |= !sink.append(std::move(chunk));
  });
  if (failed) return;
  const double rows = plain_rows_per_second(count / 10) / 1e6;
  const double in_millions = 1e-6 * static_cast<double>(sealed);
  report({"seal", in_millions / make, "M events/s", "", "plain-row SQLite inserts of the same columns", rows, kRecipe});
  report({"append", in_millions / insert, "M events/s", "", "plain-row SQLite inserts of the same columns", rows,
          kRecipe});
  report({"store_memory", static_cast<double>((*store)->status().memory_bytes) / static_cast<double>(sealed), "B/event",
          "at most 11", "", 0, kRecipe});
}

}  // namespace accelscope::bench
