// Regions of a session by name, and how their lengths are distributed: collectives, layers, annotations, spans between
// markers, or events of a name.
//
//   collective  events of tracks of collectives, and kernels that communicate by their names
//   layer       events of tracks of layers; where there are none, stretches of a lane whose events are of one layer
//   annotation  what programs name on their threads: user annotations, ranges of NVTX and ROCTX, tasks of ITT
//   marker      the session's spans; a marker without an end lasts until the next of its set
//   NAME        events of this name, with or without a number behind it
//
// Names that come once and differ in their last number alone are one region ("ProfilerStep#*").
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/iterations/folding.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

struct NamedRegion {
  std::string name;
  FoldedValues duration_ns;
  std::int64_t total_ns = 0;
  TimeRange first, longest;
  bool numbered = false;            // of several names
  std::vector<TrackNumber> tracks;  // sorted; empty: of markers
};

struct RegionList {
  static constexpr std::size_t kMost = 65'536;
  std::vector<NamedRegion> regions;  // those of most time first
  std::uint64_t left_out = 0;        // beyond kMost
};

[[nodiscard]] Result<std::shared_ptr<const RegionList>> find_regions(const QueryContext& query, const TimeRange& range,
                                                                     const std::string& by);

}  // namespace accelscope
