// The instruction listing of a session: what a device executed by place in its program, in the order of the program,
// with what each place cost. A place is the value of the column that the vendor calls so (the program counter); a table
// without one is listed by name, in the order of the first events: kernels of a stream, zones of a core.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct InstructionCost {
  TrackNumber track = 0;
  std::optional<std::int64_t> place;  // in the program of its track
  StringId name = 0;                  // session-wide
  std::string location;               // of the first event: "file.py:33"; "": none
  std::string operands;               // of the first event, in the vendor's grammar
  EventId first = kNoEvent;           // the first event by id
  std::int64_t first_ns = 0;          // its begin
  std::uint64_t count = 0;
  std::int64_t busy_ns = 0;  // of events that do not wait, clipped to the range
  // Of events that do, and what the others waited before they began, for which their lane was free.
  std::int64_t wait_ns = 0;
  std::uint64_t bytes = 0;  // of a cut event: its share
};

struct InstructionListing {
  static constexpr std::size_t kMost = 50'000;
  static constexpr std::size_t kMostMet = 4 * kMost;  // rows that a thread tells apart
  std::vector<InstructionCost> rows;  // by track in the order of the snapshot, then by place, else by first_ns
  std::uint64_t left_out = 0;         // rows beyond kMost, those that cost least
  // False: there are more rows than are told apart. The rows are then those that cost most among the first that were
  // met, their figures whole, and more than left_out are left out.
  bool counts_all = true;
};

// Of tracks that execute on a device: engines, streams, cores. location: only what names this place of a source
// ("file.py:33"), whose sums are those that source_lines.h has of these tracks; "": all.
[[nodiscard]] Result<InstructionListing> instruction_listing(const QueryContext& query, const TimeRange& range,
                                                             std::string_view location = {});

}  // namespace accelscope::analysis
