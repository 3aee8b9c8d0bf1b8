#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/figure_text.h"
#include "app/panels/layers/panel.h"
#include "core/base/text.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kLayersHead = 36, kSecondHeadRow = 32, kLeastSearchField = 120, kLeastHint = 60, kAfterKind = 8,
                kBetweenControls = 12;
constexpr std::size_t kMostChosenDepth = 8;
constexpr DropdownOptions kByKind{.label = "Tree by "}, kByWidth{.label = "Width "},
    kToDepth{.label = "Depth ", .tooltip = "What lies deeper is counted in the last level"};

}  // namespace

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
  const analysis::PathKind* layers = analysis::find_path_kind("layer");
  const bool has_layers = std::ranges::find(by.kinds, layers) != by.kinds.end();
  if (!has_layers) by.kinds.insert(by.kinds.begin(), layers);
  for (const analysis::PathKind* kind : by.kinds) {
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
    question_.depth = depth == 0 ? analysis::HierarchyQuestion::kMostDepth : static_cast<std::size_t>(depth);
  }
  head.cut_left(ui.px(kBetweenControls));
}

LayersPanel::ByMeasure LayersPanel::measures_to_choose() const {
  ByMeasure by;
  for (const content::LayerMeasureInfo& info : content::kLayerMeasures) {
    if (!content::has_measure(shown(), info.measure)) continue;
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
  for (const content::LayerMeasure measure : by.measures) {
    segments.push_back({.label = content::info_of(measure).title, .tooltip = content::info_of(measure).explanation});
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
  if (used > 0) tooltip(ui, interact(ui, "layers.hint", head, {.keys = FocusStopKind::open}), head, hint);
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
  return shown().kind == nullptr ? std::string() : listing::hierarchy_note(shown(), question_);
}

}  // namespace accelscope::app::panels
