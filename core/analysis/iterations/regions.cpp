#include "core/analysis/iterations/regions.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>

#include "core/analysis/iterations/iterations.h"
#include "core/analysis/iterations/lane_events.h"
#include "core/analysis/time/work_kind.h"

namespace accelscope {
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

  void add(const TimeRange& range, TrackNumber track) {
    ranges.push_back(range);
    const auto place = std::lower_bound(tracks.begin(), tracks.end(), track);
    if (place == tracks.end() || *place != track) tracks.insert(place, track);
  }
};
using GatheredRegions = std::map<std::string, GatheredRegion>;
using RegionsById = std::unordered_map<StringId, GatheredRegion>;

void join_regions(GatheredRegion& to, const GatheredRegion& from) {
  to.ranges.insert(to.ranges.end(), from.ranges.begin(), from.ranges.end());
  std::vector<TrackNumber> tracks;
  std::set_union(to.tracks.begin(), to.tracks.end(), from.tracks.begin(), from.tracks.end(),
                 std::back_inserter(tracks));
  to.tracks = std::move(tracks);
}

// Of events of these lanes whose names are wanted.
template <typename Wanted>
Result<GatheredRegions> regions_of_events(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                          Wanted wanted) {
  const StringPool& strings = *query.snapshot->strings;
  std::vector<RegionsById> workers(query.pool.concurrency());
  const auto scanned = scan_chunks(query, lanes, range, [&](const ScannedChunk& chunk, std::size_t worker) {
    std::unordered_map<StringId, bool> known;
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const auto [place, is_new] = known.try_emplace(block.name(i), false);
        if (is_new) place->second = wanted(chunk.lane_index, strings.text(block.name(i)));
        if (place->second) workers[worker][block.name(i)].add({block.begin_ns(i), block.end_ns(i)}, chunk.lane.track);
      }
    });
  });
  if (!scanned) return scanned.error();
  GatheredRegions all;
  for (const RegionsById& each : workers) {
    for (const auto& [name, region] : each) join_regions(all[std::string(strings.text(name))], region);
  }
  return all;
}

Result<GatheredRegions> regions_of_layers(const QueryContext& query, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  LaneIndices told, lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.event_count == 0 || lane.schema->kind != EventKind::slice) continue;
    if (snapshot.find_track(lane.track)->track->kind == "layer") told.push_back(i);
    const auto column = lane.schema->find(Role::layer);
    if (column && lane.schema->columns[*column].type == ColumnType::string) lanes.push_back(i);
  }
  if (!told.empty()) return regions_of_events(query, told, range, [](std::uint32_t, std::string_view) { return true; });
  const auto sequences = read_sequences(query, lanes, range, Role::layer);
  if (!sequences) return sequences.error();
  GatheredRegions all;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const EventSequence& sequence = (*sequences)[i];
    for (std::size_t first = 0; first < sequence.size();) {
      std::size_t last = first;
      TimeRange run{sequence.begins_ns[first], sequence.ends_ns[first]};
      for (; last < sequence.size() && sequence.tokens[last] == sequence.tokens[first]; ++last)
        run.end_ns = std::max(run.end_ns, sequence.ends_ns[last]);
      const StringId name = sequence.names[sequence.tokens[first]].name;
      if (name != 0) all[std::string(snapshot.strings->text(name))].add(run, snapshot.lanes[lanes[i]].track);
      first = last;
    }
  }
  return all;
}

GatheredRegions regions_of_markers(const QueryContext& query, const TimeRange& range) {
  std::vector<Marker> markers = query.store.markers();
  std::stable_sort(markers.begin(), markers.end(), [](const Marker& a, const Marker& b) { return a.ts_ns < b.ts_ns; });
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

Result<GatheredRegions> gathered_regions(const QueryContext& query, const TimeRange& range, const std::string& by) {
  const Snapshot& snapshot = *query.snapshot;
  if (by == IterationQuestion::kMarkers) return regions_of_markers(query, range);
  if (by == "layer") return regions_of_layers(query, range);
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
      join_regions(joined, all[name]);
      all.erase(name);
    }
    joined.numbered = true;
    join_regions(joined, all[pattern]);
    all[pattern] = std::move(joined);
  }
}

NamedRegion measured_region(const std::string& name, GatheredRegion& region) {
  // In one order, whatever thread met which of them.
  std::sort(region.ranges.begin(), region.ranges.end(), [](const TimeRange& a, const TimeRange& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns < b.end_ns;
  });
  NamedRegion found{.name = name,
                    .duration_ns = {},
                    .total_ns = 0,
                    .first = region.ranges.front(),
                    .longest = region.ranges.front(),
                    .numbered = region.numbered,
                    .tracks = region.tracks};
  std::vector<std::int64_t> lengths;
  for (const TimeRange& each : region.ranges) {
    lengths.push_back(each.end_ns - each.begin_ns);
    found.total_ns += lengths.back();
    if (lengths.back() > found.longest.length_ns()) found.longest = each;
  }
  found.duration_ns = folded_values(lengths);
  return found;
}

}  // namespace

Result<std::shared_ptr<const RegionList>> find_regions(const QueryContext& query, const TimeRange& range,
                                                       const std::string& by) {
  auto gathered = gathered_regions(query, range, by);
  if (!gathered) return gathered.error();
  join_numbered_regions(*gathered);
  auto list = std::make_shared<RegionList>();
  for (auto& [name, region] : *gathered) list->regions.push_back(measured_region(name, region));
  std::stable_sort(list->regions.begin(), list->regions.end(),
                   [](const NamedRegion& a, const NamedRegion& b) { return a.total_ns > b.total_ns; });
  if (list->regions.size() > RegionList::kMost) {
    list->left_out = list->regions.size() - RegionList::kMost;
    list->regions.resize(RegionList::kMost);
  }
  return std::shared_ptr<const RegionList>(list);
}

}  // namespace accelscope
