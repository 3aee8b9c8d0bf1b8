// A LaneShade at work on one lane of one view: the colour of what is drawn, and the pixels where something was found or
// is lit.
// Used by LaneStripBuilder only.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/lod/lane_window.h"
#include "render/timeline/lane_shade.h"
#include "render/timeline/pixel_cover.h"
#include "render/timeline/time_view.h"

namespace accelscope::render {

class Shading {
 public:
  Shading(const LaneShade& shade, const TimeView& view, std::vector<std::uint8_t>& marks)
      : shade_(shade),
        bright_x0_(view.x(shade.bright_begin_ns)),
        bright_x1_(view.x(shade.bright_end_ns)),
        marks_(marks) {
    marks_.assign(static_cast<std::size_t>(view.width), 0);
  }

  [[nodiscard]] std::uint32_t shaded(std::uint32_t colour, double bright) const noexcept {
    return mixed_rgb(colour, shade_.background, kDimShare * (1 - bright));
  }
  // `colour` is the node's own, whatever it is coloured by.
  [[nodiscard]] std::uint32_t of_node(std::uint32_t colour, const SliceNode& node, std::size_t level, std::size_t index,
                                      double x0, double x1) const noexcept {
    mark(x0, x1, shade_.hits != nullptr && shade_.hits->passing(shade_.lane_index, level, index) > 0,
         shade_.lit != nullptr && shade_.lit->passing(shade_.lane_index, level, index) > 0);
    double bright = in_stretch(x0, x1) ? 1 : 0;
    for (const EventMask* mask : {shade_.bright, shade_.region}) {
      if (mask == nullptr || bright == 0) continue;
      const double share =
          static_cast<double>(mask->passing(shade_.lane_index, level, index)) / std::max(1U, node.count);
      bright = std::min(bright, share);
    }
    return shaded(colour, bright);
  }
  [[nodiscard]] std::uint32_t of_micro(std::uint32_t colour, const SliceNode& node, std::uint32_t leaf,
                                       std::uint32_t micro, double x0, double x1) const noexcept {
    const auto of_eight = [micro](std::uint64_t bits) { return std::popcount(bits >> (micro * kMicroEvents) & 0xffU); };
    mark(x0, x1, shade_.hits != nullptr && of_eight(shade_.hits->bits(shade_.lane_index, leaf)) > 0,
         shade_.lit != nullptr && of_eight(shade_.lit->bits(shade_.lane_index, leaf)) > 0);
    if (!in_stretch(x0, x1)) return shaded(colour, 0);
    const double share = static_cast<double>(of_eight(shade_.bright_bits(leaf))) / std::max(1U, node.count);
    return shaded(colour, std::min(1.0, share));
  }
  [[nodiscard]] bool is_bright(std::uint32_t leaf, std::uint32_t in_leaf, double x0, double x1) const noexcept {
    return in_stretch(x0, x1) && (shade_.bright_bits(leaf) >> in_leaf & 1) != 0;
  }
  [[nodiscard]] bool is_found(std::uint32_t leaf, std::uint32_t in_leaf) const noexcept {
    return shade_.hits != nullptr && (shade_.hits->bits(shade_.lane_index, leaf) >> in_leaf & 1) != 0;
  }
  [[nodiscard]] bool is_lit(std::uint32_t leaf, std::uint32_t in_leaf) const noexcept {
    return shade_.lit != nullptr && (shade_.lit->bits(shade_.lane_index, leaf) >> in_leaf & 1) != 0;
  }
  void mark(double x0, double x1, bool found, bool lit) const noexcept {
    const auto bits = static_cast<std::uint8_t>((found ? kFound : 0U) | (lit ? kLit : 0U));
    const auto width = static_cast<double>(marks_.size());
    if (bits == 0 || x1 < 0 || x0 >= width) return;
    const auto first = static_cast<std::size_t>(std::max(x0, 0.0));
    const auto last = static_cast<std::size_t>(std::clamp(std::ceil(x1), static_cast<double>(first) + 1, width));
    for (std::size_t i = first; i < std::min(last, marks_.size()); ++i) {
      marks_[i] = static_cast<std::uint8_t>(marks_[i] | bits);
    }
  }
  void write(std::vector<PixelRun>& found, std::vector<PixelRun>& lit) const {
    write_runs(kFound, found);
    write_runs(kLit, lit);
  }

 private:
  static constexpr std::uint8_t kFound = 1, kLit = 2;  // bits of a pixel

  void write_runs(std::uint8_t bit, std::vector<PixelRun>& runs) const {
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      if ((marks_[i] & bit) == 0) continue;
      const auto pixel = static_cast<int>(i);
      if (!runs.empty() && runs.back().end == pixel) {
        ++runs.back().end;
      } else {
        runs.push_back({pixel, pixel + 1});
      }
    }
  }
  [[nodiscard]] bool in_stretch(double x0, double x1) const noexcept {
    return !shade_.dimmed && x0 < bright_x1_ && (x1 > bright_x0_ || (x0 == x1 && x0 >= bright_x0_));
  }

  const LaneShade& shade_;
  double bright_x0_;
  double bright_x1_;
  std::vector<std::uint8_t>& marks_;  // by pixel
};

}  // namespace accelscope::render
