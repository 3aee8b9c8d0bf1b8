// The rows of a tree that are open, in the order of a measure or of names. What is open is kept by path, so that it
// stays so in the next tree. UI thread; only what is open is looked at.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "app/content/hierarchy/flame_layout.h"
#include "app/content/hierarchy/measures.h"
#include "app/content/hierarchy/name_uses.h"
#include "core/analysis/hierarchy/hierarchy.h"

namespace accelscope::app {

// How a node is found again in another tree of the same kind, where it has another number: by the texts of its path.

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

// What a search finds among the nodes of a tree.
struct LayerHits {
  std::string text;              // in small letters
  std::vector<bool> hit, below;  // by node: it has the text; one below has
  std::uint64_t count = 0;
};
[[nodiscard]] LayerHits find_layers(const Hierarchy& tree, std::string text);

// By its measure, the largest first; nothing: by name. Descending: the other way round of neither.
struct TreeOrder {
  std::optional<LayerMeasure> measure = LayerMeasure::busy;
  bool descending = true;
  bool operator==(const TreeOrder&) const = default;
};

// All that is shown of a tree, made on a worker, so that it appears as one and costs the UI thread what is seen of it.
struct TreeView {
  std::shared_ptr<const Hierarchy> tree;
  FlameLayout layout;
  TreeOrder order;
  std::vector<std::uint32_t> sorted;  // what comes in the place of node i among its siblings; empty: node i
  LayerHits hits;                     // text "": nothing is looked for
  std::vector<NameUse> names;         // name_uses()

  TreeView(std::shared_ptr<const Hierarchy> of, LayerMeasure width, const TreeOrder& wanted, const std::string& text);
};

struct TreeRow {
  std::uint32_t node = 0;
  std::uint64_t path = 0;  // node_hash
  bool open = false;
};

class TreeRows {
 public:
  static constexpr std::size_t kMostRows = 200'000;

  // Makes the rows anew where something has changed. Of a tree of another kind the longest paths are opened, up to some
  // rows; until the user opens or closes one, those of every tree that follows.
  void update(const std::shared_ptr<const TreeView>& view);
  void toggle(std::size_t row);
  void open_to(const NodeName& name);  // all above it
  void close_all() { open_.clear(), changed_ = touched_ = true; }
  [[nodiscard]] const std::vector<TreeRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] std::optional<std::size_t> row_of(std::uint32_t node) const;
  [[nodiscard]] std::optional<std::size_t> row_of_path(std::uint64_t path) const;  // node_hash

 private:
  void open_first(std::size_t rows);
  void make_rows();
  [[nodiscard]] bool is_open(std::uint32_t node, std::uint64_t path) const;

  std::shared_ptr<const TreeView> view_;
  std::unordered_set<std::uint64_t> open_;    // paths
  std::unordered_set<std::uint64_t> closed_;  // that hits would open
  const PathKind* opened_for_ = nullptr;
  bool changed_ = true;
  bool touched_ = false;  // by the user, since the first tree of the kind
  std::vector<TreeRow> rows_;
};

}  // namespace accelscope::app
