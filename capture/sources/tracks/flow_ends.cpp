#include "capture/sources/tracks/flow_ends.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "capture/sources/tracks/held_events.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tracks {
namespace {

constexpr ColumnSpec kFlowColumns[] = {
    {"source_event", columns::kUnsigned, "", columns::kIds, "", "The event that had to come first.",
     Role::flow_source_event},
    {"target_event", columns::kUnsigned, "", columns::kIds, "", "The event that follows from it.",
     Role::flow_target_event},
    {"id", columns::kInt, "", columns::kIds, "", "The flow's id or correlation in the file."},
    {"id_text", columns::kString, "", columns::kIds, "", "The flow's id, where it is no number."},
    {"cat", columns::kString, "", columns::kIds, "", "The flow's category in the file."},
};

}  // namespace

Schema make_flow_schema() { return make_schema({"dependency", EventKind::flow, "name"}, kFlowColumns); }

void FlowEnds::add(FlowSide side, std::uint64_t key, std::uint64_t id, StringId name, const WrittenEvent& event) {
  ends_.push_back({key, id, event, kNoEvent, name, side});
}

// Both the ends of a track and the events of a lane lie by their begins, so one pass over a lane finds its events.
Result<void> FlowEnds::find_events(const TrackEvents& events, HeldSink& held) {
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    return std::tie(a.event.track, a.event.start, a.event.duration, a.event.name, a.event.serial) <
           std::tie(b.event.track, b.event.start, b.event.duration, b.event.name, b.event.serial);
  });
  struct Stretch {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::unordered_map<TrackNumber, Stretch> by_track;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    Stretch& stretch = by_track.try_emplace(events.number(ends_[i].event.track), Stretch{i, 0}).first->second;
    ++stretch.count;
  }
  for (const HeldSink::HeldLane& lane : held.lanes()) {
    const auto found = by_track.find(lane.lane.track);
    if (lane.dropped || found == by_track.end()) continue;
    auto next = ends_.begin() + static_cast<std::ptrdiff_t>(found->second.first);
    const auto last = next + static_cast<std::ptrdiff_t>(found->second.count);
    const Result<void> read = for_each_event(lane, held.spill(), {}, [&](const HeldEvent& event) {
      while (next != last && next->event.start < event.begin) ++next;
      for (auto end = next; end != last && end->event.start == event.begin; ++end) {
        const bool alike = end->event.duration == event.end - event.begin && end->event.name == event.name;
        if (!alike || end->found != kNoEvent) continue;
        // All flows of this one event; another one that is alike has ends of its own.
        const std::uint32_t serial = end->event.serial;
        for (; end != last && end->event.serial == serial && end->event.start == event.begin; ++end) {
          end->found = event.id;
        }
        break;
      }
    });
    if (!read) return read;
  }
  return {};
}

Result<std::vector<FlowEnds::Joined>> FlowEnds::join(const TrackEvents& events, HeldSink& held) {
  if (const Result<void> done = find_events(events, held); !done) return done.error();
  std::erase_if(ends_, [&](const End& end) {
    counts_.without_event += end.found == kNoEvent ? 1 : 0;
    return end.found == kNoEvent;
  });
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    return std::tie(a.key, a.side, a.event.start, a.found) < std::tie(b.key, b.side, b.event.start, b.found);
  });
  std::vector<Joined> joined;
  for (auto first = ends_.begin(); first != ends_.end();) {
    const auto next = std::find_if(first, ends_.end(), [&](const End& end) { return end.key != first->key; });
    const auto target = std::find_if(first, next, [](const End& end) { return end.side == FlowSide::target; });
    counts_.without_target += target == next ? 1 : 0;
    counts_.without_source += target == first ? 1 : 0;
    for (auto to = target; to != next; ++to) {
      for (auto from = first; from != target; ++from) {
        joined.push_back({from->found, to->found, to->event.start, to->id, from->name});
      }
    }
    first = next;
  }
  ends_ = {};
  std::stable_sort(joined.begin(), joined.end(),
                   [](const Joined& a, const Joined& b) { return a.target_start < b.target_start; });
  return joined;
}

}  // namespace accelscope::capture::sources::tracks
