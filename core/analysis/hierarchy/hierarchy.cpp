#include "core/analysis/hierarchy/hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "core/analysis/figures/metrics.h"
#include "core/analysis/hierarchy/hierarchy_index.h"
#include "core/analysis/hierarchy/path_scan.h"
#include "core/base/capped.h"

namespace accelscope::analysis {
namespace {

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
std::vector<std::string> tables_without(const Snapshot& snapshot, const PathSubject& subject) {
  const WorkKinds& works = subject.works;
  const PathKind& kind = subject.kind;
  std::set<std::string> without;
  if (kind.source != PathSource::column) return {};
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (!is_device_work(works.of_lane(i)) || lane.event_count == 0 || !works.covers_time(i)) continue;
    if (!path_column(kind, *lane.schema) && !subject.borrowed->has_lane(static_cast<std::uint32_t>(i)))
      without.insert(lane.schema->name);
  }
  return {without.begin(), without.end()};
}

// Nodes in the order of the answer: children together, the longest first, level by level.
void place_nodes(const std::vector<PathNode>& nodes, const NodeSums& sums, const SetPeaks& peaks, std::size_t depth,
                 Hierarchy& result) {
  const std::string_view missing = result.kind->missing;
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
      const bool is_empty = sums.totals_of(node).events == 0 && sums.cover_of(node).busy_ns == 0;
      return is_empty || nodes[node].depth > depth;
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
      result.unit_events[at * units + unit] = sums.unit_of(order[at], unit).events;
      result.unit_busy_ns[at * units + unit] = sums.unit_of(order[at], unit).busy_ns;
    }
  }
}

// What the pieces of an index do not hold of a range: what lies beside them, and what its ends cut.
class RangeSums {
 public:
  RangeSums(const QueryContext& query, const PathSubject& subject, const PathPlan& plan, const HierarchyInput& input)
      : query_(query), subject_(subject), plan_(plan), input_(input), sums_(subject.units.units().size()) {}

  Result<void> scan(const TimeRange& stretch, bool first) {
    if (stretch.empty()) return {};
    if (!launches_known_) {
      auto known = TRY(launches_of(query_, subject_, input_.launches));
      launches_ = std::move(known);
      launches_known_ = true;
    }
    return scan_paths({.query = query_,
                       .subject = subject_,
                       .plan = plan_,
                       .launches = launches_,
                       .add =
                           [this](WindowPart&& part) {
                             const std::scoped_lock lock(mutex_);
                             sums_.add(part.sums);
                             cut_events_ += part.cut_events;
                           },
                       .window_events = input_.window_events},
                      stretch, first);
  }
  void add(const HierarchyIndex::Piece& piece) {
    sums_.add(piece.sums);
    cut_events_ += piece.cut_events;
    const std::int64_t first_ns = std::max(plan_.range.begin_ns, plan_.snapshot().begin_ns);
    for (const PlacedEvent& event : piece.edges.over_end) {
      NodeTotals& totals = sums_.totals(event.node);
      totals.devices |= plan_.device_bits[event.lane];
      totals.add_event(event.id, part_inside(event.begin_ns, event.end_ns, plan_.range));
      sums_.count(event.node, plan_.units.of_lane(event.lane));
      add_amount(totals, event.amount, event.begin_ns, event.end_ns, plan_.range, first_ns);
    }
    for (const PlacedEvent& event : piece.edges.waited) {
      std::int64_t& waited_ns = sums_.totals(event.node).wait_ns;
      waited_ns = capped_sum(waited_ns, wait_of(event.amount, event.begin_ns, event.end_ns, plan_.range, first_ns));
    }
    for (const PlacedLaunch& launch : piece.edges.launches) {
      NodeTotals& totals = sums_.totals(launch.node);
      ++totals.launched_events;
      totals.launched_ns = capped_sum(totals.launched_ns,
                                      part_inside(launch.work.begin_ns, launch.work.end_ns, plan_.range).length_ns());
    }
  }
  [[nodiscard]] NodeSums& sums() noexcept { return sums_; }
  // That lie deeper than the plan's depth.
  [[nodiscard]] std::uint64_t cut_events() const noexcept { return cut_events_; }

 private:
  const QueryContext& query_;
  const PathSubject& subject_;
  const PathPlan& plan_;
  const HierarchyInput& input_;
  std::mutex mutex_;
  NodeSums sums_;
  std::uint64_t cut_events_ = 0;
  bool launches_known_ = false;
  std::vector<HostLaunch> launches_;
};

