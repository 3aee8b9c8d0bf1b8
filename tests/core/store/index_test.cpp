// Trees, totals and growing arrays against naive models, and all of it while a source is writing.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "core/chunk/chunk_view.h"
#include "core/chunk/session_writer.h"
#include "core/model/palette.h"
#include "core/store/store.h"

using namespace accelscope;

TEST_CASE("an append-only array keeps every element at its place and groups of eight side by side") {
  AppendOnlyArray<std::uint64_t> array;
  for (std::uint64_t i = 0; i < 100'000; ++i) array.push_back(i * 7);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 100'000; ++i) wrong += array[i] != i * 7;
  for (std::size_t i = 0; i + 8 <= 100'000; i += 8) wrong += &array[i] + 7 != &array[i + 7];
  CHECK(wrong == 0);
}

TEST_CASE("tree nodes sum up their children at every level") {
  std::mt19937_64 random(2);
  LaneTree<SliceNode> tree;
  std::vector<SliceNode> leaves;
  std::int64_t at = 0;
  for (int i = 0; i < 5000; ++i) {
    SliceNode leaf;
    leaf.begin = at += static_cast<std::int64_t>(random() % 50);
    leaf.busy = random() % 100;
    leaf.wait = random() % 30;
    leaf.end = at += static_cast<std::int64_t>(leaf.busy + leaf.wait + random() % 20);
    leaf.colour = kSlicePalette[random() % 12];
    leaf.count = 1 + static_cast<std::uint32_t>(random() % 64);
    leaves.push_back(leaf);
    tree.add_leaf(leaf);
  }
  const TreeCounts counts = tree.counts();
  CHECK(counts.nodes[0] == 5000);
  std::size_t span = 1;
  for (std::size_t level = 0; level < kTreeLevels; ++level, span *= kTreeFanout) {
    CHECK(counts.nodes[level] == 5000 / span);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < counts.nodes[level]; ++i) {
      const SliceNode& node = tree.node(level, i);
      std::uint64_t busy = 0, wait = 0, count = 0;
      for (std::size_t k = i * span; k < (i + 1) * span; ++k) {
        busy += leaves[k].busy;
        wait += leaves[k].wait;
        count += leaves[k].count;
      }
      wrong += node.busy != busy || node.wait != wait || node.count != count;
      wrong += node.begin != leaves[i * span].begin || node.end != leaves[(i + 1) * span - 1].end;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a counter's node holds extremes, last value and the held integral") {
  std::mt19937_64 random(3);
  std::vector<std::pair<std::int64_t, double>> samples;
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  Schema schema;
  schema.name = "c";
  schema.kind = EventKind::counter;
  schema.columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value}};
  const TrackNumber track = writer.add_track({.name = "c", .kind = "counter", .schema = writer.add_schema(schema)});
  std::int64_t at = 0;
  for (int i = 0; i < 64 * 64; ++i) {
    at += static_cast<std::int64_t>(random() % 9);
    samples.emplace_back(at, static_cast<double>(random() % 1000) / 8);
    writer.sample(track, at, samples.back().second);
  }
  REQUIRE(writer.finish().ok());
  const auto snapshot = (*store)->snapshot();
  const LaneSnapshot& lane = snapshot->lanes[0];
  REQUIRE(lane.tree.nodes[2] == 1);
  const CounterNode& node = lane.data->counters.node(2, 0);
  double least = samples[0].second, most = least, integral = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    least = std::min(least, samples[i].second);
    most = std::max(most, samples[i].second);
    if (i > 0) integral += samples[i - 1].second * static_cast<double>(samples[i].first - samples[i - 1].first);
  }
  CHECK(node.min == doctest::Approx(least));
  CHECK(node.max == doctest::Approx(most));
  CHECK(node.last == samples.back().second);
  CHECK(node.integral == doctest::Approx(integral));
}

