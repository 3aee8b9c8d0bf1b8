#include "core/analysis/figures/vendor_figures.h"

#include <array>
#include <iterator>

#include "core/analysis/neuron/device_facts.h"
#include "core/analysis/neuron/summary.h"

namespace accelscope {
namespace {

struct VendorFigures {
  Result<std::vector<DeviceFigures>> (*summary)(const QueryContext& query, const TrackDevices& devices,
                                                const TimeRange& range);
  double (*peak_flops)(const Snapshot& snapshot, const std::string& device);
  std::string_view bandwidth_fact;
  std::string_view flops, other_flops;           // names of figures: all, and those that only move data about
  std::array<std::string_view, 2> memory_bytes;  // read and written
};

constexpr std::array<VendorFigures, 1> kVendors = {{{neuron::summary,
                                                     neuron::peak_flops,
                                                     "hbm_ddr_bandwidth",
                                                     "hardware_flops",
                                                     "transpose_flops",
                                                     {"hbm_read_bytes", "hbm_write_bytes"}}}};

}  // namespace

Result<std::vector<DeviceFigures>> vendor_figures(const QueryContext& query, const TrackDevices& devices,
                                                  const TimeRange& range) {
  std::vector<DeviceFigures> all;
  for (const VendorFigures& vendor : kVendors) {
    auto figures = vendor.summary(query, devices, range);
    if (!figures) return figures.error();
    std::move(figures->begin(), figures->end(), std::back_inserter(all));
  }
  return all;
}

DevicePeaks device_peaks(const Snapshot& snapshot, const std::string& device) {
  DevicePeaks peaks;
  for (const VendorFigures& vendor : kVendors) {
    if (peaks.flops == 0) peaks.flops = vendor.peak_flops(snapshot, device);
    if (peaks.bandwidth == 0) {
      peaks.bandwidth = neuron::device_fact(snapshot, device, {vendor.bandwidth_fact}).value_or(0);
    }
  }
  return peaks;
}

DeviceWork device_work(const Figures& figures) {
  const auto value = [&](std::string_view name) {
    const auto found = figures.find(name);
    return found == figures.end() ? 0.0 : found->second.value;
  };
  DeviceWork work;
  for (const VendorFigures& vendor : kVendors) {
    work.flops += value(vendor.flops) - value(vendor.other_flops);
    for (const std::string_view name : vendor.memory_bytes) work.memory_bytes += value(name);
  }
  return work;
}

}  // namespace accelscope
