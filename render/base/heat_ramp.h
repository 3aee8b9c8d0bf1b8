// Colours of values in a heat map: from little to much, lighter with every step in the dark theme and darker in the
// light one, so that the order shows without telling hues apart.
#pragma once

#include "render/base/theme.h"

namespace accelscope::render {

// share: 0 to 1; what lies outside has the colour of the nearest end.
[[nodiscard]] Pixel heat_colour(const Theme& theme, double share) noexcept;
// Ink or white, whichever contrasts more.
[[nodiscard]] Pixel text_on(Pixel background) noexcept;

}  // namespace accelscope::render
