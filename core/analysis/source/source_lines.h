// What every line of the traced source cost: events, busy and waiting time, bytes. Built from the columns with
// Role::source_location ("path:33", a column number after it is ignored), Role::wait_ns and Role::bytes. Keeps no
// source text and resolves no paths: see Snapshot::sources.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/source_location.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/event_mask.h"

namespace accelscope::analysis {

struct SourceLine {
  std::string path;
  std::uint32_t line = 0;
  std::uint64_t event_count = 0;
  std::int64_t busy_ns =
      0;  // of events that do not wait, clipped to the range; of calls and zones, which nest, their self time
  // Of waiting events, and what the others waited before they began, for which their lane was free.
  std::int64_t wait_ns = 0;
  std::uint64_t bytes = 0;   // of a cut event: its share
  std::int64_t host_ns = 0;  // what of busy_ns and wait_ns is of threads of the host
};

struct SourceLines {
  std::uint64_t snapshot_version = 0;
  TimeRange range;
  std::vector<SourceLine> lines;  // by path, then line
  std::uint64_t unplaced = 0;     // events with a location that names no line

  [[nodiscard]] std::span<const SourceLine> of_file(std::string_view path) const noexcept;
  [[nodiscard]] const SourceLine* find(std::string_view path, std::uint32_t line) const noexcept;
};

[[nodiscard]] Result<std::shared_ptr<const SourceLines>> source_lines(const QueryContext& query,
                                                                      const TimeRange& range);

struct LineEvents {
  std::vector<EventId> events;  // the first ones by time, at most the limit
  std::uint64_t total = 0;
  std::shared_ptr<const EventMask> mask;  // all of them
  TimeRange stretch;                      // from the begin of the first to the end of the last; of total > 0
};
[[nodiscard]] Result<LineEvents> events_of_line(const QueryContext& query, std::string_view path, std::uint32_t line,
                                                const TimeRange& range, std::size_t limit);

}  // namespace accelscope::analysis
