// The iterations of a session: what repeats on its engines, streams and host threads, or begins with events of a name
// or with markers, folded.
//
// Of a track with calls within calls the outermost lane that anything repeats on is taken; of an engine whose events
// overlap, and where no lane alone repeats, all its lanes together. A name on request is that of
// the events, with or without a number behind it: "ProfilerStep" are ProfilerStep#17, ProfilerStep#18 ...; an iteration
// is as long as its event, or lasts until the next where events have no length. Then the work of each engine and stream
// that begins within these is folded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/iterations/folding.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

struct IterationLoop {
  TrackNumber track = 0;
  std::uint32_t depth = 0;  // of the lane
  std::uint32_t level = 0;  // 0: the outermost
  std::uint32_t partial = 0;
  double share = 0;  // of the events of a usual iteration that are the body's
  FoldedLoop folded;
};

struct IterationList {
  std::vector<IterationLoop> loops;  // tracks of devices first, those of most time first, levels of a lane together
  std::uint64_t too_long = 0;        // lanes of more events than are looked at
};

struct IterationQuestion {
  static constexpr const char* kMarkers = "marker";
  std::string by;  // "": found by themselves; kMarkers; else a name
  bool operator==(const IterationQuestion&) const = default;
};

[[nodiscard]] Result<std::shared_ptr<const IterationList>> find_iterations(const QueryContext& query,
                                                                           const TimeRange& range,
                                                                           const IterationQuestion& question = {});

// Whether an event of this name is meant by the name that was asked for: see above.
[[nodiscard]] bool is_numbered_name(std::string_view name, std::string_view asked) noexcept;

}  // namespace accelscope
