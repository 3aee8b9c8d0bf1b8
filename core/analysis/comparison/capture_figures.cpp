#include "core/analysis/comparison/capture_figures.h"

#include <fmt/format.h>

namespace accelscope {
namespace {

Result<CapturedCosts> captured_costs(const QueryContext& query, const std::string& by) {
  CapturedCosts out;
  const CostKind* kind = find_cost_kind(by);
  out.kind = by;
  out.title = kind == nullptr ? by : std::string(kind->title);
  out.measured = kind == nullptr ? "total time" : std::string(kind->measured);
  out.is_line = by == "line";
  auto rows = kind == nullptr ? costs_by_column(query, by) : kind->read(query);
  if (!rows) return rows.error();
  out.rows = std::move(*rows);
  if (out.rows.empty())
    out.missing = kind == nullptr ? fmt::format("no table has a column {}", by) : std::string(kind->missing);
  return out;
}

}  // namespace

Result<CaptureFigures> capture_figures(const QueryContext& query, const std::vector<std::string>& by) {
  CaptureFigures out;
  out.event_count = query.snapshot->event_count;
  auto metrics = compared_metrics(query);
  if (!metrics) return metrics.error();
  out.metrics = std::move(*metrics);
  for (const std::string& each : by) {
    if (each == "metric") continue;
    auto costs = captured_costs(query, each);
    if (!costs) return costs.error();
    out.costs.push_back(std::move(*costs));
  }
  return out;
}

}  // namespace accelscope
