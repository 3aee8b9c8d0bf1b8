#include "app/content/hierarchy/name_uses.h"

#include <algorithm>
#include <cstddef>

namespace accelscope::app {

std::vector<NameUse> name_uses(const Hierarchy& tree) {
  if (tree.kind == nullptr || !tree.kind->is_nested()) return {};
  std::vector<NameUse> uses(tree.nodes.size(), NameUse::alone);
  std::vector<std::uint32_t> order;
  for (std::uint32_t node = 1; node < tree.nodes.size(); ++node) order.push_back(node);
  const auto stretch = [&](std::uint32_t node) -> const TimeRange& { return tree.nodes[node].totals.stretch; };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (tree.nodes[a].label != tree.nodes[b].label) return tree.nodes[a].label < tree.nodes[b].label;
    return stretch(a).begin_ns < stretch(b).begin_ns;
  });
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && tree.nodes[order[last]].label == tree.nodes[order[first]].label) ++last;
    std::int64_t reached = INT64_MIN;  // the end of all before
    for (std::size_t i = first; last - first > 1 && i < last; ++i) {
      const bool after = i == first || reached < stretch(order[i]).begin_ns;
      reached = std::max(reached, stretch(order[i]).end_ns);
      const bool before = i + 1 == last || reached < stretch(order[i + 1]).begin_ns;
      uses[order[i]] = after && before ? NameUse::apart : NameUse::shared;
    }
    first = last;
  }
  return uses;
}

}  // namespace accelscope::app