TEST_CASE("stretches of name totals equal the sums of their chunks") {
  std::mt19937_64 random(4);
  NameTotals totals;
  std::vector<std::map<StringId, NameTotal>> chunks;
  for (int c = 0; c < 150; ++c) {
    std::map<StringId, NameTotal> chunk;
    std::uint64_t events = 0;
    const int names = c % 10 == 9 ? 3000 : 1 + static_cast<int>(random() % 40);
    for (int n = 0; n < names; ++n) {
      const auto name = static_cast<StringId>(random() % 5000);
      chunk[name] = {name, 1 + static_cast<std::uint32_t>(random() % 500), random() % 10000};
    }
    std::vector<NameTotal> list;
    for (const auto& [name, total] : chunk) {
      list.push_back(total);
      events += total.count;
    }
    totals.add_chunk(list, events);
    chunks.push_back(std::move(chunk));
  }
  const NameTotals::Counts counts = totals.counts();
  std::size_t span = 1;
  std::size_t retained = 0;
  for (std::size_t level = 0; level < 4; ++level, span *= NameTotals::kFanout) {
    REQUIRE(counts.stretches[level] == 150 / span);
    for (std::size_t i = 0; i < counts.stretches[level]; ++i) {
      const NameTotals::Stretch stretch = totals.stretch(level, i);
      if (!stretch.retained) continue;
      ++retained;
      std::map<StringId, NameTotal> expected;
      for (std::size_t c = i * span; c < (i + 1) * span; ++c) {
        for (const auto& [name, total] : chunks[c]) {
          expected[name].count += total.count;
          expected[name].busy += total.busy;
        }
      }
      REQUIRE(stretch.size == expected.size());
      std::size_t wrong = 0;
      for (std::uint32_t k = 0; k < stretch.size; ++k) {
        wrong += expected[stretch.totals[k].name].count != stretch.totals[k].count;
        wrong += expected[stretch.totals[k].name].busy != stretch.totals[k].busy;
      }
      CHECK(wrong == 0);
    }
  }
  CHECK(retained > 100);
}

TEST_CASE("snapshots, reads and a save see whole chunks while a source is writing") {
  Result<std::unique_ptr<Store>> created = Store::create();
  REQUIRE(created.ok());
  Store& store = **created;
  constexpr std::uint64_t kEvents = 300'000;
  std::thread source([&store] {
    StoreSink sink(store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema({.name = "s"});
    std::vector<TrackNumber> tracks;
    for (int t = 0; t < 4; ++t) tracks.push_back(writer.add_track({.name = "t", .kind = "engine", .schema = schema}));
    for (std::uint64_t i = 0; i < kEvents; ++i) {
      writer.begin_event(tracks[i % 4], static_cast<std::int64_t>(i), 2, writer.intern("n" + std::to_string(i % 50)));
    }
    CHECK(writer.finish().ok());
  });
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("accelscope-live-" + std::to_string(std::random_device{}()) + ".accel"))
                               .string();
  std::uint64_t last = 0;
  bool monotone = true;
  bool readable = true;
  bool saved = false;
  while (last < kEvents) {
    const auto snapshot = store.snapshot();
    monotone &= snapshot->event_count >= last;
    last = snapshot->event_count;
    for (const LaneSnapshot& lane : snapshot->lanes) {
      if (lane.chunk_count == 0) continue;
      readable &= store.read_chunk(lane, lane.chunk_count - 1).ok();
      const std::uint32_t leaves = lane.tree.nodes[0];
      readable &= leaves > 0 && lane.data->slices.node(0, leaves - 1).end <= lane.end_ticks;
    }
    if (!saved && last > kEvents / 3) {
      saved = store.save(path).ok();
      readable &= saved;
    }
  }
  source.join();
  CHECK(monotone);
  CHECK(readable);
  Result<std::unique_ptr<Store>> opened = Store::open(path);
  REQUIRE(opened.ok());
  const auto snapshot = (*opened)->snapshot();
  CHECK(snapshot->event_count > 0);
  std::uint64_t in_lanes = 0;
  for (const LaneSnapshot& lane : snapshot->lanes) in_lanes += lane.event_count;
  CHECK(in_lanes == snapshot->event_count);
  CHECK(snapshot->quality.empty());
  std::remove(path.c_str());
}
