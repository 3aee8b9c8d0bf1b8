#include "core/analysis/iterations/iterations.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/analysis/hierarchy/path_kinds.h"
#include "core/analysis/iterations/event_sequence.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/event_filter.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
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
  const auto found = std::ranges::find_if(snapshot.tracks,
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
  std::ranges::stable_sort(list.loops, [&](const IterationLoop& a, const IterationLoop& b) {
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
    const auto joined = TRY(read_joined(query, {track.lanes.begin(), track.lanes.end()}, range));
    for (IterationLoop& loop : loops_of(query, joined, track.track->number, 0)) list.loops.push_back(std::move(loop));
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
    auto sequences = TRY(read_sequences(query, lanes, range));
    std::vector<std::vector<IterationLoop>> found(lanes.size());
    query.pool.for_each(lanes.size(), query.control, [&](std::size_t i, std::size_t) {
      found[i] = loops_of(query, sequences[i], snapshot.lanes[lanes[i]].track, depth);
    });
    if (query.control.cancelled()) return cancelled_error();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      list->too_long += snapshot.lanes[lanes[i]].event_count >= kMostLaneEvents ? 1 : 0;
      if (!found[i].empty()) done[track_index(snapshot, snapshot.lanes[lanes[i]].track)] = true;
      for (IterationLoop& loop : found[i]) list->loops.push_back(std::move(loop));
    }
  }
  TRY(find_in_joined_lanes(query, range, kinds, done, *list));
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
  std::ranges::sort(ranges, {}, &TimeRange::begin_ns);
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
  const auto found =
      gather(query, lanes_of_kind(snapshot, EventKind::slice), range, std::map<std::uint32_t, std::vector<TimeRange>>(),
             [&](const ScannedChunk& chunk, auto& of_lanes) {
               std::unordered_map<StringId, bool> known;
               chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
                 const StringId id = block.name(i);
                 const auto [place, is_new] = known.try_emplace(id, false);
                 if (is_new) place->second = is_numbered_name(snapshot.strings->text(id), name);
                 if (place->second) of_lanes[chunk.lane_index].push_back({block.begin_ns(i), block.end_ns(i)});
               });
             });
  if (!found) return found.error();
  const auto most = std::max_element(found->begin(), found->end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  AskedRanges asked;
  if (most == found->end()) return asked;
  asked.lane = most->first;
  keep_ranges(asked, most->second, snapshot.end_ns);
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
  const auto asked = TRY(named_ranges(query, range, question.by));
  return found_in_ranges(query, range, asked);
}

namespace {

// Tables of what a program names by itself on its threads: ranges of NVTX and ROCTX, tasks of ITT.
constexpr std::array<std::string_view, 2> kNamedStretches = {"nvtx", "task"};

bool names_stretches(const TrackSnapshot& track) {
  if (is_annotation(track)) return true;
  return work_kind_of(track) == WorkKind::host &&
         std::find(kNamedStretches.begin(), kNamedStretches.end(), track.schema->name) != kNamedStretches.end();
}

struct GatheredRegion {
  std::vector<TimeRange> ranges;
  std::vector<TrackNumber> tracks;
  bool numbered = false;
  Role role = Role::none;
  std::set<std::string> lines = {};

  void add(const TimeRange& range, TrackNumber track) {
    ranges.push_back(range);
    const auto place = std::lower_bound(tracks.begin(), tracks.end(), track);
    if (place == tracks.end() || *place != track) tracks.insert(place, track);
  }
  void append(const GatheredRegion& other) {
    merge_part(ranges, other.ranges);
    std::vector<TrackNumber> all;
    std::set_union(tracks.begin(), tracks.end(), other.tracks.begin(), other.tracks.end(), std::back_inserter(all));
    tracks = std::move(all);
    role = other.role;
    lines.insert(other.lines.begin(), other.lines.end());
  }
};
using GatheredRegions = std::map<std::string, GatheredRegion>;
using RegionsById = std::unordered_map<StringId, GatheredRegion>;

// Of events of these lanes whose names are wanted.
template <typename Wanted>
Result<GatheredRegions> regions_of_events(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                          Wanted wanted) {
  const StringPool& strings = *query.snapshot->strings;
  const auto found = gather(query, lanes, range, RegionsById(), [&](const ScannedChunk& chunk, RegionsById& regions) {
    std::unordered_map<StringId, bool> known;
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const auto [place, is_new] = known.try_emplace(block.name(i), false);
      if (is_new) place->second = wanted(chunk.lane_index, strings.text(block.name(i)));
      if (place->second) regions[block.name(i)].add({block.begin_ns(i), block.end_ns(i)}, chunk.lane.track);
    });
  });
  if (!found) return found.error();
  GatheredRegions all;
  for (const auto& [name, region] : *found) merge_part(all[std::string(strings.text(name))], region);
  return all;
}

