// Font files: finding them by name, and preparing one so that ImGui rasterises it at an exact em size. ImGui counts a
// font's height from ascender to descender in whole pixels; VISUAL's sizes are ems. adjust_height() rewrites the
// vertical metrics in a copy of the file, so that a whole number of pixels between them gives the em that was asked
// for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::render {

using FontBytes = std::vector<std::uint8_t>;

// Path of each named file that lies in one of the directories or below; the first directory wins.
[[nodiscard]] std::map<std::string, std::string> find_font_files(std::span<const std::string_view> names,
                                                                 const std::vector<std::string>& directories);
[[nodiscard]] std::optional<FontBytes> read_font_file(const std::string& path);

// Returns the height in pixels to ask ImGui for, or nothing when this is no TrueType or OpenType font.
[[nodiscard]] std::optional<int> adjust_height(FontBytes& font, float em_pixels);

}  // namespace accelscope::render
