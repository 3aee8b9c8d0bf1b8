#include "app/panels/roofline/panel.h"

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/listing/analysis_listings.h"
#include "core/model/palette.h"
#include "imgui.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kSmallestDot = 3, kLargestDot = 16;  // radius in units
constexpr float kSharedLabel = 6;                    // points nearer than this have one
constexpr float kLabelHeight = 16, kLabelPadding = 4;
constexpr float kColumnRoom = 56, kRowRoom = 28;  // units for each labelled line of the grid
constexpr double kFarRoof = 60;                   // a roof further than this from all points is not fitted

[[nodiscard]] bool meets(const Rect& rect, Point from, Point to) {
  float enter = 0, leave = 1;
  const auto clip = [&](float start, float step, float low, float high) {
    if (step == 0) return start >= low && start <= high;
    const float a = (low - start) / step, b = (high - start) / step;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
    return enter <= leave;
  };
  return clip(from.x, to.x - from.x, rect.x0, rect.x1) && clip(from.y, to.y - from.y, rect.y0, rect.y1);
}

class RoofLayer {
 public:
  RoofLayer(const RoofQuestion& question, const Snapshot& snapshot, const LabelWidth& width_of)
      : of_(question), snapshot_(snapshot), width_of_(width_of) {}

  RoofLayout make() {
    for (const analysis::RoofCeiling& each : of_.ceilings) {
      if (each.kind == analysis::RoofCeiling::Kind::roof) (each.is_compute ? compute_ : bandwidth_) = each.value;
    }
    fit_axes();
    place_dots();
    place_grid();
    place_ceilings();
    for (const analysis::RoofCeiling& each : of_.ceilings) label_ceiling(each);
    label_dots();
    layout_.unplaced = unplaced_text();
    return std::move(layout_);
  }

 private:
  [[nodiscard]] float px(float units) const { return units * of_.unit; }
  [[nodiscard]] Point place(double intensity, double rate) const {
    return {static_cast<float>(layout_.intensity.place(intensity)) * of_.width,
            of_.height - static_cast<float>(layout_.rate.place(rate)) * of_.height};
  }
  [[nodiscard]] bool covers_dot(const Rect& rect) const {
    return std::ranges::any_of(layout_.dots, [&](const RoofLayout::Dot& dot) { return rect.overlaps(dot.box()); });
  }
  [[nodiscard]] bool covers_label(const Rect& rect) const {
    return std::ranges::any_of(layout_.labels,
                               [&](const RoofLayout::Label& other) { return other.rect.overlaps(rect); });
  }
  [[nodiscard]] bool is_free(const Rect& rect) const {
    if (rect.x0 < 0 || rect.x1 > of_.width || rect.y0 < 0 || rect.y1 > of_.height) return false;
    return !covers_label(rect) && !covers_dot(rect) &&
           std::ranges::none_of(layout_.ceilings, [&](const RoofLayout::Ceiling& each) {
             return meets(rect, each.line.from, each.line.to);
           });
  }

  void fit_axes();
  void place_dots();
  void place_grid();
  void place_ceilings();
  void label_ceiling(const analysis::RoofCeiling& ceiling);
  void label_dots();
  void label_dot(std::size_t index, const std::string& text);
  [[nodiscard]] std::string unplaced_text() const;

  const RoofQuestion& of_;
  const Snapshot& snapshot_;
  const LabelWidth& width_of_;
  RoofLayout layout_;
  std::optional<double> compute_, bandwidth_;  // of the roofs
};

void RoofLayer::fit_axes() {
  content::ValueAxis &intensity = layout_.intensity, &rate = layout_.rate;
  for (const analysis::RoofPoint& point : of_.line->points) {
    if (!point.is_placed(of_.memory)) continue;
    ++layout_.placed;
    intensity.include(point.intensity(of_.memory));
    rate.include(point.rate());
    layout_.longest_ns = std::max(layout_.longest_ns, point.busy_ns);
  }
  const double low = intensity.low(), high = intensity.high();
  const auto include_near = [](content::ValueAxis& axis, double value) {
    if (value < axis.high() * kFarRoof && value > axis.low() / kFarRoof) axis.include(value);
  };
  if (compute_ && bandwidth_) include_near(intensity, *compute_ / *bandwidth_);
  intensity.widen(2.2);
  if (compute_) include_near(rate, *compute_);
  if (bandwidth_) {
    for (const double at : {low, high})
      include_near(rate, compute_ ? std::min(*compute_, *bandwidth_ * at) : *bandwidth_ * at);
  }
  rate.widen(1.8);
}

