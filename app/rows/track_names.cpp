#include "app/rows/track_names.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace accelscope::app {
namespace {

constexpr std::string_view kTrackKey = "track:";
constexpr int kDeepest = 8;  // sources may nest tracks in a circle

// The signs that part a name are marked where they belong to a part.
void add_part(std::string& name, std::string_view part) {
  for (const char c : part) {
    if (c == '/' || c == '@' || c == '#' || c == '\\') name += '\\';
    name += c;
  }
}

void add_with_parents(std::string& name, const Snapshot& snapshot, const Track& track, int depth) {
  if (track.parent != kNone && track.parent != track.number && depth < kDeepest) {
    const TrackSnapshot* parent = snapshot.find_track(track.parent);
    if (parent != nullptr) add_with_parents(name, snapshot, *parent->track, depth + 1);
  }
  name += '/';
  add_part(name, track.name);
}

[[nodiscard]] std::string describe(const Snapshot& snapshot, const Track& track) {
  std::string name;
  add_part(name, track.kind);
  add_with_parents(name, snapshot, track, 0);
  if (track.device.empty() && track.host.empty()) return name;
  name += '@';
  add_part(name, track.device);
  if (track.host.empty()) return name;
  name += '@';
  add_part(name, track.host);
  return name;
}

// Place of the sign, which does not belong to a part, or the end.
[[nodiscard]] std::size_t find_sign(std::string_view name, char sign, std::size_t from) {
  for (std::size_t i = from; i < name.size(); ++i) {
    if (name[i] == '\\') {
      ++i;
    } else if (name[i] == sign) {
      return i;
    }
  }
  return name.size();
}

[[nodiscard]] std::string without_host(std::string_view name) {
  const std::size_t device = find_sign(name, '@', 0);
  const std::size_t number = find_sign(name, '#', 0);
  const std::size_t host = std::min(find_sign(name, '@', std::min(device + 1, name.size())), number);
  std::string rest(name.substr(0, host));
  if (rest.ends_with('@')) rest.pop_back();  // of no device
  return rest.append(name.substr(number));
}

}  // namespace

TrackNames::TrackNames(const Snapshot& snapshot) {
  std::vector<const Track*> tracks;
  tracks.reserve(snapshot.tracks.size());
  for (const TrackSnapshot& track : snapshot.tracks) tracks.push_back(track.track.get());
  std::sort(tracks.begin(), tracks.end(), [](const Track* a, const Track* b) { return a->number < b->number; });
  std::unordered_map<std::string, std::size_t> described;
  for (const Track* track : tracks) {
    std::string name = describe(snapshot, *track);
    const std::size_t same = ++described[name];
    if (same > 1) name.append("#").append(std::to_string(same));
    names_.emplace(track->number, std::move(name));
  }
}

const std::string& TrackNames::of(TrackNumber track) const {
  static const std::string none;
  const auto found = names_.find(track);
  return found == names_.end() ? none : found->second;
}

std::optional<TrackNumber> TrackNames::find(std::string_view name) const {
  const std::string hostless = without_host(name);
  std::optional<TrackNumber> similar;
  std::size_t count = 0;
  for (const auto& [number, own] : names_) {
    if (own == name) return number;
    if (without_host(own) != hostless) continue;
    similar = number;
    ++count;
  }
  return count == 1 ? similar : std::nullopt;
}

std::string row_key(const TrackNames& names, TrackNumber track) { return std::string(kTrackKey) + names.of(track); }

std::optional<std::string_view> track_in_key(std::string_view key) noexcept {
  if (!key.starts_with(kTrackKey)) return std::nullopt;
  return key.substr(kTrackKey.size());
}

}  // namespace accelscope::app
