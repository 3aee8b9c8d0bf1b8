#include "core/lod/range_statistics.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/capped.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::lod {
namespace {

bool has_time(EventKind kind) noexcept { return kind != EventKind::counter && kind != EventKind::table; }

// A stretch of a lane's totals to add or to take away.
struct StretchItem {
  NameTotals::Stretch totals;
  double weight = 0;  // ns per tick, negative to take away
};

// What of a chunk's events is meant: the part in the range or the rest.
enum class RangePart : std::uint8_t { inside, outside };

struct DecodeItem {
  RangePart part = RangePart::inside;
  bool take_away = false;
};

struct RangePlan {
  std::vector<StretchItem> stretches;
  std::vector<ChunkRequest> chunks;
  std::vector<DecodeItem> decodes;  // beside chunks
};

// Finds the cheapest way to the totals of a range of one lane: a stretch of totals counts as free, a chunk to
// decode costs one. A stretch that is partly in the range is either put together from its children or taken whole
// less its children outside the range.
class RangeLanePlanner {
 public:
  RangeLanePlanner(const LaneSnapshot& lane, std::uint32_t lane_index, const TickRange& range, RangePlan& plan)
      : lane_(lane), lane_index_(lane_index), range_(range), span_(chunks_in(lane, range)), plan_(plan) {}

  void run() {
    if (span_.first >= span_.last) return;
    std::size_t begin = 0;  // chunks before it are planned
    for (std::size_t level = NameTotals::kLevels; level-- > 0;) {
      const std::size_t size = chunks_of(level);
      for (std::size_t index = begin / size; index < lane_.totals.stretches[level]; ++index) {
        take(level, index, RangePart::inside, false);
        begin = (index + 1) * size;
      }
    }
    for (std::size_t chunk = begin; chunk < lane_.chunk_count; ++chunk) take(0, chunk, RangePart::inside, false);
  }

 private:
  static constexpr std::size_t chunks_of(std::size_t level) noexcept { return std::size_t{1} << (2 * level); }
  static_assert(NameTotals::kFanout == 4);
  static constexpr RangePart opposite(RangePart part) noexcept {
    return part == RangePart::inside ? RangePart::outside : RangePart::inside;
  }

