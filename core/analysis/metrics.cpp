#include "core/analysis/metrics.h"

#include "core/analysis/neuron/summary.h"

namespace accelscope {

// The figures that can be computed are a vendor's; so far one vendor states any.
Result<std::vector<SessionMetric>> session_metrics(const QueryContext& query) {
  Result<neuron::Figures> computed = neuron::summary(query, TimeRange{});
  if (!computed) return computed.error();
  neuron::Figures& figures = *computed;
  std::vector<SessionMetric> metrics;
  for (const Metric& vendor : query.snapshot->metrics) {
    SessionMetric& metric = metrics.emplace_back();
    metric.name = vendor.name;
    metric.group = vendor.group;
    metric.unit = vendor.unit;
    metric.vendor_text = vendor.text;
    if (vendor.text.empty()) metric.vendor = vendor.value;
    if (const auto ours = figures.find(vendor.name); ours != figures.end()) {
      metric.value = ours->second;
      figures.erase(ours);
    }
  }
  for (const auto& [name, value] : figures) {
    const neuron::FigureInfo info = neuron::figure_info(name);
    metrics.push_back({name, std::string(info.group), std::string(info.unit), value, std::nullopt, {}});
  }
  return metrics;
}

std::optional<double> relative_difference(const SessionMetric& metric) noexcept {
  if (!metric.value || !metric.vendor) return std::nullopt;
  if (*metric.vendor == 0) return *metric.value == 0 ? std::optional<double>(0) : std::nullopt;
  return (*metric.value - *metric.vendor) / *metric.vendor;
}

}  // namespace accelscope
