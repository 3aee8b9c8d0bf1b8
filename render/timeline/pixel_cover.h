// How much of each pixel of a lane is busy, in which mean colour, and where something waits. The inner loop of
// drawing: everything narrow of 64 lanes passes through here in every frame. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "render/base/theme.h"

namespace accelscope::render {

inline constexpr double kLeastCover = 0.34;  // strength of a texel with hardly any cover

struct PixelRun {
  int begin = 0;
  int end = 0;
};

class PixelCover {
 public:
  static constexpr int kParts = 128;  // of a pixel: the cover of a whole one

  // A colour 0xRRGGBB spread over 16-bit fields with a one on top, so that one multiplication weighs colour and cover
  // alike. Fields hold up to 257 x 255: room for a full pixel and the rounding of what it is made of.
  [[nodiscard]] static constexpr std::uint64_t spread(std::uint32_t rgb) noexcept {
    return std::uint64_t{rgb >> 16 & 0xff} | std::uint64_t{rgb >> 8 & 0xff} << 16 | std::uint64_t{rgb & 0xff} << 32 |
           std::uint64_t{1} << 48;
  }

  void reset(int width);

  // [x0, x1) in parts of a pixel lies in the view and is at most two pixels wide, so it touches three at most. `busy`
  // of its parts are busy. What is not busy at all lights nothing; however little is lights each pixel it touches.
  void add_narrow(int x0, int x1, std::uint32_t busy, bool is_busy, std::uint64_t colour) noexcept {
    const int first = x0 / kParts;
    const int beyond = x1 - (first + 1) * kParts;
    const auto second = static_cast<std::uint32_t>(std::clamp(beyond, 0, kParts));
    const auto third = static_cast<std::uint32_t>(std::max(beyond - kParts, 0));
    const std::uint32_t weight = busy * kReciprocal[static_cast<std::size_t>(x1 - x0)];
    const std::uint32_t in_second = weight * second >> 16;
    const std::uint32_t in_third = weight * third >> 16;
    const auto lit = static_cast<std::uint32_t>(is_busy);
    std::uint64_t* pixel = cover_.data() + first;
    pixel[0] += colour * std::max(busy - in_second - in_third, lit);
    pixel[1] += colour * std::max(in_second, lit & static_cast<std::uint32_t>(second > 0));
    pixel[2] += colour * std::max(in_third, lit & static_cast<std::uint32_t>(third > 0));
  }
  void add_narrow_wait(int x0, int x1) noexcept {
    std::uint8_t* wait = wait_.data() + x0 / kParts;
    const int beyond = x1 - (x0 / kParts + 1) * kParts;
    wait[0] = 1;
    wait[1] |= static_cast<std::uint8_t>(beyond > 0);
    wait[2] |= static_cast<std::uint8_t>(beyond > kParts);
  }

  // Any stretch that touches the view, its busy time spread evenly.
  void add_busy(double x0, double x1, double busy, std::uint64_t colour) noexcept;
  void add_wait(double x0, double x1) noexcept;
  // A slice too narrow for a rectangle of its own: whole pixels, with a gap on its right.
  void add_block(double x0, double x1, std::uint64_t colour) noexcept;

  void write_texels(std::vector<Pixel>& texels) const;  // 0 where nothing is busy
  void write_waits(std::vector<PixelRun>& runs) const;

 private:
  static constexpr std::uint32_t kFull = kParts;
  static constexpr std::size_t kPadding = 3;  // add_narrow touches two pixels past the last

  void cover(int pixel, std::uint32_t amount, std::uint64_t colour) noexcept {
    std::uint64_t& sum = cover_[static_cast<std::size_t>(pixel)];
    const auto covered = static_cast<std::uint32_t>(sum >> 48);
    sum += colour * std::min(std::max(amount, 1U), kFull - std::min(covered, kFull));
  }

  // 65536 / width for widths in parts: the inner loop does not divide. 128 * 128 * 65536 / width stays in 32 bits.
  static constexpr std::array<std::uint32_t, 2 * kParts + 1> kReciprocal = [] {
    std::array<std::uint32_t, 2 * kParts + 1> table{};
    for (std::uint32_t width = 1; width < table.size(); ++width) table[width] = 65536 / width;
    return table;
  }();

  int width_ = 0;
  std::vector<std::uint64_t> cover_;
  std::vector<std::uint8_t> wait_;
};

}  // namespace accelscope::render