  enum class Cover : std::uint8_t { none, some, all };
  [[nodiscard]] Cover cover(std::size_t level, std::size_t index, RangePart part) const noexcept {
    const std::size_t first = index * chunks_of(level);
    const std::size_t last = std::min<std::size_t>(first + chunks_of(level), lane_.chunk_count);
    if (last <= span_.first || first >= span_.last) return part == RangePart::inside ? Cover::none : Cover::all;
    if (range_.covers(lane_.chunk(first).begin_ticks, lane_.chunk(last - 1).end_ticks)) {
      return part == RangePart::inside ? Cover::all : Cover::none;
    }
    return Cover::some;
  }
  // The totals, if the stretch keeps any and one rate holds for all of it.
  [[nodiscard]] NameTotals::Stretch totals(std::size_t level, std::size_t index) const noexcept {
    if (index >= lane_.totals.stretches[level]) return {};
    NameTotals::Stretch stretch = lane_.data->totals.stretch(level, index);
    stretch.retained = stretch.retained && has_one_rate(level, index);
    return stretch;
  }
  [[nodiscard]] double rate(std::size_t level, std::size_t index) const noexcept {
    const std::size_t first = index * chunks_of(level);
    return mean_ns_per_tick(*lane_.clock, lane_.chunk(first).begin_ticks,
                            lane_.chunk(first + chunks_of(level) - 1).end_ticks);
  }
  [[nodiscard]] bool has_one_rate(std::size_t level, std::size_t index) const noexcept {
    if (level == 0 || lane_.clock->is_affine()) return true;
    constexpr double kTolerance = 1e-6;
    const double whole = rate(level, index);
    const std::size_t size = chunks_of(level);
    for (std::size_t chunk = index * size; chunk < (index + 1) * size; ++chunk) {
      if (std::abs(rate(0, chunk) - whole) > kTolerance * whole) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t children_cost(std::size_t level, std::size_t index, RangePart part) const noexcept {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < NameTotals::kFanout; ++i) {
      sum += cost(level - 1, index * NameTotals::kFanout + i, part);
    }
    return sum;
  }
  [[nodiscard]] std::size_t cost(std::size_t level, std::size_t index, RangePart part) const noexcept {
    const Cover covered = cover(level, index, part);
    if (covered == Cover::none) return 0;
    const bool retained = totals(level, index).retained;
    if (covered == Cover::all && retained) return 0;
    if (level == 0) return 1;
    const std::size_t direct = children_cost(level, index, part);
    return retained ? std::min(direct, children_cost(level, index, opposite(part))) : direct;
  }

  void add_stretch(std::size_t level, std::size_t index, const NameTotals::Stretch& stretch, bool take_away) {
    const double ns_per_tick = rate(level, index);
    plan_.stretches.push_back({stretch, take_away ? -ns_per_tick : ns_per_tick});
  }
  void take_children(std::size_t level, std::size_t index, RangePart part, bool take_away) {
    for (std::size_t i = 0; i < NameTotals::kFanout; ++i) {
      take(level - 1, index * NameTotals::kFanout + i, part, take_away);
    }
  }
  void take(std::size_t level, std::size_t index, RangePart part, bool take_away) {
    const Cover covered = cover(level, index, part);
    if (covered == Cover::none) return;
    const NameTotals::Stretch stretch = totals(level, index);
    if (covered == Cover::all && stretch.retained) return add_stretch(level, index, stretch, take_away);
    if (level == 0) {
      plan_.chunks.push_back({lane_index_, static_cast<std::uint32_t>(index), range_});
      plan_.decodes.push_back({part, take_away});
      return;
    }
    if (stretch.retained && children_cost(level, index, opposite(part)) < children_cost(level, index, part)) {
      add_stretch(level, index, stretch, take_away);
      take_children(level, index, opposite(part), !take_away);
      return;
    }
    take_children(level, index, part, take_away);
  }

  const LaneSnapshot& lane_;
  std::uint32_t lane_index_;
  TickRange range_;
  ChunkSpan span_;
  RangePlan& plan_;
};

// Doubles hold sums of whole ns exactly up to 104 days; ticks of other rates are rounded once, at the end.
struct RangeSum {
  std::int64_t count = 0;
  double time_ns = 0;
};

// The sums of one thread, by session-wide name.
class RangeSums {
 public:
  explicit RangeSums(std::size_t names) : sums_(names), packed_(names) {}
  void add(const StretchItem& item) noexcept {
    const std::int64_t sign = item.weight < 0 ? -1 : 1;
    for (const NameTotal& total : std::span(item.totals.totals, item.totals.size)) {
      RangeSum& sum = sums_[total.name];
      sum.count += sign * std::int64_t{total.count};
      sum.time_ns += item.weight * static_cast<double>(total.busy);
    }
  }
  void add(const ScannedChunk& chunk, const DecodeItem& item) noexcept {
    if (chunk.mask != nullptr) return add_passing(chunk);
    const auto ticks =
        static_cast<std::uint64_t>(chunk.place.end_ticks) - static_cast<std::uint64_t>(chunk.place.begin_ticks);
    const bool whole =
        item.part == RangePart::inside && chunk.range.covers(chunk.place.begin_ticks, chunk.place.end_ticks);
    if (whole && !item.take_away && chunk.lane.clock->is_affine() && ticks < kPackedTicks) {
      add_whole(chunk, ticks);
    } else {
      add_part(chunk, item);
    }
  }
  // Takes over names [begin, end) of the other sums; of itself only what is still packed. Threads may each take a part.
  void add(RangeSums& other, std::size_t begin, std::size_t end) noexcept {
    other.unpack(begin, end);
    if (&other == this) return;
    for (std::size_t i = begin; i < end; ++i) {
      sums_[i].count += other.sums_[i].count;
      sums_[i].time_ns += other.sums_[i].time_ns;
    }
  }
  [[nodiscard]] const std::vector<RangeSum>& values() const noexcept { return sums_; }

