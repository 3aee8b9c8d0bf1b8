// How a node is found again in another tree of the same kind, where it has another number: by the texts of its path.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/hierarchy/hierarchy.h"

namespace accelscope::app {

using NodeName = std::vector<std::string>;  // outermost first; of the root: none

[[nodiscard]] inline NodeName name_of_node(const Hierarchy& tree, std::size_t node) {
  NodeName name;
  for (std::size_t at = node; at != 0; at = tree.nodes[at].parent) name.push_back(tree.text(at));
  std::reverse(name.begin(), name.end());
  return name;
}

// As far down as the tree has it.
[[nodiscard]] inline std::size_t nearest_node(const Hierarchy& tree, const NodeName& name) {
  std::size_t at = 0;
  for (const std::string& text : name) {
    const HierarchyNode& node = tree.nodes[at];
    std::size_t child = node.first_child;
    const std::size_t end = child + node.child_count;
    while (child < end && tree.text(child) != text) ++child;
    if (child == end) return at;
    at = child;
  }
  return at;
}

[[nodiscard]] inline std::optional<std::size_t> find_node(const Hierarchy& tree, const NodeName& name) {
  const std::size_t at = nearest_node(tree, name);
  return tree.nodes[at].depth == name.size() ? std::optional(at) : std::nullopt;
}

// Where the tree begins to fork: nodes that have nearly all of the time of their parents say nothing beside them.
[[nodiscard]] inline std::size_t first_fork(const Hierarchy& tree) {
  constexpr double kNearlyAll = 0.95;
  constexpr std::uint16_t kShortPath = 3;  // which may be shown as a whole
  std::size_t at = 0;
  while (tree.nodes[at].child_count > 0) {
    const std::size_t child = tree.nodes[at].first_child;
    const auto busy = static_cast<double>(tree.nodes[child].cover.busy_ns);
    if (busy < kNearlyAll * static_cast<double>(tree.nodes[0].cover.busy_ns)) break;
    at = child;
  }
  return tree.nodes[at].depth > kShortPath ? at : 0;
}

// Tells paths apart: of a child by that of its parent.
[[nodiscard]] inline std::uint64_t node_hash(std::uint64_t parent, std::string_view text) noexcept {
  std::uint64_t hash = (parent ^ 14695981039346656037ULL) * 1099511628211ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace accelscope::app
