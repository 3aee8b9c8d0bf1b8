#include "app/content/hierarchy/tree_rows.h"

#include <algorithm>
#include <queue>
#include <string>
#include <utility>

#include "core/base/text.h"

namespace accelscope::app {

LayerHits find_layers(std::shared_ptr<const Hierarchy> tree, std::string text) {
  LayerHits hits;
  hits.text = lower_case(text);
  hits.hit.resize(tree->nodes.size());
  hits.below.resize(tree->nodes.size());
  std::vector<bool> has(tree->labels.size());
  for (std::size_t i = 0; i < has.size(); ++i) has[i] = has_text(tree->labels[i], hits.text);
  for (std::size_t node = tree->nodes.size(); node-- > 1;) {
    hits.hit[node] = has[tree->nodes[node].label];
    hits.count += hits.hit[node] ? 1 : 0;
    if (hits.hit[node] || hits.below[node]) hits.below[tree->nodes[node].parent] = true;
  }
  hits.tree = std::move(tree);
  return hits;
}

void TreeRows::update(const std::shared_ptr<const Hierarchy>& tree, const std::shared_ptr<const LayerHits>& hits,
                      const Order& order) {
  constexpr std::size_t kFirstRows = 18;
  if (tree_ == tree && hits_ == hits && order_ == order && !changed_) return;
  if (hits_ != hits) closed_.clear();
  tree_ = tree;
  hits_ = hits != nullptr && hits->tree == tree ? hits : nullptr;
  order_ = order;
  changed_ = hits_ != hits;
  if (opened_for_ != tree->kind) {
    opened_for_ = tree->kind;
    open_.clear();
    open_first(kFirstRows);
  }
  make_rows();
}

// The nodes with the longest time, as long as their children have room.
void TreeRows::open_first(std::size_t rows) {
  std::priority_queue<std::pair<std::int64_t, std::pair<std::uint32_t, std::uint64_t>>> next;
  const auto add_children = [&](const HierarchyNode& node, std::uint64_t path) {
    for (std::uint32_t i = node.first_child; i < node.first_child + node.child_count; ++i) {
      next.push({tree_->nodes[i].cover.busy_ns, {i, node_hash(path, tree_->text(i))}});
    }
  };
  std::size_t used = tree_->nodes[0].child_count;
  if (used > rows) return;
  add_children(tree_->nodes[0], 0);
  while (!next.empty()) {
    const auto [number, path] = next.top().second;
    next.pop();
    const HierarchyNode& node = tree_->nodes[number];
    if (node.child_count == 0 || used + node.child_count > rows) continue;
    used += node.child_count;
    open_.insert(path);
    add_children(node, path);
  }
}

bool TreeRows::is_open(std::uint32_t node, std::uint64_t path) const {
  if (tree_->nodes[node].child_count == 0 || closed_.contains(path)) return false;
  return open_.contains(path) || (hits_ != nullptr && hits_->below[node]);
}

void TreeRows::make_rows() {
  rows_.clear();
  std::vector<std::pair<std::uint32_t, std::uint64_t>> waiting;  // nodes and their parents' paths, the next one last
  const auto push_children = [&](std::uint32_t parent, std::uint64_t path) {
    const HierarchyNode& node = tree_->nodes[parent];
    const std::size_t first = waiting.size();
    for (std::uint32_t i = node.first_child + node.child_count; i-- > node.first_child;) waiting.emplace_back(i, path);
    if (order_ == Order{}) return;
    std::stable_sort(waiting.begin() + static_cast<std::ptrdiff_t>(first), waiting.end(),
                     [&](const auto& a, const auto& b) {  // the last one comes first
                       const bool up = !order_.descending;
                       const std::uint32_t x = up ? b.first : a.first, y = up ? a.first : b.first;
                       if (!order_.measure) return tree_->text(x) < tree_->text(y);
                       return value_of(tree_->nodes[x], *order_.measure) < value_of(tree_->nodes[y], *order_.measure);
                     });
  };
  push_children(0, 0);
  while (!waiting.empty() && rows_.size() < kMostRows) {
    const auto [node, above] = waiting.back();
    waiting.pop_back();
    const std::uint64_t path = node_hash(above, tree_->text(node));
    const bool open = is_open(node, path);
    rows_.push_back({node, path, open});
    if (open) push_children(node, path);
  }
}

void TreeRows::toggle(std::size_t row) {
  const TreeRow& at = rows_[row];
  if (at.open) {
    open_.erase(at.path);
    closed_.insert(at.path);
  } else {
    open_.insert(at.path);
    closed_.erase(at.path);
  }
  changed_ = true;
}

void TreeRows::open_to(const NodeName& name) {
  std::uint64_t path = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    path = node_hash(path, name[i]);
    changed_ = open_.insert(path).second || closed_.erase(path) > 0 || changed_;
  }
}

std::optional<std::size_t> TreeRows::row_of(std::uint32_t node) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].node == node) return i;
  }
  return std::nullopt;
}

}  // namespace accelscope::app
