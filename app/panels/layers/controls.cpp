#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/figure_text.h"
#include "app/panels/layers/panel.h"
#include "core/base/text.h"
#include "core/model/palette.h"
#include "imgui.h"
#include "render/widgets/widgets.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kFlameRow = 28, kFlameGap = 1, kLeastNamed = 12;
constexpr float kDimmed = 0.74F;  // towards the ground

constexpr float kLayersHead = 36, kSecondHeadRow = 32, kLeastSearchField = 120, kLeastHint = 60, kAfterKind = 8,
                kBetweenControls = 12;
constexpr std::size_t kMostChosenDepth = 8;
constexpr DropdownOptions kByKind{.label = "Tree by "}, kByWidth{.label = "Width "},
    kToDepth{.label = "Depth ", .tooltip = "What lies deeper is counted in the last level"};

}  // namespace

Pixel colour_of_node(const Hierarchy& tree, std::size_t node) {
  if (tree.nodes[node].missing) return opaque(kNoValueColour);
  return opaque(kSlicePalette[palette_slot(tree.text(node))]);
}

float FlameGraph::height(const Ui& ui, std::uint32_t rows) { return ui.px(kFlameRow) * static_cast<float>(rows); }

void FlameGraph::draw_label(Ui& ui, const Rect& box, std::uint32_t node, const Shown& shown, bool dimmed) const {
  const float letter = text_width(ui, TextStyle::mono_small, "0");
  const float room = box.width() - ui.px(10);
  if (room < letter) return;
  const auto letters = static_cast<std::size_t>(room / letter);
  const std::string& text = shown.tree.text(node);
  std::string name(node == 0 ? shown.whole : shown.names.fitting(text, letters));
  const std::size_t colon = text.rfind(':');  // of a source line its number says most
  if (name.empty() && shown.tree.nodes[node].detail && colon != std::string::npos && text.size() - colon <= letters) {
    name = text.substr(colon);
  }
  if (name.empty()) return;
  const TextOptions style{
      .style = TextStyle::mono_small, .colour = node == 0 || dimmed ? Colour::text2 : Colour::ink, .fit = Fit::clip};
  Rect row = box;
  row.cut_left(ui.px(6));
  const float used = draw_text(ui, row, name, style) + ui.px(10);
  const std::string value = measure_text(shown.layout.measure(), shown.layout.value(node));
  row.cut_left(used);
  if (text_width(ui, style.style, value) + ui.px(4) <= row.width()) draw_text(ui, row, value, style);
}

void FlameGraph::draw_box(Ui& ui, const Rect& box, const FlameBox& of, const Shown& shown) const {
  const bool hit = shown.hits == nullptr || shown.hits->hit[of.node];
  const bool is_root = of.node == 0;
  const bool dimmed = of.above || (shown.hits != nullptr && !hit);
  Pixel colour = is_root ? ui.colour(Colour::bg4) : colour_of_node(shown.tree, of.node);
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
  for (const FlameBox& box : boxes_) used = std::max(used, box.row + 1);
  const std::uint32_t skipped = std::min(used > rows ? used - rows : 0U, depth > 0 ? depth - 1 : 0U);
  const Interaction at = interact(ui, name, area);
  if (at.pressed) focused_ = true;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !area.contains(ui.input().mouse)) focused_ = false;
  Response response;
  std::optional<Rect> selected_box;
  ui.draw()->PushClipRect({area.x0, area.y0}, {area.x1, area.y1}, true);
  for (const FlameBox& each : boxes_) {
    if (each.row < skipped || each.row - skipped >= rows) continue;
    const float y = area.y0 + static_cast<float>(each.row - skipped) * row_height;
    const bool gap = each.x1 - each.x0 >= ui.px(3);
    const Rect box{area.x0 + each.x0, y, area.x0 + each.x1 - (gap ? ui.px(kFlameGap) : 0), y + row_height - ui.px(2)};
    draw_box(ui, box, each, shown);
    if (box.width() >= ui.px(kLeastNamed)) ui.register_widget(fmt::format("{}.box.{}", name, each.node), box);
    if (shown.selected == each.node && each.count == 1) selected_box = box;
    const Point mouse = ui.input().mouse;
    if (!at.hovered || mouse.y < box.y0 || mouse.y >= box.y1 || mouse.x < box.x0 || mouse.x >= box.x1) continue;
    response.hovered = each.node;
    response.hovered_box = box;
    if (each.count > 1) continue;  // it stands for many: there is nothing to select
    outline(ui, box, ui.colour(Colour::text2), size::kSliceRadius);
    if (at.clicked) response.clicked = each.node;
    if (at.double_clicked) response.zoom_to = each.node;
  }
  if (selected_box) outline(ui, *selected_box, ui.colour(Colour::selection), size::kSliceRadius, 2);
  ui.draw()->PopClipRect();
  if (focused_ && !ui.typing()) move_with_keys(ui, shown, response);
  return response;
}

