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
  static_assert(SessionWriter::kMaxStrings < StringId{1} << 30);
  End end;
  end.key = key;
  end.id = id;
  end.start = event.start;
  end.duration_or_event = static_cast<std::uint64_t>(event.duration);
  end.track = event.track;
  end.serial = event.serial;
  end.event_name = event.name;
  end.name = name & ((StringId{1} << 30) - 1);
  end.is_target = side == FlowSide::target ? 1 : 0;
  ends_.push_back(end);
}

// Both the ends of a track and the events of a lane lie by their begins, so one pass over a lane finds its events.
Result<void> FlowEnds::find_events(const TrackEvents& events, HeldSink& held) {
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    return std::tie(a.track, a.start, a.duration_or_event, a.event_name, a.serial) <
           std::tie(b.track, b.start, b.duration_or_event, b.event_name, b.serial);
  });
  struct Stretch {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::unordered_map<TrackNumber, Stretch> by_track;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    Stretch& stretch = by_track.try_emplace(events.number(ends_[i].track), Stretch{i, 0}).first->second;
    ++stretch.count;
  }
  for (const HeldSink::HeldLane& lane : held.lanes()) {
    const auto found = by_track.find(lane.lane.track);
    if (lane.dropped || found == by_track.end()) continue;
    auto next = ends_.begin() + static_cast<std::ptrdiff_t>(found->second.first);
    const auto last = next + static_cast<std::ptrdiff_t>(found->second.count);
    const Result<void> read = for_each_event(lane, held.spill(), {}, [&](const HeldEvent& event) {
      while (next != last && next->start < event.begin) ++next;
      for (auto end = next; end != last && end->start == event.begin; ++end) {
        const bool alike = end->is_found == 0 && end->event_name == event.name &&
                           end->duration_or_event == static_cast<std::uint64_t>(event.end - event.begin);
        if (!alike) continue;
        // All flows of this one event; another one that is alike has ends of its own.
        const std::uint32_t serial = end->serial;
        for (; end != last && end->serial == serial && end->start == event.begin; ++end) {
          end->duration_or_event = event.id;
          end->is_found = 1;
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
    counts_.without_event += end.is_found == 0 ? 1 : 0;
    return end.is_found == 0;
  });
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    const bool a_is_target = a.is_target != 0, b_is_target = b.is_target != 0;
    return std::tie(a.key, a_is_target, a.start, a.duration_or_event) <
           std::tie(b.key, b_is_target, b.start, b.duration_or_event);
  });
  std::vector<Joined> joined;
  joined.reserve(static_cast<std::size_t>(
      std::count_if(ends_.begin(), ends_.end(), [](const End& end) { return end.is_target != 0; })));
  for (auto first = ends_.begin(); first != ends_.end();) {
    const auto next = std::find_if(first, ends_.end(), [&](const End& end) { return end.key != first->key; });
    const auto target = std::find_if(first, next, [](const End& end) { return end.is_target != 0; });
    counts_.without_target += target == next ? 1 : 0;
    counts_.without_source += target == first ? 1 : 0;
    for (auto to = target; to != next; ++to) {
      for (auto from = first; from != target; ++from) {
        joined.push_back({from->duration_or_event, to->duration_or_event, to->start, to->id, from->name});
      }
    }
    first = next;
  }
  ends_ = {};
  std::sort(joined.begin(), joined.end(), [](const Joined& a, const Joined& b) {
    return std::tie(a.target_start, a.target, a.source) < std::tie(b.target_start, b.target, b.source);
  });
  return joined;
}

}  // namespace accelscope::capture::sources::tracks
