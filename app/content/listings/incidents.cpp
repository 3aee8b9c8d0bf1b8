#include "app/content/listings/incidents.h"

#include <fmt/format.h>

#include "core/analysis/figures/incidents.h"
#include "core/base/format.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {
namespace {

std::string_view word_of(Alert alert) {
  return alert == Alert::error ? "error" : alert == Alert::throttling ? "throttling" : "warning";
}

}  // namespace

Result<Listing> list_incidents(const QueryContext& query, const ListingRequest& request) {
  const auto found = find_incidents(query);
  if (!found) return found.error();
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange range = request.filter.range.value_or(TimeRange{});
  Listing listing({{"ts_ns", "Time", "ns", "Since the session's start"},
                   {"dur_ns", "Duration", "ns", ""},
                   {"severity", "Severity", "", "error, throttling or warning"},
                   {"name", "What", "", "As the device or the source calls it"},
                   {"track", "Track", "", ""},
                   {"event_id", "Event", "", "", false, true}});
  for (const Incident& each : (*found)->list) {
    if (!range.holds(each.begin_ns, each.end_ns)) continue;
    if (query.mask && !query.mask->passes(snapshot, each.event)) continue;
    const LaneSnapshot* lane = snapshot.find_lane(lane_of(each.event));
    const TrackSnapshot* track = lane == nullptr ? nullptr : snapshot.find_track(lane->track);
    listing.add({each.begin_ns, each.end_ns - each.begin_ns, std::string(word_of(each.alert)),
                 std::string(snapshot.strings->text(each.name)), track == nullptr ? std::string() : track->track->name,
                 static_cast<std::int64_t>(each.event)},
                each.event);
  }
  if ((*found)->left_out > 0)
    listing.note = fmt::format("{} less grave ones are left out", format_count((*found)->left_out));
  return listing;
}

}  // namespace accelscope::app
