// When a core of three stages is done with its tiles: it reads, computes and writes, with room for two tiles between
// each two stages.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "capture/sim/planted/draw.h"

namespace accelscope::capture::sim {

struct TileTimes {
  std::int64_t read_ns = 0, compute_ns = 0, write_ns = 0;
};

// From the begin of the core's kernels.
struct CoreTimes {
  std::int64_t read_ns = 0, compute_ns = 0, write_ns = 0;       // when each stage is done with the last tile
  std::int64_t waited_for_data_ns = 0, waited_for_room_ns = 0;  // of computing
};

inline CoreTimes run_tiles(const TileTimes& tile, int count, Draw& draw) {
  constexpr std::size_t kRoom = 2;
  std::array<std::int64_t, kRoom> computed{}, written{};  // of the tiles before, in turn
  CoreTimes times;
  const auto about = [&draw](std::int64_t ns) { return ns + ns * draw(-50, 50) / 1'000; };
  for (int i = 0; i < count; ++i) {
    const std::size_t slot = static_cast<std::size_t>(i) % kRoom;
    times.read_ns = std::max(times.read_ns, computed[slot]) + about(tile.read_ns);
    const std::int64_t ready = std::max(times.compute_ns, times.read_ns);
    times.waited_for_data_ns += ready - times.compute_ns;
    const std::int64_t begin = std::max(ready, written[slot]);
    times.waited_for_room_ns += begin - ready;
    times.compute_ns = computed[slot] = begin + about(tile.compute_ns);
    times.write_ns = written[slot] = std::max(times.write_ns, times.compute_ns) + about(tile.write_ns);
  }
  return times;
}

}  // namespace accelscope::capture::sim
