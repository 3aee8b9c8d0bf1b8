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
void draw_facts(render::Ui& ui, render::Rect area, const Hierarchy& tree, std::size_t node, const std::string& title);
void hover_facts(render::Ui& ui, const render::Rect& explained, const Hierarchy& tree, std::size_t node,
                 const std::string& title);
inline constexpr float kFactsHeight = 168;

}  // namespace accelscope::app
