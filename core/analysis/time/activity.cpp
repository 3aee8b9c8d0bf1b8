#include "core/analysis/time/activity.h"

#include <algorithm>

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
  if (rule.track_kinds.empty())
    return track == nullptr || (!tells_of_capture(*track->track) && track->track->kind != kDoubtfulTrack);
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

}  // namespace accelscope
