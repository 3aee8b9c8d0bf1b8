#include "core/analysis/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/source/host_calls.h"
#include "core/analysis/time/work_kind.h"
#include "core/scan/event_mask.h"
#include "core/scan/window_scan.h"

namespace accelscope {
namespace {

// What one thread gathers.
struct GroupGatherer {
  explicit GroupGatherer(GroupReader reads) : reader(std::move(reads)) {}
  GroupReader reader;
  std::vector<Distribution> groups;     // as the reader numbers them
  std::vector<ValueCounters> counters;  // of the same: where most values end at once
  Distribution rest;                    // of what the reader does not tell apart

  void add(const ScannedChunk& chunk, std::size_t most_kept) {
    reader.open(chunk);
    chunk.for_each_block([&](const ScannedBlock& block) {
      const GroupedBlock events = reader.read(block);
      if (events.valid == 0) return;
      if (groups.size() < reader.groups().size()) {
        groups.resize(reader.groups().size());
        counters.resize(groups.size());
      }
      if (events.whole != nullptr && events.valid == bits_between(block.first, block.last)) {
        for (std::uint32_t i = block.first; i < block.last; ++i) {
          const std::uint32_t group = events.groups[i];
          if (group < counters.size() && counters[group].count(events.whole[i])) continue;
          add_value(group, events.value(i), most_kept);
        }
        return;
      }
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (events.has(i)) add_value(events.groups[i], events.value(i), most_kept);
      }
    });
  }

 private:
  void add_value(std::uint32_t group, double value, std::size_t most_kept) {
    if (group == kRestGroup) {
      rest.add(value, most_kept);
    } else if (groups[group].add(value, most_kept)) {
      counters[group] = groups[group].counters();
    }
  }
};

std::uint64_t events_in(const Snapshot& snapshot, const LaneIndices& lanes, const TimeRange& range) {
  std::uint64_t events = 0;
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = snapshot.lanes[index];
    const ChunkSpan span = chunks_in(lane, tick_range(lane, range));
    for (std::uint32_t c = span.first; c < span.last; ++c) events += lane.chunk(c).count;
  }
  return events;
}

// The groups of all threads as one.
struct MergedGroups {
  explicit MergedGroups(std::size_t key_count) : keys(key_count, {}, {}) {}
  Groups keys;
  std::vector<Distribution> values;
  Distribution rest;  // of groups that were not told apart
  std::size_t most_kept = 0;

  // Stops where the query is cancelled.
  void take(GroupGatherer& from, const TaskControl& control) {
    for (std::size_t g = 0; g < from.groups.size() && !control.cancelled(); ++g) {
      if (from.groups[g].empty()) continue;
      const std::size_t into = keys.find(from.reader.groups().keys(g));
      if (into == values.size()) values.emplace_back();
      values[into].merge(std::move(from.groups[g]), most_kept);
    }
    rest.merge(std::move(from.rest), most_kept);
  }
};

// Reads all events once. known: only these groups are told apart.
Result<MergedGroups> gather_once(const QueryContext& query, const GroupKeys& keys, const TimeRange& range,
                                 const Groups* known, bool& met_others) {
  MergedGroups merged(keys.count());
  const bool keep_all = events_in(*query.snapshot, keys.lanes(), range) <= Statistics::kMostExact;
  merged.most_kept = keep_all ? Statistics::kMostExact + 1 : Distribution::kFolded;
  std::vector<std::unique_ptr<GroupGatherer>> workers;
  for (std::size_t w = 0; w < query.pool.concurrency(); ++w) {
    workers.push_back(
        std::make_unique<GroupGatherer>(known != nullptr ? GroupReader(keys, *known) : GroupReader(keys)));
  }
  const Result<void> scanned = scan_chunks(
      query, keys.lanes(), range,
      [&](const ScannedChunk& chunk, std::size_t worker) { workers[worker]->add(chunk, merged.most_kept); });
  if (!scanned) return scanned.error();
  for (const auto& worker : workers) {
    merged.take(*worker, query.control);
    met_others = met_others || worker->reader.met_others();
  }
  if (query.control.cancelled()) return cancelled_error();
  return merged;
}

// Numbers of groups, those of most events first.
std::vector<std::size_t> by_events(const std::vector<Distribution>& groups) {
  std::vector<std::uint64_t> counts;
  counts.reserve(groups.size());
  for (const Distribution& group : groups) counts.push_back(group.count());
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  return order;
}

// Where there are more groups than a thread tells apart, what each thread met of one may not be all: those of most
// events are then read once more, by themselves, and the others together.
Result<MergedGroups> gather_groups(const QueryContext& query, const GroupKeys& keys, const TimeRange& range,
                                   Statistics& found) {
  bool met_others = false;
  auto merged = gather_once(query, keys, range, nullptr, met_others);
  if (!merged || !met_others) return merged;
  found.counts_all_groups = false;
  std::vector<std::size_t> order = by_events(merged->values);
  found.left_out_groups = order.size() - std::min(order.size(), Statistics::kMostGroups);
  order.resize(std::min(order.size(), Statistics::kMostGroups));
  Groups known(keys.count(), {}, {});
  for (const std::size_t group : order) static_cast<void>(known.find(merged->keys.keys(group)));
  *merged = MergedGroups(keys.count());
  return gather_once(query, keys, range, &known, met_others);
}

