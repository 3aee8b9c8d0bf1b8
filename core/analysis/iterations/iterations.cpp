#include "core/analysis/iterations/iterations.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/analysis/iterations/lane_events.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/text.h"
#include "core/model/event_filter.h"

namespace accelscope {
namespace {

constexpr std::uint32_t kMostDepth = 8;  // of calls within calls that are looked at

[[nodiscard]] bool is_device_lane(WorkKind kind) noexcept { return kind == WorkKind::compute; }

// Lanes that something may repeat on, at one depth of each track.
LaneIndices lanes_at(const Snapshot& snapshot, const WorkKinds& kinds, std::uint32_t depth,
                     const std::vector<bool>& done) {
  LaneIndices lanes;
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const TrackSnapshot& track = snapshot.tracks[t];
    if (done[t] || depth >= track.lanes.size() || is_of_profiler(*track.track)) continue;
    const std::uint32_t lane = track.lanes[depth];
    const WorkKind kind = kinds.of_lane(lane);
    const bool work = kind == WorkKind::compute && depth == 0;  // what overlaps is looked at together with it
    const bool wanted = work || kind == WorkKind::host || is_annotation(track);
    if (wanted && snapshot.lanes[lane].schema->kind == EventKind::slice &&
        snapshot.lanes[lane].event_count >= Period::kLeast)
      lanes.push_back(lane);
  }
  return lanes;
}

std::size_t track_index(const Snapshot& snapshot, TrackNumber number) {
  const auto found = std::find_if(snapshot.tracks.begin(), snapshot.tracks.end(),
                                  [number](const TrackSnapshot& each) { return each.track->number == number; });
  return static_cast<std::size_t>(found - snapshot.tracks.begin());
}

std::int64_t whole_time(const IterationLoop& loop) {
  if (loop.folded.iterations.empty()) return 0;
  return loop.folded.iterations.back().end_ns - loop.folded.iterations.front().begin_ns;
}

// Levels of a lane stay together.
void order_loops(IterationList& list, const Snapshot& snapshot, const WorkKinds& kinds) {
  struct Rank {
    bool host = false;
    std::int64_t time = 0;
    std::size_t track = 0;
  };
  std::map<TrackNumber, Rank> ranks;
  for (const IterationLoop& loop : list.loops) {
    const std::size_t track = track_index(snapshot, loop.track);
    Rank& rank = ranks[loop.track];
    rank.host = !is_device_lane(kinds.of_lane(snapshot.tracks[track].lanes.front()));
    rank.time = std::max(rank.time, whole_time(loop));
    rank.track = track;
  }
  std::stable_sort(list.loops.begin(), list.loops.end(), [&](const IterationLoop& a, const IterationLoop& b) {
    const Rank &x = ranks[a.track], &y = ranks[b.track];
    if (x.host != y.host) return y.host;
    if (x.time != y.time) return x.time > y.time;
    return x.track < y.track;
  });
}

std::vector<IterationLoop> loops_of(const QueryContext& query, const EventSequence& sequence, TrackNumber track,
                                    std::uint32_t depth) {
  std::vector<IterationLoop> found;
  if (sequence.size() < Period::kLeast) return found;
  const NamePlaces places(sequence);
  for (const Period& period : find_periods(sequence, places, query.control)) {
    if (query.control.cancelled()) return found;
    found.push_back({track, depth, period.level, period.partial, period.share,
                     fold(sequence, places, period, query.pool, query.control)});
  }
  return found;
}

// Engines whose events overlap: one lane alone has now these, now those of them.
Result<void> find_in_joined_lanes(const QueryContext& query, const TimeRange& range, const WorkKinds& kinds,
                                  const std::vector<bool>& done, IterationList& list) {
  const Snapshot& snapshot = *query.snapshot;
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const TrackSnapshot& track = snapshot.tracks[t];
    if (done[t] || track.lanes.size() < 2 || !is_device_lane(kinds.of_lane(track.lanes.front()))) continue;
    const auto joined = read_joined(query, {track.lanes.begin(), track.lanes.end()}, range);
    if (!joined) return joined.error();
    for (IterationLoop& loop : loops_of(query, *joined, track.track->number, 0)) list.loops.push_back(std::move(loop));
    if (query.control.cancelled()) return cancelled_error();
  }
  return {};
}

