#include "app/connect/form_layout.h"

#include <algorithm>
#include <limits>

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kFormLayoutHintLine = 16;

}  // namespace

float FormLayout::field_width() const { return rest_.width() - (narrow() ? 0 : ui_.px(kLabel)); }

void FormLayout::section(std::string_view title, std::string_view hint, bool line_above) {
  if (line_above) {
    rest_.y0 += ui_.px(8);
    line();
  }
  rest_.y0 += ui_.px(10);
  Rect row = strip(ui_.px(24));
  const float title_width = text_width(ui_, TextStyle::heading, title) + ui_.px(12);
  draw_text(ui_, row.cut_left(narrow() ? title_width : ui_.px(kLabel)), title, {.style = TextStyle::heading});
  draw_text(ui_, row, hint, {.style = TextStyle::small, .colour = Colour::text3});
  rest_.y0 += ui_.px(4);
}

void FormLayout::line() {
  const float beyond = ui_.px(kBeyond);
  horizontal_line(ui_, rest_.x0 - beyond, rest_.x1 + beyond, rest_.y0, ui_.colour(Colour::line1));
}

Rect FormLayout::strip(float height) {
  rest_.y1 = std::numeric_limits<float>::max();
  return rest_.cut_top(height);
}

Rect FormLayout::field(std::string_view label, float height) {
  const float control = ui_.px(size::kControl);
  if (height <= 0) height = control;
  if (narrow()) {
    if (!label.empty()) draw_text(ui_, strip(ui_.px(20)), label, {.colour = Colour::text2});
    const Rect row = strip(height);
    rest_.y0 += ui_.px(kGap);
    return row;
  }
  const float label_width = ui_.px(kLabel - 8);
  const bool wraps = text_width(ui_, TextStyle::body, label) > label_width;
  const float line = ui_.px(kFormLayoutHintLine);
  const float label_height = wraps ? paragraph_height(ui_, TextStyle::small, label, label_width, line) : 0;
  Rect row = strip(std::max(height, label_height));
  rest_.y0 += ui_.px(kGap);
  Rect place = row.cut_left(ui_.px(kLabel));
  place.x1 = place.x0 + label_width;
  place.y1 = place.y0 + std::max(control, label_height);
  if (wraps) {
    draw_paragraph(ui_, place.middle(label_height), label, {.style = TextStyle::small, .colour = Colour::text2}, line);
  } else {
    draw_text(ui_, place, label, {.colour = Colour::text2});
  }
  row.y1 = row.y0 + height;
  return row;
}

void FormLayout::hint(std::string_view text, Colour colour) {
  const float line = ui_.px(kFormLayoutHintLine);
  rest_.y0 -= ui_.px(kGap - 3);
  const Rect place = field("", paragraph_height(ui_, TextStyle::small, text, field_width(), line));
  draw_paragraph(ui_, place, text, {.style = TextStyle::small, .colour = colour}, line);
}

void FormLayout::banner(BannerKind kind, std::string_view text, float least_height) {
  const float least = least_height > 0 ? ui_.px(least_height) : 0;
  const Rect place = field("", std::max(banner_height(ui_, field_width(), text, {}), least));
  render::banner(ui_, place, kind, text, {});
}

}  // namespace accelscope::app
