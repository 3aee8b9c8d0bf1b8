#include "core/analysis/roofline/device_lanes.h"

#include <limits>

#include "core/analysis/time/work_kind.h"

namespace accelscope {

DeviceLanes::DeviceLanes(const Snapshot& snapshot) : lanes_(snapshot.lanes.size()) {
  constexpr std::uint32_t kNoDevice = std::numeric_limits<std::uint32_t>::max();
  const TrackDevices devices(snapshot);
  const WorkKinds work(snapshot);
  std::vector<std::size_t> whole(devices.count());
  for (std::size_t device = 0; device < devices.count(); ++device) whole[device] = device;
  for (std::size_t device = 0; device < devices.count(); ++device) {
    for (const std::size_t part : devices.parts(device)) whole[part] = device;
  }
  std::vector<std::uint32_t> ours(devices.count(), kNoDevice);
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (!is_device_work(work.of_lane(i))) continue;
    const std::size_t device = whole[devices.of_lane(i)];
    if (ours[device] == kNoDevice) {
      ours[device] = static_cast<std::uint32_t>(names_.size());
      names_.push_back(devices.label(device));
      words_.push_back(nullptr);
    }
    const Vendor* vendor = vendor_of_work(snapshot.lanes[i]);
    lanes_[i] = {DeviceLane::Tells::amounts, ours[device], vendor, nullptr};
    if (vendor != nullptr && vendor->memory != nullptr) words_[ours[device]] = vendor->memory;
  }
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    const std::uint32_t device = ours[whole[devices.of_lane(i)]];
    const bool is_layer = devices.track_of_lane(i).track->kind == "layer";
    DeviceLane& lane = lanes_[i];
    if (device == kNoDevice) continue;
    lane.device = device;
    lane.words = words_[device];
    if (is_layer) lane.tells = DeviceLane::Tells::layer;
    const bool is_work = lane.tells == DeviceLane::Tells::amounts;
    // Where instructions count the bytes, transfers would count them a second time.
    if (is_work && lane.words != nullptr && lane.vendor == nullptr) lane.tells = DeviceLane::Tells::transfer;
    if (lane.tells != DeviceLane::Tells::nothing) telling_.push_back(static_cast<std::uint32_t>(i));
  }
}

}  // namespace accelscope
