// The rows of a tree that are open, in the order of a measure or of names. What is open is kept by path, so that it
// stays so in the next tree. UI thread; only what is open is looked at.
#pragma once

#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "app/content/hierarchy/measures.h"
#include "app/content/hierarchy/node_names.h"

namespace accelscope::app {

// What a search found, made on a worker.
struct LayerHits {
  std::shared_ptr<const Hierarchy> tree;  // whose nodes these are
  std::string text;                       // in small letters
  std::vector<bool> hit, below;           // by node: it has the text; one below has
  std::uint64_t count = 0;
  std::int64_t busy_ns = 0;  // of all of them together, a union
};

// Which nodes have the text; without their time.
[[nodiscard]] LayerHits find_layers(std::shared_ptr<const Hierarchy> tree, std::string text);

struct TreeRow {
  std::uint32_t node = 0;
  std::uint64_t path = 0;  // node_hash
  bool open = false;
};

class TreeRows {
 public:
  // Order: by its measure, the largest first; nothing: by name. Descending: the other way round of neither.
  struct Order {
    std::optional<LayerMeasure> measure = LayerMeasure::busy;
    bool descending = true;
    bool operator==(const Order&) const = default;
  };
  static constexpr std::size_t kMostRows = 200'000;

  // Makes the rows anew where something has changed. At the first tree the longest paths are opened, up to some rows.
  void update(const std::shared_ptr<const Hierarchy>& tree, const std::shared_ptr<const LayerHits>& hits,
              const Order& order);
  void toggle(std::size_t row);
  void open_to(const NodeName& name);  // all above it
  void close_all() { open_.clear(), changed_ = true; }
  [[nodiscard]] const std::vector<TreeRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] std::optional<std::size_t> row_of(std::uint32_t node) const;

 private:
  void open_first(std::size_t rows);
  void make_rows();
  [[nodiscard]] bool is_open(std::uint32_t node, std::uint64_t path) const;

  std::shared_ptr<const Hierarchy> tree_;
  std::shared_ptr<const LayerHits> hits_;
  Order order_;
  std::unordered_set<std::uint64_t> open_;    // paths
  std::unordered_set<std::uint64_t> closed_;  // that hits would open
  const PathKind* opened_for_ = nullptr;
  bool changed_ = true;
  std::vector<TreeRow> rows_;
};

}  // namespace accelscope::app
