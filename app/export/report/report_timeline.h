// The timeline of a report: the rows that the viewer has at first and the busiest of its closed groups, with a bounded
// number of boxes each.
#pragma once

#include "core/export/base/export_format.h"
#include "core/export/report/report.h"

namespace accelscope::app {

struct TimelineLimits {
  std::size_t boxes = 40'000;      // in all; some 25 bytes each
  std::size_t lane_boxes = 4'000;  // in one lane
  std::size_t rows = 64;
  std::size_t closed_rows = 6;  // of a group that the viewer shows closed at first
  std::size_t lanes = 8;        // of one row: of deeper stacks the outer calls
  std::size_t values = 12'000;  // of all counters
};

// The section with what is left out of it said. `shown`: what is in sight at first; empty: all.
[[nodiscard]] ReportSection timeline_section(const ExportRequest& request, const TimeRange& shown,
                                             const TimelineLimits& limits = {});

}  // namespace accelscope::app
