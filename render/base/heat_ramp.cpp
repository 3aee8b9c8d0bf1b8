#include "render/base/heat_ramp.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace accelscope::render {
namespace {

struct HeatStop {
  double share;
  std::uint32_t dark, light;  // 0xRRGGBB
};
constexpr std::array<HeatStop, 4> kHeatStops = {
    {{0, 0x1C2430, 0xF0F3F7}, {0.33, 0x3F4E8F, 0xA9B6F0}, {0.75, 0x93A8FF, 0x3D57D6}, {1, 0xF3E9C8, 0x1B1440}}};
constexpr std::uint32_t kInkOnHeat = 0x0E1216, kWhiteOnHeat = 0xFFFFFF;

}  // namespace

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
