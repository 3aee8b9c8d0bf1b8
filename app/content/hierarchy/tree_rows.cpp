#include "app/content/hierarchy/tree_rows.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "core/base/text.h"

namespace accelscope::app::content {
namespace {

// Children in the order, parent by parent.
std::vector<std::uint32_t> sorted_children(const analysis::Hierarchy& tree, const TreeOrder& order) {
  if (order == TreeOrder{}) return {};  // as the tree has them
  std::vector<std::uint32_t> sorted(tree.nodes.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  for (const analysis::HierarchyNode& parent : tree.nodes) {
    const auto first = sorted.begin() + parent.first_child;
    std::stable_sort(first, first + parent.child_count, [&](std::uint32_t a, std::uint32_t b) {
      if (order.descending) std::swap(a, b);
      if (!order.measure) return tree.text(a) < tree.text(b);
      return value_of(tree.nodes[a], *order.measure) < value_of(tree.nodes[b], *order.measure);
    });
  }
  return sorted;
}

}  // namespace

LayerHits find_layers(const analysis::Hierarchy& tree, std::string text) {
  LayerHits hits;
  hits.text = std::move(text);
  if (hits.text.empty()) return hits;
  hits.hit.resize(tree.nodes.size());
  hits.below.resize(tree.nodes.size());
  std::vector<bool> has(tree.labels.size());
  for (std::size_t i = 0; i < has.size(); ++i) has[i] = analysis::has_text(tree.labels[i], hits.text);
  for (std::size_t node = tree.nodes.size(); node-- > 1;) {
    hits.hit[node] = has[tree.nodes[node].label];
    hits.count += hits.hit[node] ? 1 : 0;
    if (hits.hit[node] || hits.below[node]) hits.below[tree.nodes[node].parent] = true;
  }
  return hits;
}

TreeView::TreeView(std::shared_ptr<const analysis::Hierarchy> of, LayerMeasure width, const TreeOrder& wanted,
                   const std::string& text)
    : tree(std::move(of)),
      layout(*tree, width),
      order(wanted),
      sorted(sorted_children(*tree, wanted)),
      hits(find_layers(*tree, lower_case(text))),
      names(listing::name_uses(*tree)) {}

void TreeRows::update(const std::shared_ptr<const TreeView>& view) {
  constexpr std::size_t kFirstRows = 18;
  if (view_ == view && !changed_) return;
  if (!view_ || view_->hits.text != view->hits.text) closed_.clear();
  const bool other_tree = !view_ || view_->tree != view->tree;
  const bool other_kind = opened_for_ != view->tree->kind;
  view_ = view;
  changed_ = false;
  if (other_kind || (other_tree && !touched_)) {
    opened_for_ = view->tree->kind;
    touched_ = touched_ && !other_kind;
    open_.clear();
    open_first(kFirstRows);
  }
  make_rows();
}

// The nodes with the longest time, as long as their children have room.
void TreeRows::open_first(std::size_t rows) {
  std::priority_queue<std::pair<std::int64_t, std::pair<std::uint32_t, std::uint64_t>>> next;
  const auto add_children = [&](const analysis::HierarchyNode& node, std::uint64_t path) {
    for (std::uint32_t i = node.first_child; i < node.first_child + node.child_count; ++i) {
      next.push({view_->tree->nodes[i].cover.busy_ns, {i, node_hash(path, view_->tree->text(i))}});
    }
  };
  std::size_t used = view_->tree->nodes[0].child_count;
  if (used > rows) return;
  add_children(view_->tree->nodes[0], 0);
  while (!next.empty()) {
    const auto [number, path] = next.top().second;
    next.pop();
    const analysis::HierarchyNode& node = view_->tree->nodes[number];
    if (node.child_count == 0 || used + node.child_count > rows) continue;
    used += node.child_count;
    open_.insert(path);
    add_children(node, path);
  }
}

bool TreeRows::is_open(std::uint32_t node, std::uint64_t path) const {
  if (view_->tree->nodes[node].child_count == 0 || closed_.contains(path)) return false;
  return open_.contains(path) || (!view_->hits.text.empty() && view_->hits.below[node]);
}

// Of every open parent the children that are still to come are a range of places, so that what is closed or below the
// last row costs nothing.
void TreeRows::make_rows() {
  struct Level {
    std::uint32_t next, end;
    std::uint64_t path;  // of the parent
  };
  const analysis::Hierarchy& tree = *view_->tree;
  rows_.clear();
  std::vector<Level> levels;
  const auto descend = [&](std::uint32_t parent, std::uint64_t path) {
    const analysis::HierarchyNode& node = tree.nodes[parent];
    levels.push_back({node.first_child, node.first_child + node.child_count, path});
  };
  descend(0, 0);
  while (!levels.empty() && rows_.size() < kMostRows) {
    Level& level = levels.back();
    if (level.next == level.end) {
      levels.pop_back();
      continue;
    }
    const std::uint32_t place = level.next++;
    const std::uint32_t node = view_->sorted.empty() ? place : view_->sorted[place];
    const std::uint64_t path = node_hash(level.path, tree.text(node));
    const bool open = is_open(node, path);
    rows_.push_back({node, path, open});
    if (open) descend(node, path);
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
  changed_ = touched_ = true;
}

void TreeRows::open_to(const NodeName& name) {
  std::uint64_t path = 0;
  touched_ = true;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    path = node_hash(path, name[i]);
    changed_ = open_.insert(path).second || closed_.erase(path) > 0 || changed_;
  }
}

std::optional<std::size_t> TreeRows::row_of(std::uint32_t node) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const TreeRow& row) { return row.node == node; });
  return found == rows_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - rows_.begin()));
}

