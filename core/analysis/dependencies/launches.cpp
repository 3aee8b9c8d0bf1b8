#include "core/analysis/dependencies/launches.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "core/analysis/source/own_code.h"
#include "core/base/capped.h"

namespace accelscope::analysis {
namespace {

class LaunchFinder {
 public:
  LaunchFinder(const QueryContext& query, const WorkKinds& kinds) : query_(query), snapshot_(*query.snapshot) {
    for (std::size_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      if (kinds.of_lane(lane) != WorkKind::host) continue;
      thread_of_track_[snapshot_.lanes[lane].track] = kinds.thread_of_lane(lane);
    }
  }

  Result<std::vector<HostLaunch>> run(const Dependencies* known) {
    if (thread_of_track_.empty()) return std::move(launches_);
    std::shared_ptr<const Dependencies> built;
    if (known == nullptr) {
      auto dependencies = TRY(Dependencies::build(query_));
      built = std::move(dependencies);
      known = built.get();
    }
    for (const Dependency& dependency : known->all()) add(dependency);
    if (launches_.empty()) return std::move(launches_);
    TRY(read_times());
    return std::move(launches_);
  }

 private:
  // Flows come by target: of several to one target the first counts.
  void add(const Dependency& dependency) {
    if (!launches_.empty() && launches_.back().target == dependency.target) return;
    if (lane_of(dependency.source) != last_source_) {
      last_source_ = lane_of(dependency.source);
      const LaneSnapshot* source = snapshot_.find_lane(last_source_);
      const auto thread = source == nullptr ? thread_of_track_.end() : thread_of_track_.find(source->track);
      source_thread_ = thread == thread_of_track_.end() ? std::nullopt : std::optional(thread->second);
    }
    if (!source_thread_) return;
    const LaneSnapshot* target = snapshot_.find_lane(lane_of(dependency.target));
    const TrackSnapshot* track = target == nullptr ? nullptr : snapshot_.find_track(target->track);
    if (track == nullptr || work_kind_of(*track) == WorkKind::none) return;  // a range is no work
    if (target->data->kind != EventKind::slice || thread_of_track_.contains(target->track)) return;
    launches_.push_back({dependency.source, dependency.target, *source_thread_, 0, 0, {}});
  }

  // Times of the sources and of the targets.
  Result<void> read_times() {
    std::vector<std::pair<EventId, HostLaunch*>> ends;
    for (HostLaunch& launch : launches_) {
      ends.emplace_back(launch.source, &launch);
      ends.emplace_back(launch.target, &launch);
    }
    std::ranges::sort(ends);
    LaneIndices lanes;
    for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
      const EventId first = make_event_id(snapshot_.lanes[i].number(), 0);
      const auto found = std::lower_bound(ends.begin(), ends.end(), std::pair<EventId, HostLaunch*>{first, nullptr});
      if (found != ends.end() && lane_of(found->first) == snapshot_.lanes[i].number()) lanes.push_back(i);
    }
    return scan_chunks(query_, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const EventId first = chunk.event_id(0), last = chunk.event_id(chunk.view.count());
      auto end = std::lower_bound(ends.begin(), ends.end(), std::pair<EventId, HostLaunch*>{first, nullptr});
      for (; end != ends.end() && end->first < last; ++end) {
        std::int64_t begin_ticks = 0, end_ticks = 0;
        chunk.view.event_times(static_cast<std::uint32_t>(end->first - first), begin_ticks, end_ticks);
        const std::int64_t begin_ns = chunk.lane.clock->to_ns(begin_ticks), end_ns = chunk.lane.clock->to_ns(end_ticks);
        if (end->first == end->second->source) {
          end->second->begin_ns = begin_ns;
          end->second->end_ns = end_ns;
        }
        if (end->first == end->second->target) end->second->work = {begin_ns, end_ns};
      }
    });
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  std::map<TrackNumber, std::size_t> thread_of_track_;  // of those of host threads
  LaneNumber last_source_ = kNone;
  std::optional<std::size_t> source_thread_;  // of last_source_
  std::vector<HostLaunch> launches_;
};

}  // namespace

Result<std::vector<HostLaunch>> host_launches(const QueryContext& query, const WorkKinds& kinds,
                                              const Dependencies* known) {
  return LaunchFinder(query, kinds).run(known);
}

