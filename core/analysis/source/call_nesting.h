// Calls of a thread lie within calls: this walks them in the order of time and says which one is the innermost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/model/time_range.h"

namespace accelscope {

// Call: has begin_ns, end_ns and rank, which orders calls of the same times, outer ones first. Sorts them. For every
// call that begins before the range ends, `enter(call, outer)` gives what is kept of it while it is open, an Open;
// `outer` is that of the call around it, null if there is none. `spend(open, from_ns, to_ns)` is told of every stretch
// of the range in which it is the innermost.
template <typename Open, typename Call, typename Enter, typename Spend>
void walk_nested_calls(std::vector<Call>& calls, const TimeRange& range, Enter enter, Spend spend) {
  const auto outer_first = [](const Call& a, const Call& b) {
    return std::tie(a.begin_ns, b.end_ns, a.rank) < std::tie(b.begin_ns, a.end_ns, b.rank);
  };
  if (!std::is_sorted(calls.begin(), calls.end(), outer_first)) std::sort(calls.begin(), calls.end(), outer_first);
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

}  // namespace accelscope
