#include "app/content/hierarchy/flame_layout.h"

#include <algorithm>

namespace accelscope::app {

FlameLayout::FlameLayout(const Hierarchy& tree, LayerMeasure measure)
    : measure_(measure), spans_(tree.nodes.size()), values_(tree.nodes.size(), 0) {
  for (std::size_t node = tree.nodes.size(); node-- > 0;) {
    values_[node] += value_of(tree.nodes[node], measure);
    if (measure == LayerMeasure::self && node != 0) values_[tree.nodes[node].parent] += values_[node];
  }
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

void FlameLayout::boxes(const Hierarchy& tree, std::uint32_t zoomed, float width, std::uint32_t rows,
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
    const HierarchyNode& node = tree.nodes[parent.node];
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

}  // namespace accelscope::app
