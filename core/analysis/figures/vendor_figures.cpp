#include "core/analysis/figures/vendor_figures.h"

#include <array>
#include <iterator>

#include "core/analysis/neuron/summary.h"
#include "core/analysis/peaks/peaks.h"

namespace accelscope {
namespace {

struct VendorFigures {
  Result<std::vector<DeviceFigures>> (*summary)(const QueryContext& query, const TrackDevices& devices,
                                                const TimeRange& range);
  std::string_view flops, other_flops;           // names of figures: all, and those that only move data about
  std::array<std::string_view, 2> memory_bytes;  // read and written
  std::string_view active;                       // in seconds
};

constexpr std::array<VendorFigures, 1> kVendors = {{{neuron::summary,
                                                     "hardware_flops",
                                                     "transpose_flops",
                                                     {"hbm_read_bytes", "hbm_write_bytes"},
                                                     "total_active_time"}}};

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
  const PeakList list = peaks_of_device(snapshot, device);
  const auto stated = [&](std::string_view what) {
    const Peak* peak = list.find(what);
    return peak != nullptr && peak->origin == PeakOrigin::file ? peak->value.value_or(0) : 0.0;
  };
  return {stated("bf16"), stated("hbm")};
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
    work.active_ns += value(vendor.active) * 1e9;
  }
  return work;
}

}  // namespace accelscope
