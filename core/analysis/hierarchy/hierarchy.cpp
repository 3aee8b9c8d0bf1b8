#include "core/analysis/hierarchy/hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>

#include "core/analysis/figures/vendor_figures.h"
#include "core/analysis/hierarchy/column_paths.h"
#include "core/analysis/hierarchy/nested_paths.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope {
namespace {

constexpr std::size_t kDeviceBits = 63;  // the last bit stands for all further devices

// Which devices could have computed what the lane's events did: those whose events have operations.
std::vector<std::uint64_t> device_bits(const Snapshot& snapshot, const TrackDevices& devices) {
  std::vector<std::uint64_t> bits(snapshot.lanes.size(), 0);
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (!lane.schema || (vendor_of_work(lane) == nullptr && !lane.schema->find(Role::flops))) continue;
    bits[i] = std::uint64_t{1} << std::min(devices.of_lane(i), kDeviceBits);
  }
  return bits;
}

// What all devices of a set can do in a second; 0 where one of them does not say.
class SetPeaks {
 public:
  SetPeaks(const Snapshot& snapshot, const TrackDevices& devices) {
    for (std::size_t i = 0; i < std::min(devices.count(), kDeviceBits); ++i) {
      peaks_.push_back(device_peaks(snapshot, devices.label(i)).flops);
    }
  }
  [[nodiscard]] double of(std::uint64_t set) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i <= kDeviceBits; ++i) {
      if ((set >> i & 1U) == 0) continue;
      if (i >= peaks_.size() || peaks_[i] <= 0) return 0;
      sum += peaks_[i];
    }
    return sum;
  }

 private:
  std::vector<double> peaks_;
};

// The tables of work that cannot be in the tree, as none of their events has such a path.
std::vector<std::string> tables_without(const Snapshot& snapshot, const WorkKinds& works, const PathKind& kind) {
  std::set<std::string> without;
  if (kind.source != PathSource::column) return {};
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (!is_device_work(works.of_lane(i)) || lane.event_count == 0 || !works.covers_time(i)) continue;
    if (!path_column(kind, *lane.schema)) without.insert(lane.schema->name);
  }
  return {without.begin(), without.end()};
}

// Nodes in the order of the answer: children together, the longest first, level by level.
void place_nodes(const std::vector<PathNode>& nodes, const NodeSums& sums, const SetPeaks& peaks,
                 std::string_view missing, Hierarchy& result) {
  const std::size_t units = result.units.size();
  std::vector<std::uint32_t> starts(nodes.size() + 1, 0), children(nodes.size());
  for (std::size_t i = 1; i < nodes.size(); ++i) ++starts[nodes[i].parent + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::uint32_t> next = starts;
  for (std::uint32_t i = 1; i < nodes.size(); ++i) children[next[nodes[i].parent]++] = i;
  std::vector<std::uint32_t> order = {PathTree::kRoot};  // old numbers, by new one
  order.reserve(nodes.size());
  result.nodes.resize(1);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::uint32_t old = order[at];
    const auto first = children.begin() + starts[old], last = children.begin() + starts[old + 1];
    // What has no event at all is only met by workers that look ahead.
    const auto end = std::remove_if(first, last, [&](std::uint32_t node) {
      return sums.totals_of(node).events == 0 && sums.cover_of(node).busy_ns == 0;
    });
    std::sort(first, end, [&](std::uint32_t a, std::uint32_t b) {
      const std::int64_t busy_a = sums.cover_of(a).busy_ns, busy_b = sums.cover_of(b).busy_ns;
      if (busy_a != busy_b) return busy_a > busy_b;
      return result.labels[nodes[a].label] < result.labels[nodes[b].label];
    });
    HierarchyNode& node = result.nodes[at];
    node.first_child = static_cast<std::uint32_t>(order.size());
    node.child_count = static_cast<std::uint32_t>(end - first);
    node.label = nodes[old].label;
    node.depth = nodes[old].depth;
    node.detail = nodes[old].detail;
    node.missing = node.depth == 1 && result.labels[node.label] == missing;
    node.totals = sums.totals_of(old);
    node.cover = sums.cover_of(old);
    node.peak_flops = peaks.of(node.totals.devices);
    order.insert(order.end(), first, end);
    result.nodes.resize(order.size());
    for (std::size_t i = order.size() - static_cast<std::size_t>(end - first); i < order.size(); ++i) {
      result.nodes[i].parent = static_cast<std::uint32_t>(at);
    }
  }
  result.unit_events.resize(order.size() * units);
  result.unit_busy_ns.resize(order.size() * units);
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (std::size_t unit = 0; unit < units; ++unit) {
      result.unit_events[at * units + unit] = sums.events_of(order[at], unit);
      result.unit_busy_ns[at * units + unit] = sums.busy_of(order[at], unit);
    }
  }
}

// And what else is on the threads of these lanes: what lies within a call says whether it works or waits.
LaneIndices with_whole_threads(const Snapshot& snapshot, const WorkKinds& works, LaneIndices lanes) {
  std::set<std::size_t> threads;
  for (const std::uint32_t lane : lanes) {
    if (works.of_lane(lane) == WorkKind::host) threads.insert(works.thread_of_lane(lane));
  }
  const std::set<std::uint32_t> known(lanes.begin(), lanes.end());
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (works.of_lane(i) != WorkKind::host || snapshot.lanes[i].event_count == 0 || known.contains(i)) continue;
    if (threads.contains(works.thread_of_lane(i))) lanes.push_back(i);
  }
  return lanes;
}

