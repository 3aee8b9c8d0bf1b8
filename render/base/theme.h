// Every colour and size of the program, as data. A colour is asked for by its token, never written as a number in
// drawing code; a size is in units of one pixel at 100 % and becomes pixels through Ui::px().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace accelscope::render {

// A colour in the order that ImDrawList takes, 0xAABBGGRR. Colours of core/model are 0xRRGGBB and become pixels through
// opaque(): a number that is neither does not compile as one.
class Pixel {
 public:
  constexpr Pixel() = default;  // nothing: no colour is meant
  constexpr explicit Pixel(std::uint32_t abgr) noexcept : abgr_(abgr) {}
  constexpr operator std::uint32_t() const noexcept { return abgr_; }  // NOLINT: as ImGui takes it

 private:
  std::uint32_t abgr_ = 0;
};
static_assert(sizeof(Pixel) == sizeof(std::uint32_t));  // textures are made of them

enum class ThemeKind : std::uint8_t { dark, light, high_contrast };
inline constexpr std::size_t kThemeCount = 3;
// In their order: of settings and options.
inline constexpr std::array<std::string_view, kThemeCount> kThemeNames = {"dark", "light", "high-contrast"};
[[nodiscard]] constexpr std::string_view name_of(ThemeKind kind) noexcept {
  return kThemeNames[static_cast<std::size_t>(kind)];
}
[[nodiscard]] ThemeKind theme_of_name(std::string_view name) noexcept;  // dark: there is none of this name

enum class Colour : std::uint8_t {
  bg0,           // tab strips, splitters
  bg1,           // timeline, code, plots, inputs
  bg2,           // panels, group rows
  bg3,           // bars, table heads, hovered row
  bg4,           // buttons, hover card, bar tracks
  line1,         // grid and row lines
  line2,         // borders, dividers
  text1,         // values, names
  text2,         // labels
  text3,         // hints, units of an axis
  disabled,      // controls that cannot be used, nothing else
  accent,        // links, focus, active tab, cursor, box, related
  accent_bg,     // selected row, chip
  on_accent,     // text on accent
  selection,     // outline of the selected event, arrows to its successors
  marker,        // marker flags and lines, measured span
  warning,       // something costs time or is suspect: text
  warning_line,  // the same: lines and icons
  warning_bg,
  error,  // failed, lost, out of bounds; the record dot
  error_bg,
  ok,  // checks, better
  ok_bg,
  worse,  // ratios in a comparison
  hatch,  // lines of waits, idle, never used
  hatch_bg,
  code_keyword,
  code_string,
  code_number,
  ink,  // text on slices
};
inline constexpr std::size_t kColourCount = static_cast<std::size_t>(Colour::ink) + 1;

struct ColourToken {
  Colour colour;
  const char* name;
  std::uint32_t dark;           // 0xRRGGBB
  std::uint32_t light;          // 0xRRGGBB
  std::uint32_t high_contrast;  // 0xRRGGBB: texts 7:1, lines 3:1 on what they lie on
};
[[nodiscard]] std::span<const ColourToken> colour_tokens();

[[nodiscard]] constexpr Pixel opaque(std::uint32_t rgb) noexcept {
  return Pixel(0xff000000U | (rgb & 0xffU) << 16 | (rgb & 0xff00U) | (rgb >> 16 & 0xffU));
}
Pixel opaque(Pixel) = delete;  // it is one already
[[nodiscard]] constexpr std::uint32_t rgb_of(Pixel colour) noexcept {
  return (colour & 0xffU) << 16 | (colour & 0xff00U) | (colour >> 16 & 0xffU);
}
[[nodiscard]] Pixel with_alpha(Pixel colour, float alpha) noexcept;   // alpha 0..1
[[nodiscard]] Pixel mix(Pixel from, Pixel to, float share) noexcept;  // share 0: from, 1: to; alpha of from
[[nodiscard]] double contrast_ratio(Pixel a, Pixel b) noexcept;       // WCAG 2.1: 1 to 21

class Theme {
 public:
  explicit Theme(ThemeKind kind = ThemeKind::dark);

  [[nodiscard]] ThemeKind kind() const noexcept { return kind_; }
  [[nodiscard]] Pixel operator[](Colour colour) const noexcept { return colours_[static_cast<std::size_t>(colour)]; }

  // Slice colours by palette slot (core/model/palette.h), lighter in high contrast where ink needs it.
  [[nodiscard]] Pixel slice(unsigned slot) const noexcept;
  [[nodiscard]] Pixel legible(Pixel slice) const noexcept;     // of another palette, likewise
  [[nodiscard]] Pixel slice_edge(Pixel slice) const noexcept;  // light: 28 % darker, 1 px; dark: the slice itself
  [[nodiscard]] Pixel dimmed(Pixel slice) const noexcept;      // outside the box or filter: 74 % toward bg1
  [[nodiscard]] Pixel area(Pixel slice) const noexcept;        // stacks, address map: 22 % (light 12 %) toward bg1

 private:
  ThemeKind kind_;
  std::array<Pixel, kColourCount> colours_{};
};

// Sizes in units of one pixel at 100 %.
namespace size {
inline constexpr float kPanelPadding = 12, kCellPadding = 8;
inline constexpr float kSliceRadius = 2, kChipRadius = 3, kControlRadius = 4, kCardRadius = 6;
inline constexpr float kTopBar = 40, kSessionTabs = 28, kFilterRow = 36, kStatusBar = 24, kPanelTabs = 28;
inline constexpr float kControl = 26, kSmallControl = 24;  // button and input; small button and chip
inline constexpr float kTableHead = 22, kTableRow = 20, kCodeRow = 18, kSessionRow = 44;
inline constexpr float kLabelColumn = 200, kGroupIndent = 26, kLaneIndent = 28, kLaneValueInset = 12;
inline constexpr float kOverview = 40, kRuler = 20, kMarkerRow = 20, kGroupRow = 20;
inline constexpr float kLane = 20, kSlice = 16, kSubLane = 14, kSubSlice = 13, kTwoSubLanes = 32;
inline constexpr float kCounterLane = 28, kMemoryLane = 60;
inline constexpr float kHatchStep = 6;
inline constexpr float kAccentLine = 2;  // over the active tab, beside the selected row
inline constexpr float kFocusRing = 1.5F;
}  // namespace size

inline constexpr double kHoverCardDelay = 0.12;  // seconds

// Colours of values in a heat map: from little to much, lighter with every step in the dark theme and darker in the
// light one, so that the order shows without telling hues apart.

// share: 0 to 1; what lies outside has the colour of the nearest end.
[[nodiscard]] Pixel heat_colour(const Theme& theme, double share) noexcept;
// Ink or white, whichever contrasts more.
[[nodiscard]] Pixel text_on(Pixel background) noexcept;

}  // namespace accelscope::render
