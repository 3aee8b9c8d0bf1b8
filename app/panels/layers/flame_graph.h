// A tree drawn as a flame graph, outermost on top: only the boxes that are seen, siblings narrower than a pixel as one.
// Clicks and keys are handed back; what is zoomed to and selected is the caller's.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/content/hierarchy/tree_rows.h"
#include "core/names/short_names.h"
#include "render/base/geometry.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

class FlameGraph {
 public:
  struct Shown {
    const Hierarchy& tree;
    const FlameLayout& layout;
    std::uint32_t zoomed = 0;
    std::optional<std::uint32_t> selected;
    const LayerHits* hits = nullptr;  // null: nothing is looked for
    ShortNames& names;
    std::string_view whole;  // what the root is called
  };
  struct Hand {
    std::optional<std::uint32_t> clicked, zoom_to, hovered;
    render::Rect hovered_box;
  };
  // Boxes of 12 units and more register as NAME.box.NODE.
  Hand draw(render::Ui& ui, std::string_view name, const render::Rect& area, const Shown& shown);
  [[nodiscard]] static float height(const render::Ui& ui, std::uint32_t rows);

 private:
  void draw_box(render::Ui& ui, const render::Rect& box, const FlameBox& of, const Shown& shown) const;
  void draw_label(render::Ui& ui, const render::Rect& box, std::uint32_t node, const Shown& shown, bool dimmed) const;
  void move_with_keys(render::Ui& ui, const Shown& shown, Hand& hand) const;

  std::vector<FlameBox> boxes_;
  bool focused_ = false;  // it was clicked last
};

// The colour that a node's name has everywhere.
[[nodiscard]] render::Pixel colour_of_node(const Hierarchy& tree, std::size_t node);

}  // namespace accelscope::app