// Up and down along the path, Enter zooms, Backspace goes back.
void FlameGraph::move_with_keys(Ui& ui, const Shown& shown, Response& response) const {
  const HierarchyNode& zoomed = shown.tree.nodes[shown.zoomed];
  if (ui.pressed(Key::backspace, {}, false) && shown.zoomed != 0) response.zoom_to = zoomed.parent;
  const std::uint32_t at = shown.selected.value_or(shown.zoomed);
  const HierarchyNode& node = shown.tree.nodes[at];
  if (ui.pressed(Key::enter, {}, false)) response.zoom_to = at;
  if (ui.pressed(Key::up) && node.depth > 1) response.clicked = node.parent;
  if (ui.pressed(Key::down) && node.child_count > 0) response.clicked = node.first_child;
}

// In a second row what would leave the search no room in the first.
void LayersPanel::draw_controls(const PanelContext& context, Rect& rest) {
  Ui& ui = context.ui;
  Rect head = padded(ui, rest.cut_top(ui.px(kLayersHead)));
  if (!shown_) {
    (void)draw_scope(context, "layers.scope", head, scope_);
    return heading(ui, head, "Layers"), void();
  }
  const float kinds = kinds_width(ui), measures = measures_width(ui) + ui.px(kLeastSearchField);
  (void)draw_scope(context, "layers.scope", head, scope_, (kinds + measures) / ui.scale());
  const bool fits = head.width() >= kinds + measures;
  draw_kind(ui, head);
  if (!fits) head = padded(ui, rest.cut_top(ui.px(kSecondHeadRow)));
  draw_width(ui, head);
  draw_search(context, head);
}

// By what the tree is, of all that the session has; layers always, to say what would bring them.
LayersPanel::ByKind LayersPanel::kinds_to_choose() const {
  ByKind by{.kinds = shown().kinds, .titles = {}};
  const PathKind* layers = find_path_kind("layer");
  const bool has_layers = std::ranges::find(by.kinds, layers) != by.kinds.end();
  if (!has_layers) by.kinds.insert(by.kinds.begin(), layers);
  for (const PathKind* kind : by.kinds) {
    const bool missing = kind == layers && !has_layers;
    if (kind == shown().kind || (shown().kind == nullptr && question_.kind == kind->name)) {
      by.chosen = by.titles.size();
    }
    by.titles.push_back(std::string(kind->title) + (missing ? " (none)" : ""));
  }
  return by;
}

std::string LayersPanel::depth_text() const {
  return question_.depth > kMostChosenDepth ? "all" : std::to_string(question_.depth);
}

float LayersPanel::kinds_width(const Ui& ui) const {
  const ByKind by = kinds_to_choose();
  return dropdown_width(ui, by.titles[by.chosen], kByKind) + ui.px(kAfterKind) +
         dropdown_width(ui, depth_text(), kToDepth) + ui.px(kBetweenControls);
}

void LayersPanel::draw_kind(Ui& ui, Rect& head) {
  const ByKind by = kinds_to_choose();
  int chosen = static_cast<int>(by.chosen);
  const float kind_width = dropdown_width(ui, by.titles[by.chosen], kByKind);
  if (dropdown(ui, "layers.kind", head.cut_left(kind_width).middle(ui.px(size::kControl)), by.titles, chosen,
               kByKind)) {
    question_.kind = by.kinds[static_cast<std::size_t>(chosen)]->name;
  }
  head.cut_left(ui.px(kAfterKind));
  std::vector<std::string> depths = {"all"};
  for (std::size_t depth = 1; depth <= kMostChosenDepth; ++depth) depths.push_back(std::to_string(depth));
  int depth = question_.depth > kMostChosenDepth ? 0 : static_cast<int>(question_.depth);
  const float depth_width = dropdown_width(ui, depth_text(), kToDepth);
  if (dropdown(ui, "layers.depth", head.cut_left(depth_width).middle(ui.px(size::kControl)), depths, depth, kToDepth)) {
    question_.depth = depth == 0 ? HierarchyQuestion::kMostDepth : static_cast<std::size_t>(depth);
  }
  head.cut_left(ui.px(kBetweenControls));
}

