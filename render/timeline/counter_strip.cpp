#include "render/timeline/counter_strip.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "render/base/draw.h"

namespace accelscope::render {
namespace {

constexpr double kNodePixels = 1;  // nodes up to this width are drawn as a whole
constexpr double kLeafEvents = 64;
constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

template <typename Ticks>
class CounterWalk {
 public:
  CounterWalk(const LaneSnapshot& lane, lod::LaneDetail* detail, const Ticks& ticks, int width, CounterStrip& strip)
      : lane_(lane), detail_(detail), ticks_(ticks), width_(width), strip_(strip) {}

  void run() {
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t parents = level + 1 < kTreeLevels ? lane_.tree.nodes[level + 1] : 0;
      for (std::size_t i = parents * kTreeFanout; i < lane_.tree.nodes[level]; ++i) {
        if (!visit(level, i)) return finish();
      }
    }
    finish();
  }

 private:
  bool visit(std::size_t level, std::size_t index) {
    const CounterNode& node = lane_.data->counters.node(level, index);
    const double x1 = ticks_.x(node.end);
    if (x1 < 0) {
      hold(0, node.last);
      before_ = node.last;
      return true;
    }
    const double x0 = ticks_.x(node.begin);
    if (x0 >= width_) return false;
    if (x1 - x0 <= kNodePixels) {
      add(node, x0, x1);
      return true;
    }
    if (level == 0) {
      visit_leaf(node, static_cast<std::uint32_t>(index), x0, x1);
      return true;
    }
    for (std::size_t child = index * kTreeFanout; child < (index + 1) * kTreeFanout; ++child) {
      if (!visit(level - 1, child)) return false;
    }
    return true;
  }

  void visit_leaf(const CounterNode& leaf, std::uint32_t index, double x0, double x1) {
    if (detail_ == nullptr) return add(leaf, x0, x1);
    const bool samples = (x1 - x0) * lod::kMicroEvents > kNodePixels * kLeafEvents;
    const lod::WindowDetail wanted = samples ? lod::WindowDetail::events : lod::WindowDetail::micro;
    const lod::LaneWindow* window = detail_->find(index, wanted);
    if (window == nullptr) {
      if (!detail_->lost(index, wanted)) strip_.complete = false;
      window = detail_->ready(index, samples ? lod::WindowDetail::micro : lod::WindowDetail::events);
      if (window == nullptr) return add(leaf, x0, x1);
    }
    const std::uint32_t place = index - window->first_leaf;
    for (std::uint32_t i = window->first_entry[place]; i < window->first_entry[place + 1]; ++i) {
      if (window->detail == lod::WindowDetail::events) {
        const lod::WindowSample& sample = window->samples[i];
        const auto value = static_cast<float>(sample.value);
        add_if_seen({sample.ticks, sample.ticks, value, value, sample.value, 0});
      } else {
        add_if_seen(window->counter_nodes[i]);
      }
    }
  }

  void add_if_seen(const CounterNode& node) {
    const double x1 = ticks_.x(node.end);
    const double x0 = ticks_.x(node.begin);
    if (x1 < 0) {
      hold(0, node.last);
      before_ = node.last;
    } else if (x0 < width_) {
      add(node, x0, x1);
    }
  }

  void add(const CounterNode& node, double x0, double x1) {
    hold(std::max(x0, 0.0), node.last);
    const double end = std::min<double>(x1, width_);
    if (x1 > x0) {
      const double area = ticks_.extent(node.integral, x0, x1, time_between(node.begin, node.end));
      area_ += area * (end - std::max(x0, 0.0)) / (x1 - x0);
    }
    held_from_ = end;
    const int first = static_cast<int>(std::clamp<double>(x0, 0, width_ - 1));
    const int last = static_cast<int>(std::clamp<double>(x1, 0, width_ - 1));
    for (int pixel = first; pixel <= last; ++pixel) {
      const auto p = static_cast<std::size_t>(pixel);
      // fmin and fmax ignore the NaN of an untouched pixel.
      strip_.low[p] = std::fmin(strip_.low[p], node.min);
      strip_.high[p] = std::fmax(strip_.high[p], node.max);
      strip_.last[p] = node.last;
    }
  }

  // The value so far holds up to x; from there on it is `value`.
  void hold(double x, double value) {
    if (has_value_) {
      area_ += value_ * (x - held_from_);
    } else {
      first_x_ = x;
    }
    held_from_ = x;
    value_ = value;
    has_value_ = true;
  }

  void finish() {
    if (!has_value_) return;
    area_ += value_ * (width_ - held_from_);
    strip_.mean = width_ > first_x_ ? area_ / (width_ - first_x_) : value_;
    if (!std::isfinite(strip_.mean)) strip_.mean = value_;
    fill_held();
  }

