#include "render/base/font_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace accelscope::render {
namespace {

namespace fs = std::filesystem;

void find_below(const fs::path& directory, std::span<const std::string_view> names,
                std::map<std::string, std::string>& found) {
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(directory, options, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (std::find(names.begin(), names.end(), name) != names.end()) found.try_emplace(name, it->path().string());
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

}  // namespace accelscope::render
