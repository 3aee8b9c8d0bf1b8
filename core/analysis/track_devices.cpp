#include "core/analysis/track_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace accelscope {

TrackDevices::TrackDevices(const Snapshot& snapshot)
    : lane_devices_(snapshot.lanes.size(), 0), lane_tracks_(snapshot.lanes.size(), nullptr) {
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::size_t> known;
  std::map<std::string, int> uses;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const Track& t = *track.track;
    // A host's tracks belong to its device where they name one.
    const std::string& label = t.device.empty() ? t.host : t.device;
    const auto [place, is_new] = known.try_emplace({scope_of(t.number), t.host, t.device}, labels_.size());
    if (is_new) {
      const int use = ++uses[label];
      labels_.push_back(use == 1 ? label : fmt::format("{} ({})", label, use));
    }
    devices_.push_back(place->second);
    for (const std::uint32_t lane : track.lanes) {
      lane_devices_[lane] = place->second;
      lane_tracks_[lane] = &track;
    }
  }
}

}  // namespace accelscope
