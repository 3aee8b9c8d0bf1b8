// What one node of a tree took, moved and computed, and on which engines: beside a flame graph, and as a hover card.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/hierarchy/hierarchy.h"
#include "render/base/geometry.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

struct NodeFact {
  std::string name, value;
};
// Only what the node has.
[[nodiscard]] std::vector<NodeFact> time_facts(const Hierarchy& tree, std::size_t node);
[[nodiscard]] std::vector<NodeFact> work_facts(const Hierarchy& tree, std::size_t node);
// Columns beside each other, or below each other where they would be too narrow: how high, of at most so much; the last
// rows are left out where they have no room. 0: nothing fits.
[[nodiscard]] float facts_height(const render::Ui& ui, float width, float most, const Hierarchy& tree);
void draw_facts(render::Ui& ui, render::Rect area, const Hierarchy& tree, std::size_t node, const std::string& title);
void hover_facts(render::Ui& ui, const render::Rect& explained, const Hierarchy& tree, std::size_t node,
                 const std::string& title);

}  // namespace accelscope::app
