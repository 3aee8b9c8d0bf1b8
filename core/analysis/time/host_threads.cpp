#include "core/analysis/time/host_threads.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/text.h"
#include "core/model/track_kinds.h"

namespace accelscope {
namespace {

// The thread's part of a row's name. A number at its end tells threads apart and not what a row shows.
std::string_view thread_part(std::string_view name) {
  const std::size_t space = name.rfind(' ');
  if (space == std::string_view::npos || space + 1 == name.size()) return name;
  if (std::all_of(name.begin() + static_cast<std::ptrdiff_t>(space) + 1, name.end(), is_digit)) return name;
  name = name.substr(0, space);
  if (name.ends_with(':')) name.remove_suffix(1);
  return name;
}

}  // namespace

HostThreads::HostThreads(const Snapshot& snapshot) {
  using Key = std::tuple<std::uint32_t, std::string, std::string, std::string>;  // scope, host, device, thread
  struct Rows {
    std::vector<const Track*> tracks;
    std::set<SchemaNumber> schemas;
  };
  std::map<Key, Rows> by_part;
  const auto key_of = [](const Track& track, std::string_view part) {
    return Key{scope_of(track.number), track.host, track.device, std::string(part)};
  };
  for (const TrackSnapshot& each : snapshot.tracks) {
    if (track_kind_of(each.track->kind).work != WorkKind::host) continue;
    Rows& rows = by_part[key_of(*each.track, thread_part(each.track->name))];
    rows.tracks.push_back(each.track.get());
    rows.schemas.insert(each.track->schema);
  }
  const auto add = [&](const Track& track, std::size_t thread) {
    if (thread == lanes_.size()) lanes_.emplace_back();
    of_track_[track.number] = thread;
  };
  for (const auto& [key, rows] : by_part) {
    const bool one_thread = rows.schemas.size() == rows.tracks.size();
    const std::size_t first = lanes_.size();
    for (const Track* track : rows.tracks) add(*track, one_thread ? first : lanes_.size());
  }
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (const auto thread = of_track(snapshot.lanes[i].track)) lanes_[*thread].push_back(i);
  }
}

std::optional<std::size_t> HostThreads::of_track(TrackNumber track) const {
  const auto found = of_track_.find(track);
  return found == of_track_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace accelscope
