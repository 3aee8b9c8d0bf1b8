// Pictures of every widget. Set ACCELSCOPE_PICTURES to a folder to keep them.
#include "gallery.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

using namespace accelscope;
using namespace accelscope::render;

namespace {

Result<Picture> gallery_picture(ThemeKind theme, float scale) {
  Gallery gallery;
  return render_offscreen(gallery, {.width = static_cast<int>(1200 * scale),
                                    .height = static_cast<int>(760 * scale),
                                    .scale = scale,
                                    .theme = theme});
}

std::size_t distinct_colours(const Picture& picture) {
  std::set<std::uint32_t> colours;
  for (std::size_t at = 0; at + 3 < picture.rgba.size(); at += 4) {
    colours.insert(
        opaque(static_cast<std::uint32_t>(picture.rgba[at] << 16 | picture.rgba[at + 1] << 8 | picture.rgba[at + 2])));
  }
  return colours.size();
}

void keep(const Picture& picture, const std::string& name) {
  const char* folder = std::getenv("ACCELSCOPE_PICTURES");
  if (folder == nullptr) return;
  const auto written = write_png(picture, std::string(folder) + "/" + name);
  CHECK_MESSAGE(written.ok(), (written.ok() ? std::string() : written.message()));
}

}  // namespace

TEST_CASE("gallery: both themes are drawn at 100 % and 200 % without a display") {
  struct Variant {
    ThemeKind theme;
    float scale;
    const char* name;
  };
  for (const Variant& variant :
       {Variant{ThemeKind::dark, 1, "gallery-dark.png"}, Variant{ThemeKind::light, 1, "gallery-light.png"},
        Variant{ThemeKind::dark, 2, "gallery-dark-200.png"}, Variant{ThemeKind::light, 2, "gallery-light-200.png"}}) {
    const auto picture = gallery_picture(variant.theme, variant.scale);
    if (!picture) {
      MESSAGE("skipped: " << picture.message());
      return;
    }
    CHECK(picture->width == static_cast<int>(1200 * variant.scale));
    CHECK(distinct_colours(*picture) > 200);
    keep(*picture, variant.name);
  }
}

TEST_CASE("gallery: the same screen gives the same PNG, byte by byte") {
  const auto first = gallery_picture(ThemeKind::dark, 1.5F);
  if (!first) {
    MESSAGE("skipped: " << first.message());
    return;
  }
  const auto second = gallery_picture(ThemeKind::dark, 1.5F);
  REQUIRE(second.ok());
  const auto first_png = encode_png(*first);
  const auto second_png = encode_png(*second);
  REQUIRE(first_png.ok());
  REQUIRE(second_png.ok());
  CHECK(*first_png == *second_png);
}
