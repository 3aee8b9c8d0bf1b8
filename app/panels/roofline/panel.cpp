#include "app/panels/roofline/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kHead = 36, kBeside = 900;  // below this width the halves lie one above the other
constexpr float kLeastRoof = 330, kLeastLevels = 150;
constexpr float kHierarchyShare = 0.49F;

[[nodiscard]] std::string_view group_word(RoofGrouping grouping) {
  constexpr std::array<std::string_view, 3> kWords = {"name", "layer", "source line"};
  return kWords[static_cast<std::size_t>(grouping)];
}

}  // namespace

const DeviceLevels* RooflinePanel::levels() const {
  if (!levels_.value || levels_.value->devices.empty()) return nullptr;
  const auto last = levels_.value->devices.size() - 1;
  return &levels_.value->devices[std::min(static_cast<std::size_t>(device_), last)];
}

const Roofline* RooflinePanel::roofline() const {
  if (!roofs_.value || roofs_.value->devices.empty()) return nullptr;
  const auto last = roofs_.value->devices.size() - 1;
  return &roofs_.value->devices[std::min(static_cast<std::size_t>(device_), last)];
}

std::vector<std::string> RooflinePanel::device_names() const {
  std::vector<std::string> names;
  if (levels_.value) {
    for (const DeviceLevels& each : levels_.value->devices)
      names.push_back(each.device.empty() ? "device" : each.device);
  }
  return names;
}

void RooflinePanel::ask(const PanelContext& context) {
  wanted_ = scope_filter(context.tab, scope_);
  if (usual_of_ != context.tab.snapshot->version) {
    usual_of_ = context.tab.snapshot->version;
    usual_ = usual_grouping(*context.tab.snapshot);
  }
  const TimeRange range = wanted_.range.value_or(TimeRange{});
  const PeakEdits& edits = book_.edits();
  (void)context.analysis().ask_of(levels_, wanted_, edits, [range, edits](const QueryContext& query) {
    return memory_levels(query, range, edits);
  });
  const RoofGrouping grouping = grouping_.value_or(usual_);
  (void)context.analysis().ask_of(roofs_, wanted_, grouping, [range, grouping](const QueryContext& query) {
    return device_rooflines(query, range, grouping);
  });
}

float RooflinePanel::levels_height(const Ui& ui) const {
  const DeviceLevels* shown = levels();
  const bool any = shown != nullptr && !shown->paths.empty();
  return ui.px(kHead + 8) + (any ? LevelsView::least_height(ui, *shown) : ui.px(kLeastLevels));
}

std::optional<bool> RooflinePanel::has_content(const PanelContext& context) const {
  if (!levels_.value || !roofs_.value || !context.tab.choices.filter.empty()) return std::nullopt;
  const DeviceLevels* shown = levels();
  return roofline() != nullptr || (shown != nullptr && !shown->paths.empty());
}

void RooflinePanel::draw(const PanelContext& context, const Rect& area) {
  const OwnSelection own(context.tab, scope_);
  Ui& ui = context.ui;
  ask(context);
  const float wanted = levels_height(ui), padding = ui.px(size::kPanelPadding);
  if (area.width() >= ui.px(kBeside)) {
    Rect rest = area;
    const Rect left = rest.cut_left(std::round(area.width() * kHierarchyShare));
    vertical_line(ui, rest.x0, area.y0, area.y1, ui.colour(Colour::line2));
    {
      ScrollArea scroll(ui, "roofline.left", left, std::max(left.height(), editing_ ? left.height() : wanted));
      draw_levels(context, scroll.content().inset(padding, 0));
    }
    draw_roof(context, rest.inset(padding, 0));
    return;
  }
  const float roof = std::max(ui.px(kHead + kLeastRoof), area.height() - wanted);
  ScrollArea scroll(ui, "roofline.all", area, wanted + roof);
  Rect content = scroll.content();
  const Rect upper = content.cut_top(wanted);
  horizontal_line(ui, content.x0, content.x1, content.y0, ui.colour(Colour::line2));
  draw_levels(context, upper.inset(padding, 0));
  draw_roof(context, content.cut_top(roof).inset(padding, 0));
}

void RooflinePanel::draw_waiting(const PanelContext& context, const Rect& area, const std::string& error,
                                 std::optional<double> share) const {
  if (!error.empty()) {
    empty_state(context.ui, "roofline.error", area, icon::kWarning, error);
    return;
  }
  empty_state(context.ui, "roofline.loading", area, icon::kClock,
              share ? fmt::format("Adding up bytes and operations, {}", format_share(*share))
                    : std::string("Adding up bytes and operations"));
}