 private:
  // With a million names the sums do not fit the caches, and memory is what adding up waits for. So the count and
  // the ticks of whole chunks share one word, until either might overflow or the clock's rate is another; and the
  // words of the next block are fetched while this one is added.
  static constexpr std::uint64_t kPackedTicks = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kPackedEvents = std::uint64_t{1} << 24;

  void unpack(std::size_t begin, std::size_t end) noexcept {
    for (std::size_t i = begin; i < end; ++i) {
      if (packed_[i] == 0) continue;
      sums_[i].count += static_cast<std::int64_t>(packed_[i] / kPackedTicks);
      sums_[i].time_ns += packed_ns_per_tick_ * static_cast<double>(packed_[i] % kPackedTicks);
      packed_[i] = 0;
    }
  }
  void add_whole(const ScannedChunk& chunk, std::uint64_t ticks) noexcept {
    if (packed_ticks_ + ticks >= kPackedTicks || packed_events_ + chunk.view.count() >= kPackedEvents ||
        packed_ns_per_tick_ != chunk.ns_per_tick) {
      unpack(0, packed_.size());
      packed_ticks_ = 0;
      packed_events_ = 0;
    }
    packed_ns_per_tick_ = chunk.ns_per_tick;
    packed_ticks_ += ticks;  // no less than the durations of the chunk, as its events do not overlap
    packed_events_ += chunk.view.count();
    const std::uint32_t blocks = chunk.view.block_count();
    std::uint64_t* const sums = packed_.data();
    std::uint64_t names[kBlockEvents];
    std::uint64_t durations[kBlockEvents];
    std::uint32_t places[2][kBlockEvents];
    const auto prepare = [&](std::uint32_t block) {
      chunk.view.names(block, names);
      for (std::uint32_t i = 0; i < chunk.view.block_size(block); ++i) {
        const StringId place = chunk.session_string(names[i]);
        places[block % 2][i] = place;
        __builtin_prefetch(sums + place, 1);
      }
    };
    prepare(0);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      chunk.view.durations(block, durations);
      if (block + 1 < blocks) prepare(block + 1);
      for (std::uint32_t i = 0; i < chunk.view.block_size(block); ++i) {
        sums[places[block % 2][i]] += kPackedTicks + durations[i];
      }
    }
  }
  void add_part(const ScannedChunk& chunk, const DecodeItem& item) noexcept {
    const std::int64_t sign = item.take_away ? -1 : 1;
    const double weight = item.take_away ? -chunk.ns_per_tick : chunk.ns_per_tick;
    for (std::uint32_t block = 0; block < chunk.view.block_count(); ++block) {
      const std::uint32_t size = chunk.view.block_size(block);
      chunk.reader.seek(block);
      const BlockTimes& times = chunk.reader.ticks();
      if (skip(chunk.range, times, size, item.part)) continue;
      const std::uint64_t* names = chunk.reader.names();
      for (std::uint32_t i = 0; i < size; ++i) {
        const auto duration = static_cast<std::uint64_t>(times.ends[i] - times.begins[i]);
        const bool inside = chunk.range.holds(times.begins[i], times.ends[i]);
        const std::uint64_t shared = chunk.range.shared(times.begins[i], times.ends[i]);
        const std::uint64_t ticks = item.part == RangePart::inside ? shared : duration - shared;
        RangeSum& sum = sums_[names[i]];
        sum.time_ns += weight * static_cast<double>(ticks);
        // An event across the edge counts as inside, with only some of its time.
        if (inside == (item.part == RangePart::inside)) sum.count += sign;
      }
    }
  }
  // Those that pass the chunk's mask.
  void add_passing(const ScannedChunk& chunk) noexcept {
    chunk.for_each_block([&](const ScannedBlock& block) {
      const BlockTimes& times = block.ticks();
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        RangeSum& sum = sums_[block.name(i)];
        ++sum.count;
        sum.time_ns += chunk.ns_per_tick * static_cast<double>(chunk.range.shared(times.begins[i], times.ends[i]));
      }
    });
  }
  // True if a block has nothing of the wanted part.
  static bool skip(const TickRange& range, const BlockTimes& times, std::uint32_t size, RangePart part) noexcept {
    if (part == RangePart::outside) return range.covers(times.begins[0], times.ends[size - 1]);
    return times.begins[0] >= range.end || times.ends[size - 1] < range.begin;
  }
  std::vector<RangeSum> sums_;
  std::vector<std::uint64_t> packed_;  // count * kPackedTicks + ticks
  double packed_ns_per_tick_ = 0;
  std::uint64_t packed_ticks_ = 0;
  std::uint64_t packed_events_ = 0;
};

