// The rows of a tree that are open, in the order of a measure or of names. What is open is kept by path, so that it
// stays so in the next tree. UI thread; only what is open is looked at.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/analysis/hierarchy/hierarchy.h"
#include "core/base/format.h"
#include "core/listing/analysis_listings.h"

namespace accelscope::app::content {

// What a tree of layers or stacks can be measured by: the widths of a flame graph, the order of a table.
enum class LayerMeasure : std::uint8_t { busy, self, wait, device, flops, bytes, events };

struct LayerMeasureInfo {
  LayerMeasure measure;
  std::string_view title;
  Unit unit;
  std::string_view explanation;
};
inline constexpr std::array kLayerMeasures = std::to_array<LayerMeasureInfo>({
    {LayerMeasure::busy, "Busy", "ns", "Time in which at least one of its events was under way: a union, not a sum"},
    {LayerMeasure::self, "Self", "ns", "The same of its own events, without what lies below"},
    {LayerMeasure::wait, "Wait", "ns", "What its events waited, added up"},
    {LayerMeasure::device, "Device", "ns", "Time of the device's work that these calls launched, added up"},
    {LayerMeasure::flops, "FLOPs", "FLOP", "Useful floating point operations"},
    {LayerMeasure::bytes, "Bytes", "B", "Bytes moved"},
    {LayerMeasure::events, "Events", "", "Events of it and of all below"},
});

[[nodiscard]] constexpr const LayerMeasureInfo& info_of(LayerMeasure measure) noexcept {
  return kLayerMeasures[static_cast<std::size_t>(measure)];
}

[[nodiscard]] inline double value_of(const analysis::HierarchyNode& node, LayerMeasure measure) noexcept {
  switch (measure) {
    case LayerMeasure::busy:
      return static_cast<double>(node.cover.busy_ns);
    case LayerMeasure::self:
      return static_cast<double>(node.cover.self_ns);
    case LayerMeasure::wait:
      return static_cast<double>(node.totals.wait_ns);
    case LayerMeasure::device:
      return static_cast<double>(node.totals.launched_ns);
    case LayerMeasure::flops:
      return node.totals.flops;
    case LayerMeasure::bytes:
      return static_cast<double>(node.totals.bytes);
    case LayerMeasure::events:
      return static_cast<double>(node.totals.events);
  }
  return 0;
}

// Of a column or a segment: one unit for all values up to the largest, so that they stand under each other.
[[nodiscard]] UnitScale scale_of(LayerMeasure measure, double largest);
[[nodiscard]] inline std::string measure_text(LayerMeasure measure, double value) {
  return format_value(value, info_of(measure).unit);
}

// Whether any event of the tree has it.
[[nodiscard]] inline bool has_measure(const analysis::Hierarchy& tree, LayerMeasure measure) noexcept {
  return measure == LayerMeasure::self ? tree.nodes[0].cover.busy_ns > 0 : value_of(tree.nodes[0], measure) > 0;
}

// Where the boxes of a flame graph lie: every node below its parent, as wide as its share of it by a measure. Times of
// children that ran at once may add up to more than their parent's: then they share its width.
//
//   FlameLayout layout(*tree, LayerMeasure::busy);                      // once, on a worker
//   layout.boxes(*tree, zoomed, width, rows, boxes);                    // each frame: what is seen of it
struct FlameBox {
  std::uint32_t node = 0;   // the first of them
  std::uint32_t count = 1;  // siblings that share it because they are narrower than a pixel
  std::uint32_t row = 0;    // from the root's, 0
  float x0 = 0, x1 = 0;     // pixels
  bool above = false;       // an ancestor of what is zoomed to
};

class FlameLayout {
 public:
  FlameLayout(const analysis::Hierarchy& tree, LayerMeasure measure);
  FlameLayout(const analysis::Hierarchy& tree, std::vector<double> busy_ns);  // by node, in place of the tree's own
  [[nodiscard]] LayerMeasure measure() const noexcept { return measure_; }
  // Of `zoomed` and below it, and of those above it, which take the whole width; no more than so many rows.
  void boxes(const analysis::Hierarchy& tree, std::uint32_t zoomed, float width, std::uint32_t rows,
             std::vector<FlameBox>& out) const;
  [[nodiscard]] double value(std::uint32_t node) const noexcept { return values_[node]; }

 private:
  void lay(const analysis::Hierarchy& tree);
  struct Span {
    double from = 0, to = 0;  // of the whole width, 0 to 1
  };
  LayerMeasure measure_ = LayerMeasure::busy;
  std::vector<Span> spans_;  // by node
  std::vector<double> values_;
};

// How a node is found again in another tree of the same kind, where it has another number: by the texts of its path.

using NodeName = std::vector<std::string>;  // outermost first; of the root: none

[[nodiscard]] inline NodeName name_of_node(const analysis::Hierarchy& tree, std::size_t node) {
  NodeName name;
  for (std::size_t at = node; at != 0; at = tree.nodes[at].parent) name.push_back(tree.text(at));
  std::reverse(name.begin(), name.end());
  return name;
}

// As far down as the tree has it.
[[nodiscard]] inline std::size_t nearest_node(const analysis::Hierarchy& tree, const NodeName& name) {
  std::size_t at = 0;
  for (const std::string& text : name) {
    const analysis::HierarchyNode& node = tree.nodes[at];
    std::size_t child = node.first_child;
    const std::size_t end = child + node.child_count;
    while (child < end && tree.text(child) != text) ++child;
    if (child == end) return at;
    at = child;
  }
  return at;
}

[[nodiscard]] inline std::optional<std::size_t> find_node(const analysis::Hierarchy& tree, const NodeName& name) {
  const std::size_t at = nearest_node(tree, name);
  return tree.nodes[at].depth == name.size() ? std::optional(at) : std::nullopt;
}

// Where the tree begins to fork: nodes that have nearly all of the time of their parents say nothing beside them.
[[nodiscard]] inline std::size_t first_fork(const analysis::Hierarchy& tree) {
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
[[nodiscard]] LayerHits find_layers(const analysis::Hierarchy& tree, std::string text);

// By its measure, the largest first; nothing: by name. Descending: the other way round of neither.
struct TreeOrder {
  std::optional<LayerMeasure> measure = LayerMeasure::busy;
  bool descending = true;
  bool operator==(const TreeOrder&) const = default;
};

// All that is shown of a tree, made on a worker, so that it appears as one and costs the UI thread what is seen of it.
struct TreeView {
  std::shared_ptr<const analysis::Hierarchy> tree;
  FlameLayout layout;
  TreeOrder order;
  std::vector<std::uint32_t> sorted;    // what comes in the place of node i among its siblings; empty: node i
  LayerHits hits;                       // text "": nothing is looked for
  std::vector<listing::NameUse> names;  // name_uses()

  TreeView(std::shared_ptr<const analysis::Hierarchy> of, LayerMeasure width, const TreeOrder& wanted,
           const std::string& text);
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
  const analysis::PathKind* opened_for_ = nullptr;
  bool changed_ = true;
  bool touched_ = false;  // by the user, since the first tree of the kind
  std::vector<TreeRow> rows_;
};

}  // namespace accelscope::app::content
