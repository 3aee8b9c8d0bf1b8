// What a worker keeps while it puts events into a tree: its copy of the nodes, what it knows of their children, and its
// sums.
#pragma once

#include <algorithm>
#include <vector>

#include "core/analysis/hierarchy/hierarchy_units.h"
#include "core/analysis/hierarchy/node_sums.h"
#include "core/analysis/hierarchy/path_kinds.h"
#include "core/analysis/hierarchy/path_tree.h"
#include "core/scan/window_scan.h"

namespace accelscope {

// What all workers share of one question.
struct PathPlan {
  const QueryContext& query;
  const WorkKinds& works;
  const HierarchyUnits& units;
  const PathKind& kind;
  TimeRange range;
  std::size_t depth = 0;
  std::vector<std::uint64_t> device_bits;  // of every lane: NodeTotals::devices
  PathTree& tree;

  [[nodiscard]] const Snapshot& snapshot() const noexcept { return *query.snapshot; }
};

class PathWorker {
 public:
  explicit PathWorker(const PathPlan& of) : plan(of), sums(of.units.units().size()) { sums.resize(1); }

  // The node of a string of the session below another one; the same one where it would lie deeper than was asked for.
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, StringId text, bool detail = false) {
    const std::uint32_t key = text * 2 + (detail ? 1 : 0);
    if (const std::uint32_t known = known_.find(parent, key); known != 0) return known - 1;
    const std::uint32_t node = child_of_text(parent, plan.snapshot().strings->text(text), detail);
    known_.add(parent, key, node + 1);
    return node;
  }
  [[nodiscard]] std::uint32_t child_of_text(std::uint32_t parent, std::string_view text, bool detail = false) {
    if (nodes[parent].depth >= plan.depth) return parent;
    const std::uint32_t node = plan.tree.child(parent, text, detail);
    if (node >= nodes.size()) plan.tree.copy_new(nodes);
    return node;
  }
  // What one event adds to its node: whole, but for its window.
  void add_event(std::uint32_t node, std::uint32_t lane, EventId id, std::int64_t begin_ns, std::int64_t end_ns) {
    NodeTotals& totals = sums.totals(node);
    const std::int64_t begin = std::max(begin_ns, plan.range.begin_ns);
    const std::int64_t end = std::min(end_ns, plan.range.end_ns);
    ++totals.events;
    totals.sum_ns += end - begin;
    totals.devices |= plan.device_bits[lane];
    if (end - begin > totals.longest_ns) {
      totals.longest_ns = end - begin;
      totals.longest = id;
    }
    totals.stretch.begin_ns = std::min(totals.stretch.begin_ns, begin);
    totals.stretch.end_ns = std::max(totals.stretch.end_ns, end);
    sums.count(node, plan.units.of_lane(lane));
  }

  const PathPlan& plan;
  std::vector<PathNode> nodes = {PathNode{}};
  NodeSums sums;
  std::uint64_t cut_events = 0;

 private:
  PairTable known_;  // of a node and a string (twice its id, one more for a detail): the child, + 1
};

}  // namespace accelscope
