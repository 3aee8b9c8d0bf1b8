#include "render/base/draw.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/imgui_compat.h"

namespace accelscope::render {
namespace {

constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

std::size_t next_character(std::string_view text, std::size_t at) {
  do {
    ++at;
  } while (at < text.size() && is_continuation(text[at]));
  return at;
}

// Byte offsets of the characters, and one past the last.
std::vector<std::size_t> character_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) starts.push_back(at);
  starts.push_back(text.size());
  return starts;
}

// `retained` characters of the text, the rest replaced by the ellipsis at the end, in the middle or in front.
std::string shortened(std::string_view text, const std::vector<std::size_t>& starts, std::size_t retained, Fit fit) {
  const std::size_t characters = starts.size() - 1;
  const std::size_t head = fit == Fit::middle ? (retained + 1) / 2 : fit == Fit::end ? 0 : retained;
  const std::size_t tail = retained - head;
  std::string result(text.substr(0, starts[head]));
  result += kEllipsis;
  result += text.substr(starts[characters - tail]);
  return result;
}

ImVec2 vec(Point p) { return {p.x, p.y}; }
ImVec2 low(const Rect& rect) { return {rect.x0, rect.y0}; }
ImVec2 high(const Rect& rect) { return {rect.x1, rect.y1}; }

}  // namespace

