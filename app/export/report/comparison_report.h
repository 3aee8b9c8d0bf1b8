// What a report says of a comparison: the verdict of each configuration against the base, what explains the difference,
// figures, costs, limits, and the timeline of a capture of each side.
#pragma once

#include <string>
#include <vector>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/explained.h"
#include "core/export/report/report.h"

namespace accelscope::app {

// With the timelines of a capture of each side.
[[nodiscard]] Report comparison_report(const ComparisonParts& parts, const std::vector<ReportSection>& timelines);

// Of one capture, for the above: the timeline with what the capture is called as its title.
[[nodiscard]] ReportSection capture_timeline(const QueryContext& query, const std::string& title);

}  // namespace accelscope::app
