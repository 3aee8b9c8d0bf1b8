#include "core/analysis/time/track_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace accelscope {
namespace {

constexpr std::uint32_t kAnyScope = ~std::uint32_t{0};

}  // namespace

bool is_process_label(std::string_view label) noexcept {
  const std::size_t open = label.rfind(" (");
  if (open == std::string_view::npos || open == 0 || !label.ends_with(')')) return false;
  const std::string_view number = label.substr(open + 2, label.size() - open - 3);
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::string> parts_of_device(std::string_view device) {
  constexpr char kJoin = '+';
  const std::size_t space = device.rfind(' ');
  const std::string_view before = device.substr(0, space == std::string_view::npos ? 0 : space + 1);
  std::string_view rest = device.substr(before.size());
  std::vector<std::string> parts;
  if (rest.find(kJoin) == std::string_view::npos) return parts;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(kJoin), rest.size());
    if (end > 0) parts.push_back(std::string(before).append(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return parts;
}

TrackDevices::TrackDevices(const Snapshot& snapshot)
    : lane_devices_(snapshot.lanes.size(), 0), lane_tracks_(snapshot.lanes.size(), nullptr) {
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::size_t> known;
  std::map<std::string, int> uses;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const Track& t = *track.track;
    // A host's tracks belong to its device where they name one.
    const std::string& label = t.device.empty() ? t.host : t.device;
    // Of one process several sources may tell: its program, and the probes inside it.
    const bool process = is_process_label(label);
    const std::string& host = t.device.empty() && process ? t.device : t.host;
    const auto [place, is_new] =
        known.try_emplace({process ? kAnyScope : scope_of(t.number), host, label}, labels_.size());
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
  parts_.resize(labels_.size());
  for (const auto& [key, whole] : known) {
    for (const std::string& part : parts_of_device(std::get<2>(key))) {
      const auto found = known.find({std::get<0>(key), std::get<1>(key), part});
      if (found != known.end()) parts_[whole].push_back(found->second);
    }
  }
}

}  // namespace accelscope