  // Pixels without a sample take the value that holds there; the others also touch the one they begin with.
  void fill_held() {
    double held = before_;
    strip_.lowest = std::numeric_limits<double>::max();
    strip_.highest = std::numeric_limits<double>::lowest();
    for (std::size_t p = 0; p < strip_.last.size(); ++p) {
      if (std::isnan(strip_.last[p])) strip_.last[p] = held;
      strip_.low[p] = std::fmin(strip_.low[p], static_cast<float>(held));
      strip_.high[p] = std::fmax(strip_.high[p], static_cast<float>(held));
      held = strip_.last[p];
      if (std::isnan(held)) continue;
      strip_.any = true;
      strip_.lowest = std::min<double>(strip_.lowest, strip_.low[p]);
      strip_.highest = std::max<double>(strip_.highest, strip_.high[p]);
    }
  }

  const LaneSnapshot& lane_;
  lod::LaneDetail* detail_;
  const Ticks& ticks_;
  int width_;
  CounterStrip& strip_;
  bool has_value_ = false;
  double before_ = kNothing;  // the value at the left edge of the view
  double value_ = 0;
  double held_from_ = 0;
  double first_x_ = 0;
  double area_ = 0;
};

constexpr float kMargin = 4;  // between the top value and the lane's edge
constexpr float kAreaAlpha = 0.22F, kBandAlpha = 0.45F;

// Whether the pixel, which may lie beyond the strip, has more values than one.
bool spans(const CounterStrip& strip, std::size_t pixel) {
  return pixel < strip.high.size() && strip.low[pixel] < strip.high[pixel];
}

// Runs of pixels with one value become one rectangle each.
template <typename Draw>
void for_each_step(const CounterStrip& strip, Draw draw) {
  const std::size_t width = strip.last.size();
  for (std::size_t begin = 0; begin < width;) {
    std::size_t end = begin + 1;
    const bool flat = strip.low[begin] == strip.high[begin];
    while (flat && end < width && strip.low[end] == strip.low[begin] && strip.high[end] == strip.high[begin]) ++end;
    if (!std::isnan(strip.high[begin])) draw(begin, end);
    begin = end;
  }
}

}  // namespace

void build_counter_strip(const LaneSnapshot& lane, lod::LaneDetail* detail, const TimeView& view, CounterStrip& strip) {
  const auto width = static_cast<std::size_t>(view.width);
  strip.low.assign(width, kNothing);
  strip.high.assign(width, kNothing);
  strip.last.assign(width, kNothing);
  strip.any = false;
  strip.lowest = strip.highest = strip.mean = 0;
  strip.complete = true;
  static const ClockMap kIdentity;
  const ClockMap& clock = lane.clock ? *lane.clock : kIdentity;
  if (clock.is_affine()) {
    const AffineTicks ticks(clock, view);
    CounterWalk<AffineTicks>(lane, detail, ticks, view.width, strip).run();
  } else {
    const MappedTicks ticks(clock, view);
    CounterWalk<MappedTicks>(lane, detail, ticks, view.width, strip).run();
  }
}

void paint_counter(Ui& ui, ImDrawList* list, const CounterPaint& counter) {
  const Rect& rect = counter.rect;
  const float bottom = rect.y1 - ui.px(1);
  const float height = bottom - rect.y0 - ui.px(kMargin);
  const double top = counter.top > 0 ? counter.top : 1;
  const auto y_of = [&](float value) {
    const double share = std::clamp(static_cast<double>(value) / top, 0.0, 1.0);
    return std::round(bottom - static_cast<float>(share) * height);
  };
  const float line = ui.px(1);
  const Pixel area = with_alpha(counter.colour, kAreaAlpha);
  for_each_step(counter.strip, [&](std::size_t begin, std::size_t end) {
    const float x0 = rect.x0 + static_cast<float>(begin);
    const float x1 = rect.x0 + static_cast<float>(end);
    const float high = y_of(counter.strip.high[begin]);
    const float low = y_of(counter.strip.low[begin]);
    if (counter.area) list->AddRectFilled(ImVec2(x0, high), ImVec2(x1, bottom), area);
    // What varies within pixels is a pale band below its line: solid, it would look like a higher area. A step is an
    // edge.
    const bool varies = low > high && (spans(counter.strip, begin - 1) || spans(counter.strip, end));
    list->AddRectFilled(ImVec2(x0, high - line), ImVec2(x1, varies ? high : std::max(high, low)), counter.colour);
    if (varies) list->AddRectFilled(ImVec2(x0, high), ImVec2(x1, low), with_alpha(counter.colour, kBandAlpha));
  });
  if (counter.peak.empty()) return;
  const float y = y_of(static_cast<float>(top)) - line;
  dashed_line(ui, list, {rect.x0, y + 0.5F}, {rect.x1, y + 0.5F}, with_alpha(ui.colour(Colour::text3), 0.5F), 2, 4);
  const float width = text_width(ui, TextStyle::mono_small, counter.peak);
  const Rect label{rect.x1 - width - ui.px(6), y - ui.px(1), rect.x1 - ui.px(4), y + ui.px(15)};
  list->AddRectFilled(ImVec2(label.x0 - ui.px(3), label.y0), ImVec2(label.x1 + ui.px(3), label.y1),
                      with_alpha(ui.colour(Colour::bg1), 0.8F));
  draw_text(ui, list, label, counter.peak,
            {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::right, .fit = Fit::clip});
}

}  // namespace accelscope::render
