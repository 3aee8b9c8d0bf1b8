// Drawing on a list: text in a style, icons, boxes, hatches, dashes. Nothing here reacts to input. All coordinates are
// pixels; text sits on the baseline that its style has in a row, so that label and number stand on one line.
#pragma once

#include <span>

#include "core/base/format.h"
#include "render/base/ui.h"

namespace accelscope::render {

enum class Align : std::uint8_t { left, centre, right };
enum class Fit : std::uint8_t {
  clip,      // cut at the edge
  ellipsis,  // "nl.load(w1…"
  middle,    // "qGpSimdS…Reload0"
  end,       // "…Reload0"
};

struct TextOptions {
  TextStyle style = TextStyle::body;
  Colour colour = Colour::text1;
  Align align = Align::left;
  Fit fit = Fit::ellipsis;
  Pixel pixel = {};  // if not 0: this colour instead of the token
  // What stands in the same list: the text is cut so that it reads like none of them.
  std::span<const std::string> beside = {};
};

// How most small texts look: hints and notes, labels, heads of groups, numbers along an axis.
inline constexpr TextOptions kHintText{.style = TextStyle::small, .colour = Colour::text3};
inline constexpr TextOptions kHintTextRight{.style = TextStyle::small, .colour = Colour::text3, .align = Align::right};
inline constexpr TextOptions kLabelText{.style = TextStyle::small, .colour = Colour::text2};
inline constexpr TextOptions kGroupText{.style = TextStyle::small_strong, .colour = Colour::text2};
inline constexpr TextOptions kMonoHint{.style = TextStyle::mono_small, .colour = Colour::text3};
inline constexpr TextOptions kMonoHintRight{
    .style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right};

// Without the padding that panels have left and right.
[[nodiscard]] inline Rect padded(const Ui& ui, const Rect& rect) { return rect.inset(ui.px(size::kPanelPadding), 0); }

[[nodiscard]] float text_width(const Ui& ui, TextStyle style, std::string_view text);
// The text as it fits into `width` pixels; empty when not even one character and the ellipsis fit.
[[nodiscard]] std::string fitted_text(const Ui& ui, TextStyle style, std::string_view text, float width, Fit fit);
// Cut as `fit` says, or where it needs to be to tell it from the others, which are as wide at most.
[[nodiscard]] std::string fitted_apart(const Ui& ui, TextStyle style, std::string_view text, float width, Fit fit,
                                       std::span<const std::string> others);

// Draws in the row's vertical middle (baseline rule of VISUAL) and returns the width drawn. The row may be narrower
// than the text.
float draw_text(Ui& ui, const Rect& row, std::string_view text, const TextOptions& options = {});
float draw_text(Ui& ui, ImDrawList* list, const Rect& row, std::string_view text, const TextOptions& options = {});
// Several lines, broken at spaces; returns the height used. line_height in pixels; 0: 18 units.
float draw_paragraph(Ui& ui, const Rect& area, std::string_view text, const TextOptions& options = {},
                     float line_height = 0);
[[nodiscard]] float paragraph_height(const Ui& ui, TextStyle style, std::string_view text, float width,
                                     float line_height = 0);
// The text in as many lines of a fixed-width style as it takes: names of kernels have no blanks to break at. The lines
// lie in `text`.
[[nodiscard]] std::vector<std::string_view> broken_lines(const Ui& ui, TextStyle style, std::string_view text,
                                                         float width);
// An icon centred in the box.
void draw_icon(Ui& ui, const Rect& box, const char* icon, Pixel colour, TextStyle style = TextStyle::icon13);

void fill(Ui& ui, const Rect& rect, Pixel colour, float radius_units = 0);
void outline(Ui& ui, const Rect& rect, Pixel colour, float radius_units = 0, float thickness_units = 1);
void horizontal_line(Ui& ui, float x0, float x1, float y, Pixel colour);  // one crisp pixel at 100 %
void vertical_line(Ui& ui, float x, float y0, float y1, Pixel colour);

// The same on a given list, for canvases that draw on several channels.
void hatch(const Ui& ui, ImDrawList* list, const Rect& rect,
           Pixel line);  // 45 degrees, every 6 px, locked to the window
void dashed_line(const Ui& ui, ImDrawList* list, Point from, Point to, Pixel colour, float dash_units = 4,
                 float gap_units = 3, float thickness_units = 1);

// Colour swatch of a slice beside a name: 10 px square, radius 2, centred in the row's height; returns its width.
float draw_swatch(Ui& ui, const Rect& row, Pixel colour);

}  // namespace accelscope::render
