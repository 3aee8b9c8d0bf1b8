// A tree drawn as a flame graph, for the panels that show one: of layers and stacks, and of what two sessions differ
// in.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/hierarchy/tree_rows.h"
#include "core/names/short_names.h"
#include "render/base/ui.h"

namespace accelscope::app::panels {

// A tree drawn as a flame graph, outermost on top: only the boxes that are seen, siblings narrower than a pixel as one.
// Clicks and keys are handed back; what is zoomed to and selected is the caller's.

class FlameGraph {
 public:
  struct Shown {
    const analysis::Hierarchy& tree;
    const content::FlameLayout& layout;
    std::uint32_t zoomed = 0;
    std::optional<std::uint32_t> selected;           // last
    std::span<const std::uint32_t> selected_before;  // with it
    const content::LayerHits* hits = nullptr;        // null: nothing is looked for
    ShortNames& names;
    std::string_view whole;  // what the root is called
    // In place of the colour of its name, and of what it measures behind its name; what stands before its name.
    std::function<render::Pixel(std::uint32_t node)> colour = {};
    std::function<std::string(std::uint32_t node)> value = {};
    std::function<std::string_view(std::uint32_t node)> sign = {};
  };
  struct Response {
    std::optional<std::uint32_t> clicked, zoom_to, hovered;
    render::Rect hovered_box;
    bool explains = false;  // the pointer has rested on it long enough for a card
  };
  // Boxes of 12 units and more register as NAME.box.NODE.
  Response draw(render::Ui& ui, std::string_view name, const render::Rect& area, const Shown& shown);
  [[nodiscard]] static float height(const render::Ui& ui, std::uint32_t rows);

 private:
  void draw_box(render::Ui& ui, const render::Rect& box, const content::FlameBox& of, const Shown& shown) const;
  void draw_label(render::Ui& ui, const render::Rect& box, std::uint32_t node, const Shown& shown, bool dimmed) const;
  void move_with_keys(render::Ui& ui, const Shown& shown, Response& response) const;

  std::vector<content::FlameBox> boxes_;
  std::optional<std::uint32_t> rested_on_;
  double rested_from_s_ = 0;  // of the time that the pointer is over the graph
};

// The colour that a node's name has everywhere.
[[nodiscard]] render::Pixel colour_of_node(const analysis::Hierarchy& tree, std::size_t node);

}  // namespace accelscope::app::panels
