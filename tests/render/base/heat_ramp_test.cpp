#include <doctest/doctest.h>

#include <cmath>

#include "render/base/theme.h"

using namespace accelscope::render;

TEST_CASE("heat ramp: ends, stops and what lies outside, in both themes") {
  const Theme dark(ThemeKind::dark), light(ThemeKind::light);
  CHECK(rgb_of(heat_colour(dark, 0)) == 0x1C2430);
  CHECK(rgb_of(heat_colour(dark, 0.75)) == 0x93A8FF);
  CHECK(rgb_of(heat_colour(dark, 1)) == 0xF3E9C8);
  CHECK(rgb_of(heat_colour(light, 1)) == 0x1B1440);
  CHECK(heat_colour(light, -3) == heat_colour(light, 0));
  CHECK(heat_colour(light, 7) == heat_colour(light, 1));
  CHECK(heat_colour(dark, std::nan("")) == heat_colour(dark, 0));
}

TEST_CASE("heat ramp: text is readable on every colour of it, and brightness tells the order") {
  for (const ThemeKind kind : {ThemeKind::dark, ThemeKind::light, ThemeKind::high_contrast}) {
    const Theme theme(kind);
    double before = -1;
    for (int i = 0; i <= 100; ++i) {
      const Pixel colour = heat_colour(theme, i / 100.0);
      // On a tone in the middle neither ink nor white has more: the root of what they have to each other.
      CHECK(contrast_ratio(text_on(colour), colour) >= 4.3);
      const double from_end = contrast_ratio(colour, heat_colour(theme, 0));
      CHECK(from_end >= before);
      before = from_end;
    }
  }
}
