// Clocks, ids and definition records.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "core/model/definitions.h"

using namespace accelscope;

TEST_CASE("cycles of 1.4 GHz become ns in order, and back to a tick that is not later") {
  Clock clock;
  clock.ticks_per_ns = 1.4;
  const ClockMap map(clock);
  std::int64_t last = map.to_ns(-100);
  for (std::int64_t ticks = -99; ticks < 5000; ++ticks) {
    const std::int64_t ns = map.to_ns(ticks);
    REQUIRE(ns >= last);
    REQUIRE(ns == static_cast<std::int64_t>(std::floor(static_cast<double>(ticks) * 5.0 / 7.0 + 1e-9)));
    REQUIRE(map.to_ticks(ns) <= ticks);
    REQUIRE(map.to_ns(map.to_ticks(ns)) >= ns);
    last = ns;
  }
}

TEST_CASE("a clock fitted from anchors passes through them and stays monotone") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Clock clock;
    std::int64_t ticks = static_cast<std::int64_t>(random() % 1000) - 500;
    std::int64_t ns = static_cast<std::int64_t>(random() % 1000);
    for (int i = 0; i < 6; ++i) {
      clock.anchors.push_back({ticks, ns});
      ticks += 1 + static_cast<std::int64_t>(random() % 5000);
      ns += 1 + static_cast<std::int64_t>(random() % 5000);
    }
    const ClockMap map(clock);
    for (const ClockAnchor& anchor : clock.anchors) CHECK(map.to_ns(anchor.ticks) == anchor.ns);
    std::int64_t last = map.to_ns(clock.anchors.front().ticks - 100);
    bool monotone = true;
    for (std::int64_t t = clock.anchors.front().ticks - 99; t < clock.anchors.back().ticks + 100; t += 3) {
      monotone &= map.to_ns(t) >= last;
      last = map.to_ns(t);
      monotone &= map.to_ticks(last) <= t;
    }
    CHECK(monotone);
  }
}

TEST_CASE("many ticks become the ns that each alone becomes") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    Clock clock{.ticks_per_ns = std::array{1.0, 1.4, 0.001, 2.75, 1e6}[random() % 5]};
    const std::size_t anchors = random() % 4;
    for (std::size_t i = 0; i < anchors; ++i) {
      const ClockAnchor last = clock.anchors.empty() ? ClockAnchor{} : clock.anchors.back();
      clock.anchors.push_back({last.ticks + 1 + static_cast<std::int64_t>(random() % 1'000'000'000),
                               last.ns + 1 + static_cast<std::int64_t>(random() % 1'000'000'000)});
    }
    const ClockMap map(clock);
    std::vector<std::int64_t> ticks(1 + random() % 64);
    const std::int64_t spread = std::int64_t{1} << random() % 56;
    for (std::int64_t& tick : ticks) {
      tick = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread)) - spread / 2;
      if (random() % 200 == 0) tick = std::numeric_limits<std::int64_t>::max() - std::abs(tick % 100);
    }
    std::sort(ticks.begin(), ticks.end());
    std::vector<std::int64_t> ns(ticks.size());
    map.to_ns(ticks, ns.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < ticks.size(); ++i) wrong += ns[i] == map.to_ns(ticks[i]) ? 0 : 1;
    CAPTURE(round);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a clock without a usable rate is taken as nanoseconds, not divided by zero") {
  for (const double rate : {0.0, -1.0, std::nan("")}) {
    Clock clock;
    clock.ticks_per_ns = rate;
    CHECK(ClockMap(clock).to_ns(123) == 123);
  }
}

TEST_CASE("an event's id holds its lane and ordinal exactly and fits a signed 64-bit number") {
  const LaneNumber lane = scoped_number(kMaxScope, kMaxLocalNumber);
  const EventId id = make_event_id(lane, (std::uint64_t{1} << kOrdinalBits) - 1);
  CHECK(lane_of(id) == lane);
  CHECK(ordinal_of(id) == (std::uint64_t{1} << kOrdinalBits) - 1);
  CHECK(static_cast<std::int64_t>(id) > 0);
  CHECK(scope_of(lane) == kMaxScope);
  CHECK(local_of(lane) == kMaxLocalNumber);
}

namespace {

std::vector<Definition> every_definition() {
  Schema schema;
  schema.name = "instruction";
  schema.kind = EventKind::slice;
  schema.name_column = "opcode";
  schema.wait_names = {"EVENT_SEMAPHORE"};
  schema.columns = {
      {"operands", ColumnType::text, "", "Operation", "Operands", "What it works on.", Role::operands, false},
      {"id", ColumnType::uint64, "", "IDs", "", "", Role::key, true}};
  Clock clock;
  clock.name = "device";
  clock.anchors = {{0, 10}, {1400, 1010}};
  return {schema,
          clock,
          Track{1, kNone, "Tensor", "engine", "nc0", "host", "", 0, 0, 3},
          Lane{4, 1, 2},
          StringBatch{1, {"MATMUL", "", "\xff\xfe"}},
          SourceFile{"kernel.py", std::string("a\0b", 3)},
          MetaEntry{"k", "v"},
          QualityEntry{"rows_skipped", 3, "why"},
          Metric{"mfu", "tensor", 0.25, "", "text"}};
}

}  // namespace

TEST_CASE("every definition comes back as it was written") {
  for (const Definition& definition : every_definition()) {
    const Bytes record = encode(definition, 3);
    CHECK(definition_scope(record) == 3);
    const Result<std::optional<Definition>> back = decode_definition(record);
    REQUIRE(back.ok());
    REQUIRE(back->has_value());
    CHECK(**back == definition);
  }
}

TEST_CASE("a damaged definition is refused, whichever byte is wrong") {
  for (const Definition& definition : every_definition()) {
    const Bytes record = encode(definition);
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < record.size(); ++i) {
      if (i == 6 || i == 7) continue;  // the minor version may differ
      Bytes wrong = record;
      wrong[i] ^= std::byte{0x10};
      accepted += decode_definition(wrong).ok();
    }
    CHECK(accepted == 0);
    CHECK_FALSE(decode_definition(ByteView(record).first(record.size() - 1)).ok());
  }
}

TEST_CASE("numbers of a second source move into its scope, missing ones stay missing") {
  Definition track = Track{1, kNone, "t", "engine", "", "", "", 2, kNone, 0};
  move_to_scope(track, 5);
  CHECK(std::get<Track>(track).number == scoped_number(5, 1));
  CHECK(std::get<Track>(track).parent == kNone);
  CHECK(std::get<Track>(track).schema == scoped_number(5, 2));
}
