#include "render/base/heat_ramp.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace accelscope::render {
namespace {

// Between them colours are mixed evenly.
struct HeatStop {
  double share;
  std::uint32_t dark, light;  // 0xRRGGBB
};
constexpr std::array kHeatStops = std::to_array<HeatStop>(
    {{0, 0x1C2430, 0xF0F3F7}, {0.33, 0x3F4E8F, 0xA9B6F0}, {0.75, 0x93A8FF, 0x3D57D6}, {1, 0xF3E9C8, 0x1B1440}});

}  // namespace

Pixel heat_colour(const Theme& theme, double share) noexcept {
  const bool light = theme.kind() == ThemeKind::light;
  const auto colour = [light](const HeatStop& stop) { return opaque(light ? stop.light : stop.dark); };
  if (!(share > 0)) return colour(kHeatStops.front());
  for (std::size_t i = 1; i < kHeatStops.size(); ++i) {
    const HeatStop &from = kHeatStops[i - 1], &to = kHeatStops[i];
    if (share >= to.share) continue;
    return mix(colour(from), colour(to), static_cast<float>((share - from.share) / (to.share - from.share)));
  }
  return colour(kHeatStops.back());
}

Pixel heat_text(const Theme& theme, Pixel ground) noexcept {
  const Pixel ink = theme[Colour::ink], white = opaque(std::uint32_t{0xFFFFFF});
  return contrast_ratio(ink, ground) >= contrast_ratio(white, ground) ? ink : white;
}

}  // namespace accelscope::render