namespace {

class LaunchedTime {
 public:
  explicit LaunchedTime(const QueryContext& query) : query_(query), snapshot_(*query.snapshot), kinds_(snapshot_) {}

  Result<std::shared_ptr<const SourceLines>> run() {
    auto lines = std::make_shared<SourceLines>();
    lines->snapshot_version = snapshot_.version;
    auto launches = TRY(host_launches(query_, kinds_));
    launches_ = std::move(launches);
    if (launches_.empty()) return std::shared_ptr<const SourceLines>(std::move(lines));
    TRY(place());
    collect(*lines);
    return std::shared_ptr<const SourceLines>(std::move(lines));
  }

 private:
  // The deepest event with a line in which each launch lies: its depth, and below it the line's string.
  Result<void> place() {
    std::ranges::sort(launches_, [](const HostLaunch& a, const HostLaunch& b) {
      return std::tie(a.thread, a.begin_ns) < std::tie(b.thread, b.begin_ns);
    });
    places_ = std::vector<std::atomic<std::uint64_t>>(launches_.size());
    return scan_chunks(query_, lanes_with_role(snapshot_, Role::source_location), TimeRange{},
                       [&](const ScannedChunk& chunk, std::size_t) { place_chunk(chunk); });
  }

  void place_chunk(const ScannedChunk& chunk) {
    if (kinds_.of_lane(chunk.lane_index) != WorkKind::host) return;
    const std::size_t thread = kinds_.thread_of_lane(chunk.lane_index);
    const auto column = chunk.lane.schema->find(Role::source_location);
    if (!column || *column >= chunk.view.column_count()) return;
    if (chunk.lane.schema->columns[*column].type != ColumnType::string) return;
    const std::uint64_t depth = (std::uint64_t{chunk.lane.data->lane.depth} + 1) << 32;
    std::unordered_map<std::uint64_t, bool> own;  // by location
    chunk.for_each_block([&](const ScannedBlock& block) {
      const BlockValues locations = block.reader.column(*column, ColumnType::string);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (!locations.has(i)) continue;
        const auto [known, is_new] = own.try_emplace(locations.values[i], false);
        if (is_new) known->second = is_own(static_cast<StringId>(locations.values[i]));
        if (!known->second) continue;
        const std::int64_t begin_ns = block.begin_ns(i);
        const std::int64_t end_ns = block.end_ns(i);
        const auto before = [](const HostLaunch& launch, const std::pair<std::size_t, std::int64_t>& at) {
          return std::pair(launch.thread, launch.begin_ns) < at;
        };
        auto launch = std::lower_bound(launches_.begin(), launches_.end(), std::pair(thread, begin_ns), before);
        for (; launch != launches_.end() && launch->thread == thread && launch->begin_ns < end_ns; ++launch) {
          raise(places_[static_cast<std::size_t>(launch - launches_.begin())], depth | locations.values[i]);
        }
      }
    });
  }

  [[nodiscard]] bool is_own(StringId location) const {
    std::string_view path;
    std::uint32_t line = 0;
    return parse_source_location(snapshot_.strings->text(location), path, line) && !is_framework_path(path);
  }

  static void raise(std::atomic<std::uint64_t>& place, std::uint64_t value) noexcept {
    std::uint64_t known = place.load(std::memory_order_relaxed);
    while (known < value && !place.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
    }
  }

  void collect(SourceLines& lines) const {
    std::map<std::pair<std::string_view, std::uint32_t>, SourceLine> by_line;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      const std::uint64_t place = places_[i].load(std::memory_order_relaxed);
      std::string_view path;
      std::uint32_t number = 0;
      const auto location = static_cast<StringId>(place & 0xffffffffU);
      if (place == 0 || !parse_source_location(snapshot_.strings->text(location), path, number)) continue;
      SourceLine& line = by_line[{path, number}];
      line.path = path;
      line.line = number;
      ++line.event_count;
      line.busy_ns = capped_sum(line.busy_ns, launches_[i].work.length_ns());
    }
    for (auto& [place, line] : by_line) lines.lines.push_back(std::move(line));
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  const WorkKinds kinds_;
  std::vector<HostLaunch> launches_;
  std::vector<std::atomic<std::uint64_t>> places_;  // beside launches_, once they are sorted by thread and begin
};

}  // namespace

Result<std::shared_ptr<const SourceLines>> launched_time(const QueryContext& query) {
  return LaunchedTime(query).run();
}

}  // namespace accelscope::analysis
