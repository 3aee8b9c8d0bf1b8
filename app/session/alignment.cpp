#include "app/session/alignment.h"

#include <algorithm>

#include "app/session/tab.h"

namespace accelscope::app {
namespace {

struct WorkSpan {
  double begin = 0, end = 0;
};

WorkSpan work_of(const SessionTab& tab) {
  const TimeRange range = tab.active.value_or(TimeRange{tab.snapshot->begin_ns, tab.snapshot->end_ns});
  return {static_cast<double>(range.begin_ns), static_cast<double>(range.end_ns)};
}

}  // namespace

std::optional<LaidBeside> laid_beside(const SessionTab& base, const SessionTab& other, Alignment how) {
  const WorkSpan here = work_of(base), there = work_of(other);
  switch (how) {
    case Alignment::start:
      return LaidBeside{static_cast<double>(base.snapshot->begin_ns), static_cast<double>(other.snapshot->begin_ns)};
    case Alignment::first_activity:
      return LaidBeside{here.begin, there.begin};
    case Alignment::end:
      return LaidBeside{here.end, there.end};
    case Alignment::relative:
      return LaidBeside{here.begin, there.begin,
                        std::max(there.end - there.begin, 1.0) / std::max(here.end - here.begin, 1.0)};
    case Alignment::iteration: {
      if (!base.turns || base.turns->base.empty() || base.turns->other.empty()) return std::nullopt;
      const std::size_t both = std::min(base.turns->base.size(), base.turns->other.size());
      const std::size_t turn = std::min(base.aligned_turn, both - 1);
      return LaidBeside{static_cast<double>(base.turns->base[turn].begin_ns),
                        static_cast<double>(base.turns->other[turn].begin_ns)};
    }
    case Alignment::marker:
      break;
  }
  for (const Marker& marker : base.markers) {
    const auto same = std::find_if(other.markers.begin(), other.markers.end(),
                                   [&](const Marker& each) { return !each.name.empty() && each.name == marker.name; });
    if (same != other.markers.end())
      return LaidBeside{static_cast<double>(marker.ts_ns), static_cast<double>(same->ts_ns)};
  }
  return std::nullopt;
}

}  // namespace accelscope::app
