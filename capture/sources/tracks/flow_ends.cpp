#include "capture/sources/tracks/flow_ends.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "capture/sources/tracks/held_events.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tracks {
namespace {

constexpr std::uint64_t kMostPairs = 4096;  // of one key

[[nodiscard]] std::uint32_t likeness_of(std::int64_t duration, StringId name) noexcept {
  return static_cast<std::uint32_t>(flow_key(static_cast<std::uint64_t>(duration), name) >> 32U);
}

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
  End& end = ends_.emplace_back();
  end.key = key;
  end.id = id;
  end.start = event.start;
  end.track = event.track;
  end.serial = event.serial;
  end.likeness = likeness_of(event.duration, event.name);
  end.name = name;
  end.found = event.id & kNotFound;
  end.is_target = side == FlowSide::target ? 1 : 0;
}

// Most events lie where they were written. Both the other ends of a track and the events of a lane lie by their begins,
// so one pass over a lane finds its events.
Result<void> FlowEnds::find_events(const TrackEvents& events, HeldSink& held) {
  for (End& end : ends_) {
    if (end.found == kNotFound) continue;
    const LaneNumber lane = lane_of(end.found);
    if (lane >= held.lanes().size() || held.lanes()[lane].dropped) end.found = kNotFound;
  }
  const auto sought = std::partition(ends_.begin(), ends_.end(), [](const End& end) { return end.found == kNotFound; });
  std::sort(ends_.begin(), sought, [](const End& a, const End& b) {
    return std::tie(a.track, a.start, a.likeness, a.serial) < std::tie(b.track, b.start, b.likeness, b.serial);
  });
  struct Stretch {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::unordered_map<TrackNumber, Stretch> by_track;
  for (std::size_t i = 0; i < static_cast<std::size_t>(sought - ends_.begin()); ++i) {
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
      if (next == last || next->start != event.begin) return;
      const std::uint32_t likeness = likeness_of(event.end - event.begin, event.name);
      for (auto end = next; end != last && end->start == event.begin; ++end) {
        if (end->likeness != likeness || end->found != kNotFound) continue;
        // All flows of this one event; another one that is alike has ends of its own.
        const std::uint32_t serial = end->serial;
        for (; end != last && end->serial == serial && end->start == event.begin; ++end)
          end->found = event.id & kNotFound;
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
    counts_.without_event += end.found == kNotFound ? 1 : 0;
    return end.found == kNotFound;
  });
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    const auto order = [](const End& end) {
      return std::tuple(end.key, static_cast<unsigned>(end.is_target), end.start,
                        static_cast<std::uint64_t>(end.found));
    };
    return order(a) < order(b);
  });
  std::vector<Joined> joined;
  joined.reserve(static_cast<std::size_t>(
      std::count_if(ends_.begin(), ends_.end(), [](const End& end) { return end.is_target != 0; })));
  for (auto first = ends_.begin(); first != ends_.end();) {
    const auto next = std::find_if(first, ends_.end(), [&](const End& end) { return end.key != first->key; });
    const auto target = std::find_if(first, next, [](const End& end) { return end.is_target != 0; });
    counts_.without_target += target == next ? 1 : 0;
    counts_.without_source += target == first ? 1 : 0;
    // So many of one key were not told apart by their source: each target follows from the last one before it.
    const auto pairs = static_cast<std::uint64_t>(target - first) * static_cast<std::uint64_t>(next - target);
    const bool is_reused = pairs > kMostPairs;
    auto before = first;
    for (auto to = target; to != next && target != first; ++to) {
      while (is_reused && before + 1 != target && (before + 1)->start <= to->start) ++before;
      for (auto from = is_reused ? before : first; from != (is_reused ? before + 1 : target); ++from) {
        joined.push_back({from->found, to->found, to->start, to->id, from->name});
      }
    }
    first = next;
  }
  ends_.clear();
  ends_.shrink_to_fit();
  // In its place: there may be as many as events.
  std::sort(joined.begin(), joined.end(), [](const Joined& a, const Joined& b) {
    return std::tie(a.target_start, a.target, a.source, a.id) < std::tie(b.target_start, b.target, b.source, b.id);
  });
  return joined;
}

}  // namespace accelscope::capture::sources::tracks
