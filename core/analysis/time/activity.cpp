#include "core/analysis/time/activity.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/time/work_kind.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/wait_names.h"

namespace accelscope {
namespace {

// Whether a lane's events of a name are work.
class WorkNames {
 public:
  WorkNames(const LaneSnapshot& lane, const StringPool& strings, const std::vector<StringId>& setup)
      : waits_(lane.schema.get(), strings), setup_(setup) {}
  [[nodiscard]] bool contains(StringId name) const noexcept {
    return !waits_.contains(name) && !std::binary_search(setup_.begin(), setup_.end(), name);
  }

 private:
  WaitNames waits_;
  const std::vector<StringId>& setup_;  // sorted
};

// Looks for the first and the last event of a lane that is work, chunk by chunk from either end.
class LaneSearch {
 public:
  LaneSearch(const QueryContext& query, const LaneSnapshot& lane, const std::vector<StringId>& setup)
      : query_(query),
        lane_(lane),
        work_(lane, *query.snapshot->strings, setup),
        strings_(query.snapshot->strings->scope_map(scope_of(lane.number()))) {}

  Result<std::optional<TimeRange>> run() {
    for (std::uint32_t i = 0; i < lane_.chunk_count; ++i) {
      Result<std::optional<TimeRange>> first = in_chunk(i);
      if (!first) return first;
      if (!*first) continue;
      TimeRange range = **first;
      for (std::uint32_t j = lane_.chunk_count - 1; j > i; --j) {
        const Result<std::optional<TimeRange>> last = in_chunk(j);
        if (!last) return last.error();
        if (*last) {
          range.end_ns = (**last).end_ns;
          break;
        }
      }
      return std::optional(range);
    }
    return std::optional<TimeRange>();
  }

 private:
  // Known from the chunk's totals, without reading it.
  [[nodiscard]] bool has_no_work(std::uint32_t chunk) const noexcept {
    if (chunk >= lane_.totals.stretches[0]) return false;
    const NameTotals::Stretch stretch = lane_.data->totals.stretch(0, chunk);
    return stretch.kept && std::none_of(stretch.totals, stretch.totals + stretch.size,
                                        [this](const NameTotal& total) { return work_.contains(total.name); });
  }

  Result<std::optional<TimeRange>> in_chunk(std::uint32_t index) {
    if (query_.control.cancelled()) return cancelled_error();
    if (has_no_work(index)) return std::optional<TimeRange>();
    const Result<LoadedChunk> loaded = load_chunk(query_.store, lane_, index);
    if (!loaded) return loaded.error();
    const ChunkView& view = loaded->view;
    std::optional<TimeRange> range;
    std::uint64_t names[kBlockEvents];
    BlockTimes times;
    for (std::uint32_t block = 0; block < view.block_count(); ++block) {
      view.names(block, names);
      view.times(block, times);
      for (std::uint32_t i = 0; i < view.block_size(block); ++i) {
        if (!work_.contains(names[i] < strings_.size() ? strings_[names[i]] : 0)) continue;
        if (!range) range = TimeRange{lane_.clock->to_ns(times.begins[i]), 0};
        range->end_ns = lane_.clock->to_ns(times.ends[i]);
      }
    }
    return range;
  }

  const QueryContext& query_;
  const LaneSnapshot& lane_;
  WorkNames work_;
  std::vector<StringId> strings_;
};

bool takes_part(const Snapshot& snapshot, const LaneSnapshot& lane, const ActivityRule& rule) {
  if (lane.data->kind != EventKind::slice || lane.chunk_count == 0) return false;
  const TrackSnapshot* track = snapshot.find_track(lane.track);
  if (rule.track_kinds.empty()) return track == nullptr || !is_of_profiler(*track->track);
  return track != nullptr && std::find(rule.track_kinds.begin(), rule.track_kinds.end(),
                                       std::string_view(track->track->kind)) != rule.track_kinds.end();
}

}  // namespace

Result<std::optional<TimeRange>> active_stretch(const QueryContext& query, const ActivityRule& rule) {
  const Snapshot& snapshot = *query.snapshot;
  std::vector<StringId> setup;
  for (const std::string_view name : rule.setup_names) {
    if (const StringId id = snapshot.strings->find(name); id != kNone) setup.push_back(id);
  }
  std::sort(setup.begin(), setup.end());
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (takes_part(snapshot, snapshot.lanes[i], rule)) lanes.push_back(i);
  }
  std::vector<Result<std::optional<TimeRange>>> found(lanes.size(), std::optional<TimeRange>());
  query.control.add_total(lanes.size());
  query.pool.for_each(lanes.size(), query.control, [&](std::size_t index, std::size_t) {
    found[index] = LaneSearch(query, snapshot.lanes[lanes[index]], setup).run();
    query.control.add_done(1);
  });
  if (query.control.cancelled()) return cancelled_error();
  std::optional<TimeRange> all;
  for (const auto& range : found) {
    if (!range) return range.error();
    if (!*range) continue;
    if (!all) all = *range;
    all->begin_ns = std::min(all->begin_ns, (**range).begin_ns);
    all->end_ns = std::max(all->end_ns, (**range).end_ns);
  }
  return all;
}