// Puts the events of the lanes into the tree; the sums of all workers together.
template <typename Paths, typename... Arguments>
Result<NodeSums> gather(const QueryContext& scanned, const PathPlan& plan, const LaneIndices& lanes, Hierarchy& result,
                        Arguments&... arguments) {
  std::vector<std::unique_ptr<Paths>> workers(scanned.pool.concurrency());
  for (auto& each : workers) each = std::make_unique<Paths>(plan, arguments...);
  const Result<void> done =
      scan_windows(scanned, lanes, plan.range,
                   {.chunk = [&](const ScannedChunk& chunk, const ScanWindow& window,
                                 std::size_t worker) { workers[worker]->add(chunk, window); },
                    .end = [&](const ScanWindow& window, std::size_t worker) { workers[worker]->close(window); }});
  if (!done) return done.error();
  NodeSums sums = std::move(workers[0]->worker().sums);
  result.cut_events = workers[0]->worker().cut_events;
  for (std::size_t i = 1; i < workers.size(); ++i) {
    sums.merge(workers[i]->worker().sums);
    result.cut_events += workers[i]->worker().cut_events;
    workers[i].reset();
  }
  sums.add_up(plan.tree.nodes());
  return sums;
}

}  // namespace

double Hierarchy::share(std::size_t node) const noexcept {
  const std::int64_t all = nodes.empty() ? 0 : nodes[0].cover.busy_ns;
  return all <= 0 ? 0 : static_cast<double>(nodes[node].cover.busy_ns) / static_cast<double>(all);
}

std::optional<double> Hierarchy::achieved_flops(std::size_t node) const {
  const HierarchyNode& of = nodes[node];
  if (of.totals.flops <= 0 || of.cover.busy_ns <= 0) return std::nullopt;
  return of.totals.flops * 1e9 / static_cast<double>(of.cover.busy_ns);
}

std::optional<double> Hierarchy::mfu(std::size_t node) const {
  const auto achieved = achieved_flops(node);
  if (!achieved || nodes[node].peak_flops <= 0) return std::nullopt;
  return *achieved / nodes[node].peak_flops;
}

std::string Hierarchy::path(std::size_t node) const {
  std::vector<std::string_view> parts;
  for (std::size_t at = node; at != 0; at = nodes[at].parent) parts.push_back(text(at));
  std::reverse(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, kind == nullptr ? std::string_view("/") : kind->separator));
}

Result<std::shared_ptr<const Hierarchy>> session_hierarchy(const QueryContext& query, const HierarchyQuestion& question,
                                                           const TimeRange& range,
                                                           const std::vector<HostLaunch>* launches) {
  const Snapshot& snapshot = *query.snapshot;
  auto result = std::make_shared<Hierarchy>();
  result->snapshot_version = snapshot.version;
  result->range = {std::max(range.begin_ns, snapshot.begin_ns), std::min(range.end_ns, snapshot.end_ns)};
  result->nodes.resize(1);
  result->labels.resize(1);
  auto kinds = kinds_of_session(query);
  if (!kinds) return kinds.error();
  result->kinds = std::move(*kinds);
  if (question.kind.empty()) {
    result->kind = result->kinds.empty() ? nullptr : result->kinds.front();
  } else {
    const PathKind* wanted = find_path_kind(question.kind);
    if (wanted == nullptr) return Error{fmt::format("no kind of path is called {}", question.kind)};
    const bool there = std::find(result->kinds.begin(), result->kinds.end(), wanted) != result->kinds.end();
    result->kind = there ? wanted : nullptr;
  }
  if (result->kind == nullptr) return std::shared_ptr<const Hierarchy>(std::move(result));

  const WorkKinds works(snapshot);
  const TrackDevices devices(snapshot);
  const LaneIndices lanes = lanes_with_paths(snapshot, works, *result->kind);
  const HierarchyUnits units(snapshot, works, lanes);
  PathTree tree(question.marked);
  const PathPlan plan{query,
                      works,
                      units,
                      *result->kind,
                      range,
                      std::clamp<std::size_t>(question.depth, 1, HierarchyQuestion::kMostDepth),
                      device_bits(snapshot, devices),
                      tree};
  Result<NodeSums> sums = [&]() -> Result<NodeSums> {
    if (!result->kind->is_nested())
      return gather<ColumnPaths>(query, plan, with_whole_threads(snapshot, works, lanes), *result);
    QueryContext whole = query;
    whole.mask = nullptr;
    std::vector<HostLaunch> found;
    if (result->kind->source == PathSource::host_calls) {
      if (launches != nullptr) {
        found = *launches;
      } else if (auto all = host_launches(whole, works); all) {
        found = std::move(*all);
      } else {
        return all.error();
      }
      std::sort(found.begin(), found.end(), [](const HostLaunch& a, const HostLaunch& b) {
        return a.source != b.source ? a.source < b.source : a.target < b.target;
      });
    }
    const EventMask* passing = query.mask.get();
    return gather<NestedPaths>(whole, plan, lanes, *result, found, passing);
  }();
  if (!sums) return sums.error();
  result->units = units.units();
  result->without = tables_without(snapshot, works, *result->kind);
  result->marked_ns = sums->marked_ns();
  result->is_full = tree.is_full();
  const std::vector<PathNode> nodes = tree.nodes();
  result->labels = tree.take_labels();
  place_nodes(nodes, *sums, SetPeaks(snapshot, devices), result->kind->missing, *result);
  return std::shared_ptr<const Hierarchy>(std::move(result));
}

}  // namespace accelscope
