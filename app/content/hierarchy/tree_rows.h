// The rows of a tree that are open, in the order of a measure or of names. What is open is kept by path, so that it
// stays so in the next tree. UI thread; only what is open is looked at.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "app/content/hierarchy/flame_layout.h"
#include "app/content/hierarchy/measures.h"
#include "app/content/hierarchy/name_uses.h"
#include "app/content/hierarchy/node_names.h"

namespace accelscope::app {

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
