// The ramp of heat maps: from what is little, beside the ground, to what is most.
#pragma once

#include "render/base/theme.h"

namespace accelscope::render {

// share 0 to 1; what lies outside is as the end it is nearest to.
[[nodiscard]] Pixel heat_colour(const Theme& theme, double share) noexcept;
// Ink or white, whichever contrasts more with the ground.
[[nodiscard]] Pixel heat_text(const Theme& theme, Pixel ground) noexcept;

}  // namespace accelscope::render
