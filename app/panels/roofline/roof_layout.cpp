#include "app/panels/roofline/roof_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/content/listings/rooflines.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "core/model/unit.h"

namespace accelscope::app {

using render::Point;
using render::Rect;

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
    for (const RoofCeiling& each : of_.ceilings) {
      if (each.kind == RoofCeiling::Kind::roof) (each.is_compute ? compute_ : bandwidth_) = each.value;
    }
    fit_axes();
    place_dots();
    place_grid();
    place_ceilings();
    for (const RoofCeiling& each : of_.ceilings) label_ceiling(each);
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
    return std::any_of(layout_.dots.begin(), layout_.dots.end(),
                       [&](const RoofLayout::Dot& dot) { return rect.overlaps(dot.box()); });
  }
  [[nodiscard]] bool covers_label(const Rect& rect) const {
    return std::any_of(layout_.labels.begin(), layout_.labels.end(),
                       [&](const RoofLayout::Label& other) { return other.rect.overlaps(rect); });
  }
  [[nodiscard]] bool is_free(const Rect& rect) const {
    if (rect.x0 < 0 || rect.x1 > of_.width || rect.y0 < 0 || rect.y1 > of_.height) return false;
    return !covers_label(rect) && !covers_dot(rect) &&
           std::none_of(layout_.ceilings.begin(), layout_.ceilings.end(),
                        [&](const RoofLayout::Ceiling& each) { return meets(rect, each.line.from, each.line.to); });
  }

  void fit_axes();
  void place_dots();
  void place_grid();
  void place_ceilings();
  void label_ceiling(const RoofCeiling& ceiling);
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
  ValueAxis &intensity = layout_.intensity, &rate = layout_.rate;
  for (const RoofPoint& point : of_.line->points) {
    if (!point.is_placed(of_.memory)) continue;
    ++layout_.placed;
    intensity.include(point.intensity(of_.memory));
    rate.include(point.rate());
    layout_.longest_ns = std::max(layout_.longest_ns, point.busy_ns);
  }
  const double low = intensity.low(), high = intensity.high();
  const auto include_near = [](ValueAxis& axis, double value) {
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
  const std::vector<RoofPoint>& points = of_.line->points;
  for (std::size_t i = 0; i < points.size() && layout_.dots.size() < RoofLayout::kMostDots; ++i) {
    const RoofPoint& point = points[i];
    if (!point.is_placed(of_.memory)) continue;
    const double part = std::sqrt(static_cast<double>(point.busy_ns) / static_cast<double>(layout_.longest_ns));
    const StringId id = snapshot_.strings->find(point.text);
    layout_.dots.push_back({.point = &point,
                            .number = i,
                            .at = place(point.intensity(of_.memory), point.rate()),
                            .radius = std::max(px(kSmallestDot), layout_.largest_dot * static_cast<float>(part)),
                            .slot = id == kNone ? std::uint8_t{0} : snapshot_.strings->slot(id),
                            .events = events_of_point(snapshot_, of_.grouping, point, of_.filter)});
  }
}

void RoofLayer::place_grid() {
  const auto most = [&](float room, float each) {
    return static_cast<std::size_t>(std::max(2.0F, std::floor(room / px(each))));
  };
  const ValueAxis &intensity = layout_.intensity, &rate = layout_.rate;
  for (ValueTick& tick : intensity.ticks(most(of_.width, kColumnRoom), "FLOP/B", TickSteps::doubling))
    layout_.columns.push_back({static_cast<float>(intensity.place(tick.value)) * of_.width, std::move(tick.text)});
  for (ValueTick& tick : rate.ticks(most(of_.height, kRowRoom), "FLOP/s"))
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

void RoofLayer::label_ceiling(const RoofCeiling& ceiling) {
  const bool is_limit = ceiling.kind == RoofCeiling::Kind::limit;
  const std::string text =
      fmt::format("{}{} {}", is_limit && ceiling.title.find(',') != std::string::npos ? "≈ " : "", ceiling.title,
                  format_value(ceiling.value, ceiling.is_compute ? kFlopsPerSecond : kBytesPerSecond));
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
  const Roofline::Unplaced rest = of_.line->unplaced(of_.memory);
  std::vector<std::string> missing;
  if (rest.without_flops > 0)
    missing.push_back(fmt::format("{} without FLOPs: {}", format_count(rest.without_flops), rest.flops_example));
  if (rest.without_bytes > 0)
    missing.push_back(fmt::format("{} without {} bytes: {}", format_count(rest.without_bytes),
                                  of_.line->memories[of_.memory].name, rest.bytes_example));
  if (layout_.placed > layout_.dots.size())
    missing.push_back(fmt::format("the {} busiest of {}", layout_.dots.size(), format_count(layout_.placed)));
  std::string text;
  for (const std::string& each : missing) text += (text.empty() ? "" : "; ") + each;
  return text;
}

}  // namespace

// The last part of a layer's path says most beside others.
std::string roof_point_name(const RoofPoint& point, RoofGrouping grouping) {
  constexpr std::size_t kMostLetters = 28;
  const std::size_t slash = grouping == RoofGrouping::layer ? point.text.rfind('/') : std::string::npos;
  if (slash == std::string::npos) return shorten_middle(point.text, kMostLetters);
  return shorten_middle(std::string_view(point.text).substr(slash + 1), kMostLetters);
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

}  // namespace accelscope::app
