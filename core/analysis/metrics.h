// The figures of a session: what the vendor's file states beside what we compute from the events with the same
// definition, so that neither has to be taken on trust. Which figures can be computed is up to the tables in
// core/analysis/<vendor>.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/query/chunk_scan.h"

namespace accelscope {

struct SessionMetric {
  std::string name;
  std::string group;
  std::string unit;
  std::optional<double> value;  // ours
  std::optional<double> vendor;
  std::string vendor_text;  // where the vendor's figure is not a number
};

// The vendor's metrics in their order, then what only we have.
[[nodiscard]] Result<std::vector<SessionMetric>> session_metrics(const QueryContext& query);

// (ours - vendor) / vendor; empty where one is missing.
[[nodiscard]] std::optional<double> relative_difference(const SessionMetric& metric) noexcept;

}  // namespace accelscope