void RoofLayer::place_dots() {
  // A low plot has small ones.
  layout_.largest_dot = std::clamp(of_.height / 14, px(kSmallestDot * 2), px(kLargestDot));
  const std::vector<analysis::RoofPoint>& points = of_.line->points;
  for (std::size_t i = 0; i < points.size() && layout_.dots.size() < RoofLayout::kMostDots; ++i) {
    const analysis::RoofPoint& point = points[i];
    if (!point.is_placed(of_.memory)) continue;
    const double part = std::sqrt(static_cast<double>(point.busy_ns) / static_cast<double>(layout_.longest_ns));
    const StringId id = snapshot_.strings->find(point.text);
    layout_.dots.push_back({.point = &point,
                            .number = i,
                            .at = place(point.intensity(of_.memory), point.rate()),
                            .radius = std::max(px(kSmallestDot), layout_.largest_dot * static_cast<float>(part)),
                            .slot = id == kNone ? std::uint8_t{0} : snapshot_.strings->slot(id),
                            .events = listing::events_of_point(snapshot_, of_.grouping, point, of_.filter)});
  }
}

void RoofLayer::place_grid() {
  const auto most = [&](float room, float each) {
    return static_cast<std::size_t>(std::max(2.0F, std::floor(room / px(each))));
  };
  const content::ValueAxis &intensity = layout_.intensity, &rate = layout_.rate;
  for (content::ValueTick& tick : intensity.ticks(most(of_.width, kColumnRoom), "FLOP/B", content::TickSteps::doubling))
    layout_.columns.push_back({static_cast<float>(intensity.place(tick.value)) * of_.width, std::move(tick.text)});
  for (content::ValueTick& tick : rate.ticks(most(of_.height, kRowRoom), "FLOP/s"))
    layout_.rows.push_back(
        {of_.height - static_cast<float>(rate.place(tick.value)) * of_.height, std::move(tick.text)});
}

// Each goes as far as the other kind of roof lets it.
void RoofLayer::place_ceilings() {
  for (auto each = of_.ceilings.rbegin(); each != of_.ceilings.rend(); ++each) {
    double begin = layout_.intensity.low(), end = layout_.intensity.high();
    if (each->is_compute && bandwidth_) begin = std::max(begin, each->value / *bandwidth_);
    if (!each->is_compute && compute_) end = std::min(end, *compute_ / each->value);
    if (begin >= end) continue;
    const auto rate_at = [&](double intensity) { return each->is_compute ? each->value : each->value * intensity; };
    layout_.ceilings.push_back({each->kind, {place(begin, rate_at(begin)), place(end, rate_at(end))}});
  }
}

void RoofLayer::label_ceiling(const analysis::RoofCeiling& ceiling) {
  const bool is_limit = ceiling.kind == analysis::RoofCeiling::Kind::limit;
  const std::string text = fmt::format(
      "{}{} {}", is_limit && ceiling.title.find(',') != std::string::npos ? "≈ " : "", ceiling.title,
      format_value(ceiling.value, ceiling.is_compute ? analysis::kFlopsPerSecond : analysis::kBytesPerSecond));
  const auto add = [&](Point at, bool ends_there) {
    const float width = width_of_(text) + px(2 * kLabelPadding);
    const float x = ends_there ? at.x - width : at.x;
    Rect rect = {x, at.y, x + width, at.y + px(kLabelHeight)};
    const float edge = px(2);
    rect = rect.moved(std::max(0.0F, edge - rect.x0) - std::max(0.0F, rect.x1 - of_.width + edge),
                      std::max(0.0F, edge - rect.y0) - std::max(0.0F, rect.y1 - of_.height + edge));
    if (!covers_label(rect) && !covers_dot(rect))
      layout_.labels.push_back({.text = text, .rect = rect, .ceiling = ceiling.kind, .leader = {}});
  };
  if (ceiling.is_compute) {
    const Point at = place(layout_.intensity.high(), ceiling.value);
    const bool has_room = at.y >= px(20);  // above it, else below
    if (at.y > 0 && at.y < of_.height) add({of_.width - px(2), has_room ? at.y - px(18) : at.y + px(3)}, true);
    return;
  }
  const double high = layout_.intensity.high();
  const double end = std::min({high, layout_.rate.high() / ceiling.value, compute_ ? *compute_ / ceiling.value : high});
  const double begin = std::max(layout_.intensity.low(), layout_.rate.low() / ceiling.value);
  if (begin >= end) return;
  const double middle = begin * std::pow(end / begin, is_limit ? 0.4 : 0.55);
  const Point at = place(middle, ceiling.value * middle);
  is_limit ? add({at.x + px(10), at.y + px(4)}, false) : add({at.x - px(8), at.y - px(20)}, true);
}

