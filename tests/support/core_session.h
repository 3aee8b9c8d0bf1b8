// A small session of chips with cores, for tests of the core grid: two chips of 3 x 2 cores with three processors each,
// zones within zones, waits, sums and bytes; chip 1 counts half a cycle a ns. Core 2,1 of chip 0 works three times as
// long as the others. All events are kept as plain rows to check answers against.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/chunk/session_writer.h"
#include "core/store/store.h"

namespace accelscope::test {

struct CoreEvent {
  int chip = 0, x = 0, y = 0;
  std::string part, name, table;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t amount = -1;  // bytes of a zone, ns of a total
};

class CoreSession {
 public:
  static constexpr int kChips = 2, kColumns = 3, kRows = 2;
  static constexpr const char* kParts[] = {"BRISC", "TRISC_0", "TRISC_1"};

  // lacks: a processor that core 3,8 of chip 0 has not.
  explicit CoreSession(std::uint32_t seed, int zones = 300, std::string lacks = "")
      : random_(seed), lacks_(std::move(lacks)) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    Schema zone;
    zone.name = "zone";
    zone.wait_names = {"CB_WAIT"};
    zone.columns = {
        {.name = "bytes", .type = ColumnType::int64, .unit = "B", .title = "NoC bytes", .role = Role::bytes}};
    zone_ = writer.add_schema(zone);
    Schema total;
    total.name = "zone_total";
    total.kind = EventKind::instant;
    total.wait_names = {"WAIT_FRONT"};
    total.columns = {{.name = "ns", .type = ColumnType::int64, .unit = "ns"}};
    total_ = writer.add_schema(total);
    for (int chip = 0; chip < kChips; ++chip) write_chip(writer, chip, zones);
    REQUIRE(writer.finish().ok());
  }

  std::shared_ptr<Store> store = std::move(Store::create()).value();
  std::vector<CoreEvent> events;

 private:
  void write_chip(SessionWriter& writer, int chip, int zones) {
    Clock clock;
    clock.name = "chip " + std::to_string(chip);
    clock.ticks_per_ns = chip == 0 ? 1 : 0.5;
    const ClockNumber number = writer.add_clock(clock);
    for (int x = 0; x < kColumns; ++x) {
      for (int y = 0; y < kRows; ++y) {
        const std::string name = "core " + std::to_string(x + 1) + "," + std::to_string(y + 7);
        const TrackNumber core = writer.add_track({.name = name, .kind = "engine", .device = clock.name});
        for (const char* part : kParts) {
          if (lacks_ == part && chip == 0 && x == 2 && y == 1) continue;
          Track track{.parent = core, .name = name + " " + part, .kind = "engine", .device = clock.name};
          track.schema = zone_;
          track.clock = number;
          const TrackNumber row = writer.add_track(track);
          track.parent = row;
          track.name += " totals";
          track.schema = total_;
          const TrackNumber totals = writer.add_track(track);
          write_part(writer, row, totals, {chip, x + 1, y + 7, part, "", "", 0, 0, -1}, zones);
        }
      }
    }
  }

  void write_part(SessionWriter& writer, TrackNumber row, TrackNumber totals, CoreEvent as, int zones) {
    const std::int64_t ns_per_tick = as.chip == 0 ? 1 : 2;
    const bool slow = as.chip == 0 && as.x == 3 && as.y == 8;
    std::int64_t at = static_cast<std::int64_t>(random_() % 50);
    const auto add = [&](TrackNumber track, const char* table, std::uint32_t depth, std::int64_t begin,
                         std::int64_t length, const char* name, std::int64_t amount) {
      Row event = writer.begin_event_at(track, depth, begin, length, writer.intern(name));
      if (amount >= 0) event.integer(0, amount);
      as.table = table;
      as.name = name;
      as.begin_ns = begin * ns_per_tick;
      as.end_ns = (begin + length) * ns_per_tick;
      as.amount = amount;
      events.push_back(as);
    };
    for (int i = 0; i < zones; ++i) {
      const auto length = static_cast<std::int64_t>(20 + random_() % 20) * (slow ? 3 : 1);
      if (random_() % 5 == 0) {
        add(row, "zone", 0, at, length, "CB_WAIT", -1);
      } else {
        add(row, "zone", 0, at, length, random_() % 2 == 0 ? "KERNEL" : "READ",
            random_() % 3 == 0 ? -1 : static_cast<std::int64_t>(random_() % 4096));
        if (random_() % 2 == 0) add(row, "zone", 1, at + 2, length / 2, "MATMUL", 64);
      }
      if (random_() % 10 == 0)
        add(totals, "zone_total", 0, at, 0, "WAIT_FRONT", static_cast<std::int64_t>(random_() % 30));
      at += length + static_cast<std::int64_t>(random_() % 80);
    }
  }

  std::mt19937_64 random_;
  std::string lacks_;
  SchemaNumber zone_ = 0, total_ = 0;
};

}  // namespace accelscope::test
