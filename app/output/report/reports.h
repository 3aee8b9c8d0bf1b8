#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/explained.h"
#include "core/export/base/export_format.h"
#include "core/export/report/report.h"
#include "core/listing/base/listing.h"

namespace accelscope::app::output {

// What a report says of a comparison: the verdict of each configuration against the base, what explains the difference,
// figures, costs, limits, and the timeline of a capture of each side.

// With the timelines of a capture of each side.
[[nodiscard]] exporting::Report comparison_report(const content::ComparisonParts& parts,
                                                  const std::vector<exporting::ReportSection>& timelines);

// Of one capture, for the above: the timeline with what the capture is called as its title.
[[nodiscard]] exporting::ReportSection capture_timeline(const QueryContext& query, const std::string& title);

// A listing as a table of a report: the columns for people, values with their units, the first rows.

inline constexpr std::size_t kReportRows = 100;
inline constexpr std::size_t kReportCellBytes = 240;  // longer texts are cut in their middle

// Columns in which no row has a value are left out, as are those for programs only.
[[nodiscard]] exporting::ReportTable table_of_listing(const listing::Listing& listing,
                                                      std::size_t most_rows = kReportRows);

// All formats that a session is exported in: those of core/export/formats, and the reports, which need the listings of
// this storey. What the command line and File > Export offer.

[[nodiscard]] std::vector<const exporting::ExportFormat*> offered_formats();
[[nodiscard]] const exporting::ExportFormat* find_offered_format(std::string_view name);  // null: unknown

// The timeline of a report: the rows that the viewer has at first and the busiest of its closed groups, with a bounded
// number of boxes each.
struct TimelineLimits {
  std::size_t boxes = 40'000;      // in all; some 25 bytes each
  std::size_t lane_boxes = 4'000;  // in one lane
  std::size_t rows = 64;
  std::size_t closed_rows = 6;  // of a group that the viewer shows closed at first
  std::size_t lanes = 8;        // of one row: of deeper stacks the outer calls
  std::size_t values = 12'000;  // of all counters
};

// The section with what is left out of it said. `shown`: what is in sight at first; empty: all.
[[nodiscard]] exporting::ReportSection timeline_section(const exporting::ExportRequest& request, const TimeRange& shown,
                                                        const TimelineLimits& limits = {});

}  // namespace accelscope::app::output
