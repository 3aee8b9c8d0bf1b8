#include "render/base/theme.h"

#include <doctest/doctest.h>

#include <string>

#include "core/model/palette.h"

using namespace accelscope;
using namespace accelscope::render;

TEST_CASE("theme: every text can be read on every background it lies on, in both themes") {
  constexpr Colour kTexts[] = {Colour::text1,   Colour::text2, Colour::text3, Colour::accent,
                               Colour::warning, Colour::error, Colour::ok,    Colour::worse};
  constexpr Colour kBackgrounds[] = {Colour::bg1, Colour::bg2, Colour::bg3, Colour::bg4, Colour::accent_bg};
  for (const ThemeKind kind : {ThemeKind::dark, ThemeKind::light}) {
    const Theme theme(kind);
    for (const Colour text : kTexts) {
      for (const Colour background : kBackgrounds) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(colour_tokens()[static_cast<std::size_t>(text)].name);
        CAPTURE(colour_tokens()[static_cast<std::size_t>(background)].name);
        CHECK(contrast_ratio(theme[text], theme[background]) >= 4.5);
      }
    }
    CHECK(contrast_ratio(theme[Colour::on_accent], theme[Colour::accent]) >= 4.5);
    CHECK(contrast_ratio(theme[Colour::text1], theme[Colour::error_bg]) >= 4.5);
    CHECK(contrast_ratio(theme[Colour::text1], theme[Colour::warning_bg]) >= 4.5);
    CHECK(contrast_ratio(theme[Colour::text1], theme[Colour::ok_bg]) >= 4.5);
  }
}

TEST_CASE("theme: in high contrast every text is 7 to 1 and every line 3 to 1 on what it lies on") {
  constexpr Colour kTexts[] = {Colour::text1,  Colour::text2,        Colour::text3,       Colour::accent,
                               Colour::marker, Colour::warning,      Colour::error,       Colour::ok,
                               Colour::worse,  Colour::code_keyword, Colour::code_string, Colour::code_number};
  constexpr Colour kLines[] = {Colour::line1,     Colour::line2,  Colour::warning_line, Colour::hatch,
                               Colour::selection, Colour::accent, Colour::disabled};
  constexpr Colour kBackgrounds[] = {Colour::bg0,       Colour::bg1,      Colour::bg2,        Colour::bg3,  Colour::bg4,
                                     Colour::accent_bg, Colour::error_bg, Colour::warning_bg, Colour::ok_bg};
  const Theme theme(ThemeKind::high_contrast);
  for (const Colour background : kBackgrounds) {
    CAPTURE(colour_tokens()[static_cast<std::size_t>(background)].name);
    for (const Colour text : kTexts) {
      CAPTURE(colour_tokens()[static_cast<std::size_t>(text)].name);
      CHECK(contrast_ratio(theme[text], theme[background]) >= 7);
    }
    for (const Colour line : kLines) {
      CAPTURE(colour_tokens()[static_cast<std::size_t>(line)].name);
      CHECK(contrast_ratio(theme[line], theme[background]) >= 3);
    }
  }
  CHECK(contrast_ratio(theme[Colour::on_accent], theme[Colour::accent]) >= 7);
  CHECK(contrast_ratio(theme[Colour::on_accent], theme[Colour::warning]) >= 7);
  for (unsigned slot = 0; slot < kSlicePalette.size(); ++slot) {
    CHECK(contrast_ratio(theme[Colour::ink], theme.slice(slot)) >= 7);
    CHECK(contrast_ratio(theme[Colour::text2], theme.dimmed(theme.slice(slot))) >= 7);
  }
  for (const std::uint32_t colour : kStepPalette)
    CHECK(contrast_ratio(theme[Colour::ink], theme.legible(opaque(colour))) >= 7);
  for (int step = 0; step <= 100; ++step) {
    const Pixel heat = heat_colour(theme, step / 100.0);
    CAPTURE(step);
    CHECK(contrast_ratio(text_on(heat), heat) >= 7);
  }
}

TEST_CASE("theme: themes are found by the names that settings and options have") {
  for (const std::string_view name : kThemeNames) CHECK(name_of(theme_of_name(name)) == name);
  CHECK(theme_of_name("") == ThemeKind::dark);
}

TEST_CASE("theme: a label can be read on a slice of every colour") {
  const Theme theme;
  for (unsigned slot = 0; slot < kSlicePalette.size(); ++slot) {
    CAPTURE(slot);
    CHECK(contrast_ratio(theme[Colour::ink], theme.slice(slot)) >= 4.5);
  }
}

TEST_CASE("theme: a label can be read on the steps of numbers and on events without a value") {
  const Theme theme;
  for (const std::uint32_t colour : kStepPalette) CHECK(contrast_ratio(theme[Colour::ink], opaque(colour)) >= 4.5);
  CHECK(contrast_ratio(theme[Colour::ink], opaque(kNoValueColour)) >= 4.5);
  for (std::size_t step = 1; step < kStepPalette.size(); ++step) {  // from dark to light
    CHECK(contrast_ratio(opaque(kStepPalette[step]), opaque(0)) >
          contrast_ratio(opaque(kStepPalette[step - 1]), opaque(0)));
  }
  CHECK(step_colour(0, 5) == kStepPalette.front());
  CHECK(step_colour(4, 5) == kStepPalette.back());
}

TEST_CASE("theme: the contrast of black on white is the largest there is") {
  CHECK(contrast_ratio(opaque(0x000000), opaque(0xffffff)) == doctest::Approx(21));
  CHECK(contrast_ratio(opaque(0x777777), opaque(0x777777)) == doctest::Approx(1));
}

TEST_CASE("theme: tokens stand in the order of their numbers") {
  for (std::size_t index = 0; index < colour_tokens().size(); ++index) {
    CHECK(static_cast<std::size_t>(colour_tokens()[index].colour) == index);
  }
}

TEST_CASE("theme: a dimmed slice lies nearer to the background than to its own colour") {
  for (const ThemeKind kind : {ThemeKind::dark, ThemeKind::light}) {
    const Theme theme(kind);
    const Pixel slice = theme.slice(0);
    CHECK(contrast_ratio(theme.dimmed(slice), theme[Colour::bg1]) < contrast_ratio(slice, theme[Colour::bg1]));
    CHECK(mix(slice, theme[Colour::bg1], 1) == theme[Colour::bg1]);
    CHECK(mix(slice, theme[Colour::bg1], 0) == slice);
  }
  CHECK(with_alpha(opaque(0x102030), 0.5F) == 0x80302010U);
}