// Those of the index that lie in the range. What begins before a piece and reaches into it is met beside it, so none
// begins where the range does, unless nothing comes before it.
std::vector<std::shared_ptr<const HierarchyIndex::Piece>> pieces_inside(const HierarchyIndex& index,
                                                                        const PathSubject& subject,
                                                                        const Snapshot& snapshot, TimeRange range) {
  if (range.begin_ns <= snapshot.begin_ns) range.begin_ns = std::numeric_limits<std::int64_t>::min();
  if (range.end_ns > snapshot.end_ns) range.end_ns = std::numeric_limits<std::int64_t>::max();
  const bool from_the_first = range.begin_ns == std::numeric_limits<std::int64_t>::min();
  auto pieces = index.pieces_of(snapshot, subject);
  std::erase_if(pieces, [&](const auto& piece) {
    if (piece->range.end_ns > range.end_ns) return true;
    return from_the_first ? false : piece->range.begin_ns <= range.begin_ns;
  });
  return pieces;
}

// All sums of the range but those of levels above.
Result<void> sum_up(RangeSums& all, const PathSubject& subject, const PathPlan& plan, const HierarchyIndex* index) {
  const auto pieces = index == nullptr ? std::vector<std::shared_ptr<const HierarchyIndex::Piece>>()
                                       : pieces_inside(*index, subject, plan.snapshot(), plan.range);
  if (pieces.empty()) return all.scan(plan.range, true);
  all.sums().resize(plan.tree.size());
  for (const auto& piece : pieces) all.add(*piece);
  const auto before = all.scan({plan.range.begin_ns, pieces.front()->range.begin_ns}, true);
  if (!before) return before;
  return all.scan({pieces.back()->range.end_ns, plan.range.end_ns}, false);
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

Result<const PathKind*> kind_of_question(const QueryContext& query, const std::string& name,
                                         std::vector<const PathKind*>* all) {
  auto kinds = TRY(kinds_of_session(query));
  const PathKind* wanted = kinds.empty() ? nullptr : kinds.front();
  if (!name.empty()) {
    wanted = find_path_kind(name);
    if (wanted == nullptr) return Error{fmt::format("no kind of path is called {}", name)};
    if (std::find(kinds.begin(), kinds.end(), wanted) == kinds.end()) wanted = nullptr;
  }
  if (all != nullptr) *all = std::move(kinds);
  return wanted;
}

Result<std::shared_ptr<const Hierarchy>> session_hierarchy(const QueryContext& query, const HierarchyQuestion& question,
                                                           const TimeRange& range, const HierarchyInput& input) {
  const Snapshot& snapshot = *query.snapshot;
  auto result = std::make_shared<Hierarchy>();
  result->snapshot_version = snapshot.version;
  result->range = {std::max(range.begin_ns, snapshot.begin_ns), std::min(range.end_ns, snapshot.end_ns)};
  result->nodes.resize(1);
  result->labels.resize(1);
  const auto kind = TRY(kind_of_question(query, question.kind, &result->kinds));
  result->kind = kind;
  if (result->kind == nullptr) return std::shared_ptr<const Hierarchy>(std::move(result));

  const bool is_of_index =
      input.index != nullptr && &input.index->kind() == kind && input.index->snapshot_version() == snapshot.version;
  const PathSubject known_subject =
      TRY(PathSubject::find(query, *kind, is_of_index ? input.index->borrowed() : nullptr));
  const PathSubject& subject = known_subject;
  const std::size_t depth = std::clamp<std::size_t>(question.depth, 1, HierarchyQuestion::kMostDepth);
  // The pieces know neither a filter nor a search, and once their tree is full they have lost levels.
  const bool indexed = input.index != nullptr && &input.index->kind() == kind && !query.mask &&
                       question.marked.empty() &&
                       (depth == HierarchyQuestion::kMostDepth || !input.index->tree().is_full());
  PathTree own_tree(question.marked);
  PathTree& tree = indexed ? input.index->tree() : own_tree;
  const PathPlan plan = subject.plan(query, range, indexed ? HierarchyQuestion::kMostDepth : depth, tree);
  RangeSums all(query, subject, plan, input);
  TRY(sum_up(all, subject, plan, indexed ? input.index : nullptr));
  std::vector<PathNode> nodes;
  tree.copy_new(nodes);
  NodeSums& sums = all.sums();
  sums.resize(nodes.size());
  // Folded levels hold what the plan has cut below them.
  const std::uint64_t folded = indexed ? sums.fold(nodes, depth) : 0;
  result->cut_events = depth == plan.depth ? all.cut_events() : folded;
  sums.add_up(nodes, depth);
  result->units = subject.units.units();
  result->without = tables_without(snapshot, subject);
  for (const std::uint32_t lane : subject.borrowed->lanes()) {
    result->borrowing |= std::uint64_t{1} << subject.units.of_lane(lane);
    result->borrowing_events += snapshot.lanes[lane].event_count;
  }
  result->marked_ns = sums.marked_ns();
  result->is_full = tree.is_full();
  result->labels = tree.labels();
  place_nodes(nodes, sums, SetPeaks(snapshot, subject.devices), depth, *result);
  return std::shared_ptr<const Hierarchy>(std::move(result));
}

}  // namespace accelscope::analysis
