#include "render/base/fonts.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_ADVANCES_H

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "render/base/imgui_compat.h"
#include "render/base/platform.h"

namespace accelscope::render {

// Font files: finding them by name, and preparing one so that ImGui rasterises it at an exact em size. ImGui counts a
// font's height from ascender to descender in whole pixels; VISUAL's sizes are ems. adjust_height() rewrites the
// vertical metrics in a copy of the file, so that a whole number of pixels between them gives the em that was asked
// for.

using FontBytes = std::vector<std::uint8_t>;

// Path of each named file that lies in one of the directories or below; the first directory wins.
[[nodiscard]] std::map<std::string, std::string> find_font_files(std::span<const std::string_view> names,
                                                                 const std::vector<std::string>& directories);
[[nodiscard]] std::optional<FontBytes> read_font_file(const std::string& path);

// Returns the height in pixels to ask ImGui for, or nothing when this is no TrueType or OpenType font.
[[nodiscard]] std::optional<int> adjust_height(FontBytes& font, float em_pixels);

namespace {

namespace fs = std::filesystem;

void find_below(const fs::path& directory, std::span<const std::string_view> names,
                std::map<std::string, std::string>& found) {
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(directory, options, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (std::ranges::find(names, name) != names.end()) found.try_emplace(name, it->path().string());
    if (found.size() == names.size()) return;
  }
}

// Big-endian fields of an OpenType file; reads outside the file give 0 and writes nothing, so a cut file is harmless.
class OpenType {
 public:
  explicit OpenType(FontBytes& bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint32_t u16(std::size_t at) const {
    return at + 2 <= bytes_.size() ? static_cast<std::uint32_t>(bytes_[at] << 8 | bytes_[at + 1]) : 0;
  }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const { return u16(at) << 16 | u16(at + 2); }
  [[nodiscard]] int i16(std::size_t at) const { return static_cast<std::int16_t>(u16(at)); }
  void set_i16(std::size_t at, int value) {
    if (at + 2 > bytes_.size()) return;
    bytes_[at] = static_cast<std::uint8_t>(static_cast<unsigned>(value) >> 8 & 0xffU);
    bytes_[at + 1] = static_cast<std::uint8_t>(static_cast<unsigned>(value) & 0xffU);
  }
  [[nodiscard]] std::size_t table(std::string_view tag) const {
    const std::uint32_t count = u16(4);
    for (std::uint32_t index = 0; index < count; ++index) {
      const std::size_t record = 12 + std::size_t{16} * index;
      if (record + 16 <= bytes_.size() &&
          std::equal(tag.begin(), tag.end(), bytes_.begin() + static_cast<long>(record))) {
        return u32(record + 8);
      }
    }
    return 0;
  }

 private:
  FontBytes& bytes_;
};

struct StyleSpec {
  TextStyle style;
  std::string_view file;
  float em;        // units
  float baseline;  // units below the middle of a row
};

constexpr std::string_view kRegular = "Inter-Regular.otf";
constexpr std::string_view kSemiBold = "Inter-SemiBold.otf";
constexpr std::string_view kMonoMedium = "JetBrainsMono-Medium.ttf";
constexpr std::string_view kMono = "JetBrainsMono-Regular.ttf";
constexpr std::string_view kMonoSemiBold = "JetBrainsMono-SemiBold.ttf";
constexpr std::string_view kIcons = "forkawesome-webfont.ttf";

constexpr StyleSpec kStyles[] = {
    {TextStyle::body, kRegular, 13, 5},
    {TextStyle::heading, kSemiBold, 13, 5},
    {TextStyle::small, kRegular, 12, 5},
    {TextStyle::small_strong, kSemiBold, 12, 5},
    {TextStyle::title, kSemiBold, 15, 5},
    {TextStyle::display, kSemiBold, 22, 8},
    {TextStyle::mono, kMono, 12, 5},
    {TextStyle::mono_strong, kMonoSemiBold, 12, 5},
    {TextStyle::mono_small, kMonoMedium, 11, 4},
    {TextStyle::icon12, kIcons, 12, 5},
    {TextStyle::icon13, kIcons, 13, 5},
    {TextStyle::icon14, kIcons, 14, 5},
    {TextStyle::icon16, kIcons, 16, 6},
};
static_assert(std::size(kStyles) == kTextStyleCount);

constexpr std::string_view kFiles[] = {kRegular, kSemiBold, kMonoMedium, kMono, kMonoSemiBold, kIcons};

// Latin, Greek, Cyrillic; dashes and quotes; arrows; the signs of formulas; marks that tables use.
constexpr ImWchar kTextRanges[] = {0x0020, 0x00ff, 0x0100, 0x017f, 0x0391, 0x03c9, 0x0400, 0x045f, 0x2010,
                                   0x2027, 0x2030, 0x203a, 0x2070, 0x2094, 0x20ac, 0x20ac, 0x2122, 0x2122,
                                   0x2153, 0x215e, 0x2190, 0x2199, 0x21b5, 0x21b5, 0x2202, 0x2265, 0x2318,
                                   0x2318, 0x25a0, 0x25cf, 0x2713, 0x2717, 0xfffd, 0xfffd, 0};
constexpr ImWchar kIconRanges[] = {0xf000, 0xf35f, 0};
constexpr ImWchar kMean = 0x2300, kEmptySet = 0x2205;  // the mean sign is in neither font; the empty set looks like it

struct LoadedFont {
  FontBytes bytes;  // ImGui reads them until the atlas is built
  ImFont* font = nullptr;
  float em = 0;
  bool monospaced = false;
};

struct FreeTypeLibrary {
  FT_Library handle = nullptr;
  FreeTypeLibrary() {
    if (FT_Init_FreeType(&handle) != 0) handle = nullptr;
  }
  FreeTypeLibrary(const FreeTypeLibrary&) = delete;
  FreeTypeLibrary& operator=(const FreeTypeLibrary&) = delete;
  ~FreeTypeLibrary() {
    if (handle != nullptr) FT_Done_FreeType(handle);
  }
};

// ImGui rounds every advance up to a whole pixel, which sets 13 px text almost a tenth too wide. The fonts' own
// advances are put back; glyphs still land on whole pixels, since the atlas is sampled at the nearest texel. Mono
// advances are rounded, so that columns of digits keep even gaps.
void restore_advances(FT_Library library, LoadedFont& loaded) {
  FT_Face face = nullptr;
  if (FT_New_Memory_Face(library, loaded.bytes.data(), static_cast<FT_Long>(loaded.bytes.size()), 0, &face) != 0)
    return;
  const float per_unit = loaded.em / static_cast<float>(face->units_per_EM);
  compat::set_advances(*loaded.font, [&](const ImFontGlyph& glyph) {
    const FT_UInt index = FT_Get_Char_Index(face, glyph.Codepoint);
    FT_Fixed advance = 0;
    if (index == 0 || FT_Get_Advance(face, index, FT_LOAD_NO_SCALE, &advance) != 0) return glyph.AdvanceX;
    const float exact = static_cast<float>(advance) * per_unit;
    return loaded.monospaced ? std::round(exact) : exact;
  });
  FT_Done_Face(face);
  compat::draw_as(*loaded.font, kMean, kEmptySet);
}

std::string missing_sentence(const std::map<std::string, std::string>& found) {
  std::string missing;
  for (const std::string_view file : kFiles) {
    if (found.contains(std::string(file))) continue;
    if (!missing.empty()) missing += ", ";
    missing += file;
  }
  if (missing.empty()) return {};
  return "Fonts are missing (" + missing +
         "), so text and icons look plain. Install fonts-inter, fonts-jetbrains-mono and fonts-fork-awesome, or put "
         "the files into a folder \"fonts\" beside the program.";
}

ImFont* fallback_font(ImFontAtlas& atlas, float scale) {
  ImFontConfig config;
  config.SizePixels = std::round(13 * scale);
  return atlas.AddFontDefault(&config);
}

}  // namespace

std::map<std::string, std::string> find_font_files(std::span<const std::string_view> names,
                                                   const std::vector<std::string>& directories) {
  std::map<std::string, std::string> found;
  for (const std::string& directory : directories) find_below(directory, names, found);
  return found;
}

std::optional<FontBytes> read_font_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return FontBytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

std::optional<int> adjust_height(FontBytes& font, float em_pixels) {
  OpenType file(font);
  const std::size_t head = file.table("head");
  const std::size_t hhea = file.table("hhea");
  if (head == 0 || hhea == 0) return std::nullopt;
  const auto units_per_em = static_cast<float>(file.u16(head + 18));
  const int ascender = file.i16(hhea + 4);
  const auto natural = static_cast<float>(ascender - file.i16(hhea + 6));
  if (units_per_em <= 0 || natural <= 0) return std::nullopt;

  const int pixels = static_cast<int>(std::ceil(natural / units_per_em * em_pixels));
  const int units = static_cast<int>(std::lround(static_cast<float>(pixels) / em_pixels * units_per_em));
  file.set_i16(hhea + 4, ascender);
  file.set_i16(hhea + 6, ascender - units);
  if (const std::size_t os2 = file.table("OS/2"); os2 != 0) {  // read instead of hhea when the font says so
    file.set_i16(os2 + 68, ascender);
    file.set_i16(os2 + 70, ascender - units);
  }
  return pixels;
}

std::vector<std::string> font_directories() {
  std::vector<std::string> directories;
  if (const std::string program = program_directory(); !program.empty()) {
    directories = {program + "/fonts", program + "/../share/accelscope/fonts"};
  }
  for (std::string& directory : system_font_directories()) directories.push_back(std::move(directory));
  return directories;
}

void Fonts::build(ImFontAtlas& atlas, float scale, const std::vector<std::string>& directories) {
  atlas.Clear();
  compat::use_freetype(atlas);
  atlas.Flags |= ImFontAtlasFlags_NoBakedLines;
  scale_ = scale;
  const auto files = find_font_files(kFiles, directories);
  problem_ = missing_sentence(files);

  std::vector<std::unique_ptr<LoadedFont>> loaded;
  ImFont* fallback = nullptr;
  for (const StyleSpec& spec : kStyles) {
    auto font = std::make_unique<LoadedFont>();
    font->em = spec.em * scale;
    font->monospaced = spec.file == kMono || spec.file == kMonoMedium || spec.file == kMonoSemiBold;
    const auto path = files.find(std::string(spec.file));
    auto bytes = path == files.end() ? std::nullopt : read_font_file(path->second);
    const auto pixels = bytes ? adjust_height(*bytes, font->em) : std::nullopt;
    ImFont*& slot = fonts_[static_cast<std::size_t>(spec.style)];
    if (!pixels) {
      if (fallback == nullptr) fallback = fallback_font(atlas, scale);
      slot = fallback;
      continue;
    }
    font->bytes = std::move(*bytes);
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = 1;
    config.EllipsisChar = 0x2026;
    slot = font->font = atlas.AddFontFromMemoryTTF(font->bytes.data(), static_cast<int>(font->bytes.size()),
                                                   static_cast<float>(*pixels), &config,
                                                   spec.file == kIcons ? kIconRanges : kTextRanges);
    loaded.push_back(std::move(font));
  }
  compat::build_atlas(atlas);
  const FreeTypeLibrary library;
  for (auto& font : loaded) restore_advances(library.handle, *font);
  compat::finish_atlas(atlas);
}

float Fonts::baseline_offset(TextStyle style) const noexcept {
  return kStyles[static_cast<std::size_t>(style)].baseline * scale_;
}

float Fonts::em(TextStyle style) const noexcept { return kStyles[static_cast<std::size_t>(style)].em * scale_; }

}  // namespace accelscope::render