LayersPanel::ByMeasure LayersPanel::measures_to_choose() const {
  ByMeasure by;
  for (const LayerMeasureInfo& info : kLayerMeasures) {
    if (!has_measure(shown(), info.measure)) continue;
    if (info.measure == measure_) by.chosen = by.measures.size();
    by.measures.push_back(info.measure);
    by.titles.emplace_back(info.title);
  }
  return by;
}

// As a list, without segments.
float LayersPanel::measures_width(const Ui& ui) const {
  const ByMeasure by = measures_to_choose();
  return by.measures.empty() ? 0 : dropdown_width(ui, by.titles[by.chosen], kByWidth) + ui.px(kBetweenControls);
}

// What the boxes of the flame graph are as wide as: segments, or a list where there is no room for them.
void LayersPanel::draw_width(Ui& ui, Rect& head) {
  constexpr float kLeastSearch = 200;
  const ByMeasure by = measures_to_choose();
  if (by.measures.empty()) return;
  std::vector<Segment> segments;
  for (const LayerMeasure measure : by.measures) {
    segments.push_back({.label = info_of(measure).title, .tooltip = info_of(measure).explanation});
  }
  int wanted = static_cast<int>(by.chosen);
  const float width = segmented_width(ui, segments);
  bool changed = false;
  if (head.width() >= width + ui.px(kLeastSearch)) {
    changed = segmented(ui, "layers.width", head.cut_right(width).middle(ui.px(size::kControl)), segments, wanted);
    const float label = text_width(ui, TextStyle::small, "Width") + ui.px(8);
    draw_text(ui, head.cut_right(label), "Width", kLabelText);
  } else {
    const float room = dropdown_width(ui, by.titles[by.chosen], kByWidth);
    changed =
        dropdown(ui, "layers.width", head.cut_right(room).middle(ui.px(size::kControl)), by.titles, wanted, kByWidth);
  }
  if (changed) measure_ = by.measures[static_cast<std::size_t>(wanted)];
  head.cut_right(ui.px(kBetweenControls));
}

void LayersPanel::draw_search(const PanelContext& context, Rect& head) {
  Ui& ui = context.ui;
  const Rect field = head.cut_left(std::min(ui.px(220), head.width())).middle(ui.px(size::kControl));
  if (text_input(ui, "layers.search", field, search_, {.placeholder = "Search names", .icon = icon::kSearch})
          .cancelled) {
    search_.clear();
  }
  head.cut_left(ui.px(10));
  if (head.width() < ui.px(kLeastHint)) return;
  const std::string hint = search_hint();
  const float used = draw_text(ui, head, hint, kHintText);
  if (used > 0) tooltip(ui, interact(ui, "layers.hint", head), head, hint);
}

// What a search holds, what of the tree is still to come, or what is not in it.
std::string LayersPanel::search_hint() const {
  if (!search_.empty()) {
    if (!marked_.error.empty()) return marked_.error;
    const std::string text = lower_case(search_);
    if (shown_->hits.text != text) return "searching ...";
    if (shown_->hits.count == 0) return "nothing has it";
    const std::string count =
        fmt::format("{} of {}", format_count(shown_->hits.count), format_count(shown().nodes.size() - 1));
    if (!marked_.value || marked_.value_key.question.marked != text) return count;
    const auto busy = static_cast<double>(marked_.value->busy_ns);
    const double all = std::max(1.0, static_cast<double>(shown().nodes[0].cover.busy_ns));
    return fmt::format("{} hold {}, {}", count, format_duration(busy), format_share(std::min(1.0, busy / all)));
  }
  const bool is_index = index_.task.valid() && !tree_.task.valid() && index_.stale();
  if (tree_.stale() || tree_.task.valid() || is_index) {
    const auto share = is_index ? index_.share() : tree_.share();
    std::string hint = tree_.stale() ? "of the earlier range" : "updating";
    if (share) hint += fmt::format(", {} of the new one", format_share(*share));
    return hint;
  }
  return shown().kind == nullptr ? std::string() : hierarchy_note(shown(), question_);
}

}  // namespace accelscope::app