std::optional<std::size_t> TreeRows::row_of_path(std::uint64_t path) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const TreeRow& row) { return row.path == path; });
  return found == rows_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - rows_.begin()));
}

FlameLayout::FlameLayout(const analysis::Hierarchy& tree, LayerMeasure measure)
    : measure_(measure), values_(tree.nodes.size(), 0) {
  for (std::size_t node = tree.nodes.size(); node-- > 0;) {
    values_[node] += value_of(tree.nodes[node], measure);
    if (measure == LayerMeasure::self && node != 0) values_[tree.nodes[node].parent] += values_[node];
  }
  lay(tree);
}

FlameLayout::FlameLayout(const analysis::Hierarchy& tree, std::vector<double> busy_ns) : values_(std::move(busy_ns)) {
  lay(tree);
}

void FlameLayout::lay(const analysis::Hierarchy& tree) {
  spans_.resize(tree.nodes.size());
  if (!spans_.empty()) spans_[0] = {0, 1};
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
    const std::size_t first = tree.nodes[node].first_child, last = first + tree.nodes[node].child_count;
    double sum = 0;
    for (std::size_t child = first; child < last; ++child) sum += values_[child];
    const double all = std::max(sum, values_[node]);
    const double scale = all > 0 ? (spans_[node].to - spans_[node].from) / all : 0;
    double at = spans_[node].from;
    for (std::size_t child = first; child < last; ++child) {
      spans_[child].from = at;
      at += values_[child] * scale;
      spans_[child].to = std::min(at, spans_[node].to);
    }
  }
}

void FlameLayout::boxes(const analysis::Hierarchy& tree, std::uint32_t zoomed, float width, std::uint32_t rows,
                        std::vector<FlameBox>& out) const {
  out.clear();
  const Span shown = spans_[zoomed];
  const double scale = shown.to > shown.from ? static_cast<double>(width) / (shown.to - shown.from) : 0;
  for (std::uint32_t node = zoomed;; node = tree.nodes[node].parent) {
    out.push_back({node, 1, tree.nodes[node].depth, 0, width, node != zoomed});
    if (node == 0) break;
  }
  std::reverse(out.begin(), out.end());
  const auto x_of = [&](double at) { return static_cast<float>((at - shown.from) * scale); };
  const double pixel = scale > 0 ? 1 / scale : 1;
  // Boxes are their own queue: what was put in is looked into in turn, if there is anything to be seen of it.
  for (std::size_t next = out.size() - 1; next < out.size(); ++next) {
    const FlameBox parent = out[next];
    if (parent.count > 1 || parent.x1 - parent.x0 < 1 || parent.row + 1 >= rows || scale <= 0) continue;
    const analysis::HierarchyNode& node = tree.nodes[parent.node];
    const auto first = spans_.begin() + node.first_child, last = first + node.child_count;
    bool merging = false;
    for (auto span = first; span != last;) {
      FlameBox box{static_cast<std::uint32_t>(span - spans_.begin()), 1, parent.row + 1, x_of(span->from), 0, false};
      if (span->to - span->from >= pixel) {
        box.x1 = x_of((span++)->to);
        out.push_back(box);
        merging = false;
        continue;
      }
      // All that end within a pixel from here; neighbours of them join.
      const auto end = std::upper_bound(span + 1, last, span->from + pixel,
                                        [](double at, const Span& each) { return at < each.to; });
      box.count = static_cast<std::uint32_t>(end - span);
      box.x1 = x_of((end - 1)->to);
      span = end;
      if (merging) {
        out.back().count += box.count;
        out.back().x1 = box.x1;
      } else if (box.x1 > box.x0) {
        out.push_back(box);
        merging = true;
      }
    }
  }
}

UnitScale scale_of(LayerMeasure measure, double largest) {
  const bool shares_one = measure == LayerMeasure::flops || measure == LayerMeasure::bytes;
  return shares_one ? unit_scale(largest, info_of(measure).unit) : UnitScale{};
}

}  // namespace accelscope::app::content
