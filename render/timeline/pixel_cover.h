// How much of each pixel of a lane is busy, in which mean colour, and where something waits. The inner loop of
// drawing: everything narrow of 64 lanes passes through here in every frame. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace accelscope::render {

inline constexpr double kLeastCover = 0.34;  // strength of a texel with hardly any cover

struct PixelRun {
  int begin = 0;
  int end = 0;
};

class PixelCover {
 public:
  // A colour 0xRRGGBB spread over 16-bit fields with a one on top, so that one multiplication weighs colour and cover
  // alike. Fields hold up to 257 x 255: room for a full pixel and the rounding of what it is made of.
  [[nodiscard]] static constexpr std::uint64_t spread(std::uint32_t rgb) noexcept {
    return std::uint64_t{rgb >> 16 & 0xff} | std::uint64_t{rgb >> 8 & 0xff} << 16 | std::uint64_t{rgb & 0xff} << 32 |
           std::uint64_t{1} << 48;
  }

  void reset(int width);

  // [x0, x1) lies in the view and is at most two pixels wide: three pixels are touched at most, none by a branch.
  // `busy` and `wait` are pixels of time; nothing busy lights no pixel, however little lights each that it touches.
  void add_narrow(double x0, double x1, double busy, bool is_busy, bool waits, std::uint64_t colour) noexcept {
    const int first = static_cast<int>(x0);
    const double second = std::clamp(x1 - (first + 1), 0.0, 1.0);
    const double third = std::max(x1 - (first + 2), 0.0);
    const double scale = busy * kFull / std::max(x1 - x0, 1e-9);
    const auto all = static_cast<std::uint32_t>(busy * kFull + 0.5);
    const auto in_second = static_cast<std::uint32_t>(second * scale + 0.5);
    const auto in_third = static_cast<std::uint32_t>(third * scale + 0.5);
    const std::uint32_t in_first = all - std::min(all, in_second + in_third);
    const auto lit = static_cast<std::uint32_t>(is_busy);
    const std::uint32_t lit_second = lit & static_cast<std::uint32_t>(second > 0);
    const std::uint32_t lit_third = lit & static_cast<std::uint32_t>(third > 0);
    std::uint64_t* pixel = cover_.data() + first;
    pixel[0] += colour * std::max(in_first, lit);
    pixel[1] += colour * std::max(in_second, lit_second);
    pixel[2] += colour * std::max(in_third, lit_third);
    std::uint8_t* wait = wait_.data() + first;
    wait[0] |= static_cast<std::uint8_t>(waits);
    wait[1] |= static_cast<std::uint8_t>(waits & (second > 0));
    wait[2] |= static_cast<std::uint8_t>(waits & (third > 0));
  }

  // Any stretch that touches the view, its busy time spread evenly.
  void add_busy(double x0, double x1, double busy, std::uint64_t colour) noexcept;
  void add_wait(double x0, double x1) noexcept;
  // A slice too narrow for a rectangle of its own: whole pixels, with a gap on its right.
  void add_block(double x0, double x1, std::uint64_t colour) noexcept;

  void write_texels(std::vector<std::uint32_t>& texels) const;  // 0xAABBGGRR; 0 where nothing is busy
  void write_waits(std::vector<PixelRun>& runs) const;

 private:
  static constexpr std::uint32_t kFull = 128;  // cover of a whole pixel
  static constexpr std::uint32_t kMost = 257;  // that a field holds
  static constexpr std::size_t kPadding = 3;   // add_narrow touches two pixels past the last

  void cover(int pixel, std::uint32_t amount, std::uint64_t colour) noexcept {
    std::uint64_t& sum = cover_[static_cast<std::size_t>(pixel)];
    const auto covered = static_cast<std::uint32_t>(sum >> 48);
    sum += colour * std::min(std::max(amount, 1U), kFull - std::min(covered, kFull));
  }

  int width_ = 0;
  std::vector<std::uint64_t> cover_;
  std::vector<std::uint8_t> wait_;
};

}  // namespace accelscope::render