// Its first levels: "decoder/0" of "decoder/0/mlp".
std::string_view outer_levels(std::string_view path, std::size_t depth) {
  std::size_t end = path.find_first_not_of('/');
  for (std::size_t level = 0; level < depth && end < path.size(); ++level)
    end = path.find('/', path.find_first_not_of('/', end));
  return path.substr(0, end);
}

// Neighbours of a lane whose values have one name are one stretch; "" is no name.
template <typename NameOf>
void add_stretches(const EventSequence& sequence, const StringPool& strings, TrackNumber track, Role role,
                   NameOf name_of, GatheredRegions& all) {
  std::vector<std::string> names, lines;
  for (const SequenceName& each : sequence.names) {
    const std::string_view value = each.name == 0 ? std::string_view() : strings.text(each.name);
    names.emplace_back(name_of(value));
    lines.emplace_back(value.substr(0, value.find('\n')));
  }
  for (std::size_t first = 0; first < sequence.size();) {
    const std::string& name = names[sequence.tokens[first]];
    std::size_t last = first;
    TimeRange run{sequence.begins_ns[first], sequence.ends_ns[first]};
    GatheredRegion* const region = name.empty() ? nullptr : &all[name];
    for (; last < sequence.size() && names[sequence.tokens[last]] == name; ++last) {
      run.end_ns = std::max(run.end_ns, sequence.ends_ns[last]);
      const bool lists = region != nullptr && role != Role::layer && region->lines.size() <= NamedRegion::kMostLines;
      if (lists) region->lines.insert(lines[sequence.tokens[last]]);
    }
    if (region != nullptr) {
      region->add(run, track);
      region->role = role;
    }
    first = last;
  }
}

LaneIndices lanes_with_strings(const Snapshot& snapshot, Role role) {
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.event_count == 0 || lane.schema->kind != EventKind::slice) continue;
    const auto column = lane.schema->find(role);
    if (column && lane.schema->columns[*column].type == ColumnType::string) lanes.push_back(i);
  }
  return lanes;
}

Result<GatheredRegions> regions_of_layers(const QueryContext& query, const TimeRange& range, std::size_t depth) {
  const Snapshot& snapshot = *query.snapshot;
  LaneIndices reported;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.event_count == 0 || lane.schema->kind != EventKind::slice) continue;
    if (snapshot.find_track(lane.track)->track->kind == "layer") reported.push_back(i);
  }
  LaneIndices lanes = lanes_with_strings(snapshot, Role::layer);
  std::erase_if(lanes, [&](std::uint32_t lane) { return std::ranges::find(reported, lane) != reported.end(); });
  if (!reported.empty() && (depth == 0 || lanes.empty()))
    return regions_of_events(query, reported, range, [](std::uint32_t, std::string_view) { return true; });
  const auto sequences = TRY(read_sequences(query, lanes, range, Role::layer));
  GatheredRegions all;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    add_stretches(
        sequences[i], *snapshot.strings, snapshot.lanes[lanes[i]].track, Role::layer,
        [depth](std::string_view layer) { return depth == 0 ? layer : outer_levels(layer, depth); }, all);
  }
  return all;
}

// By recorded stacks; lanes without any by the lines of the source.
Result<GatheredRegions> regions_of_functions(const QueryContext& query, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  const FunctionNames functions(snapshot.sources);
  std::set<std::uint32_t> done;
  GatheredRegions all;
  for (const Role role : {Role::stack, Role::source_location}) {
    LaneIndices lanes = lanes_with_strings(snapshot, role);
    std::erase_if(lanes, [&](std::uint32_t lane) {
      const WorkKind kind = kinds.of_lane(lane);
      return done.contains(lane) || (kind != WorkKind::compute && kind != WorkKind::host);
    });
    const auto sequences = TRY(read_sequences(query, lanes, range, role));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (sequences[i].size() == 0) continue;
      done.insert(lanes[i]);
      add_stretches(
          sequences[i], *snapshot.strings, snapshot.lanes[lanes[i]].track, role,
          [&](std::string_view value) {
            if (value.empty()) return std::string();
            return role == Role::stack ? FunctionNames::of_stack(value) : functions.of_location(value);
          },
          all);
    }
  }
  return all;
}

