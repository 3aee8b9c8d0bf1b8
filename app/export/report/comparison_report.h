// What a report says of a comparison: the verdict of each configuration against the base, what explains the difference,
// figures, costs, limits, and the timeline of a capture of each side.
#pragma once

#include <string>
#include <vector>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/explained.h"
#include "core/export/report/report.h"

namespace accelscope::app {

struct ComparisonReportParts {
  const Comparison& comparison;
  const std::vector<ComparisonGate>& gates;
  bool with_metrics = true;
  std::size_t most_rows = 30;            // of a table; 0: as many as a report holds
  std::vector<Explained> explained;      // of captures of the base and of another configuration
  std::vector<std::string> unexplained;  // why there is none
  std::vector<ReportSection> timelines;
};
[[nodiscard]] Report comparison_report(const ComparisonReportParts& parts);

// Of one capture, for the above: the timeline with what the capture is called as its title.
[[nodiscard]] ReportSection capture_timeline(const QueryContext& query, const std::string& title);

}  // namespace accelscope::app
