// What single events cost: their time inside a range, what they waited before they began, and what they moved, all by
// whole ns and bytes, so that whoever adds them up in whatever order has the same sums. Lines of source and the listing
// of instructions are sums of these.
//
//   EventCosts costs(*chunk.lane.schema, strings, range, snapshot);     // one per chunk
//   costs.read(block);
//   const EventCost cost = costs.of(chunk, block, i);
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "core/model/schema.h"
#include "core/model/time_range.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {

struct EventCost {
  std::int64_t busy_ns = 0;  // of an event that does not wait
  std::int64_t wait_ns = 0;  // of one that does, clipped alike; else what it waited before, while its lane was free
  std::uint64_t bytes = 0;   // of a cut event: its share
};

class EventCosts {
 public:
  // `schema` must outlive it.
  EventCosts(const Schema& schema, const Snapshot& snapshot, const TimeRange& range);

  void read(const ScannedBlock& block);
  [[nodiscard]] EventCost of(const ScannedChunk& chunk, const ScannedBlock& block, std::uint32_t i) const;

 private:
  struct Amounts {
    std::vector<std::size_t> columns;  // of one role
    std::vector<NumberBlock> numbers;
    void read(const Schema& schema, const ScannedBlock& block);
    [[nodiscard]] std::uint64_t sum(std::uint32_t i) const noexcept;  // what is below 0 counts as nothing
  };
  const Schema& schema_;
  TimeRange range_;
  std::int64_t first_ns_;  // of the range and the session
  WaitNames waits_;
  Amounts waited_, moved_;
};

// What of an event counts where a range cuts it or other work was before it: its part of an amount, and how long it can
// have waited before it began.

// inside: the share of the event that counts, of share_inside().
[[nodiscard]] constexpr std::uint64_t part_of_amount(std::uint64_t amount, double inside) noexcept {
  return inside >= 1 ? amount : static_cast<std::uint64_t>(static_cast<double>(amount) * inside + 0.5);
}

// When the lane became free before the event; the least time there is before its first.
[[nodiscard]] inline std::int64_t lane_free_since(const ScannedChunk& chunk, const ScannedBlock& block,
                                                  std::uint32_t i) {
  if (i > 0) return block.end_ns(i - 1);
  if (block.row(i) > 0) {
    std::int64_t begin_ticks = 0, end_ticks = 0;
    chunk.view.event_times(block.row(i) - 1, begin_ticks, end_ticks);
    return chunk.lane.clock->to_ns(end_ticks);
  }
  if (chunk.chunk_index > 0) return chunk.lane.clock->to_ns(chunk.lane.chunk(chunk.chunk_index - 1).end_ticks);
  return std::numeric_limits<std::int64_t>::min();
}

// For how long the lane had been free before the event, which is the most that it can have waited. first_ns: where the
// range begins, and no earlier than the session.
[[nodiscard]] inline std::int64_t longest_wait_ns(const ScannedChunk& chunk, const ScannedBlock& block, std::uint32_t i,
                                                  std::int64_t first_ns) {
  const std::int64_t begin_ns = block.begin_ns(i);
  const std::int64_t free_ns = std::max(first_ns, lane_free_since(chunk, block, i));
  return begin_ns > free_ns ? begin_ns - free_ns : 0;
}

// Calls of a thread lie within calls: this walks them in the order of time and says which one is the innermost.

// Call: has begin_ns, end_ns and rank, which orders calls of the same times, outer ones first. Sorts them. For every
// call that begins before the range ends, `enter(call, outer)` gives what is kept of it while it is open, an Open;
// `outer` is that of the call around it, null if there is none. `spend(open, from_ns, to_ns)` is told of every stretch
// of the range in which it is the innermost.
template <typename Open, typename Call, typename Enter, typename Spend>
void walk_nested_calls(std::vector<Call>& calls, const TimeRange& range, Enter enter, Spend spend) {
  const auto outer_first = [](const Call& a, const Call& b) {
    return std::tie(a.begin_ns, b.end_ns, a.rank) < std::tie(b.begin_ns, a.end_ns, b.rank);
  };
  if (!std::ranges::is_sorted(calls, outer_first)) std::ranges::sort(calls, outer_first);
  struct Level {
    std::int64_t end_ns;
    Open open;
  };
  std::vector<Level> levels;
  std::int64_t reached = range.begin_ns;
  const auto advance = [&](std::int64_t to) {
    const std::int64_t until = std::min(to, range.end_ns);
    if (until <= reached) return;
    spend(levels.back().open, reached, until);
    reached = until;
  };
  const auto end_until = [&](std::int64_t ns) {
    while (!levels.empty() && levels.back().end_ns <= ns) {
      advance(levels.back().end_ns);
      levels.pop_back();
    }
    if (!levels.empty()) advance(ns);
    reached = std::max(reached, ns);
  };
  for (Call& call : calls) {
    if (call.begin_ns >= range.end_ns) break;
    end_until(call.begin_ns);
    const Open next = enter(call, levels.empty() ? nullptr : &levels.back().open);
    levels.push_back({call.end_ns, next});
  }
  end_until(range.end_ns);
}

}  // namespace accelscope::analysis
