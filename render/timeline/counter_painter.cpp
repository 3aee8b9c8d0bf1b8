#include "render/timeline/counter_painter.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/draw.h"

namespace accelscope::render {
namespace {

constexpr float kMargin = 4;  // between the top value and the lane's edge
constexpr float kAreaAlpha = 0.22F;

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
    list->AddRectFilled(ImVec2(x0, high - line), ImVec2(x1, std::max(high, low)), counter.colour);
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
