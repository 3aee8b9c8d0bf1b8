#include "app/panels/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/palette.h"
#include "imgui.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kFlameRow = 28, kFlameGap = 1, kLeastNamed = 12;
constexpr float kDimmed = 0.74F;  // towards the ground

}  // namespace

Pixel colour_of_node(const analysis::Hierarchy& tree, std::size_t node) {
  if (tree.nodes[node].missing) return opaque(kNoValueColour);
  return opaque(kSlicePalette[palette_slot(tree.text(node))]);
}

float FlameGraph::height(const Ui& ui, std::uint32_t rows) { return ui.px(kFlameRow) * static_cast<float>(rows); }

void FlameGraph::draw_label(Ui& ui, const Rect& box, std::uint32_t node, const Shown& shown, bool dimmed) const {
  const float letter = text_width(ui, TextStyle::mono_small, "0");
  const float room = box.width() - ui.px(10);
  if (room < letter) return;
  const std::string_view sign = shown.sign ? shown.sign(node) : "";
  std::size_t letters = static_cast<std::size_t>(room / letter);
  letters -= std::min(letters, character_count(sign));
  const std::string& text = shown.tree.text(node);
  std::string name(node == 0 ? shown.whole : shown.names.fitting(text, letters));
  const std::size_t colon = text.rfind(':');  // of a source line its number says most
  if (name.empty() && shown.tree.nodes[node].detail && colon != std::string::npos && text.size() - colon <= letters) {
    name = text.substr(colon);
  }
  name.insert(0, sign);
  if (name.empty()) return;
  const TextOptions style{
      .style = TextStyle::mono_small, .colour = node == 0 || dimmed ? Colour::text2 : Colour::ink, .fit = Fit::clip};
  Rect row = box;
  row.cut_left(ui.px(6));
  const float used = draw_text(ui, row, name, style) + ui.px(10);
  const std::string value =
      shown.value ? shown.value(node) : content::measure_text(shown.layout.measure(), shown.layout.value(node));
  row.cut_left(used);
  if (text_width(ui, style.style, value) + ui.px(4) <= row.width()) draw_text(ui, row, value, style);
}

void FlameGraph::draw_box(Ui& ui, const Rect& box, const content::FlameBox& of, const Shown& shown) const {
  const bool hit = shown.hits == nullptr || shown.hits->hit[of.node];
  const bool is_root = of.node == 0;
  const bool dimmed = of.above || (shown.hits != nullptr && !hit);
  Pixel colour = is_root        ? ui.colour(Colour::bg4)
                 : shown.colour ? shown.colour(of.node)
                                : colour_of_node(shown.tree, of.node);
  if (of.count > 1) colour = mix(colour, ui.colour(Colour::bg1), 0.4F);
  if (dimmed && !is_root) colour = mix(colour, ui.colour(Colour::bg1), kDimmed);
  const float radius = box.width() >= ui.px(6) ? size::kSliceRadius : 0;
  fill(ui, box, colour, radius);
  if (ui.theme().kind() == ThemeKind::light && box.width() >= ui.px(10) && !dimmed && !is_root) {
    outline(ui, box, mix(colour, ui.colour(Colour::ink), 0.28F), radius);
  }
  if (shown.hits != nullptr && hit && !is_root) {
    fill(ui, {box.x0, box.y0, box.x1, box.y0 + ui.px(2)}, ui.colour(Colour::text1));
  }
  if (of.count == 1) draw_label(ui, box, of.node, shown, dimmed);
}

FlameGraph::Response FlameGraph::draw(Ui& ui, std::string_view name, const Rect& area, const Shown& shown) {
  const float row_height = ui.px(kFlameRow);
  const auto rows = static_cast<std::uint32_t>(std::max(1.0F, std::floor(area.height() / row_height)));
  // What is zoomed to and all below come first; of those above, what then has room, but at least the nearest.
  const std::uint32_t depth = shown.tree.nodes[shown.zoomed].depth;
  shown.layout.boxes(shown.tree, shown.zoomed, area.width(), depth + rows, boxes_);
  std::uint32_t used = 0;
  for (const content::FlameBox& box : boxes_) used = std::max(used, box.row + 1);
  const std::uint32_t skipped = std::min(used > rows ? used - rows : 0U, depth > 0 ? depth - 1 : 0U);
  const Interaction at = interact(ui, name, area, {.keys = FocusStopKind::list, .label = "Flame graph"});
  Response response;
  std::vector<Rect> selected_boxes;
  ui.draw()->PushClipRect({area.x0, area.y0}, {area.x1, area.y1}, true);
  for (const content::FlameBox& each : boxes_) {
    if (each.row < skipped || each.row - skipped >= rows) continue;
    const float y = area.y0 + static_cast<float>(each.row - skipped) * row_height;
    const bool gap = each.x1 - each.x0 >= ui.px(3);
    const Rect box{area.x0 + each.x0, y, area.x0 + each.x1 - (gap ? ui.px(kFlameGap) : 0), y + row_height - ui.px(2)};
    draw_box(ui, box, each, shown);
    if (box.width() >= ui.px(kLeastNamed)) ui.register_widget(fmt::format("{}.box.{}", name, each.node), box);
    const bool selected = shown.selected == each.node ||
                          std::ranges::find(shown.selected_before, each.node) != shown.selected_before.end();
    if (selected && each.count == 1) selected_boxes.push_back(box);
    const Point mouse = ui.input().mouse;
    if (!at.hovered || mouse.y < box.y0 || mouse.y >= box.y1 || mouse.x < box.x0 || mouse.x >= box.x1) continue;
    response.hovered = each.node;
    response.hovered_box = box;
    if (each.count > 1) continue;  // it stands for many: there is nothing to select
    outline(ui, box, ui.colour(Colour::text2), size::kSliceRadius);
    if (at.clicked) response.clicked = each.node;
    if (at.double_clicked) response.zoom_to = each.node;
  }
  for (const Rect& box : selected_boxes) outline(ui, box, ui.colour(Colour::selection), size::kSliceRadius, 2);
  ui.draw()->PopClipRect();
  if (response.hovered != rested_on_) {
    rested_on_ = response.hovered;
    rested_from_s_ = at.hovered_for;
  }
  const double rested_s = at.hovered_for - rested_from_s_;
  response.explains = response.hovered && rested_s >= kHoverCardDelay;
  if (response.hovered && !response.explains) ui.request_frame_after(kHoverCardDelay - rested_s);
  if (at.focused && !ui.typing() && !ui.keyboard_focus().moved) move_with_keys(ui, shown, response);
  return response;
}

// Up and down along the path, Enter zooms, Backspace goes back.
void FlameGraph::move_with_keys(Ui& ui, const Shown& shown, Response& response) const {
  const analysis::HierarchyNode& zoomed = shown.tree.nodes[shown.zoomed];
  if (ui.pressed(Key::backspace, {}, false) && shown.zoomed != 0) response.zoom_to = zoomed.parent;
  const std::uint32_t at = shown.selected.value_or(shown.zoomed);
  const analysis::HierarchyNode& node = shown.tree.nodes[at];
  if (ui.pressed(Key::enter, {}, false)) response.zoom_to = at;
  if (ui.pressed(Key::up) && node.depth > 1) response.clicked = node.parent;
  if (ui.pressed(Key::down) && node.child_count > 0) response.clicked = node.first_child;
}

}  // namespace accelscope::app::panels
