// What a comparison needs of one capture. Small, so that captures are opened one after another and let go.
//
//   const auto figures = capture_figures(query, {"line", "opcode"});
#pragma once

#include <string>
#include <vector>

#include "core/analysis/comparison/compared_metrics.h"
#include "core/analysis/comparison/configurations.h"
#include "core/analysis/comparison/cost_kinds.h"

namespace accelscope {

struct CapturedCosts {
  std::string kind;      // as it was asked for: CostKind::name, or a column
  std::string title;     // "Source line"
  std::string measured;  // what its time is
  std::string missing;   // why there are no rows; "" where there are
  std::string unit = "ns";
  bool is_line = false;  // or a place of another kind: see CostKind::is_place
  std::vector<CostRow> rows;
};

// "profiler_version": "2.28.23.0"; what a report says of where a capture comes from.
struct CaptureFact {
  std::string name, text;
  bool operator==(const CaptureFact&) const = default;
};
using CaptureFacts = std::vector<CaptureFact>;

struct CaptureFigures {
  CaptureLabel label;
  CaptureFacts facts;          // device, format, versions of what made and ran it
  bool has_checksums = false;  // a table has crc columns: divergence.h
  std::uint64_t event_count = 0;
  std::vector<ComparedMetric> metrics;
  std::vector<CapturedCosts> costs;  // as they were asked for
};

// `by`: CostKind::name or any column that events can be grouped by; "metric" adds nothing. The label is left to the
// caller. Fails where a chunk cannot be read, or when cancelled; a column that no session has gives no rows.
[[nodiscard]] Result<CaptureFigures> capture_figures(const QueryContext& query, const std::vector<std::string>& by);

}  // namespace accelscope
