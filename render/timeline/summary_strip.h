// Many lanes as one row of texels: each pixel in the mean colour of its lanes, by the mean of their busy shares, dimmed
// and marked as the lanes are. For collapsed groups and the overview. Lanes are built by the crew, a bounded number in
// a frame, so that groups of thousands of lanes cost no frame much; the last summary is shown meanwhile.
//
//   builder.begin(lanes, view);
//   while (builder.busy() && budget > 0) builder.advance(snapshot, windows, crew, shade_of, budget);   // each frame
//   if (!builder.busy()) draw(at_view(builder.strip(), view));
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/lod/lane_window.h"
#include "render/base/theme.h"
#include "render/timeline/lane_strip.h"
#include "render/timeline/lane_strips.h"

namespace accelscope::render {

struct SummaryStrip {
  TimeView view;
  std::vector<Pixel> texels;
  std::vector<PixelRun> found;  // pixels where a search found something
  std::vector<PixelRun> lit;    // pixels where something is lit
  bool complete = false;        // false: something in it stands for what is still being decoded
};

class SummaryBuilder {
 public:
  using ShadeOf = std::function<LaneShade(std::uint32_t lane)>;

  // `lanes` are indices into Snapshot::lanes; those of counters are left out.
  void begin(std::vector<std::uint32_t> lanes, const TimeView& view);
  [[nodiscard]] bool busy() const noexcept { return busy_; }
  // Adds at most `budget` lanes and takes them off it.
  void advance(const Snapshot& snapshot, lod::LaneWindows& windows, StripCrew& crew, const ShadeOf& shade_of,
               std::size_t& budget);
  [[nodiscard]] const SummaryStrip& strip() const noexcept { return strip_; }  // the last that was finished

 private:
  struct Sum {
    float red = 0, green = 0, blue = 0, cover = 0;
    void add(Pixel texel, float amount) noexcept;
    [[nodiscard]] Pixel texel(float lanes) const noexcept;
  };
  void add(const LaneStrip& strip, const LaneShade& shade);
  void finish();

  bool busy_ = false;
  std::vector<std::uint32_t> lanes_;
  std::size_t next_ = 0;  // of lanes_
  TimeView view_;
  std::vector<Sum> sums_;                  // by pixel
  std::vector<std::uint8_t> found_, lit_;  // by pixel
  std::size_t counted_ = 0;
  bool complete_ = true;
  std::vector<LaneStrip> strips_;  // scratch memory
  std::vector<LaneShade> shades_;
  SummaryStrip strip_;
};

// The strip as another view sees it: what lies outside of its own stays empty.
[[nodiscard]] SummaryStrip at_view(const SummaryStrip& strip, const TimeView& view);

}  // namespace accelscope::render
