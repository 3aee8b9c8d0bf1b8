// The loop of chunk_scan.h in windows: stretches of time, one after another, each with a bounded number of events over
// all lanes. For what must see the events of several lanes together, such as the time that at least one of them
// covers: it gathers a window, sums it up and forgets it, so that memory does not grow with the session.
//
//   scan_windows(query, lanes, range, {
//       .chunk = [&](const ScannedChunk& chunk, const ScanWindow& window, std::size_t worker) { ... },
//       .end = [&](const ScanWindow& window, std::size_t worker) { ... }});
#pragma once

#include <algorithm>

#include "core/scan/chunk_scan.h"

namespace accelscope {

struct ScanWindow {
  TimeRange range;     // windows follow each other without gap or overlap
  bool first = false;  // no window comes before it

  // An event that reaches over an edge is met in several windows; exactly one owns it: that in which it begins, or the
  // first for those that began before.
  [[nodiscard]] bool owns(const ScannedChunk& chunk, std::int64_t begin_ticks) const noexcept {
    return begin_ticks >= chunk.range.begin || first;
  }
};

// How much of an event lies in a range, from 0 to 1; an instant in it lies there as a whole.
[[nodiscard]] constexpr double share_inside(const TimeRange& range, std::int64_t begin_ns,
                                            std::int64_t end_ns) noexcept {
  if (end_ns <= begin_ns || (begin_ns >= range.begin_ns && end_ns <= range.end_ns)) return 1;
  const std::int64_t inside = std::min(end_ns, range.end_ns) - std::max(begin_ns, range.begin_ns);
  return inside <= 0 ? 0 : static_cast<double>(inside) / static_cast<double>(end_ns - begin_ns);
}

struct WindowBody {
  // The part of a chunk that lies in the window; chunk.range is the window in the lane's ticks. The chunks of a lane
  // come in order, all of one window on one worker.
  std::function<void(const ScannedChunk& chunk, const ScanWindow& window, std::size_t worker)> chunk;
  std::function<void(const ScanWindow& window, std::size_t worker)> end;  // after the last chunk of the window
};

inline constexpr std::uint64_t kWindowEvents = 1U << 18U;  // that begin in a window, about

// Several windows run at once, each on its own worker. Fails with the first unreadable chunk, or when cancelled.
[[nodiscard]] Result<void> scan_windows(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                        const WindowBody& body, std::uint64_t window_events = kWindowEvents);

}  // namespace accelscope