// One label for points that lie at one place.
void RoofLayer::label_dots() {
  const std::vector<RoofLayout::Dot>& dots = layout_.dots;
  std::vector<bool> named(dots.size(), false);
  for (std::size_t i = 0; i < dots.size(); ++i) {
    if (named[i]) continue;
    std::size_t more = 0;
    for (std::size_t other = i + 1; other < dots.size(); ++other) {
      const float away = std::hypot(dots[other].at.x - dots[i].at.x, dots[other].at.y - dots[i].at.y);
      if (named[other] || away >= px(kSharedLabel)) continue;
      named[other] = true;
      ++more;
    }
    std::string text = roof_point_name(*dots[i].point, of_.grouping);
    if (more > 0) text += fmt::format(", {} more", more);
    label_dot(i, text);
  }
}

// Beside it, else a little further away with a line to it, else nowhere.
void RoofLayer::label_dot(std::size_t index, const std::string& text) {
  const RoofLayout::Dot& dot = layout_.dots[index];
  const Point at = dot.at;
  const float width = width_of_(text) + px(2 * kLabelPadding), height = px(kLabelHeight);
  constexpr std::array<float, 3> kDistances = {4, 18, 36};
  for (const float distance : kDistances) {
    const float away = dot.radius + px(distance);
    const std::array<Point, 6> corners = {{
        {at.x + away, at.y - height / 2},
        {at.x - away - width, at.y - height / 2},
        {at.x - width / 2, at.y - away - height},
        {at.x - width / 2, at.y + away},
        {at.x + away * 0.7F, at.y + away * 0.7F},
        {at.x - away * 0.7F - width, at.y - away * 0.7F - height},
    }};
    for (const Point& corner : corners) {
      const Rect rect = {corner.x, corner.y, corner.x + width, corner.y + height};
      if (!is_free(rect)) continue;
      RoofLayout::Label label{.text = text, .rect = rect, .ceiling = {}, .dot = index, .leader = {}};
      if (distance > kDistances.front()) {
        const Point end = {std::clamp(at.x, rect.x0, rect.x1), std::clamp(at.y, rect.y0, rect.y1)};
        const float length = std::max(1.0F, std::hypot(end.x - at.x, end.y - at.y));
        const Point edge = {at.x + (end.x - at.x) / length * dot.radius, at.y + (end.y - at.y) / length * dot.radius};
        label.leader = {edge, end};
      }
      layout_.labels.push_back(std::move(label));
      return;
    }
  }
}

std::string RoofLayer::unplaced_text() const {
  const analysis::Roofline::Unplaced rest = of_.line->unplaced(of_.memory);
  std::vector<std::string> missing;
  if (of_.line->is_sampled) missing.push_back("sampled, shared out by time");
  if (rest.without_flops > 0)
    missing.push_back(fmt::format("{} without FLOPs: {}", format_count(rest.without_flops), rest.flops_example));
  if (rest.without_bytes > 0)
    missing.push_back(fmt::format("{} without {} bytes: {}", format_count(rest.without_bytes),
                                  of_.line->memories[of_.memory].name, rest.bytes_example));
  if (layout_.placed > layout_.dots.size())
    missing.push_back(fmt::format("the {} busiest of {}", layout_.dots.size(), format_count(layout_.placed)));
  return joined(missing, "; ");
}

constexpr float kAxisLeft = 52, kAxisFoot = 36, kFoot = 24;
constexpr float kSmallestLegend = 3;  // radius in units

[[nodiscard]] ImVec2 point_of(Point at) { return {at.x, at.y}; }

constexpr float kPeakRow = 32, kTitleWidth = 120, kFieldWidth = 140;

constexpr float kHead = 36, kBeside = 900;  // below this width the halves lie one above the other
constexpr float kLeastRoof = 330, kLeastLevels = 150;
constexpr float kHierarchyShare = 0.49F;

[[nodiscard]] std::string_view group_word(analysis::RoofGrouping grouping) {
  constexpr std::array<std::string_view, 3> kWords = {"name", "layer", "source line"};
  return kWords[static_cast<std::size_t>(grouping)];
}

}  // namespace