NameStatistics collect(const RangeSums& sums) {
  NameStatistics result;
  const std::vector<RangeSum>& values = sums.values();
  result.names.reserve(
      static_cast<std::size_t>(std::ranges::count_if(values, [](const RangeSum& sum) { return sum.count > 0; })));
  for (std::size_t name = 0; name < values.size(); ++name) {
    if (values[name].count <= 0) continue;
    const auto time_ns = capped_integer(std::round(std::max(0.0, values[name].time_ns)));
    result.names.push_back({static_cast<StringId>(name), static_cast<std::uint64_t>(values[name].count), time_ns});
    result.event_count += result.names.back().count;
    result.time_ns = capped_sum(result.time_ns, time_ns);
  }
  const auto head =
      result.names.begin() + static_cast<std::ptrdiff_t>(std::min(result.names.size(), NameStatistics::kSortedNames));
  const auto longer = [](const NameStatistic& a, const NameStatistic& b) {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  };
  if (head != result.names.end()) std::nth_element(result.names.begin(), head, result.names.end(), longer);
  std::sort(result.names.begin(), head, longer);
  return result;
}

}  // namespace

Result<NameStatistics> name_statistics(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  RangePlan plan;
  for (const std::uint32_t lane_index : lanes) {
    const LaneSnapshot& lane = snapshot.lanes[lane_index];
    if (!has_time(lane.data->kind)) continue;
    if (query.mask) {  // totals of whole stretches know nothing of it
      const TickRange ticks = tick_range(lane, range);
      const ChunkSpan span = chunks_in(lane, ticks);
      if (query.mask->count(lane_index) == 0) continue;
      for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
        plan.chunks.push_back({lane_index, chunk, ticks});
        plan.decodes.emplace_back();
      }
      continue;
    }
    RangeLanePlanner(lane, lane_index, tick_range(lane, range), plan).run();
  }
  // Asked for after the snapshot was taken, so that it covers every id in the snapshot's totals.
  const std::size_t names = std::max<std::size_t>(1, snapshot.strings->size());
  WorkerParts sums(query, [names] { return RangeSums(names); });
  constexpr std::size_t kStretchesAtOnce = 8;
  query.pool.for_each((plan.stretches.size() + kStretchesAtOnce - 1) / kStretchesAtOnce, query.control,
                      [&](std::size_t index, std::size_t worker) {
                        const std::size_t end = std::min(plan.stretches.size(), (index + 1) * kStretchesAtOnce);
                        for (std::size_t i = index * kStretchesAtOnce; i < end; ++i) {
                          sums.of(worker).add(plan.stretches[i]);
                        }
                      });
  const Result<void> scanned = scan_chunks(query, plan.chunks, [&](const ScannedChunk& chunk, std::size_t worker) {
    sums.of(worker).add(chunk, plan.decodes[chunk.request]);
  });
  if (!scanned) return scanned.error();
  RangeSums& total = sums.of(0);
  constexpr std::size_t kNamesAtOnce = 65536;
  TaskControl merging;  // once all is read, it is too late to cancel
  query.pool.for_each((names + kNamesAtOnce - 1) / kNamesAtOnce, merging, [&](std::size_t part, std::size_t) {
    const std::size_t end = std::min(names, (part + 1) * kNamesAtOnce);
    sums.for_each([&](RangeSums& each) { total.add(each, part * kNamesAtOnce, end); });
  });
  NameStatistics result = collect(total);
  result.decoded_chunks = plan.chunks.size();
  return result;
}

