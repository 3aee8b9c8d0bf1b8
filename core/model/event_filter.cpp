#include "core/model/event_filter.h"

#include <algorithm>

namespace accelscope {

EventFilter both(const EventFilter& a, const EventFilter& b) {
  EventFilter result = a;
  if (b.range) {
    const TimeRange all;
    const TimeRange mine = a.range.value_or(all);
    result.range = {std::max(mine.begin_ns, b.range->begin_ns), std::min(mine.end_ns, b.range->end_ns)};
    if (result.range->empty()) result.range = TimeRange{result.range->begin_ns, result.range->begin_ns};
  }
  if (a.tracks.empty()) {
    result.tracks = b.tracks;
  } else if (!b.tracks.empty()) {
    std::erase_if(result.tracks, [&](TrackNumber track) { return !b.has_track(track); });
    if (result.tracks.empty()) result.tracks = {kNone};  // no track at all is not the same as any track
  }
  for (const FilterTerm& term : b.terms) {
    if (std::find(result.terms.begin(), result.terms.end(), term) == result.terms.end()) result.terms.push_back(term);
  }
  return result;
}

}  // namespace accelscope
