// Calls of a host's threads lie within calls: at each moment the innermost one works, and only it. Gathered window by
// window (core/scan/chunk_scan.h), so that nested time is counted once and memory does not grow with the session.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/work_kind.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {

// The self time of what the innermost calls say of themselves, as session-wide string ids.
struct SelfTime {
  std::int64_t busy_ns = 0;
  std::int64_t wait_ns = 0;  // within calls that wait (Schema::wait_names, is_waiting_call())
  auto measures() noexcept { return std::tie(busy_ns, wait_ns); }
  void add(const SelfTime& other) noexcept { merge_part(*this, other); }
};
using SelfTimes = std::unordered_map<StringId, SelfTime>;

// What one stretch of time holds of all threads together.
struct HostTimes {
  SelfTimes names;
  SelfTimes lines;      // by the innermost call that has a line; all that are met have an entry
  SelfTimes own_lines;  // by the innermost call that has a line of the user's own (core/analysis/source/own_code.h)
  std::unordered_map<std::uint32_t, SelfTime> groups;  // of innermost calls, by what the caller of add() tells them by
  std::int64_t busy_ns = 0, wait_ns = 0;               // over the threads
  auto measures() noexcept { return std::tie(names, lines, own_lines, groups, busy_ns, wait_ns); }
};

class HostCalls {
 public:
  explicit HostCalls(const Snapshot& snapshot, const WorkKinds& kinds);

  // A chunk of a host's lane. With `passing` only the time of events that pass it is counted, of lines where the call
  // that has the line passes; the chunk itself must have no mask, as the others still lie within and around.
  // `groups`: the number of every event of a block, for HostTimes::groups.
  using GroupsOfBlock = std::function<const std::uint32_t*(const ScannedBlock&)>;
  void add(const ScannedChunk& chunk, const EventMask* passing = nullptr, const GroupsOfBlock& groups = {});
  // Adds what was gathered, clipped to the range, and forgets it; the threads' busy time goes to `busy` too, what they
  // wait to `waiting`.
  void close(const TimeRange& range, HostTimes& into, CoveredTime* busy = nullptr, CoveredTime* waiting = nullptr);

 private:
  struct Call {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t rank = 0;
    StringId name = 0, line = 0;
    std::uint32_t group = kNone;
    bool waits = false, counts = true, own = false;
  };
  struct Open;
  void run(std::vector<Call>& calls, const TimeRange& range, HostTimes& into, CoveredTime* busy, CoveredTime* waiting);
  [[nodiscard]] bool is_own(StringId line);
  struct Known {
    bool waits = false, marks = false;
  };
  [[nodiscard]] const Known& known_of(StringId name);

  const Snapshot& snapshot_;
  const WorkKinds& kinds_;
  std::vector<std::vector<Call>> threads_;
  std::unordered_map<StringId, bool> own_;
  std::unordered_map<StringId, Known> known_;
};

// The self times of the events of these lanes in a range; of a query with a mask, of those that pass it.
[[nodiscard]] Result<HostTimes> host_times(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                           const WorkKinds& kinds);

}  // namespace accelscope::analysis
