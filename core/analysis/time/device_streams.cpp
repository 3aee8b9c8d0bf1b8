#include "core/analysis/time/device_streams.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "core/model/track_kinds.h"

namespace accelscope {
namespace {

// What a row shows of its stream.
constexpr std::array<std::string_view, 7> kBefore = {"memcpy ", "memset ", "NCCL, ",   "sync ",
                                                     "events ", "graphs ", "commands "};
constexpr std::array<std::string_view, 4> kAfter = {" transfers", " maps", " markers", ", collectives"};

[[nodiscard]] bool shows_stream(const TrackSnapshot& track) {
  const std::string_view kind = track.track->kind;
  const WorkKind work = track_kind_of(kind).work;
  return is_device_work(work) || work == WorkKind::wait || kind == "sync";
}

// "stream 7" of "memcpy stream 7".
[[nodiscard]] std::string_view stream_part(std::string_view track_name) noexcept {
  for (const std::string_view word : kBefore) {
    if (track_name.starts_with(word)) track_name.remove_prefix(word.size());
  }
  for (const std::string_view word : kAfter) {
    if (track_name.ends_with(word)) track_name.remove_suffix(word.size());
  }
  return track_name;
}

}  // namespace

DeviceStreams::DeviceStreams(const Snapshot& snapshot) {
  struct Rows {
    std::vector<TrackNumber> tracks;
    bool is_stream = false;
  };
  std::map<Key, Rows> streams;
  for (const TrackSnapshot& each : snapshot.tracks) {
    const Track& track = *each.track;
    if (!shows_stream(each)) continue;
    const std::string_view part = stream_part(track.name);
    Rows& rows = streams[{scope_of(track.number), track.host, track.device, std::string(part)}];
    rows.tracks.push_back(track.number);
    rows.is_stream = rows.is_stream || track.kind == "stream" || part.size() != track.name.size();
  }
  for (const auto& [key, rows] : streams) {
    if (!rows.is_stream) continue;
    for (const TrackNumber track : rows.tracks) of_track_[track] = names_.size();
    names_.push_back(&by_name_.emplace(key, names_.size()).first->first);
  }
}

std::optional<std::size_t> DeviceStreams::of_track(TrackNumber track) const {
  const auto found = of_track_.find(track);
  return found == of_track_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> DeviceStreams::beside(TrackNumber track, const std::string& name) const {
  const auto own = of_track(track);
  if (!own) return std::nullopt;
  Key key = *names_[*own];
  std::get<3>(key) = name;
  const auto found = by_name_.find(key);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace accelscope