GatheredRegions regions_of_markers(const QueryContext& query, const TimeRange& range) {
  std::vector<Marker> markers = query.store.markers();
  std::ranges::stable_sort(markers, {}, &Marker::ts_ns);
  GatheredRegions all;
  for (std::size_t i = 0; i < markers.size(); ++i) {
    TimeRange span{markers[i].ts_ns, markers[i].end_ns.value_or(query.snapshot->end_ns)};
    for (std::size_t j = i + 1; !markers[i].end_ns && j < markers.size(); ++j) {
      if (markers[j].set_name != markers[i].set_name) continue;
      span.end_ns = markers[j].ts_ns;
      break;
    }
    span.end_ns = std::max(span.end_ns, span.begin_ns);
    if (range.holds(span.begin_ns, span.end_ns)) all[markers[i].name].ranges.push_back(span);
  }
  return all;
}

Result<GatheredRegions> gathered_regions(const QueryContext& query, const TimeRange& range, const std::string& by,
                                         std::size_t depth) {
  const Snapshot& snapshot = *query.snapshot;
  if (by == IterationQuestion::kMarkers) return regions_of_markers(query, range);
  if (by == "layer") return regions_of_layers(query, range, depth);
  if (by == "function") return regions_of_functions(query, range);
  const LaneIndices slices = lanes_of_kind(snapshot, EventKind::slice);
  if (by == "collective") {
    const WorkKinds kinds(snapshot);
    return regions_of_events(query, slices, range, [&](std::uint32_t lane, std::string_view name) {
      const WorkKind kind = kinds.of_lane(lane);
      return kind == WorkKind::collective || (kind == WorkKind::compute && names_collective(name));
    });
  }
  if (by == "annotation") {
    return regions_of_events(query, slices, range, [&](std::uint32_t lane, std::string_view) {
      return names_stretches(*snapshot.find_track(snapshot.lanes[lane].track));
    });
  }
  return regions_of_events(query, slices, range,
                           [&](std::uint32_t, std::string_view name) { return is_numbered_name(name, by); });
}

// Single ones that differ in their last number.
void join_numbered_regions(GatheredRegions& all) {
  constexpr std::size_t kLeast = 3;
  std::map<std::string, std::vector<std::string>> patterns;
  for (const auto& [name, region] : all) {
    if (region.ranges.size() != 1) continue;
    if (std::string pattern = numbered_pattern(name); !pattern.empty()) patterns[std::move(pattern)].push_back(name);
  }
  for (const auto& [pattern, names] : patterns) {
    if (names.size() < kLeast) continue;
    GatheredRegion joined;
    for (const std::string& name : names) {
      joined.append(all[name]);
      all.erase(name);
    }
    joined.numbered = true;
    joined.append(all[pattern]);
    all[pattern] = std::move(joined);
  }
}

NamedRegion measured_region(const std::string& name, GatheredRegion& region) {
  // In one order, whatever thread met which of them.
  std::ranges::sort(region.ranges, [](const TimeRange& a, const TimeRange& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns < b.end_ns;
  });
  NamedRegion found{.name = name,
                    .duration_ns = {},
                    .total_ns = 0,
                    .first = region.ranges.front(),
                    .longest = region.ranges.front(),
                    .numbered = region.numbered,
                    .tracks = region.tracks,
                    .role = region.role};
  if (region.lines.size() <= NamedRegion::kMostLines) found.lines.assign(region.lines.begin(), region.lines.end());
  std::vector<std::int64_t> lengths;
  for (const TimeRange& each : region.ranges) {
    lengths.push_back(each.end_ns - each.begin_ns);
    found.total_ns = capped_sum(found.total_ns, lengths.back());
    if (lengths.back() > found.longest.length_ns()) found.longest = each;
  }
  found.duration_ns = folded_values(lengths);
  const double width = (found.duration_ns.max - found.duration_ns.min) / NamedRegion::kBins;
  for (const std::int64_t length : lengths) {
    const double bin = width > 0 ? (static_cast<double>(length) - found.duration_ns.min) / width : 0;
    ++found.bins[std::min(static_cast<std::size_t>(bin), NamedRegion::kBins - 1)];
  }
  return found;
}

}  // namespace