// The self time of the host's calls by the keys of their groups.
class SelfTimesOfGroups {
 public:
  SelfTimesOfGroups(const QueryContext& query, const GroupKeys& keys)
      : kinds_(*query.snapshot), keys_(keys), query_(query) {
    for (const std::uint32_t lane : keys.lanes()) any_host_ = any_host_ || kinds_.of_lane(lane) == WorkKind::host;
    for (std::uint32_t lane = 0; lane < query.snapshot->lanes.size(); ++lane) {
      if (kinds_.of_lane(lane) == WorkKind::host && query.snapshot->lanes[lane].event_count > 0) hosts_.push_back(lane);
    }
  }

  // Adds to `times`, by group of `merged`; those that had none stay nothing.
  Result<void> add_to(const TimeRange& range, const MergedGroups& merged,
                      std::vector<std::optional<std::int64_t>>& times) {
    if (!any_host_ || !keys_.value_is_duration()) return {};
    struct GroupWorker {
      GroupWorker(const Snapshot& snapshot, const WorkKinds& kinds, const GroupKeys& keys, const Groups& known)
          : reader(keys, known), calls(snapshot, kinds) {}
      GroupReader reader;
      HostCalls calls;
      HostTimes times;
    };
    std::vector<std::unique_ptr<GroupWorker>> workers;
    for (std::size_t w = 0; w < query_.pool.concurrency(); ++w)
      workers.push_back(std::make_unique<GroupWorker>(*query_.snapshot, kinds_, keys_, merged.keys));
    QueryContext unmasked = query_;
    unmasked.mask = nullptr;
    const Snapshot& snapshot = *query_.snapshot;
    const TimeRange within{std::max(range.begin_ns, snapshot.begin_ns), std::min(range.end_ns, snapshot.end_ns)};
    const auto chunk = [&](const ScannedChunk& scanned, const ScanWindow&, std::size_t w) {
      GroupWorker& worker = *workers[w];
      const bool takes_part = std::binary_search(keys_.lanes().begin(), keys_.lanes().end(), scanned.lane_index);
      if (!takes_part) return worker.calls.add(scanned, query_.mask.get());
      worker.reader.open(scanned);
      worker.calls.add(scanned, query_.mask.get(),
                       [&worker](const ScannedBlock& block) { return worker.reader.read(block).groups; });
    };
    const auto end = [&](const ScanWindow& window, std::size_t w) {
      workers[w]->calls.close(window.range, workers[w]->times);
    };
    const Result<void> scanned = scan_windows(unmasked, hosts_, within, {.chunk = chunk, .end = end});
    if (!scanned) return scanned;
    for (const auto& worker : workers) {
      for (const auto& [group, time] : worker->times.groups) {
        if (group < times.size()) times[group] = times[group].value_or(0) + time.busy_ns + time.wait_ns;
      }
    }
    return {};
  }

 private:
  WorkKinds kinds_;
  const GroupKeys& keys_;
  const QueryContext& query_;
  LaneIndices hosts_;
  bool any_host_ = false;
};

}  // namespace

Result<std::shared_ptr<const Statistics>> statistics(const QueryContext& query, const StatisticsQuestion& question) {
  const Snapshot& snapshot = *query.snapshot;
  const auto keys = GroupKeys::find(snapshot, question.filter, question.by, question.value);
  if (!keys) return keys.error();
  auto found = std::make_shared<Statistics>();
  found->question = question;
  found->snapshot_version = snapshot.version;
  found->unit = (*keys)->value_unit();
  found->lanes = (*keys)->lanes();
  const TimeRange range = question.filter.range.value_or(TimeRange{});
  auto merged = gather_groups(query, **keys, range, *found);
  if (!merged) return merged.error();
  std::vector<std::optional<std::int64_t>> self_times(merged->values.size());
  const Result<void> added = SelfTimesOfGroups(query, **keys).add_to(range, *merged, self_times);
  if (!added) return added.error();

  // Those of most events are kept, the others are the last row.
  std::vector<std::size_t> order = by_events(merged->values);
  std::optional<std::int64_t> rest_self;
  for (std::size_t i = Statistics::kMostGroups; i < order.size(); ++i) {
    merged->rest.merge(std::move(merged->values[order[i]]), merged->most_kept);
    if (self_times[order[i]]) rest_self = rest_self.value_or(0) + *self_times[order[i]];
    ++found->left_out_groups;
  }
  order.resize(std::min(order.size(), Statistics::kMostGroups));
  std::vector<Distribution*> parts;
  for (const std::size_t group : order) parts.push_back(&merged->values[group]);
  found->has_rest = merged->rest.count() > 0;
  if (found->has_rest) parts.push_back(&merged->rest);
  Distribution all;
  for (const Distribution* part : parts) all.merge(*part, merged->most_kept);
  found->rows.resize(parts.size());
  // The figures of all take longest, so they are first.
  query.pool.for_each(parts.size() + 1, query.control, [&](std::size_t index, std::size_t) {
    if (index == 0) {
      found->all = all.figures();
      return;
    }
    const std::size_t i = index - 1;
    const bool is_rest = i == order.size();
    found->rows[i] = {
        is_rest ? std::vector<FieldValue>(question.by.size()) : (*keys)->values_of(merged->keys.keys(order[i])),
        parts[i]->figures(), is_rest ? rest_self : self_times[order[i]]};
  });
  if (query.control.cancelled()) return cancelled_error();
  const auto last = found->rows.end() - (found->has_rest ? 1 : 0);
  std::sort(found->rows.begin(), last, [](const StatisticsRow& a, const StatisticsRow& b) {
    const bool a_counts = std::isfinite(a.figures.total), b_counts = std::isfinite(b.figures.total);
    if (a_counts != b_counts) return a_counts;
    return a_counts && a.figures.total != b.figures.total ? a.figures.total > b.figures.total : a.keys < b.keys;
  });
  return std::shared_ptr<const Statistics>(std::move(found));
}

}  // namespace accelscope
