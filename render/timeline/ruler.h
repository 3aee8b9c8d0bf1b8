// Where the ruler has its ticks and what they say: round steps of 1, 2 or 5 times a power of ten, the unit by the
// step and not by the time, so that neighbours differ where they must. Pure.
#pragma once

#include <string>
#include <vector>

#include "render/timeline/time_view.h"

namespace accelscope::render {

struct RulerTick {
  double x = 0;
  std::string label;  // "1,984 µs"; empty for a minor tick
};

struct Ruler {
  double step_ns = 1;  // between labelled ticks
  std::vector<RulerTick> ticks;
};

// Labelled ticks are at least `least_pixels` apart.
[[nodiscard]] Ruler make_ruler(const TimeView& view, double least_pixels);

// A time as the ruler writes it where its labelled ticks are step_ns apart: "1,984.25 µs" for steps of 10 ns.
[[nodiscard]] std::string ruler_label(double ns, double step_ns);

}  // namespace accelscope::render