Result<std::shared_ptr<const RegionList>> find_regions(const QueryContext& query, const TimeRange& range,
                                                       const std::string& by, std::size_t depth) {
  auto gathered = TRY(gathered_regions(query, range, by, depth));
  join_numbered_regions(gathered);
  auto list = std::make_shared<RegionList>();
  for (auto& [name, region] : gathered) {
    list->regions.push_back(measured_region(name, region));
    list->regions.back().is_level = region.role == Role::layer && depth > 0;
  }
  std::ranges::stable_sort(list->regions, std::ranges::greater{}, &NamedRegion::total_ns);
  if (list->regions.size() > RegionList::kMost) {
    list->left_out = list->regions.size() - RegionList::kMost;
    list->regions.resize(RegionList::kMost);
  }
  return std::shared_ptr<const RegionList>(list);
}

namespace {

constexpr double kLeastInCommon = 0.5;  // of the names of both bodies
constexpr std::size_t kMostLoops = 32;  // of each session: those of most time, devices first

struct NamedLoop {
  const IterationLoop* loop = nullptr;
  std::string track, device;
  std::set<std::string> body;
};

std::vector<NamedLoop> outermost(const IterationList& list, const Snapshot& snapshot) {
  std::vector<NamedLoop> loops;
  for (const IterationLoop& loop : list.loops) {
    if (loops.size() == kMostLoops) break;
    if (loop.level != 0 || loop.folded.iterations.empty()) continue;
    const TrackSnapshot* track = snapshot.find_track(loop.track);
    if (track == nullptr) continue;
    NamedLoop named{&loop, track->track->name, track->track->device, {}};
    for (const LoopOperation& operation : loop.folded.body) {
      const std::string name(snapshot.strings->text(operation.name));
      const std::string pattern = operation.numbered.empty() ? numbered_pattern(name) : operation.numbered;
      named.body.insert(pattern.empty() ? name : pattern);
    }
    loops.push_back(std::move(named));
  }
  return loops;
}

std::size_t names_in_common(const NamedLoop& one, const NamedLoop& two) {
  std::vector<std::string> both;
  std::set_intersection(one.body.begin(), one.body.end(), two.body.begin(), two.body.end(), std::back_inserter(both));
  const std::size_t all = one.body.size() + two.body.size() - both.size();
  return static_cast<double>(both.size()) >= kLeastInCommon * static_cast<double>(all) ? both.size() : 0;
}

std::vector<TimeRange> turns_of(const IterationLoop& loop) {
  std::vector<TimeRange> turns;
  for (const LoopIteration& iteration : loop.folded.iterations) turns.push_back({iteration.begin_ns, iteration.end_ns});
  return turns;
}

}  // namespace

std::optional<SharedTurns> shared_turns(const IterationList& base, const Snapshot& base_snapshot,
                                        const IterationList& other, const Snapshot& other_snapshot) {
  const std::vector<NamedLoop> here = outermost(base, base_snapshot), there = outermost(other, other_snapshot);
  struct Match {
    const NamedLoop *base, *other;
    bool first_device, one_track;
    std::size_t names;
    [[nodiscard]] auto rank() const { return std::tuple(first_device, one_track, names); }
  };
  std::optional<Match> best;
  for (const NamedLoop& one : here) {
    for (const NamedLoop& two : there) {
      const Match match{&one, &two, one.device == here.front().device, one.track == two.track,
                        names_in_common(one, two)};
      if (match.names > 0 && (!best || match.rank() > best->rank())) best = match;
    }
  }
  if (best) return SharedTurns{turns_of(*best->base->loop), turns_of(*best->other->loop)};
  return std::nullopt;
}

Result<std::shared_ptr<const SharedTurns>> find_shared_turns(const QueryContext& base, const QueryContext& other) {
  const auto here = TRY(find_iterations(base, {}));
  const auto there = TRY(find_iterations(other, {}));
  const std::optional<SharedTurns> found = shared_turns(*here, *base.snapshot, *there, *other.snapshot);
  return std::make_shared<const SharedTurns>(found.value_or(SharedTurns{}));
}

}  // namespace accelscope::analysis