float text_width(const Ui& ui, TextStyle style, std::string_view text) {
  if (text.empty()) return 0;  // an empty view may have no bytes to point at
  ImFont* font = ui.fonts()[style];
  return font->CalcTextSizeA(compat::font_size(font), FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

std::string fitted_text(const Ui& ui, TextStyle style, std::string_view text, float width, Fit fit) {
  if (fit == Fit::clip || text_width(ui, style, text) <= width) return std::string(text);
  const auto starts = character_starts(text);
  std::size_t low_count = 0;  // always fits, if anything does
  std::size_t high_count = starts.size() - 1;
  while (low_count + 1 < high_count) {
    const std::size_t middle = (low_count + high_count) / 2;
    const bool fits = text_width(ui, style, shortened(text, starts, middle, fit)) <= width;
    (fits ? low_count : high_count) = middle;
  }
  if (low_count == 0) return {};
  return shortened(text, starts, low_count, fit);
}

std::string fitted_apart(const Ui& ui, TextStyle style, std::string_view text, float width, Fit fit,
                         std::span<const std::string> others) {
  std::string usual = fitted_text(ui, style, text, width, fit);
  if (usual.empty() || usual == text) return usual;
  std::vector<std::string_view> alike;  // could be taken for it
  std::size_t shared = text.size();     // bytes that all of these begin with
  for (const std::string& other : others) {
    if (other == text || other.empty() || (other.front() != text.front() && other.back() != text.back())) continue;
    alike.push_back(other);
    const auto differs = std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first;
    shared = std::min(shared, static_cast<std::size_t>(differs - text.begin()));
  }
  while (shared > 0 && shared < text.size() && is_continuation(text[shared])) --shared;
  const auto from_difference = [&](std::string_view name) {
    const std::string rest = std::string(kEllipsis) + std::string(name.substr(std::min(shared, name.size())));
    return fitted_text(ui, style, rest, width, Fit::ellipsis);
  };
  const auto is_apart = [&](const std::string& cut, const auto& cut_as) {
    return !cut.empty() && std::ranges::none_of(alike, [&](auto other) { return cut_as(other) == cut; });
  };
  for (const Fit each : {fit, Fit::middle, Fit::end, Fit::ellipsis}) {
    const auto cut_as = [&](std::string_view name) { return fitted_text(ui, style, name, width, each); };
    std::string cut = cut_as(text);
    if (is_apart(cut, cut_as)) return cut;
  }
  std::string cut = from_difference(text);
  return is_apart(cut, from_difference) ? cut : usual;
}

float draw_text(Ui& ui, const Rect& row, std::string_view text, const TextOptions& options) {
  return draw_text(ui, ui.draw(), row, text, options);
}

// Moves each glyph (four vertices) to a whole pixel. Advances are fractions of pixels and the atlas is sampled at the
// nearest texel: a glyph that begins half way between two pixels may otherwise lose a column, and an "l" is only one.
static void snap_glyphs(ImDrawList* list, int first_vertex) {
  for (int i = first_vertex; i + 3 < list->VtxBuffer.Size; i += 4) {
    const float left = list->VtxBuffer[i].pos.x;
    const float shift = std::round(left) - left;
    for (int corner = 0; corner < 4; ++corner) list->VtxBuffer[i + corner].pos.x += shift;
  }
}

float draw_text(Ui& ui, ImDrawList* list, const Rect& row, std::string_view text, const TextOptions& options) {
  if (text.empty() || row.x1 <= row.x0) return 0;
  ImFont* font = ui.fonts()[options.style];
  std::string shorter;
  float width = text_width(ui, options.style, text);
  if (width > row.width() + 0.5F && options.fit != Fit::clip) {
    shorter = options.beside.empty() ? fitted_text(ui, options.style, text, row.width(), options.fit)
                                     : fitted_apart(ui, options.style, text, row.width(), options.fit, options.beside);
    text = shorter;
    width = text_width(ui, options.style, text);
  }
  float x = row.x0;
  if (options.align == Align::right) x = row.x1 - width;
  if (options.align == Align::centre) x = row.x0 + std::max(0.0F, (row.width() - width) / 2);
  const float baseline = std::round(row.centre().y + ui.fonts().baseline_offset(options.style) - 0.01F);
  const float y = baseline - std::round(compat::glyphs_of(font).Ascent);
  const Pixel colour = options.pixel != 0 ? options.pixel : ui.colour(options.colour);
  const Rect box{x, y, x + width, y + compat::font_size(font)};
  const ImVec2 clip_low = list->GetClipRectMin();
  const ImVec2 clip_high = list->GetClipRectMax();
  if (!box.overlaps({clip_low.x, clip_low.y, clip_high.x, clip_high.y})) return width;
  const bool cut = options.fit == Fit::clip && width > row.width();
  const ImVec4 fine(row.x0, clip_low.y, row.x1, clip_high.y);
  const int first_vertex = list->VtxBuffer.Size;
  list->AddText(font, compat::font_size(font), ImVec2(std::round(x), y), colour, text.data(), text.data() + text.size(),
                0, cut ? &fine : nullptr);
  if (!cut) snap_glyphs(list, first_vertex);
  ui.note_text(text, box);
  return width;
}

// Calls line(text) for each line of a paragraph broken at spaces.
template <typename Line>
static void break_lines(const Ui& ui, TextStyle style, std::string_view text, float width, const Line& line) {
  ImFont* font = ui.fonts()[style];
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    const char* newline = std::find(at, end, '\n');
    const char* stop = compat::wrap_position(font, at, newline, width);
    if (stop == at && newline != at) ++stop;  // narrower than one character: go on all the same
    line(std::string_view(at, static_cast<std::size_t>(stop - at)));
    at = stop;
    while (at < newline && *at == ' ') ++at;
    if (at == newline && at < end) ++at;
  }
}

float draw_paragraph(Ui& ui, const Rect& area, std::string_view text, const TextOptions& options, float line_height) {
  const float height = line_height > 0 ? line_height : ui.px(18);
  Rect rest = area;
  break_lines(ui, options.style, text, area.width(), [&](std::string_view line) {
    const Rect row{rest.x0, rest.y0, rest.x1, rest.y0 + height};
    TextOptions line_options = options;
    line_options.fit = Fit::clip;
    draw_text(ui, row, line, line_options);
    rest.y0 += height;
  });
  return rest.y0 - area.y0;
}

float paragraph_height(const Ui& ui, TextStyle style, std::string_view text, float width, float line_height) {
  int lines = 0;
  break_lines(ui, style, text, width, [&](std::string_view) { ++lines; });
  return static_cast<float>(lines) * (line_height > 0 ? line_height : ui.px(18));
}

void draw_icon(Ui& ui, const Rect& box, const char* icon, Pixel colour, TextStyle style) {
  ImFont* font = ui.fonts()[style];
  const auto* bytes = reinterpret_cast<const unsigned char*>(icon);
  const auto code = static_cast<ImWchar>((bytes[0] & 0x0fU) << 12 | (bytes[1] & 0x3fU) << 6 | (bytes[2] & 0x3fU));
  const ImFontGlyph* glyph = compat::glyphs_of(font).FindGlyph(code);
  if (glyph == nullptr) return;
  // Centred by what is seen, since the glyphs sit unevenly on their baseline.
  const float x = std::round(box.centre().x - (glyph->X1 - glyph->X0) / 2) - glyph->X0;
  const float y = std::round(box.centre().y - (glyph->Y1 - glyph->Y0) / 2) - glyph->Y0;
  font->RenderChar(ui.draw(), compat::font_size(font), ImVec2(x, y), colour, code);
}

void fill(Ui& ui, const Rect& rect, Pixel colour, float radius_units) {
  if (rect.empty()) return;
  ui.draw()->AddRectFilled(low(rect), high(rect), colour, radius_units * ui.scale());
}

void outline(Ui& ui, const Rect& rect, Pixel colour, float radius_units, float thickness_units) {
  if (rect.empty()) return;
  // A stroke is centred on its path: half of it is drawn inside, so that the border lies within the rectangle.
  const float thickness = std::max(1.0F, thickness_units * ui.scale());
  const Rect path = rect.inset(thickness / 2 - 0.5F);
  ui.draw()->AddRect(low(path), high(path), colour, radius_units * ui.scale(), 0, thickness);
}

void horizontal_line(Ui& ui, float x0, float x1, float y, Pixel colour) {
  ui.draw()->AddRectFilled(ImVec2(x0, std::floor(y)), ImVec2(x1, std::floor(y) + ui.px(1)), colour);
}

void vertical_line(Ui& ui, float x, float y0, float y1, Pixel colour) {
  ui.draw()->AddRectFilled(ImVec2(std::floor(x), y0), ImVec2(std::floor(x) + ui.px(1), y1), colour);
}

void hatch(const Ui& ui, ImDrawList* list, const Rect& rect, Pixel line) {
  const ImVec2 clip_low = list->GetClipRectMin();
  const ImVec2 clip_high = list->GetClipRectMax();
  const Rect seen = rect.intersected({clip_low.x, clip_low.y, clip_high.x, clip_high.y});
  if (seen.empty()) return;
  const float step = ui.px(size::kHatchStep);
  // Lines x + y = constant, constants being multiples of the step: neighbours join, and nothing swims when panned.
  const float first = std::floor((seen.x0 + seen.y0) / step) * step;
  list->PushClipRect(low(seen), high(seen), true);
  for (float sum = first; sum < seen.x1 + seen.y1; sum += step) {
    const float top = std::max(seen.y0, sum - seen.x1);
    const float bottom = std::min(seen.y1, sum - seen.x0);
    if (bottom <= top) continue;
    list->AddLine(ImVec2(sum - top, top), ImVec2(sum - bottom, bottom), line, ui.scale());
  }
  list->PopClipRect();
}

void dashed_line(const Ui& ui, ImDrawList* list, Point from, Point to, Pixel colour, float dash_units, float gap_units,
                 float thickness_units) {
  const float length = std::hypot(to.x - from.x, to.y - from.y);
  if (length <= 0) return;
  const Point unit{(to.x - from.x) / length, (to.y - from.y) / length};
  const float dash = ui.px(dash_units);
  const float step = dash + ui.px(gap_units);
  const auto at = [&](float distance) { return vec({from.x + unit.x * distance, from.y + unit.y * distance}); };
  for (float start = 0; start < length; start += step) {
    list->AddLine(at(start), at(std::min(start + dash, length)), colour, std::max(1.0F, thickness_units * ui.scale()));
  }
}

float draw_swatch(Ui& ui, const Rect& row, Pixel colour) {
  const float side = ui.px(10);
  const Rect box = Rect{row.x0, row.y0, row.x0 + side, row.y1}.middle(side);
  fill(ui, box, colour, size::kSliceRadius);
  if (ui.theme().kind() == ThemeKind::light) outline(ui, box, ui.theme().slice_edge(colour), size::kSliceRadius);
  return side;
}

std::vector<std::string_view> broken_lines(const Ui& ui, TextStyle style, std::string_view text, float width) {
  const float advance = text_width(ui, style, "M");
  const std::size_t fitting = std::max<std::size_t>(8, static_cast<std::size_t>(std::max(width, 0.0F) / advance));
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t bytes = 0;
    for (std::size_t count = 0; bytes < text.size() && count < fitting; ++count) {
      do ++bytes;
      while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0U) == 0x80U);
    }
    if (bytes < text.size()) {  // behind a blank or comma, if one is near the end
      const std::size_t blank = text.substr(0, bytes).find_last_of(" ,");
      if (blank != std::string_view::npos && blank > bytes / 2) bytes = blank + 1;
    }
    lines.push_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return lines;
}

}  // namespace accelscope::render
