#include "app/panels/roofline/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/panels/targets.h"
#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/model/unit.h"
#include "imgui.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"
#include "render/widgets/states.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kAxisLeft = 52, kAxisFoot = 36, kFoot = 24;
constexpr float kSmallestLegend = 3;  // radius in units

[[nodiscard]] ImVec2 point_of(Point at) { return {at.x, at.y}; }

}  // namespace

bool RoofPlot::draw(const PanelContext& context, const Rect& area, const Shown& shown) {
  Ui& ui = context.ui;
  Rect rest = area;
  const Rect foot = rest.cut_bottom(ui.px(kFoot));
  plot_ = {rest.x0 + ui.px(kAxisLeft), rest.y0 + ui.px(20), rest.x1 - ui.px(4), rest.y1 - ui.px(kAxisFoot)};
  layouts_.of({.line = shown.line,
               .grouping = shown.grouping,
               .memory = shown.memory,
               .ceilings = shown.ceilings,
               .filter = shown.filter,
               .width = plot_.width(),
               .height = plot_.height(),
               .unit = ui.scale()},
              *context.tab.snapshot,
              [&ui](std::string_view text) { return text_width(ui, TextStyle::mono_small, text); });
  fill(ui, plot_, ui.colour(Colour::bg1));
  draw_grid(context, shown);
  ui.draw()->PushClipRect({plot_.x0, plot_.y0}, {plot_.x1, plot_.y1}, true);
  draw_ceilings(context);
  draw_dots(context, shown);
  draw_labels(context);
  ui.draw()->PopClipRect();
  handle_input(context, shown);
  draw_foot(context, foot);
  if (!shown.ceilings.empty()) return false;
  const std::string_view label = "Enter peaks";
  const float width = link_width(ui, label);
  const Rect place = {plot_.x1 - width - ui.px(8), plot_.y0 + ui.px(6), plot_.x1 - ui.px(8), plot_.y0 + ui.px(26)};
  draw_text(ui, {plot_.x0, place.y0, place.x0 - ui.px(8), place.y1}, "No peaks are known of this device.",
            {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  return link(ui, "roofline.enter_peaks", place, label);
}

void RoofPlot::draw_grid(const PanelContext& context, const Shown& shown) const {
  Ui& ui = context.ui;
  TextOptions quiet{.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::centre, .fit = Fit::clip};
  for (const RoofLayout::GridLine& line : layout().columns) {
    const float x = std::round(plot_.x0 + line.at);
    vertical_line(ui, x, plot_.y0, plot_.y1, ui.colour(Colour::line1));
    if (!line.text.empty())
      draw_text(ui, {x - ui.px(28), plot_.y1 + ui.px(2), x + ui.px(28), plot_.y1 + ui.px(18)}, line.text, quiet);
  }
  quiet.align = Align::right;
  quiet.fit = Fit::ellipsis;
  for (const RoofLayout::GridLine& line : layout().rows) {
    const float y = std::round(plot_.y0 + line.at);
    horizontal_line(ui, plot_.x0, plot_.x1, y, ui.colour(Colour::line1));
    if (!line.text.empty())
      draw_text(ui, {plot_.x0 - ui.px(kAxisLeft), y - ui.px(8), plot_.x0 - ui.px(5), y + ui.px(8)}, line.text, quiet);
  }
  outline(ui, plot_, ui.colour(Colour::line2), 0);
  draw_text(ui, {plot_.x0 - ui.px(kAxisLeft), plot_.y0 - ui.px(20), plot_.x0 + ui.px(100), plot_.y0 - ui.px(2)},
            "FLOP/s", {.style = TextStyle::mono_small, .colour = Colour::text3});
  draw_text(ui, {plot_.x0, plot_.y1 + ui.px(18), plot_.x1, plot_.y1 + ui.px(kAxisFoot)},
            fmt::format("FLOP per byte of {}", shown.line->memories[shown.memory].name), quiet);
}

void RoofPlot::draw_ceilings(const PanelContext& context) const {
  Ui& ui = context.ui;
  for (const RoofLayout::Ceiling& each : layout().ceilings) {
    const bool is_roof = each.kind == RoofCeiling::Kind::roof, is_limit = each.kind == RoofCeiling::Kind::limit;
    const Pixel colour = ui.colour(is_roof ? Colour::text1 : is_limit ? Colour::warning_line : Colour::text3);
    const Point from = on_screen(each.line.from), to = on_screen(each.line.to);
    if (is_roof) {
      ui.draw()->AddLine(point_of(from), point_of(to), colour, ui.px(2));
    } else {
      dashed_line(ui, ui.draw(), from, to, colour, 5, 4, is_limit ? 1.5F : 1);
    }
  }
}

void RoofPlot::draw_dots(const PanelContext& context, const Shown& shown) const {
  Ui& ui = context.ui;
  for (const RoofLayout::Dot& dot : layout().dots) {  // the largest first, so that none is hidden
    const Pixel own = ui.theme().slice(dot.slot);
    const ImVec2 at = point_of(on_screen(dot.at));
    ui.draw()->AddCircleFilled(at, dot.radius, shown.faded ? ui.theme().dimmed(own) : own, 24);
    ui.draw()->AddCircle(at, dot.radius, ui.colour(Colour::bg1), 24, ui.px(1));
    if (is_selected(context.tab, dot.events))
      ui.draw()->AddCircle(at, dot.radius + ui.px(2), ui.colour(Colour::selection), 32, ui.px(2));
  }
}

void RoofPlot::draw_labels(const PanelContext& context) const {
  Ui& ui = context.ui;
  for (const RoofLayout::Label& label : layout().labels) {
    const Rect rect = on_screen(label.rect);
    Colour colour = Colour::text2;
    if (label.ceiling) {
      colour = *label.ceiling == RoofCeiling::Kind::roof    ? Colour::text1
               : *label.ceiling == RoofCeiling::Kind::limit ? Colour::warning
                                                            : Colour::text3;
      fill(ui, rect, with_alpha(ui.colour(Colour::bg1), 0.9F), size::kChipRadius);
    } else if (is_selected(context.tab, layout().dots[label.dot].events)) {
      colour = Colour::text1;
    }
    if (label.leader)
      ui.draw()->AddLine(point_of(on_screen(label.leader->from)), point_of(on_screen(label.leader->to)),
                         ui.colour(Colour::text3), ui.px(1));
    draw_text(ui, rect.inset(ui.px(4), 0), label.text,
              {.style = TextStyle::mono_small, .colour = colour, .fit = Fit::clip});
  }
}

void RoofPlot::handle_input(const PanelContext& context, const Shown& shown) {
  Ui& ui = context.ui;
  const RoofLayout::Dot* hovered = nullptr;
  const Interaction hand = interact(ui, "roofline.plot", plot_, {.below_others = true});
  const Point pointer = {ui.input().mouse.x - plot_.x0, ui.input().mouse.y - plot_.y0};
  for (const RoofLayout::Dot& dot : layout().dots) {
    const float reach = dot.radius + ui.px(2);
    ui.register_widget(fmt::format("roofline.point.{}", dot.number), on_screen(dot.box()));
    if (hand.hovered && std::hypot(pointer.x - dot.at.x, pointer.y - dot.at.y) <= reach) hovered = &dot;  // the top one
  }
  const auto number = hovered == nullptr ? std::nullopt : std::optional(hovered->number);
  if (number != hovered_) hovered_since_s_ = ui.time();
  hovered_ = number;
  if (hovered == nullptr) return;
  set_cursor(Cursor::hand);
  ui.draw()->AddCircle(point_of(on_screen(hovered->at)), hovered->radius + ui.px(1), ui.colour(Colour::text2), 32,
                       ui.px(1));
  if (hand.pressed || hand.double_clicked) {
    select_target(context, hovered->events, false);
    const TimeRange& stretch = hovered->point->stretch;
    if (hand.double_clicked && !stretch.empty()) show_stretch(context.tab, stretch.begin_ns, stretch.end_ns);
  }
  // Pictures stand still: they show no card.
  const double rested = ui.time() - hovered_since_s_;
  if (rested >= kHoverCardDelay) {
    draw_card(context, shown, *hovered);
  } else {
    ui.request_frame_after(kHoverCardDelay - rested);
  }
}

void RoofPlot::draw_card(const PanelContext& context, const Shown& shown, const RoofLayout::Dot& dot) const {
  const RoofPoint& point = *dot.point;
  const double intensity = point.intensity(shown.memory);
  const std::string& memory = shown.line->memories[shown.memory].name;
  HoverCard card{.title = roof_point_name(point, shown.grouping),
                 .title_value = format_duration(static_cast<double>(point.busy_ns)),
                 .whole = point.text,
                 .swatch = context.ui.theme().slice(dot.slot)};
  card.rows.push_back({"Events", format_count(point.count)});
  card.rows.push_back({"Operations", format_value(point.flops, "FLOP")});
  card.rows.push_back({memory, format_bytes(point.bytes[shown.memory])});
  card.rows.push_back({"Intensity", fmt::format("{} FLOP/B", format_number(intensity))});
  card.rows.push_back({"Achieved", format_value(point.rate(), kFlopsPerSecond)});
  if (const auto roof = roof_at(shown.ceilings, intensity)) {
    card.rows.push_back({"Roof here", format_value(*roof, kFlopsPerSecond)});
    card.rows.push_back({"Of its roof", format_share(point.rate() / *roof)});
  }
  card.rows.push_back(
      {memory + " rate",
       format_value(point.bytes[shown.memory] / static_cast<double>(point.busy_ns) * 1e9, kBytesPerSecond)});
  card.footer = "Click selects its events, a double click zooms to them";
  hover_card(context.ui, card, on_screen(dot.box()));
}

void RoofPlot::draw_foot(const PanelContext& context, Rect row) const {
  Ui& ui = context.ui;
  const auto text = [&](const std::string& words, Colour colour) {
    const float width = draw_text(ui, row, words, {.style = TextStyle::small, .colour = colour});
    row.cut_left(width + ui.px(6));
  };
  const std::string& counted = layout().unplaced;
  const float wanted = text_width(ui, TextStyle::small, counted);
  const float legend = ui.px(200);
  if (row.width() > wanted + legend) {
    text("size: busy", Colour::text3);
    for (const double part : {0.05, 0.5}) {  // of the busiest, as large as they are drawn
      const float radius = std::max(ui.px(kSmallestLegend), layout().largest_dot * static_cast<float>(std::sqrt(part)));
      const Rect at = row.cut_left(radius * 2 + ui.px(4));
      ui.draw()->AddCircle({at.x0 + radius, at.centre().y}, radius, ui.colour(Colour::text3), 24, ui.px(1));
      text(format_duration(static_cast<double>(layout().longest_ns) * part), Colour::text2);
    }
  }
  const Interaction hand = interact(ui, "roofline.unplaced", row, {.below_others = true});
  draw_text(ui, row, counted, {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  if (hand.hovered && !counted.empty()) tooltip(ui, hand, row, counted);
}

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kPeakRow = 32, kTitleWidth = 120, kFieldWidth = 140;

}  // namespace

bool PeaksEditor::draw(const PanelContext& context, Rect area, const PeakList& peaks) {
  Ui& ui = context.ui;
  if (model_ != peaks.model) {
    model_ = peaks.model;
    fields_.clear();
  }
  Rect head = area.cut_top(ui.px(36));
  const ButtonOptions done{.label = "Done", .kind = ButtonKind::primary};
  const bool finished =
      button(ui, "roofline.peaks.done", head.cut_right(button_width(ui, done)).middle(ui.px(size::kControl)), done);
  head.cut_right(ui.px(12));
  heading(ui, head, "Peaks", peaks.model);
  const std::string_view note =
      "Typed with or without the unit: 435 GB/s, 78.6T. Enter keeps a value for every session of a device of this "
      "name; an "
      "empty field goes back to what is built in.";
  const TextOptions quiet{.style = TextStyle::small, .colour = Colour::text3};
  const float height = paragraph_height(ui, quiet.style, note, area.width(), ui.px(16));
  draw_paragraph(ui, area.cut_top(height + ui.px(8)), note, quiet, ui.px(16));
  ScrollArea scroll(ui, "roofline.peaks", area, ui.px(kPeakRow) * static_cast<float>(peaks.all.size()));
  Rect rest = scroll.content();
  for (const Peak& peak : peaks.all) draw_row(context, rest.cut_top(ui.px(kPeakRow)), peaks, peak);
  return finished;
}

void PeaksEditor::draw_row(const PanelContext& context, Rect row, const PeakList& peaks, const Peak& peak) {
  Ui& ui = context.ui;
  Field& field = fields_[peak.what];
  if (!field.touched) field.text = peak.value ? format_value(*peak.value, peak.unit) : "";
  draw_text(ui, row.cut_left(ui.px(kTitleWidth)), peak.title);
  const std::string name = "roofline.peak." + peak.what;
  const TextInputResult hand =
      text_input(ui, name, row.cut_left(ui.px(kFieldWidth)).middle(ui.px(size::kControl)), field.text,
                 {.placeholder = std::string_view(peak.unit),
                  .mono = true,
                  .error = !field.error.empty(),
                  .focus_now = std::exchange(field.refocus, false)});
  if (hand.changed) {
    field.touched = true;
    field.error.clear();
  }
  if (hand.cancelled) field = {};
  if (hand.submitted) enter(context, peaks, peak, field);
  row.cut_left(ui.px(4));
  const Rect reset = row.cut_left(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (peak.origin == PeakOrigin::user) {
    const std::string back = peak.built_in ? fmt::format("Back to {}", format_value(*peak.built_in, peak.unit))
                                           : std::string("Forget it: nothing is built in");
    if (icon_button(ui, name + ".reset", reset, icon::kUndo, back)) {
      told(context, book_.forget(peaks.model, peak.what));
      field = {};
    }
  }
  row.cut_left(ui.px(6));
  const bool wrong = !field.error.empty();
  draw_text(ui, row, wrong ? field.error : peak.source,
            {.style = TextStyle::small, .colour = wrong ? Colour::error : Colour::text3});
}

void PeaksEditor::enter(const PanelContext& context, const PeakList& peaks, const Peak& peak, Field& field) {
  if (trimmed(field.text).empty()) {
    told(context, book_.forget(peaks.model, peak.what));
    field = {};
    return;
  }
  const Result<double> value = parse_peak(field.text, peak.unit);
  if (!value) {
    field.error = value.message();
    field.touched = true;
    field.refocus = true;
    return;
  }
  told(context, book_.enter({peaks.model, peak.what, *value}));
  field = {};
}

void PeaksEditor::told(const PanelContext& context, const Result<void>& done) const {
  if (!done) context.actions.notify(Severity::warning, done.message());
}

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
