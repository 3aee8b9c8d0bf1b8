// The iterations of a session: what repeats on its engines, streams and host threads, or begins with events of a name
// or with markers, folded.
//
// Of a track with calls within calls the outermost lane that anything repeats on is taken; of an engine whose events
// overlap, and where no lane alone repeats, all its lanes together. A name on request is that of
// the events, with or without a number behind it: "ProfilerStep" are ProfilerStep#17, ProfilerStep#18 ...; an iteration
// is as long as its event, or lasts until the next where events have no length. Then the work of each engine and stream
// that begins within these is folded.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/iterations/folding.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

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

// Regions of a session by name, and how their lengths are distributed: collectives, layers, annotations, spans between
// markers, or events of a name.
//
//   collective  events of tracks of collectives, and kernels that communicate by their names
//   layer       events of tracks of layers; where there are none, stretches of a lane whose events are of one layer; at
//   a
//               depth, those whose layers have that many levels in common
//   function    stretches of an engine or a thread whose events are of one function of the program: that of the
//   innermost
//               frame, or the one that the source line stands in
//   annotation  what programs name on their threads: user annotations, ranges of NVTX and ROCTX, tasks of ITT
//   marker      the session's spans; a marker without an end lasts until the next of its set
//   NAME        events of this name, with or without a number behind it
//
// Names that come once and differ in their last number alone are one region ("ProfilerStep#*").
struct NamedRegion {
  static constexpr std::size_t kBins = 32, kMostLines = 200;
  std::string name;
  FoldedValues duration_ns;
  std::array<std::uint32_t, kBins> bins = {};  // how many are how long, from the shortest to the longest
  std::int64_t total_ns = 0;
  TimeRange first, longest;
  bool numbered = false;            // of several names
  std::vector<TrackNumber> tracks;  // sorted; empty: of markers
  // Of stretches: the column that tells them, and of a function its lines or innermost frames; empty: too many.
  Role role = Role::none;
  bool is_level = false;  // of layers: all below it, too
  std::vector<std::string> lines = {};
};

struct RegionList {
  static constexpr std::size_t kMost = 65'536;
  std::vector<NamedRegion> regions;  // those of most time first
  std::uint64_t left_out = 0;        // beyond kMost
};

// `depth`: of layers; 0: whole paths.
[[nodiscard]] Result<std::shared_ptr<const RegionList>> find_regions(const QueryContext& query, const TimeRange& range,
                                                                     const std::string& by, std::size_t depth = 0);

// Which loop of one session is which of another: those whose bodies have the most names in common, on tracks of one
// name where there are such; numbers at the ends of names do not count.

// Turns of a loop that both sessions run, in their order; there may be more of one than of the other.
struct SharedTurns {
  std::vector<TimeRange> base, other;
};

// The outermost loops only, of the device that `base` lists first where it has any in common; of those the one of most
// names in common. Nothing: there is none whose bodies have at least half of their names in common.
[[nodiscard]] std::optional<SharedTurns> shared_turns(const IterationList& base, const Snapshot& base_snapshot,
                                                      const IterationList& other, const Snapshot& other_snapshot);

// Looks for what repeats in both first.
[[nodiscard]] Result<std::shared_ptr<const SharedTurns>> find_shared_turns(const QueryContext& base,
                                                                           const QueryContext& other);

}  // namespace accelscope::analysis
