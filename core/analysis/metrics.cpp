#include "core/analysis/metrics.h"

#include <cmath>

#include "core/analysis/neuron/summary.h"

namespace accelscope {

// The figures that can be computed are a vendor's; so far one vendor states any.
Result<std::vector<SessionMetric>> session_metrics(const QueryContext& query, const TimeRange& range) {
  Result<neuron::Figures> computed = neuron::summary(query, range);
  if (!computed) return computed.error();
  neuron::Figures& figures = *computed;
  std::vector<SessionMetric> metrics;
  const bool whole = range == TimeRange{};
  for (const Metric& vendor : query.snapshot->metrics) {
    const auto ours = figures.find(vendor.name);
    if (!whole && ours == figures.end()) continue;
    SessionMetric& metric = metrics.emplace_back();
    metric.name = vendor.name;
    metric.group = vendor.group;
    metric.unit = vendor.unit;
    metric.device = vendor.device;
    if (whole) {
      metric.vendor_text = vendor.text;
      if (vendor.text.empty()) metric.vendor = vendor.value;
    }
    if (ours == figures.end()) continue;
    metric.value = ours->second;
    figures.erase(ours);
  }
  for (const auto& [name, value] : figures) {
    const neuron::FigureInfo info = neuron::figure_info(name);
    SessionMetric& metric = metrics.emplace_back();
    metric.name = name;
    metric.group = info.group;
    metric.unit = info.unit;
    metric.value = value;
  }
  return metrics;
}

std::optional<double> relative_difference(const SessionMetric& metric) noexcept {
  if (!metric.value || !metric.vendor) return std::nullopt;
  if (*metric.vendor == 0) return *metric.value == 0 ? std::optional<double>(0) : std::nullopt;
  return (*metric.value - *metric.vendor) / *metric.vendor;
}

MetricCheck check(const SessionMetric& metric) noexcept {
  if (!metric.value) return MetricCheck::only_vendor;
  if (!metric.vendor) return MetricCheck::only_ours;
  const std::optional<double> difference = relative_difference(metric);
  return difference && std::abs(*difference) <= metric.margin ? MetricCheck::agrees : MetricCheck::differs;
}

bool is_flagged(const SessionMetric& metric) noexcept {
  if (!metric.value || !metric.vendor) return false;
  const std::optional<double> difference = relative_difference(metric);
  return !difference || std::abs(*difference) > kNotableDifference;
}

}  // namespace accelscope