Result<std::shared_ptr<const IterationList>> found_by_themselves(const QueryContext& query, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  auto list = std::make_shared<IterationList>();
  std::vector<bool> done(snapshot.tracks.size());
  for (std::uint32_t depth = 0; depth < kMostDepth; ++depth) {
    const LaneIndices lanes = lanes_at(snapshot, kinds, depth, done);
    if (lanes.empty()) continue;
    auto sequences = read_sequences(query, lanes, range);
    if (!sequences) return sequences.error();
    std::vector<std::vector<IterationLoop>> found(lanes.size());
    query.pool.for_each(lanes.size(), query.control, [&](std::size_t i, std::size_t) {
      found[i] = loops_of(query, (*sequences)[i], snapshot.lanes[lanes[i]].track, depth);
    });
    if (query.control.cancelled()) return cancelled_error();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      list->too_long += snapshot.lanes[lanes[i]].event_count >= kMostLaneEvents ? 1 : 0;
      if (!found[i].empty()) done[track_index(snapshot, snapshot.lanes[lanes[i]].track)] = true;
      for (IterationLoop& loop : found[i]) list->loops.push_back(std::move(loop));
    }
  }
  if (Result<void> joined = find_in_joined_lanes(query, range, kinds, done, *list); !joined) return joined.error();
  order_loops(*list, snapshot, kinds);
  return std::shared_ptr<const IterationList>(list);
}

// Where the iterations of a request lie.
struct AskedRanges {
  std::optional<std::uint32_t> lane;  // of the events that give them
  std::vector<std::int64_t> begins_ns, ends_ns;
};

// In order; one without a length lasts until the next.
void keep_ranges(AskedRanges& asked, std::vector<TimeRange> ranges, std::int64_t end_ns) {
  std::sort(ranges.begin(), ranges.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    std::int64_t end = ranges[i].end_ns;
    if (end <= ranges[i].begin_ns) end = i + 1 < ranges.size() ? ranges[i + 1].begin_ns : end_ns;
    if (!asked.begins_ns.empty() && ranges[i].begin_ns == asked.begins_ns.back()) continue;
    asked.begins_ns.push_back(ranges[i].begin_ns);
    asked.ends_ns.push_back(end);
  }
}

AskedRanges marked_ranges(const QueryContext& query, const TimeRange& range) {
  AskedRanges asked;
  std::vector<TimeRange> ranges;
  for (const Marker& marker : query.store.markers()) {
    if (range.holds(marker.ts_ns, marker.end_ns.value_or(marker.ts_ns)))
      ranges.push_back({marker.ts_ns, marker.end_ns.value_or(marker.ts_ns)});
  }
  keep_ranges(asked, std::move(ranges), query.snapshot->end_ns);
  return asked;
}

Result<AskedRanges> named_ranges(const QueryContext& query, const TimeRange& range, const std::string& name) {
  const Snapshot& snapshot = *query.snapshot;
  std::vector<std::vector<TimeRange>> found(snapshot.lanes.size());
  std::vector<std::vector<std::pair<std::uint32_t, TimeRange>>> of_worker(query.pool.concurrency());
  const auto scanned = scan_chunks(
      query, lanes_of_kind(snapshot, EventKind::slice), range, [&](const ScannedChunk& chunk, std::size_t worker) {
        std::unordered_map<StringId, bool> known;
        chunk.for_each_block([&](const ScannedBlock& block) {
          for (std::uint32_t i = block.first; i < block.last; ++i) {
            const StringId id = block.name(i);
            const auto [place, is_new] = known.try_emplace(id, false);
            if (is_new) place->second = is_numbered_name(snapshot.strings->text(id), name);
            if (place->second) of_worker[worker].push_back({chunk.lane_index, {block.begin_ns(i), block.end_ns(i)}});
          }
        });
      });
  if (!scanned) return scanned.error();
  for (const auto& each : of_worker) {
    for (const auto& [lane, when] : each) found[lane].push_back(when);
  }
  const auto most =
      std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  AskedRanges asked;
  if (most == found.end() || most->empty()) return asked;
  asked.lane = static_cast<std::uint32_t>(most - found.begin());
  keep_ranges(asked, std::move(*most), snapshot.end_ns);
  return asked;
}

