#include "render/base/theme.h"

#include <algorithm>
#include <cmath>

#include "core/model/palette.h"

namespace accelscope::render {

namespace {

constexpr ColourToken kTokens[] = {
    {Colour::bg0, "bg0", 0x0E1114, 0xDEE3E8},
    {Colour::bg1, "bg1", 0x14181C, 0xFFFFFF},
    {Colour::bg2, "bg2", 0x191E23, 0xF8F9FB},
    {Colour::bg3, "bg3", 0x20262C, 0xEBEEF2},
    {Colour::bg4, "bg4", 0x2B323A, 0xDCE1E7},
    {Colour::line1, "line1", 0x242A31, 0xE6EAEE},
    {Colour::line2, "line2", 0x3A434D, 0xBCC5CE},
    {Colour::text1, "text1", 0xE6EAEE, 0x14191E},
    {Colour::text2, "text2", 0xB1BAC4, 0x3F4953},
    {Colour::text3, "text3", 0x929DA9, 0x56616C},
    {Colour::disabled, "disabled", 0x5F6974, 0x98A2AD},
    {Colour::accent, "accent", 0x93A8FF, 0x3D57D6},
    {Colour::accent_bg, "accentBg", 0x2A3150, 0xDDE3FC},
    {Colour::on_accent, "onAccent", 0x0E1114, 0xFFFFFF},
    {Colour::selection, "selection", 0xFFFFFF, 0x0B1020},
    {Colour::marker, "marker", 0xC9B8FF, 0x5B3FC4},
    {Colour::warning, "warning", 0xF5B83D, 0x8A5200},
    {Colour::warning_line, "warningLine", 0xF5B83D, 0xC27700},
    {Colour::warning_bg, "warningBg", 0x3A2E14, 0xFCEFD2},
    {Colour::error, "error", 0xFF7B6E, 0xB3261E},
    {Colour::error_bg, "errorBg", 0x3E1F1E, 0xFBE3E0},
    {Colour::ok, "ok", 0x63C99A, 0x17704A},
    {Colour::ok_bg, "okBg", 0x16271F, 0xE2F3EA},
    {Colour::worse, "worse", 0xFF9B7A, 0xA83C16},
    {Colour::hatch, "hatch", 0x343D46, 0xD3DAE1},
    {Colour::hatch_bg, "hatchBg", 0x171C21, 0xFAFBFC},
    {Colour::code_keyword, "codeKeyword", 0xB9B0F0, 0x4B3FB5},
    {Colour::code_string, "codeString", 0x8CCFB8, 0x17704A},
    {Colour::code_number, "codeNumber", 0xE0C088, 0x8A5200},
    {Colour::ink, "ink", 0x0E1216, 0x0E1216},
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
  std::uint32_t dark, light;  // 0xRRGGBB
};
constexpr std::array<HeatStop, 4> kHeatStops = {
    {{0, 0x1C2430, 0xF0F3F7}, {0.33, 0x3F4E8F, 0xA9B6F0}, {0.75, 0x93A8FF, 0x3D57D6}, {1, 0xF3E9C8, 0x1B1440}}};
constexpr std::uint32_t kInkOnHeat = 0x0E1216, kWhiteOnHeat = 0xFFFFFF;

}  // namespace

std::span<const ColourToken> colour_tokens() { return kTokens; }

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
    colours_[static_cast<std::size_t>(token.colour)] = opaque(kind == ThemeKind::dark ? token.dark : token.light);
  }
}

Pixel Theme::slice(unsigned slot) const noexcept { return opaque(kSlicePalette[slot % kSlicePalette.size()]); }

Pixel Theme::slice_edge(Pixel slice) const noexcept {
  return kind_ == ThemeKind::light ? mix(slice, opaque(0), 0.28F) : slice;
}

Pixel Theme::dimmed(Pixel slice) const noexcept { return mix(slice, (*this)[Colour::bg1], 0.74F); }

Pixel Theme::area(Pixel slice) const noexcept {
  return mix(slice, (*this)[Colour::bg1], kind_ == ThemeKind::dark ? 0.22F : 0.12F);
}

Pixel heat_colour(const Theme& theme, double share) noexcept {
  const bool light = theme.kind() == ThemeKind::light;
  const double at = share > 0 ? std::min(share, 1.0) : 0;  // what is not a number is the least
  std::size_t upper = 1;
  while (upper + 1 < kHeatStops.size() && kHeatStops[upper].share < at) ++upper;
  const HeatStop &a = kHeatStops[upper - 1], &b = kHeatStops[upper];
  const double part = (at - a.share) / (b.share - a.share);
  return mix(opaque(light ? a.light : a.dark), opaque(light ? b.light : b.dark), static_cast<float>(part));
}

Pixel text_on(Pixel background) noexcept {
  const Pixel ink = opaque(kInkOnHeat), white = opaque(kWhiteOnHeat);
  return contrast_ratio(ink, background) >= contrast_ratio(white, background) ? ink : white;
}

}  // namespace accelscope::render
