#include "render/base/theme.h"

#include <algorithm>
#include <cmath>

#include "core/model/palette.h"

namespace accelscope::render {

namespace {

constexpr ColourToken kTokens[] = {
    {Colour::bg0, "bg0", 0x0E1114, 0xDEE3E8, 0x000000},
    {Colour::bg1, "bg1", 0x14181C, 0xFFFFFF, 0x000000},
    {Colour::bg2, "bg2", 0x191E23, 0xF8F9FB, 0x0A0A0A},
    {Colour::bg3, "bg3", 0x20262C, 0xEBEEF2, 0x161616},
    {Colour::bg4, "bg4", 0x2B323A, 0xDCE1E7, 0x262626},
    {Colour::line1, "line1", 0x242A31, 0xE6EAEE, 0x7A7A7A},
    {Colour::line2, "line2", 0x3A434D, 0xBCC5CE, 0xB4B4B4},
    {Colour::text1, "text1", 0xE6EAEE, 0x14191E, 0xFFFFFF},
    {Colour::text2, "text2", 0xB1BAC4, 0x3F4953, 0xE8E8E8},
    {Colour::text3, "text3", 0x929DA9, 0x56616C, 0xCFCFCF},
    {Colour::disabled, "disabled", 0x5F6974, 0x98A2AD, 0x9C9C9C},
    {Colour::accent, "accent", 0x93A8FF, 0x3D57D6, 0xAFC0FF},
    {Colour::accent_bg, "accentBg", 0x2A3150, 0xDDE3FC, 0x10205A},
    {Colour::on_accent, "onAccent", 0x0E1114, 0xFFFFFF, 0x000000},
    {Colour::selection, "selection", 0xFFFFFF, 0x0B1020, 0xFFFFFF},
    {Colour::marker, "marker", 0xC9B8FF, 0x5B3FC4, 0xD9CCFF},
    {Colour::warning, "warning", 0xF5B83D, 0x8A5200, 0xFFD24A},
    {Colour::warning_line, "warningLine", 0xF5B83D, 0xC27700, 0xFFD24A},
    {Colour::warning_bg, "warningBg", 0x3A2E14, 0xFCEFD2, 0x332600},
    {Colour::error, "error", 0xFF7B6E, 0xB3261E, 0xFFA79C},
    {Colour::error_bg, "errorBg", 0x3E1F1E, 0xFBE3E0, 0x4A0F0C},
    {Colour::ok, "ok", 0x63C99A, 0x17704A, 0x7FE5B4},
    {Colour::ok_bg, "okBg", 0x16271F, 0xE2F3EA, 0x002E1A},
    {Colour::worse, "worse", 0xFF9B7A, 0xA83C16, 0xFFB79C},
    {Colour::hatch, "hatch", 0x343D46, 0xD3DAE1, 0x8A8A8A},
    {Colour::hatch_bg, "hatchBg", 0x171C21, 0xFAFBFC, 0x000000},
    {Colour::code_keyword, "codeKeyword", 0xB9B0F0, 0x4B3FB5, 0xCFC6FF},
    {Colour::code_string, "codeString", 0x8CCFB8, 0x17704A, 0xA5E6CF},
    {Colour::code_number, "codeNumber", 0xE0C088, 0x8A5200, 0xF2D7A0},
    {Colour::ink, "ink", 0x0E1216, 0x0E1216, 0x000000},
};
static_assert(std::size(kTokens) == kColourCount);

constexpr unsigned channel(Pixel colour, int index) { return colour >> (8 * index) & 0xffU; }

// Relative luminance of WCAG 2.1, section "relative luminance".
double luminance(Pixel colour) {
  const auto linear = [&](int index) {
    const double value = channel(colour, index) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(0) + 0.7152 * linear(1) + 0.0722 * linear(2);
}

struct HeatStop {
  double share;
  std::uint32_t rgb;
};
// By theme. That of high contrast jumps over the greys on which neither black nor white reads well.
constexpr std::array<std::array<HeatStop, 4>, kThemeCount> kHeatStops = {
    {{{{0, 0x1C2430}, {0.33, 0x3F4E8F}, {0.75, 0x93A8FF}, {1, 0xF3E9C8}}},
     {{{0, 0xF0F3F7}, {0.33, 0xA9B6F0}, {0.75, 0x3D57D6}, {1, 0x1B1440}}},
     {{{0, 0x101418}, {0.33, 0x2A3C80}, {0.34, 0x8FA2FF}, {1, 0xFFF6D8}}}}};
constexpr std::uint32_t kInkOnHeat = 0x0E1216, kWhiteOnHeat = 0xFFFFFF;
constexpr double kLegible = 7;  // to 1: WCAG 2.1, success criterion 1.4.6

}  // namespace

std::span<const ColourToken> colour_tokens() { return kTokens; }

ThemeKind theme_of_name(std::string_view name) noexcept {
  const auto found = std::find(kThemeNames.begin(), kThemeNames.end(), name);
  return found == kThemeNames.end() ? ThemeKind::dark : static_cast<ThemeKind>(found - kThemeNames.begin());
}

Pixel with_alpha(Pixel colour, float alpha) noexcept {
  const auto byte = static_cast<std::uint32_t>(std::lround(std::clamp(alpha, 0.0F, 1.0F) * 255));
  return Pixel((colour & 0x00ffffffU) | byte << 24);
}

Pixel mix(Pixel from, Pixel to, float share) noexcept {
  std::uint32_t mixed = from & 0xff000000U;
  for (int index = 0; index < 3; ++index) {
    const auto a = static_cast<float>(channel(from, index));
    const auto b = static_cast<float>(channel(to, index));
    mixed |= static_cast<std::uint32_t>(std::lround(a + (b - a) * share)) << (8 * index);
  }
  return Pixel(mixed);
}

double contrast_ratio(Pixel a, Pixel b) noexcept {
  const double first = luminance(a);
  const double second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

Theme::Theme(ThemeKind kind) : kind_(kind) {
  for (const ColourToken& token : kTokens) {
    const std::uint32_t rgb[] = {token.dark, token.light, token.high_contrast};
    colours_[static_cast<std::size_t>(token.colour)] = opaque(rgb[static_cast<std::size_t>(kind)]);
  }
}

Pixel Theme::slice(unsigned slot) const noexcept { return legible(opaque(kSlicePalette[slot % kSlicePalette.size()])); }

Pixel Theme::legible(Pixel slice) const noexcept {
  if (kind_ != ThemeKind::high_contrast) return slice;
  constexpr float kStep = 0.05F;
  const Pixel ink = (*this)[Colour::ink], white = opaque(0xFFFFFF);
  Pixel lighter = slice;
  for (float share = kStep; share < 1 && contrast_ratio(ink, lighter) < kLegible; share += kStep)
    lighter = mix(slice, white, share);
  return lighter;
}

Pixel Theme::slice_edge(Pixel slice) const noexcept {
  return kind_ == ThemeKind::light ? mix(slice, opaque(0), 0.28F) : slice;
}

Pixel Theme::dimmed(Pixel slice) const noexcept { return mix(slice, (*this)[Colour::bg1], 0.74F); }

Pixel Theme::area(Pixel slice) const noexcept {
  return mix(slice, (*this)[Colour::bg1], kind_ == ThemeKind::light ? 0.12F : 0.22F);
}

Pixel heat_colour(const Theme& theme, double share) noexcept {
  const std::array<HeatStop, 4>& stops = kHeatStops[static_cast<std::size_t>(theme.kind())];
  const double at = share > 0 ? std::min(share, 1.0) : 0;  // what is not a number is the least
  std::size_t upper = 1;
  while (upper + 1 < stops.size() && stops[upper].share < at) ++upper;
  const HeatStop &a = stops[upper - 1], &b = stops[upper];
  const double part = (at - a.share) / (b.share - a.share);
  return mix(opaque(a.rgb), opaque(b.rgb), static_cast<float>(part));
}

Pixel text_on(Pixel background) noexcept {
  const Pixel ink = opaque(kInkOnHeat), white = opaque(kWhiteOnHeat);
  return contrast_ratio(ink, background) >= contrast_ratio(white, background) ? ink : white;
}

}  // namespace accelscope::render