// The events that begin within the ranges; nothing where a lane has none of them in most of these.
Period period_of(const EventSequence& sequence, const NamePlaces& places, const AskedRanges& asked) {
  Period period;
  for (std::size_t i = 0; i < asked.begins_ns.size(); ++i) {
    const auto first = std::lower_bound(sequence.begins_ns.begin(), sequence.begins_ns.end(), asked.begins_ns[i]);
    const auto last = std::lower_bound(first, sequence.begins_ns.end(), asked.ends_ns[i]);
    period.firsts.push_back(static_cast<std::uint32_t>(first - sequence.begins_ns.begin()));
    period.limits.push_back(static_cast<std::uint32_t>(last - sequence.begins_ns.begin()));
  }
  std::uint64_t own = 0, all = 0;
  for (std::uint32_t token = 0; token < places.names(); ++token) {
    std::vector<std::uint32_t> counts;
    for (std::size_t i = 0; i < period.firsts.size(); ++i) {
      const auto count = places.within(token, period.firsts[i], period.limits[i]).size();
      if (count > 0) counts.push_back(static_cast<std::uint32_t>(count));
      all += count;
    }
    if (counts.size() * 2 < period.firsts.size() || counts.empty()) continue;
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    for (const std::uint32_t count : counts) own += std::min(count, *middle);
    period.body.push_back({token, *middle, 0});
  }
  period.share = all == 0 ? 0 : static_cast<double>(own) / static_cast<double>(all);
  return period;
}

Result<std::shared_ptr<const IterationList>> found_in_ranges(const QueryContext& query, const TimeRange& range,
                                                             const AskedRanges& asked) {
  auto list = std::make_shared<IterationList>();
  if (asked.begins_ns.empty()) return std::shared_ptr<const IterationList>(list);
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (asked.lane == i || (kinds.of_lane(i) == WorkKind::compute && kinds.covers_time(i) &&
                            snapshot.lanes[i].schema->kind == EventKind::slice))
      lanes.push_back(i);
  }
  const TimeRange within{asked.begins_ns.front(), std::max(asked.ends_ns.back(), asked.begins_ns.back() + 1)};
  auto sequences =
      read_sequences(query, lanes,
                     both({.range = range, .tracks = {}, .terms = {}}, {.range = within, .tracks = {}, .terms = {}})
                         .range.value_or(within));
  if (!sequences) return sequences.error();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const EventSequence& sequence = (*sequences)[i];
    if (sequence.size() == 0) continue;
    const NamePlaces places(sequence);
    const Period period = period_of(sequence, places, asked);
    if (period.body.empty()) continue;
    const LaneSnapshot& lane = snapshot.lanes[lanes[i]];
    list->loops.push_back({lane.track, lane.data->lane.depth, 0, 0, period.share,
                           fold(sequence, places, period, query.pool, query.control, asked.begins_ns, asked.ends_ns)});
    if (query.control.cancelled()) return cancelled_error();
  }
  order_loops(*list, snapshot, kinds);
  return std::shared_ptr<const IterationList>(list);
}

}  // namespace

bool is_numbered_name(std::string_view name, std::string_view asked) noexcept {
  if (!name.starts_with(asked)) return false;
  name.remove_prefix(asked.size());
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name.empty() || (name.size() == 1 && !(lower_case(name[0]) >= 'a' && lower_case(name[0]) <= 'z'));
}

Result<std::shared_ptr<const IterationList>> find_iterations(const QueryContext& query, const TimeRange& range,
                                                             const IterationQuestion& question) {
  if (question.by.empty()) return found_by_themselves(query, range);
  if (question.by == IterationQuestion::kMarkers) return found_in_ranges(query, range, marked_ranges(query, range));
  const auto asked = named_ranges(query, range, question.by);
  if (!asked) return asked.error();
  return found_in_ranges(query, range, *asked);
}

}  // namespace accelscope
