#include "core/analysis/figures/metrics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "core/analysis/figures/general_metrics.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/figures/terminology.h"
#include "core/analysis/figures/vendor_figures.h"

namespace accelscope {
namespace {

constexpr std::string_view kUngrouped = "summary";

struct Ranked {
  SessionMetric metric;
  std::size_t device = 0;
  std::size_t group = 0;
  std::size_t term = 0;
};

class MetricList {
 public:
  explicit MetricList(bool whole) : whole_(whole) {}

  void add(SessionMetric metric, double slack = 0) {
    const FigureTerm* term = find_term(metric.name);
    // The vendor's file leaves some of its figures without a group of their own.
    if (metric.group.empty() || (metric.group == kUngrouped && term != nullptr)) {
      metric.group = metric_group(metric.name);
    }
    if (term != nullptr) {
      if (metric.unit.empty() && !metric.vendor) metric.unit = term->unit;
      metric.exact = term->exact;
      if (metric.value || !term->exact) metric.how = term->how;
    }
    if (metric.value && *metric.value != 0) {
      metric.margin = std::max(kExactMargin, slack / std::abs(*metric.value));
    }
    // General figures come table by table, as they are made; the others as the terminology has them.
    std::size_t place = metric.group == "general" ? ranked_.size() : figure_terms().size();
    if (term != nullptr && metric.group != "general") place = static_cast<std::size_t>(term - figure_terms().data());
    const std::size_t device = place_of(metric.device);
    const std::size_t group = rank_of_group(metric.group);
    ranked_.push_back({std::move(metric), device, group, place});
  }

  // The vendor's metrics of a device with our figures beside them, then our further ones.
  void add_device(const std::vector<const Metric*>& stated, DeviceFigures of_device) {
    Figures& figures = of_device.figures;
    for (const Metric* each : stated) {
      const Metric& vendor = *each;
      const auto ours = figures.find(vendor.name);
      if (!whole_ && ours == figures.end()) continue;
      SessionMetric metric = from_vendor(vendor);
      metric.device = of_device.device;
      double slack = 0;
      if (ours != figures.end()) {
        metric.value = ours->second.value;
        metric.unfiltered = ours->second.unfiltered;
        slack = ours->second.slack;
        figures.erase(ours);
      }
      add(std::move(metric), slack);
    }
    for (const auto& [name, figure] : figures) {
      SessionMetric metric;
      metric.name = name;
      metric.value = figure.value;
      metric.unfiltered = figure.unfiltered;
      metric.device = of_device.device;
      add(std::move(metric), figure.slack);
    }
  }

  void add_stated_only(const Metric& vendor) {
    if (whole_) add(from_vendor(vendor));
  }

  std::vector<SessionMetric> take() {
    std::stable_sort(ranked_.begin(), ranked_.end(), [](const Ranked& a, const Ranked& b) {
      return std::tie(a.device, a.group, a.metric.group, a.term, a.metric.name) <
             std::tie(b.device, b.group, b.metric.group, b.term, b.metric.name);
    });
    std::vector<SessionMetric> metrics;
    std::transform(ranked_.begin(), ranked_.end(), std::back_inserter(metrics),
                   [](Ranked& ranked) { return std::move(ranked.metric); });
    return metrics;
  }

 private:
  // The session itself, then devices in the order in which they are first seen.
  std::size_t place_of(const std::string& device) {
    const auto known = std::find(devices_.begin(), devices_.end(), device);
    const auto place = static_cast<std::size_t>(known - devices_.begin());
    if (known == devices_.end()) devices_.push_back(device);
    return place;
  }

  [[nodiscard]] SessionMetric from_vendor(const Metric& vendor) const {
    SessionMetric metric;
    metric.name = vendor.name;
    metric.group = vendor.group;
    metric.unit = vendor.unit;
    metric.device = vendor.device;
    if (!whole_) return metric;
    metric.vendor_text = vendor.text;
    if (vendor.text.empty()) metric.vendor = vendor.value;
    return metric;
  }

  bool whole_;
  std::vector<std::string> devices_ = {""};
  std::vector<Ranked> ranked_;
};

}  // namespace

Result<std::vector<SessionMetric>> session_metrics(const QueryContext& query, const TimeRange& range,
                                                   const MemoryUsage* memory) {
  const Snapshot& snapshot = *query.snapshot;
  const TrackDevices devices(snapshot);
  Result<std::vector<DeviceFigures>> computed = vendor_figures(query, devices, range);
  if (!computed) return computed.error();
  Result<std::vector<SessionMetric>> general = general_metrics(query, devices, range, memory);
  if (!general) return general.error();

  MetricList list(range == TimeRange{} && !query.mask);
  std::vector<std::string> cores;
  for (const DeviceFigures& core : *computed) cores.push_back(core.device);
  std::vector<std::vector<const Metric*>> stated(cores.size());
  for (const Metric& vendor : snapshot.metrics) {
    if (const auto core = device_of(vendor, cores)) {
      stated[*core].push_back(&vendor);
    } else {
      list.add_stated_only(vendor);
    }
  }
  for (std::size_t i = 0; i < cores.size(); ++i) list.add_device(stated[i], std::move((*computed)[i]));
  for (SessionMetric& metric : *general) list.add(std::move(metric));
  return list.take();
}

std::optional<double> shown_value(const SessionMetric& metric) noexcept {
  if (metric.vendor && metric.name == terms::kVendorTotal) return metric.vendor;
  return metric.value ? metric.value : metric.vendor;
}

std::optional<double> metric_value(const std::vector<SessionMetric>& metrics, std::string_view name) {
  const SessionMetric* found = nullptr;
  for (const SessionMetric& each : metrics) {
    if (each.name == name && (found == nullptr || (each.device.empty() && !found->device.empty()))) found = &each;
  }
  return found == nullptr ? std::nullopt : shown_value(*found);
}

std::optional<double> input_reads(const std::vector<SessionMetric>& metrics) {
  const auto read = metric_value(metrics, "hbm_read_bytes");
  const auto input = metric_value(metrics, "inputs_and_weights_size_bytes");
  return read && input && *input > 0 ? std::optional(*read / *input) : std::nullopt;
}

std::optional<double> relative_difference(const SessionMetric& metric) noexcept {
  if (!metric.value || !metric.vendor) return std::nullopt;
  if (*metric.vendor == 0) return *metric.value == 0 ? std::optional<double>(0) : std::nullopt;
  return (*metric.value - *metric.vendor) / *metric.vendor;
}

MetricCheck check(const SessionMetric& metric) noexcept {
  if (!metric.value) return metric.exact ? MetricCheck::only_vendor : MetricCheck::not_made;
  if (!metric.vendor) return MetricCheck::only_ours;
  const double larger = std::max(std::abs(*metric.value), std::abs(*metric.vendor));
  const bool near = std::abs(*metric.value - *metric.vendor) <= metric.margin * larger;
  return near ? MetricCheck::agrees : MetricCheck::differs;
}

std::string_view name_of(MetricCheck check) noexcept {
  switch (check) {
    case MetricCheck::agrees:
      return "agrees";
    case MetricCheck::differs:
      return "differs";
    case MetricCheck::only_ours:
      return "only ours";
    case MetricCheck::only_vendor:
      return "only the file's";
    case MetricCheck::not_made:
      return "cannot be recomputed";
  }
  return "";
}

bool is_flagged(const SessionMetric& metric) noexcept {
  if (!metric.value || !metric.vendor) return false;
  const std::optional<double> difference = relative_difference(metric);
  return !difference || std::abs(*difference) > kNotableDifference;
}

}  // namespace accelscope
