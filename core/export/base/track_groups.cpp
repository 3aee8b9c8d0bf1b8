#include "core/export/base/track_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace accelscope::exporting {

TrackGroups::TrackGroups(const std::vector<const TrackSnapshot*>& tracks) {
  for (const TrackSnapshot* each : tracks) {
    const Track& track = *each->track;
    const auto [place, added] = places_.try_emplace({track.host, track.device}, groups_.size());
    if (!added) continue;
    std::string title = track.host;
    if (!track.device.empty()) title += (title.empty() ? "" : ", ") + track.device;
    groups_.push_back({track.host, track.device, title.empty() ? "session" : title});
  }
}

std::size_t TrackGroups::of(const Track& track) const { return places_.at({track.host, track.device}); }

std::vector<const Track*> tracks_above(const Snapshot& snapshot, const Track& track) {
  std::vector<const Track*> above;
  const Track* at = &track;
  while (at->parent != kNone && above.size() < snapshot.tracks.size()) {
    const TrackSnapshot* parent = snapshot.find_track(at->parent);
    if (parent == nullptr) break;
    at = parent->track.get();
    above.push_back(at);
  }
  std::reverse(above.begin(), above.end());
  return above;
}

std::vector<std::pair<std::string, std::string>> session_facts(const Snapshot& snapshot) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const MetaEntry& entry : snapshot.meta) facts.emplace_back(entry.key, entry.value);
  for (const Metric& metric : snapshot.metrics) {
    const std::string value = metric.text.empty()
                                  ? fmt::format("{}{}{}", metric.value, metric.unit.empty() ? "" : " ", metric.unit)
                                  : metric.text;
    facts.emplace_back(fmt::format("metric.{}{}{}", metric.device, metric.device.empty() ? "" : ".", metric.name),
                       value);
  }
  for (const QualityEntry& entry : snapshot.quality) {
    facts.emplace_back("quality." + entry.kind,
                       fmt::format("{} ({}): {}", entry.count, severity_name(entry.severity), entry.detail));
  }
  return facts;
}

std::optional<std::int64_t> unix_begin_ns(const Snapshot& snapshot) {
  std::int64_t ns = 0;
  return read_number(snapshot.meta_value("begin_unix_ns"), ns) && ns > 0 ? std::optional(ns) : std::nullopt;
}

}  // namespace accelscope::exporting
