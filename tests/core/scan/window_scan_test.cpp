#include "core/scan/chunk_scan.h"

#include <doctest/doctest.h>

#include <mutex>

#include "tests/core/random_session.h"

using namespace accelscope;

TEST_CASE("windows give every event to one owner and every ns of it to one window") {
  RandomSession session(5, 6'000);
  for (int round = 0; round < 24; ++round) {
    const TimeRange range = round == 0 ? TimeRange{} : session.random_range();
    const std::uint64_t window_events = round % 3 == 0 ? 500 : 20'000;
    std::uint64_t expected_owned = 0;
    std::int64_t expected_ns = 0;
    for (const PlainEvent& event : session.events) {
      const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
      if (!tick_range(lane, range).holds(event.begin_ticks, event.end_ticks)) continue;
      ++expected_owned;
      expected_ns +=
          std::max<std::int64_t>(0, std::min(range.end_ns, event.end_ns) - std::max(range.begin_ns, event.begin_ns));
    }
    std::mutex mutex;
    std::uint64_t owned = 0;
    std::int64_t ns = 0;
    std::size_t windows = 0;
    std::vector<TimeRange> seen;
    const auto scanned =
        scan_windows(session.context(), all_lanes(*session.snapshot), range,
                     {.chunk =
                          [&](const ScannedChunk& chunk, const ScanWindow& window, std::size_t) {
                            const std::scoped_lock lock(mutex);
                            chunk.for_each_block([&](const ScannedBlock& block) {
                              for (std::uint32_t i = block.first; i < block.last; ++i) {
                                owned += window.owns(chunk, block.ticks().begins[i]) ? 1 : 0;
                                const std::int64_t begin = block.begin_ns(i);
                                const std::int64_t end = block.end_ns(i);
                                ns += std::max<std::int64_t>(
                                    0, std::min(window.range.end_ns, end) - std::max(window.range.begin_ns, begin));
                              }
                            });
                          },
                      .end =
                          [&](const ScanWindow& window, std::size_t) {
                            const std::scoped_lock lock(mutex);
                            ++windows;
                            seen.push_back(window.range);
                          }},
                     window_events);
    REQUIRE(scanned.ok());
    CAPTURE(range.begin_ns);
    CAPTURE(range.end_ns);
    CHECK(owned == expected_owned);
    CHECK(ns == expected_ns);
    if (round == 0) CHECK(windows > 10);
    std::sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    for (std::size_t i = 1; i < seen.size(); ++i) CHECK(seen[i].begin_ns == seen[i - 1].end_ns);
  }
}
