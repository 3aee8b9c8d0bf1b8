// The events of a session as one tree: by the path of their layer, by operator, by the calls of the host that they lie
// in, whatever the session has (path_kinds.h); with what every node and all below it took, moved and computed.
//
//   auto tree = session_hierarchy(query, {.kind = "layer"});    // "": the first kind that the session has
//   for (child of tree->nodes[0]) ... tree->text(child), tree->nodes[child].cover.busy_ns
//
// Times are clipped to the range, bytes, FLOPs and waits in proportion; an event cut by an edge counts as one. Busy
// time is a union: time in which at least one event of the node or below it is under way and does not wait; of calls
// and zones, which hold others, what the innermost one does counts. With a mask in the query only events that pass it
// are counted; calls around one that does keep their place in its path. Commentary (work_kind.h) takes part only where
// nothing else has such paths.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/dependencies/launches.h"
#include "core/analysis/hierarchy/node_sums.h"
#include "core/analysis/hierarchy/path_kinds.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct HierarchyQuestion {
  static constexpr std::size_t kMostDepth = 96;
  std::string kind;                // PathKind::name; "": the first that the session has
  std::size_t depth = kMostDepth;  // what lies deeper is counted in the last level, 1 or more
  std::string marked;              // what is looked for in the nodes' texts, in small letters: see marked_ns
  bool operator==(const HierarchyQuestion&) const = default;
};

struct HierarchyNode {
  std::uint32_t parent = 0;
  std::uint32_t label = 0;                         // of Hierarchy::labels
  std::uint32_t first_child = 0, child_count = 0;  // the longest first; after their parent
  std::uint16_t depth = 0;
  bool detail = false;   // a source line below its path
  bool missing = false;  // stands for events that have no such path
  NodeTotals totals;     // of all below it, too
  NodeCover cover;
  double peak_flops = 0;  // of the devices that could have computed it, a second; 0: not known
};

struct Hierarchy {
  std::uint64_t snapshot_version = 0;
  TimeRange range;                     // the question's, no further than the session's events go
  std::vector<const PathKind*> kinds;  // that the session has
  const PathKind* kind = nullptr;      // that this is by; null: the session has none, and there is only the root
  std::vector<HierarchyUnit> units;
  std::vector<HierarchyNode> nodes;  // [0]: all of them
  std::vector<std::string> labels;
  std::vector<std::uint64_t> unit_events;  // by node and unit: node * units.size() + unit
  std::vector<std::int64_t> unit_busy_ns;  // likewise, a union
  std::int64_t marked_ns = 0;          // busy time of the nodes that have the question's text and of all below, a union
  std::uint64_t cut_events = 0;        // lie deeper than the question's depth
  bool is_full = false;                // of more nodes than PathTree::kMostNodes the rest is counted above
  std::uint64_t borrowing = 0;         // a bit for each unit whose events are there by what set them off
  std::uint64_t borrowing_events = 0;  // of their lanes in the whole session, those that nothing set off included
  std::vector<std::string> without;    // tables of work that have no such column, so that none of them is in it

  [[nodiscard]] const std::string& text(std::size_t node) const noexcept { return labels[nodes[node].label]; }
  [[nodiscard]] double share(std::size_t node) const noexcept;                 // of all that is busy
  [[nodiscard]] std::optional<double> achieved_flops(std::size_t node) const;  // a second of busy time
  [[nodiscard]] std::optional<double> mfu(std::size_t node) const;             // of what its devices can do
  // From the outermost level on, as PathKind::separator joins them.
  [[nodiscard]] std::string path(std::size_t node) const;
};

class HierarchyIndex;

// What is known already.
struct HierarchyInput {
  const std::vector<HostLaunch>* launches = nullptr;  // of the same snapshot; null: found where calls are asked for
  const HierarchyIndex* index = nullptr;              // of this or of an earlier snapshot
  std::uint64_t window_events = kWindowEvents;        // that are put in order at once
};

[[nodiscard]] Result<std::shared_ptr<const Hierarchy>> session_hierarchy(const QueryContext& query,
                                                                         const HierarchyQuestion& question,
                                                                         const TimeRange& range = {},
                                                                         const HierarchyInput& input = {});

// That of a name, "": the first that the session has. Null: the session does not have it. An error: there is none of
// the name.
[[nodiscard]] Result<const PathKind*> kind_of_question(const QueryContext& query, const std::string& name,
                                                       std::vector<const PathKind*>* all = nullptr);

}  // namespace accelscope::analysis
