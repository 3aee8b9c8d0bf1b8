#include "capture/sources/tt_metal/write/zone_matcher.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace accelscope::capture::sources::tt_metal {

bool canonical_order(const LogMarker& a, const LogMarker& b, const DeviceLogDictionary& dictionary) {
  if (a.site != b.site) {
    const auto text = [&](const LogMarker& marker) {
      const LogSite& site = dictionary.site(marker.site);
      return std::tie(site.rank, site.name, site.file, site.line, site.kind, site.type, site.timer_id);
    };
    return text(a) < text(b);
  }
  if (a.context != b.context) {
    const LogContext& left = dictionary.context(a.context);
    const LogContext& right = dictionary.context(b.context);
    if (!left.same_run(right)) {
      if (left.present != right.present) return left.present < right.present;
      return std::lexicographical_compare(std::begin(left.ids), std::end(left.ids), std::begin(right.ids),
                                          std::end(right.ids));
    }
    return left.extras < right.extras;
  }
  if (a.data != b.data) return a.data < b.data;
  if (a.extra == b.extra) return false;
  if (dictionary.site(a.site).kind == MarkerKind::counter) return a.extra < b.extra;
  return dictionary.meta_data(a.extra) < dictionary.meta_data(b.extra);
}

// The end of the zone opened last, or of one opened at the same time as it: of those the file does not tell which
// encloses which before they end.
bool ZoneMatcher::close_newest(const LogMarker& end) {
  const std::uint32_t zone = site(end).zone;
  for (std::size_t place = stack_.size(); place-- > 0;) {
    const Open& open = stack_[place];
    if (open.begin.time != stack_.back().begin.time || open.rank != stack_.back().rank) return false;
    if (open.zone != zone) continue;
    on_zone_({&open.begin, &end, end.time, static_cast<std::uint32_t>(stack_.size() - 1)});
    stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(place));
    return true;
  }
  return false;
}

// The end of an enclosing zone: those in it have lost theirs.
bool ZoneMatcher::close_deeper(const LogMarker& end) {
  const std::uint32_t zone = site(end).zone;
  const auto found = std::find_if(stack_.rbegin(), stack_.rend(), [&](const Open& open) { return open.zone == zone; });
  if (found == stack_.rend()) return false;
  const auto place = static_cast<std::size_t>(stack_.rend() - found) - 1;
  close_from(place + 1, end.time);
  on_zone_({&stack_.back().begin, &end, end.time, static_cast<std::uint32_t>(place)});
  stack_.pop_back();
  return true;
}

void ZoneMatcher::close_from(std::size_t place, std::int64_t time) {
  while (stack_.size() > place) {
    on_zone_({&stack_.back().begin, nullptr, time, static_cast<std::uint32_t>(stack_.size() - 1)});
    stack_.pop_back();
  }
}

void ZoneMatcher::open(const LogMarker& begin) {
  const LogSite& zone = site(begin);
  const LogContext& run = dictionary_.context(begin.context);
  // Firmware and kernels do not call themselves, and no zone goes on in another run.
  const auto lost = std::find_if(stack_.begin(), stack_.end(), [&](const Open& open) {
    return open.zone == zone.zone && (open.rank < 2 || !dictionary_.context(open.begin.context).same_run(run));
  });
  if (lost != stack_.end()) close_from(static_cast<std::size_t>(lost - stack_.begin()), begin.time);
  if (stack_.size() == kDeepest) close_from(kDeepest - 1, begin.time);
  stack_.push_back({begin, zone.zone, zone.rank});
}

void ZoneMatcher::add(const std::vector<LogMarker>& of_one_time) {
  if (of_one_time.size() > 1) return add_group(of_one_time);
  const LogMarker& marker = of_one_time.front();
  if (site(marker).kind == MarkerKind::zone_begin) return open(marker);
  if (!close_newest(marker) && !close_deeper(marker)) on_lone_end_(marker);
}

// At one time, zones that were open end first, then further ones begin; what then still wants to end began just now.
void ZoneMatcher::add_group(const std::vector<LogMarker>& of_one_time) {
  std::vector<LogMarker> begins;
  std::vector<LogMarker> ends;
  for (const LogMarker& marker : of_one_time)
    (site(marker).kind == MarkerKind::zone_begin ? begins : ends).push_back(marker);
  const auto close_all = [&](bool (ZoneMatcher::*close)(const LogMarker&)) {
    for (bool any = true; any;) {
      const auto closed =
          std::find_if(ends.begin(), ends.end(), [&](const LogMarker& end) { return (this->*close)(end); });
      any = closed != ends.end();
      if (any) ends.erase(closed);
    }
  };
  close_all(&ZoneMatcher::close_newest);
  close_all(&ZoneMatcher::close_deeper);
  // Zones without length lie beside each other in what is open now.
  std::erase_if(begins, [&](const LogMarker& begin) {
    const auto end = std::find_if(ends.begin(), ends.end(),
                                  [&](const LogMarker& other) { return site(other).zone == site(begin).zone; });
    if (end == ends.end()) return false;
    on_zone_({&begin, &*end, begin.time, static_cast<std::uint32_t>(std::min(stack_.size(), kDeepest))});
    ends.erase(end);
    return true;
  });
  for (const LogMarker& end : ends) on_lone_end_(end);
  for (const LogMarker& begin : begins) open(begin);
}

void ZoneMatcher::finish(std::int64_t last_time) { close_from(0, last_time); }

}  // namespace accelscope::capture::sources::tt_metal
