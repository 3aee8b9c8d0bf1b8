#include "core/analysis/time/track_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "core/model/track_kinds.h"

namespace accelscope::analysis {
namespace {

constexpr std::uint32_t kAnyScope = ~std::uint32_t{0};

// Devices whose name says which one they are: those of a rank that only one host has.
[[nodiscard]] std::set<std::string> known_by_rank(const Snapshot& snapshot) {
  std::map<std::string, std::set<std::string>> hosts;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const bool works = is_device_work(track_kind_of(track.track->kind).work);
    if (works && !rank_of_device(track.track->device).empty()) hosts[track.track->device].insert(track.track->host);
  }
  std::set<std::string> known;
  for (const auto& [device, of] : hosts) {
    if (of.size() == 1) known.insert(device);
  }
  return known;
}

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

std::string_view rank_of_device(std::string_view device) noexcept {
  constexpr std::string_view kRankWord = "rank ";
  if (!device.starts_with(kRankWord)) return {};
  const std::size_t end = std::min(device.find_first_not_of("0123456789", kRankWord.size()), device.size());
  return end == kRankWord.size() ? std::string_view() : device.substr(0, end);
}

std::set<std::string> device_hosts(const Snapshot& snapshot) {
  std::set<std::string> hosts;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const Track& t = *track.track;
    const bool works = is_device_work(track_kind_of(t.kind).work) && !t.device.empty();
    if (works && !t.host.empty() && !is_process_label(t.host)) hosts.insert(t.host);
  }
  return hosts;
}

TrackDevices::TrackDevices(const Snapshot& snapshot)
    : lane_devices_(snapshot.lanes.size(), 0), lane_tracks_(snapshot.lanes.size(), nullptr) {
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::size_t> known;
  std::map<std::string, int> uses;
  const std::set<std::string> hosts = device_hosts(snapshot);
  const std::set<std::string> ranks = known_by_rank(snapshot);
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
      const bool of_host = hosts.size() > 1 && !t.device.empty() && hosts.contains(t.host) && !ranks.contains(label);
      const std::string full = of_host ? fmt::format("{} {}", t.host, label) : label;
      const int use = ++uses[full];
      labels_.push_back(use == 1 ? full : fmt::format("{} ({})", full, use));
      names_.push_back(full);
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

}  // namespace accelscope::analysis
