#include "render/timeline/lane_painter.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/draw.h"
#include "render/base/imgui_compat.h"

namespace accelscope::render {
namespace {

constexpr float kLabelInset = 6;      // from the visible left edge, so that a slice cut by the view keeps its label
constexpr float kLabelMargin = 4;     // free on both sides
constexpr float kWaitLabelFree = 20;  // free on both sides of a waiting label
constexpr float kWaitInset = 2;       // a wait is lower than a slice
constexpr std::size_t kFewestCharacters = 2;  // of room: fewer say nothing
constexpr float kFoundBar = 2;                // height of the bar above what a search found
constexpr float kLitLine = 2;                 // thickness of the outline of what is lit
constexpr float kEdgeFrom = 10;               // light theme: slices of this width get an edge
constexpr float kRoundFrom = 6;               // narrower slices have square corners

}  // namespace

LanePainter::LanePainter(Ui& ui, ImDrawList* list, const StripTexture& texture, SliceLabels& labels)
    : ui_(ui),
      list_(list),
      texture_(texture),
      labels_(labels),
      advance_(compat::glyphs_of(ui.fonts()[TextStyle::mono_small]).GetCharAdvance('M')),
      text_top_(std::round(ui.fonts().baseline_offset(TextStyle::mono_small)) -
                std::round(compat::glyphs_of(ui.fonts()[TextStyle::mono_small]).Ascent)),
      radius_(size::kSliceRadius * ui.scale()),
      gap_(ui.px(1)),
      light_(ui.theme().kind() == ThemeKind::light) {}

void LanePainter::paint(const LanePaint& lane) const {
  const float inset = ui_.px(kWaitInset);
  for (const PixelRun& run : lane.strip.waits) {
    texture_.draw_hatch(list_, {lane.rect.x0 + static_cast<float>(run.begin), lane.rect.y0 + inset,
                                lane.rect.x0 + static_cast<float>(run.end), lane.rect.y1 - inset});
  }
  for (const WideSlice& slice : lane.strip.slices) {
    if (slice.waits) paint_wait(lane, slice);
  }
  texture_.draw_row(list_, lane.rect, lane.texture_row);
  for (const WideSlice& slice : lane.strip.slices) {
    if (!slice.waits) paint_slice(lane, slice);
  }
  for (const PixelRun& run : lane.strip.found) {
    paint_found(lane, lane.rect.x0 + static_cast<float>(run.begin), lane.rect.x0 + static_cast<float>(run.end));
  }
  for (const PixelRun& run : lane.strip.lit) {
    paint_lit(lane, lane.rect.x0 + static_cast<float>(run.begin), lane.rect.x0 + static_cast<float>(run.end));
  }
  for (const WideSlice& slice : lane.strip.slices) {
    if (!slice.lit) continue;
    const auto x0 = static_cast<float>(std::max(slice.x0, -8.0));
    const auto x1 = static_cast<float>(std::min<double>(slice.x1, lane.rect.width() + 8.0F));
    paint_lit(lane, lane.rect.x0 + std::round(x0),
              std::max(lane.rect.x0 + std::round(x1) - gap_, lane.rect.x0 + std::round(x0) + 1));
  }
  for (const WideSlice& slice : lane.strip.slices) {
    if (!slice.found) continue;
    const auto x0 = static_cast<float>(std::max(slice.x0, 0.0));
    const auto x1 = static_cast<float>(std::min<double>(slice.x1, lane.rect.width()));
    paint_found(lane, lane.rect.x0 + std::round(x0),
                std::max(lane.rect.x0 + std::round(x1) - gap_, lane.rect.x0 + x0 + 1));
  }
}

void LanePainter::paint_wait(const LanePaint& lane, const WideSlice& slice) const {
  const float inset = ui_.px(kWaitInset);
  const float x0 = std::max(0.0F, std::round(static_cast<float>(std::max(slice.x0, 0.0))));
  const float x1 = std::round(static_cast<float>(std::min<double>(slice.x1, lane.rect.width())));
  if (x1 <= x0) return;
  const Rect box{lane.rect.x0 + x0, lane.rect.y0 + inset, lane.rect.x0 + x1, lane.rect.y1 - inset};
  texture_.draw_hatch(list_, box);
  if (!lane.labels) return;
  const std::size_t fitting = fitting_characters(box.width() - 2 * ui_.px(kWaitLabelFree));
  if (fitting < kFewestCharacters) return;
  const std::string_view name = labels_.label(slice, fitting);
  if (name.empty()) return;
  const float width = advance_ * static_cast<float>(character_count(name));
  const float left = std::round(box.centre().x - width / 2);
  const float margin = ui_.px(kLabelMargin);
  list_->AddRectFilled(ImVec2(left - margin, box.y0), ImVec2(left + width + margin, box.y1), ui_.colour(Colour::bg1));
  ImFont* font = ui_.fonts()[TextStyle::mono_small];
  const float top = std::round(box.centre().y - 0.01F) + text_top_;
  list_->AddText(font, compat::font_size(font), ImVec2(left, top), ui_.colour(Colour::text3), name.data(),
                 name.data() + name.size());
  ui_.note_text(name, {left, box.y0, left + width, box.y1});
}

void LanePainter::paint_found(const LanePaint& lane, float x0, float x1) const {
  list_->AddRectFilled(ImVec2(x0, lane.rect.y0 - ui_.px(kFoundBar)), ImVec2(x1, lane.rect.y0),
                       ui_.colour(Colour::text1));
}

// An outline, as of a related event; what is too narrow to have an inside is filled.
void LanePainter::paint_lit(const LanePaint& lane, float x0, float x1) const {
  const float thickness = ui_.px(kLitLine);
  const Pixel colour = ui_.colour(Colour::accent);
  if (x1 - x0 <= 2 * thickness) {
    list_->AddRectFilled(ImVec2(x0, lane.rect.y0), ImVec2(std::max(x1, x0 + ui_.px(1)), lane.rect.y1), colour);
    return;
  }
  const float half = thickness / 2;
  list_->AddRect(ImVec2(x0 + half, lane.rect.y0 + half), ImVec2(x1 - half, lane.rect.y1 - half), colour, radius_, 0,
                 thickness);
}

void LanePainter::paint_slice(const LanePaint& lane, const WideSlice& slice) const {
  // Far outside the view coordinates would lose their precision as floats.
  const auto x0 = static_cast<float>(std::max(slice.x0, -8.0));
  const auto x1 = static_cast<float>(std::min<double>(slice.x1, lane.rect.width() + 8.0F));
  const Rect box{lane.rect.x0 + std::round(x0), lane.rect.y0,
                 std::max(lane.rect.x0 + std::round(x1) - gap_, lane.rect.x0 + std::round(x0) + 1), lane.rect.y1};
  Pixel fill_colour = opaque(slice.colour);
  if (slice.dimmed) fill_colour = ui_.theme().dimmed(fill_colour);
  const float radius = box.width() >= kRoundFrom * ui_.scale() ? radius_ : 0;
  list_->AddRectFilled(ImVec2(box.x0, box.y0), ImVec2(box.x1, box.y1), fill_colour, radius);
  if (light_ && box.width() >= kEdgeFrom * ui_.scale()) {
    list_->AddRect(ImVec2(box.x0, box.y0), ImVec2(box.x1, box.y1), ui_.theme().slice_edge(fill_colour), radius, 0,
                   std::max(1.0F, std::floor(ui_.scale())));
  }
  if (!lane.labels) return;
  const Rect seen{std::max(box.x0, lane.rect.x0), box.y0, std::min(box.x1, lane.rect.x1), box.y1};
  if (seen.width() < advance_ * kFewestCharacters) return;
  paint_label(slice, seen, ui_.colour(slice.dimmed ? Colour::text2 : Colour::ink));
}

std::size_t LanePainter::fitting_characters(float room) const {
  return room < advance_ ? 0 : static_cast<std::size_t>(room / advance_ + 0.01F);
}

void LanePainter::paint_label(const WideSlice& slice, const Rect& box, Pixel colour) const {
  const float left = std::round(box.x0 + ui_.px(kLabelInset));
  const std::size_t fitting = fitting_characters(box.x1 - ui_.px(kLabelMargin) - left);
  if (fitting < kFewestCharacters) return;
  const std::string_view name = labels_.label(slice, fitting);
  if (name.empty()) return;
  ImFont* font = ui_.fonts()[TextStyle::mono_small];
  const float top = std::round(box.centre().y - 0.01F) + text_top_;
  list_->AddText(font, compat::font_size(font), ImVec2(left, top), colour, name.data(), name.data() + name.size());
  ui_.note_text(name, {left, box.y0, left + advance_ * static_cast<float>(character_count(name)), box.y1});
}

}  // namespace accelscope::render