// The last part of a layer's path says most beside others.
std::string roof_point_name(const analysis::RoofPoint& point, analysis::RoofGrouping grouping) {
  constexpr std::size_t kMostLetters = 28;
  return shorten_middle(grouping == analysis::RoofGrouping::layer ? file_name(point.text) : point.text, kMostLetters);
}

RoofLayout lay_out_roof(const RoofQuestion& question, const Snapshot& snapshot, const LabelWidth& width_of) {
  return RoofLayer(question, snapshot, width_of).make();
}

const RoofLayout& RoofLayouts::of(RoofQuestion question, const Snapshot& snapshot, const LabelWidth& width_of) {
  if (made_ > 0 && question == question_) return layout_;
  question_ = std::move(question);
  layout_ = lay_out_roof(question_, snapshot, width_of);
  ++made_;
  return layout_;
}

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
            kHintTextRight);
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
            "FLOP/s", kMonoHint);
  draw_text(ui, {plot_.x0, plot_.y1 + ui.px(18), plot_.x1, plot_.y1 + ui.px(kAxisFoot)},
            fmt::format("FLOP per byte of {}", shown.line->memories[shown.memory].name), quiet);
}

void RoofPlot::draw_ceilings(const PanelContext& context) const {
  Ui& ui = context.ui;
  for (const RoofLayout::Ceiling& each : layout().ceilings) {
    const bool is_roof = each.kind == analysis::RoofCeiling::Kind::roof,
               is_limit = each.kind == analysis::RoofCeiling::Kind::limit;
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
      colour = *label.ceiling == analysis::RoofCeiling::Kind::roof    ? Colour::text1
               : *label.ceiling == analysis::RoofCeiling::Kind::limit ? Colour::warning
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
  const Interaction response =
      interact(ui, "roofline.plot", plot_, {.below_others = true, .keys = FocusStopKind::pointer, .label = "Roofline"});
  const Point pointer = {ui.input().mouse.x - plot_.x0, ui.input().mouse.y - plot_.y0};
  for (const RoofLayout::Dot& dot : layout().dots) {
    const float reach = dot.radius + ui.px(2);
    ui.register_widget(fmt::format("roofline.point.{}", dot.number), on_screen(dot.box()));
    if (response.hovered && std::hypot(pointer.x - dot.at.x, pointer.y - dot.at.y) <= reach)
      hovered = &dot;  // the top one
  }
  const auto number = hovered == nullptr ? std::nullopt : std::optional(hovered->number);
  if (number != hovered_) hovered_since_s_ = ui.time();
  hovered_ = number;
  if (hovered == nullptr) return;
  set_cursor(Cursor::response);
  ui.draw()->AddCircle(point_of(on_screen(hovered->at)), hovered->radius + ui.px(1), ui.colour(Colour::text2), 32,
                       ui.px(1));
  if (response.pressed || response.double_clicked) {
    select_target(context, hovered->events, false);
    const TimeRange& stretch = hovered->point->stretch;
    if (response.double_clicked && !stretch.empty()) view::show_stretch(context.tab, stretch.begin_ns, stretch.end_ns);
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
  const analysis::RoofPoint& point = *dot.point;
  const double intensity = point.intensity(shown.memory);
  const std::string& memory = shown.line->memories[shown.memory].name;
  HoverCard card{.title = roof_point_name(point, shown.grouping),
                 .title_value = format_duration(point.busy_ns),
                 .whole = point.text,
                 .swatch = context.ui.theme().slice(dot.slot)};
  card.rows.push_back({"Events", format_count(point.count)});
  card.rows.push_back({"Operations", format_value(point.flops, "FLOP")});
  card.rows.push_back({memory, format_bytes(point.bytes[shown.memory])});
  card.rows.push_back({"Intensity", fmt::format("{} FLOP/B", format_number(intensity))});
  card.rows.push_back({"Achieved", format_value(point.rate(), analysis::kFlopsPerSecond)});
  if (const auto roof = analysis::roof_at(shown.ceilings, intensity)) {
    card.rows.push_back({"Roof here", format_value(*roof, analysis::kFlopsPerSecond)});
    card.rows.push_back({"Of its roof", format_share(point.rate() / *roof)});
  }
  card.rows.push_back(
      {memory + " rate",
       format_value(point.bytes[shown.memory] / static_cast<double>(point.busy_ns) * 1e9, analysis::kBytesPerSecond)});
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
  const Interaction response =
      interact(ui, "roofline.unplaced", row, {.below_others = true, .keys = FocusStopKind::open});
  draw_text(ui, row, counted, kHintTextRight);
  if (response.hovered && !counted.empty()) tooltip(ui, response, row, counted);
}

bool PeaksEditor::draw(const PanelContext& context, Rect area, const analysis::PeakList& peaks) {
  Ui& ui = context.ui;
  if (model_ != peaks.model) {
    model_ = peaks.model;
    fields_.clear();
  }
  Rect head = area.cut_top(ui.px(36));
  const ButtonOptions done{.label = "Done", .kind = ButtonKind::primary};
  const bool finished = button_right(ui, "roofline.peaks.done", head, done);
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
  for (const analysis::Peak& peak : peaks.all) draw_row(context, rest.cut_top(ui.px(kPeakRow)), peaks, peak);
  return finished;
}

void PeaksEditor::draw_row(const PanelContext& context, Rect row, const analysis::PeakList& peaks,
                           const analysis::Peak& peak) {
  Ui& ui = context.ui;
  Field& field = fields_[peak.what];
  if (!field.touched) field.text = peak.value ? format_value(*peak.value, peak.unit) : "";
  draw_text(ui, row.cut_left(ui.px(kTitleWidth)), peak.title);
  const std::string name = "roofline.peak." + peak.what;
  const TextInputResult response =
      text_input(ui, name, row.cut_left(ui.px(kFieldWidth)).middle(ui.px(size::kControl)), field.text,
                 {.placeholder = peak.unit.name(),
                  .mono = true,
                  .error = !field.error.empty(),
                  .focus_now = std::exchange(field.refocus, false)});
  if (response.changed) {
    field.touched = true;
    field.error.clear();
  }
  if (response.cancelled) field = {};
  if (response.submitted) enter(context, peaks, peak, field);
  row.cut_left(ui.px(4));
  const Rect reset = row.cut_left(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (peak.origin == analysis::PeakOrigin::user) {
    const std::string back = peak.built_in ? fmt::format("Back to {}", format_value(*peak.built_in, peak.unit))
                                           : std::string("Forget it: nothing is built in");
    if (icon_button(ui, name + ".reset", reset, icon::kUndo, back)) {
      reported(context, book_.forget(peaks.model, peak.what));
      field = {};
    }
  }
  row.cut_left(ui.px(6));
  const bool wrong = !field.error.empty();
  draw_text(ui, row, wrong ? field.error : peak.source,
            {.style = TextStyle::small, .colour = wrong ? Colour::error : Colour::text3});
}

void PeaksEditor::enter(const PanelContext& context, const analysis::PeakList& peaks, const analysis::Peak& peak,
                        Field& field) {
  if (trimmed(field.text).empty()) {
    reported(context, book_.forget(peaks.model, peak.what));
    field = {};
    return;
  }
  const Result<double> value = analysis::parse_peak(field.text, peak.unit);
  if (!value) {
    field.error = value.message();
    field.touched = true;
    field.refocus = true;
    return;
  }
  reported(context, book_.enter({peaks.model, peak.what, *value}));
  field = {};
}

void PeaksEditor::reported(const PanelContext& context, const Result<void>& done) const {
  if (!done) context.actions.notify(Severity::warning, done.message());
}

const analysis::DeviceLevels* RooflinePanel::levels() const {
  if (!levels_.value || levels_.value->devices.empty()) return nullptr;
  const auto last = levels_.value->devices.size() - 1;
  return &levels_.value->devices[std::min(static_cast<std::size_t>(device_), last)];
}

const analysis::Roofline* RooflinePanel::roofline() const {
  if (!roofs_.value || roofs_.value->devices.empty()) return nullptr;
  const auto last = roofs_.value->devices.size() - 1;
  return &roofs_.value->devices[std::min(static_cast<std::size_t>(device_), last)];
}

std::vector<std::string> RooflinePanel::device_names() const {
  std::vector<std::string> names;
  if (levels_.value) {
    for (const analysis::DeviceLevels& each : levels_.value->devices)
      names.push_back(each.device.empty() ? "device" : each.device);
  }
  return names;
}

void RooflinePanel::ask(const PanelContext& context) {
  wanted_ = scope_filter(context.tab, scope_);
  if (usual_of_ != context.tab.snapshot->version) {
    usual_of_ = context.tab.snapshot->version;
    usual_ = analysis::usual_grouping(*context.tab.snapshot);
  }
  const TimeRange range = wanted_.range.value_or(TimeRange{});
  const analysis::PeakEdits& edits = book_.edits();
  (void)context.analysis().ask_of(levels_, wanted_, edits, [range, edits](const QueryContext& query) {
    return analysis::memory_levels(query, range, edits);
  });
  const analysis::RoofGrouping grouping = grouping_.value_or(usual_);
  (void)context.analysis().ask_of(roofs_, wanted_, grouping, [range, grouping](const QueryContext& query) {
    return analysis::device_rooflines(query, range, grouping);
  });
}

float RooflinePanel::levels_height(const Ui& ui) const {
  const analysis::DeviceLevels* shown = levels();
  const bool any = shown != nullptr && !shown->paths.empty();
  return ui.px(kHead + 8) + (any ? LevelsView::least_height(ui, *shown) : ui.px(kLeastLevels));
}

std::optional<bool> RooflinePanel::has_content(const PanelContext& context) const {
  if (!levels_.value || !roofs_.value || !context.tab.choices.filter.empty()) return std::nullopt;
  const analysis::DeviceLevels* shown = levels();
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
  if (!error.empty()) return empty_sentence(context.ui, "roofline.error", area, icon::kWarning, error);
  empty_state(context.ui, "roofline.loading", area, icon::kClock,
              share ? fmt::format("Adding up bytes and operations, {}", format_share(*share))
                    : std::string("Adding up bytes and operations"));
}

void RooflinePanel::draw_levels(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const analysis::DeviceLevels* shown = levels();
  if (editing_ && shown != nullptr) {
    // What the fields show is the newest, also while the figures of the last edit are still made.
    const analysis::PeakList peaks = analysis::peaks_of_device(*context.tab.snapshot, shown->device, book_.edits());
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
  if (shown != nullptr && shown->active_ns > 0) hint += fmt::format(", active {}", format_duration(shown->active_ns));
  heading(ui, head, "Memory hierarchy", hint);
  area.cut_top(ui.px(4));
  if (!levels_.error.empty() || !levels_.value) return draw_waiting(context, area, levels_.error, levels_.share());
  if (shown == nullptr || shown->paths.empty())
    return empty_sentence(
        ui, "roofline.no_paths", area, icon::kChip,
        wanted_.empty()
            ? "No event of a device says how many bytes it moved. Neuron profiles, traces of a GPU's copies "
              "and OpenCL captures do."
            : "Nothing of a device that moves bytes passes in this range.");
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
    grouping_ = static_cast<analysis::RoofGrouping>(grouping);
  if (const analysis::Roofline* line = roofline()) {
    std::vector<std::string> memories;
    for (const analysis::RoofMemory& each : line->memories) memories.push_back(each.name);
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
  const analysis::Roofline* line = roofline();
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
  const analysis::Roofline* line = roofline();
  const auto memory = line == nullptr ? 0 : std::min(static_cast<std::size_t>(memory_), line->memories.size() - 1);
  const bool any = line != nullptr && std::ranges::any_of(line->points, [&](const analysis::RoofPoint& point) {
                     return point.is_placed(memory);
                   });
  if (!any) {
    const std::string word(group_word(roofs_.value->grouping));
    std::string sentence = fmt::format("No {} states both its operations and its bytes", word);
    if (line != nullptr) sentence += fmt::format(" of {}", line->memories[memory].name);
    const bool has_other = line != nullptr && std::ranges::any_of(line->points, [](const analysis::RoofPoint& point) {
                             return point.flops > 0;
                           });
    sentence += has_other ? "; choose other points or another memory."
                          : ". Neuron profiles count both by instruction; traces "
                            "of GPU kernels count neither.";
    empty_state(ui, "roofline.no_points", area, icon::kLineChart, sentence);
    return;
  }
  const analysis::DeviceLevels* shown = levels();
  const analysis::PeakList peaks = analysis::peaks_of_device(*context.tab.snapshot, line->device, book_.edits());
  ceilings_ = analysis::roof_ceilings(peaks, line->memories[memory],
                                      shown == nullptr ? analysis::TransferSize{} : shown->transfers);
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

std::unique_ptr<Panel> make_roofline_panel(const PanelParts& parts) {
  return std::make_unique<RooflinePanel>(parts.peaks);
}

}  // namespace accelscope::app::panels
