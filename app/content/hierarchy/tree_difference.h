// Two trees of one kind laid over each other by the names of their paths: what A and B took of every node, for a
// differential flame graph and for its listing. Names that one of them lacks among siblings are matched again without
// the numbers in them.
//
//   auto found = tree_difference(base_query, other_query, "layer");     // "": the first kind that both have; on a
//   worker found->nodes[node].difference_ns();  found->change(node);           // by node of found->tree
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/content/hierarchy/tree_rows.h"
#include "core/analysis/comparison/name_matching.h"

namespace accelscope::app::content {

struct NodeDifference {
  std::int64_t base_ns = 0, other_ns = 0;  // busy time: a union, not a sum
  std::int64_t base_self_ns = 0, other_self_ns = 0;
  std::uint64_t base_events = 0, other_events = 0;
  EventId base_longest = kNoEvent, other_longest = kNoEvent;
  bool in_base = false, in_other = false;
  analysis::MatchKind match = analysis::MatchKind::exact;
  [[nodiscard]] std::int64_t difference_ns() const noexcept { return other_ns - base_ns; }
};

enum class NodeChange : std::uint8_t { same, more, less };

struct TreeDifference {
  // One capture of each says nothing of noise: what differs by less of the longer time is taken to be the same.
  static constexpr double kSameWithin = 0.02;

  analysis::Hierarchy tree;  // of all nodes that either has; its busy time is the longer one
  std::vector<NodeDifference> nodes;
  std::unique_ptr<const FlameLayout> by_base, by_other;
  std::vector<const analysis::PathKind*> kinds;              // that both sessions have
  std::size_t matched = 0, base_alone = 0, other_alone = 0;  // nodes

  [[nodiscard]] NodeChange change(std::size_t node) const noexcept;
  // Of the difference in the longer time: 0, within the noise, to 1, one has none of it.
  [[nodiscard]] double strength(std::size_t node) const noexcept;
};

[[nodiscard]] Result<std::shared_ptr<const TreeDifference>> tree_difference(const QueryContext& base,
                                                                            const QueryContext& other,
                                                                            const std::string& kind);
[[nodiscard]] TreeDifference laid_over(const analysis::Hierarchy& base, const analysis::Hierarchy& other);

// "+12.5 µs, 1.20×", "−3 µs, 0.71×", "the same"; "A alone" and "B alone".
[[nodiscard]] std::string difference_text(const NodeDifference& node, NodeChange change);
// "+", "−"; "" within the noise.
[[nodiscard]] std::string_view difference_sign(NodeChange change) noexcept;

// Nodes by the size of their difference.
[[nodiscard]] listing::Listing difference_listing(const TreeDifference& difference);
// "outer;inner A_NS B_NS" for each path with time of its own, as tools for differential flame graphs read it.
[[nodiscard]] std::string folded_difference(const TreeDifference& difference);

}  // namespace accelscope::app::content
