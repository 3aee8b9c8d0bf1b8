// The fonts: one for text (Inter), one for numbers and code (JetBrains Mono), one for icons (Fork Awesome), each
// rasterised by FreeType at exactly the pixel size that a text style has at the current scale, so text is crisp at any
// DPI. Where font files are missing the program still runs with ImGui's own font, and says which package to install.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

struct ImFont;
struct ImFontAtlas;

namespace accelscope::render {

enum class TextStyle : std::uint8_t {
  body,          // Inter 13
  heading,       // Inter 13 semibold: headings, names
  small,         // Inter 12: lane names, hints, status
  small_strong,  // Inter 12 semibold: groups
  title,         // Inter 15 semibold: start page
  display,       // Inter 22 semibold: start page
  mono,          // JetBrains Mono 12: numbers, code
  mono_strong,   // JetBrains Mono 12 semibold: the one number that counts
  mono_small,    // JetBrains Mono 11 medium: slices, ruler, lane values
  icon12,        // Fork Awesome
  icon13,
  icon14,
  icon16,
};
inline constexpr std::size_t kTextStyleCount = static_cast<std::size_t>(TextStyle::icon16) + 1;

// Where font files are looked for: beside the program first, then the system's and the user's font folders.
[[nodiscard]] std::vector<std::string> font_directories();

class Fonts {
 public:
  // (Re)builds the atlas for a scale. The caller uploads the atlas' pixels afterwards.
  void build(ImFontAtlas& atlas, float scale, const std::vector<std::string>& directories);

  [[nodiscard]] ImFont* operator[](TextStyle style) const noexcept { return fonts_[static_cast<std::size_t>(style)]; }
  // Pixels from the middle of a row down to the baseline: +5 for 12 and 13 px, +4 for 11 px, times the scale.
  [[nodiscard]] float baseline_offset(TextStyle style) const noexcept;
  [[nodiscard]] float em(TextStyle style) const noexcept;  // size in pixels, e.g. 13 at 100 %
  // Empty when every font was found; else a sentence for the user.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  std::array<ImFont*, kTextStyleCount> fonts_{};
  float scale_ = 1;
  std::string problem_;
};

}  // namespace accelscope::render