namespace {

// Adds the busy time of one lane to pixels.
class DensityWalk {
 public:
  DensityWalk(const LaneSnapshot& lane, const TimeRange& range, std::vector<double>& busy_ns)
      : lane_(lane), range_(range), busy_ns_(busy_ns) {}

  void run() {
    std::size_t begin = 0;  // leaves before it are done
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t leaves = std::size_t{1} << (3 * level);
      for (std::size_t index = begin / leaves; index < lane_.tree.nodes[level]; ++index) {
        add(level, index);
        begin = (index + 1) * leaves;
      }
    }
  }

 private:
  // A lone instant is as good as this long, so that it shows.
  static constexpr double kLeast = 1.0;

  [[nodiscard]] double position(std::int64_t ns) const noexcept {
    return (static_cast<double>(ns) - static_cast<double>(range_.begin_ns)) * static_cast<double>(busy_ns_.size()) /
           static_cast<double>(range_.length_ns());
  }
  [[nodiscard]] std::size_t pixel(double at) const noexcept {
    return static_cast<std::size_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(busy_ns_.size() - 1)));
  }

  void add(std::size_t level, std::size_t index) {
    const SliceNode& node = lane_.data->slices.node(level, index);
    if (node.busy == 0 && node.wait > 0) return;
    const std::int64_t begin_ns = lane_.clock->to_ns(node.begin);
    const std::int64_t end_ns = lane_.clock->to_ns(node.end);
    if (!range_.holds(begin_ns, end_ns)) return;
    const double begin = position(begin_ns);
    const double end = position(end_ns);
    const bool inside = begin_ns >= range_.begin_ns && end_ns <= range_.end_ns;
    const std::size_t first = pixel(begin);
    const std::size_t last = std::max(first, pixel(std::ceil(end) - 1));
    if (level > 0 && (first != last || !inside)) {
      for (std::size_t i = 0; i < kTreeFanout; ++i) add(level - 1, index * kTreeFanout + i);
      return;
    }
    const double busy_ns =
        std::max(kLeast, static_cast<double>(node.busy) * mean_ns_per_tick(*lane_.clock, node.begin, node.end));
    if (end <= begin || (first == last && inside)) {
      busy_ns_[first] += busy_ns;
      return;
    }
    for (std::size_t i = first; i <= last; ++i) {  // a leaf: spread evenly over its length
      const double overlap = std::min(end, static_cast<double>(i + 1)) - std::max(begin, static_cast<double>(i));
      busy_ns_[i] += busy_ns * std::max(0.0, overlap) / (end - begin);
    }
  }

  const LaneSnapshot& lane_;
  const TimeRange& range_;
  std::vector<double>& busy_ns_;
};

}  // namespace

std::vector<float> activity_density(const Snapshot& snapshot, const LaneIndices& lanes, const TimeRange& range,
                                    std::size_t pixels) {
  std::vector<float> density(pixels, 0.0F);
  if (range.empty() || pixels == 0) return density;
  std::vector<double> busy_ns(pixels, 0.0);
  std::size_t count = 0;
  for (const std::uint32_t lane_index : lanes) {
    const LaneSnapshot& lane = snapshot.lanes[lane_index];
    if (lane.data->kind != EventKind::slice || lane.chunk_count == 0) continue;
    ++count;
    DensityWalk(lane, range, busy_ns).run();
  }
  const double pixel_ns = static_cast<double>(range.length_ns()) / static_cast<double>(pixels);
  for (std::size_t i = 0; count > 0 && i < pixels; ++i) {
    density[i] = static_cast<float>(std::min(1.0, busy_ns[i] / (pixel_ns * static_cast<double>(count))));
  }
  return density;
}

}  // namespace accelscope