void RooflinePanel::draw_levels(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const DeviceLevels* shown = levels();
  if (editing_ && shown != nullptr) {
    // What the fields show is the newest, also while the figures of the last edit are still made.
    const PeakList peaks = peaks_of_device(*context.tab.snapshot, shown->device, book_.edits());
    if (editor_.draw(context, area, peaks)) editing_ = false;
    return;
  }
  Rect head = area.cut_top(ui.px(kHead));
  if (shown != nullptr) {
    const std::string_view label = "Edit peaks";
    if (link(ui, "roofline.edit_peaks", head.cut_right(link_width(ui, label)), label)) editing_ = true;
    head.cut_right(ui.px(12));
  }
  std::string hint = levels_.stale() ? "of the earlier range" : scope_text(context.tab, scope_);
  if (shown != nullptr && shown->active_ns > 0)
    hint += fmt::format(", active {}", format_duration(static_cast<double>(shown->active_ns)));
  heading(ui, head, "Memory hierarchy", hint);
  area.cut_top(ui.px(4));
  if (!levels_.error.empty() || !levels_.value) return draw_waiting(context, area, levels_.error, levels_.share());
  if (shown == nullptr || shown->paths.empty()) {
    empty_state(ui, "roofline.no_paths", area, icon::kChip,
                wanted_.empty()
                    ? "No event of a device says how many bytes it moved. Neuron profiles, traces of a GPU's copies "
                      "and OpenCL captures do."
                    : "Nothing of a device that moves bytes passes in this range.");
    return;
  }
  view_.draw(context, area, *shown, levels_.stale());
}

void RooflinePanel::draw_roof_choices(const PanelContext& context, Rect& row) {
  Ui& ui = context.ui;
  const auto choose = [&](std::string_view name, std::string_view label, const std::vector<std::string>& items,
                          int& chosen) {
    if (items.size() < 2) return false;
    chosen = std::clamp(chosen, 0, static_cast<int>(items.size()) - 1);
    const DropdownOptions options{.label = label};
    const float width = dropdown_width(ui, items[static_cast<std::size_t>(chosen)], options);
    const Rect place = row.cut_left(width).middle(ui.px(size::kControl));
    row.cut_left(ui.px(8));
    return dropdown(ui, name, place, items, chosen, options);
  };
  int grouping = static_cast<int>(grouping_.value_or(usual_));
  if (choose("roofline.by", "Points: ", {"Name", "Layer", "Line"}, grouping))
    grouping_ = static_cast<RoofGrouping>(grouping);
  if (const Roofline* line = roofline()) {
    std::vector<std::string> memories;
    for (const RoofMemory& each : line->memories) memories.push_back(each.name);
    (void)choose("roofline.memory", "Bytes of: ", memories, memory_);
  }
  (void)choose("roofline.device", "", device_names(), device_);
}

void RooflinePanel::draw_roof_head(const PanelContext& context, Rect& area) {
  Ui& ui = context.ui;
  Rect head = area.cut_top(ui.px(kHead));
  (void)draw_scope(context, "roofline.scope", head, scope_);
  const float title = heading(ui, head, "Roofline", roofs_.stale() ? "of the earlier range" : "") + ui.px(12);
  constexpr float kChoice = 132;  // about what a choice takes
  const Roofline* line = roofline();
  const bool many_memories = line != nullptr && line->memories.size() > 1;
  const float least =
      ui.px(kChoice * (1.0F + (many_memories ? 1.0F : 0.0F) + (device_names().size() > 1 ? 1.0F : 0.0F)));
  if (head.x1 - title >= least) {
    head.x0 = title;
    draw_roof_choices(context, head);
    return;
  }
  Rect second = area.cut_top(ui.px(kHead - 4));
  draw_roof_choices(context, second);
}

void RooflinePanel::draw_roof(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  draw_roof_head(context, area);
  if (!roofs_.error.empty() || !roofs_.value) return draw_waiting(context, area, roofs_.error, roofs_.share());
  const Roofline* line = roofline();
  const auto memory = line == nullptr ? 0 : std::min(static_cast<std::size_t>(memory_), line->memories.size() - 1);
  const bool any = line != nullptr && std::any_of(line->points.begin(), line->points.end(),
                                                  [&](const RoofPoint& point) { return point.is_placed(memory); });
  if (!any) {
    const std::string word(group_word(roofs_.value->grouping));
    std::string sentence = fmt::format("No {} states both its operations and its bytes", word);
    if (line != nullptr) sentence += fmt::format(" of {}", line->memories[memory].name);
    const bool has_other = line != nullptr && std::any_of(line->points.begin(), line->points.end(),
                                                          [](const RoofPoint& point) { return point.flops > 0; });
    sentence += has_other ? "; choose other points or another memory."
                          : ". Neuron profiles count both by instruction; traces "
                            "of GPU kernels count neither.";
    empty_state(ui, "roofline.no_points", area, icon::kLineChart, sentence);
    return;
  }
  const DeviceLevels* shown = levels();
  const PeakList peaks = peaks_of_device(*context.tab.snapshot, line->device, book_.edits());
  ceilings_ = roof_ceilings(peaks, line->memories[memory], shown == nullptr ? TransferSize{} : shown->transfers);
  area.cut_bottom(ui.px(4));
  if (plot_.draw(context, area,
                 {.line = {roofs_.value, line},
                  .grouping = roofs_.value->grouping,
                  .memory = memory,
                  .ceilings = ceilings_,
                  .filter = roofs_.value_key.filter,
                  .faded = roofs_.stale()}))
    editing_ = true;
}

}  // namespace accelscope::app