namespace {

// Adds up a lane's tree over a range; goes down only where a node lies across an edge of the range.
class LaneShareWalk {
 public:
  LaneShareWalk(const Store& store, const Snapshot& snapshot, const LaneSnapshot& lane, const TickRange& range)
      : store_(store),
        lane_(lane),
        range_(range),
        waits_(lane.schema.get(), *snapshot.strings),
        strings_(*snapshot.strings) {}

  Result<LaneShare> run() {
    std::size_t begin = 0;  // leaves before it are done
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t leaves = std::size_t{1} << (3 * level);
      static_assert(kTreeFanout == 8);
      for (std::size_t index = begin / leaves; index < lane_.tree.nodes[level]; ++index) {
        TRY(add(level, index));
        begin = (index + 1) * leaves;
      }
    }
    return LaneShare{count_, capped_integer(std::round(busy_ns_)), capped_integer(std::round(wait_ns_))};
  }

 private:
  // Where a clock's rate changes, nodes above this level (4,096 events) are too long for one rate.
  static constexpr std::size_t kOneRateLevel = 2;

  Result<void> add(std::size_t level, std::size_t index) {
    const SliceNode& node = lane_.data->slices.node(level, index);
    if (node.begin >= range_.end || node.end < range_.begin) return {};
    if (range_.covers(node.begin, node.end) && (lane_.clock->is_affine() || level <= kOneRateLevel)) {
      const double rate = mean_ns_per_tick(*lane_.clock, node.begin, node.end);
      count_ += node.count;
      busy_ns_ += rate * static_cast<double>(node.busy);
      wait_ns_ += rate * static_cast<double>(node.wait);
      return {};
    }
    if (level == 0) return decode(static_cast<std::uint32_t>(index), node);
    for (std::size_t i = 0; i < kTreeFanout; ++i) {
      if (const Result<void> added = add(level - 1, index * kTreeFanout + i); !added) return added;
    }
    return {};
  }

  Result<void> decode(std::uint32_t leaf, const SliceNode& node) {
    const std::uint32_t chunk_index = lane_.chunk_of_leaf(leaf);
    const LoadedChunk loaded = TRY(load_chunk(store_, lane_, chunk_index));
    const ChunkView& view = loaded.view;
    const std::uint32_t block = leaf - lane_.chunk(chunk_index).first_leaf;
    BlockTimes times;
    std::uint64_t names[kBlockEvents];
    view.times(block, times);
    view.names(block, names);
    const double rate = mean_ns_per_tick(*lane_.clock, node.begin, node.end);
    for (std::uint32_t i = 0; i < view.block_size(block); ++i) {
      if (!range_.holds(times.begins[i], times.ends[i])) continue;
      ++count_;
      const double time_ns = rate * static_cast<double>(range_.shared(times.begins[i], times.ends[i]));
      const StringId name = strings_.session_id(scope_of(lane_.number()), static_cast<std::uint32_t>(names[i]));
      (waits_.contains(name) ? wait_ns_ : busy_ns_) += time_ns;
    }
    return {};
  }

  const Store& store_;
  const LaneSnapshot& lane_;
  TickRange range_;
  WaitNames waits_;
  const StringPool& strings_;
  std::uint64_t count_ = 0;
  double busy_ns_ = 0;
  double wait_ns_ = 0;
};

}  // namespace

Result<LaneShare> lane_share(const Store& store, const Snapshot& snapshot, std::uint32_t lane_index,
                             const TimeRange& range) {
  const LaneSnapshot& lane = snapshot.lanes[lane_index];
  if (lane.data->kind == EventKind::counter || lane.data->kind == EventKind::table) return LaneShare{};
  return LaneShareWalk(store, snapshot, lane, tick_range(lane, range)).run();
}

}  // namespace accelscope::lod
