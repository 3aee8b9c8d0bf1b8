#include "render/timeline/summary_strip.h"

#include <algorithm>
#include <cmath>

namespace accelscope::render {
namespace {

struct Sum {
  float red = 0, green = 0, blue = 0, cover = 0;

  void add(Pixel texel, float amount) {
    red += amount * static_cast<float>(texel & 0xffU);
    green += amount * static_cast<float>(texel >> 8 & 0xffU);
    blue += amount * static_cast<float>(texel >> 16 & 0xffU);
    cover += amount;
  }
  [[nodiscard]] Pixel texel(float lanes) const {
    if (cover <= 0) return 0;
    const auto channel = [this](float sum) { return static_cast<Pixel>(sum / cover + 0.5F); };
    const float strength =
        static_cast<float>(kLeastCover) + (1 - static_cast<float>(kLeastCover)) * std::min(1.0F, cover / lanes);
    return channel(red) | channel(green) << 8 | channel(blue) << 16 | static_cast<Pixel>(strength * 255 + 0.5F) << 24;
  }
};

constexpr float kFaintest = 0.004F;  // a texel with hardly any cover still colours its pixel

void add_strip(const LaneStrip& strip, std::vector<Sum>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Pixel texel = strip.texels[i];
    if (texel == 0) continue;
    const float strength = static_cast<float>(texel >> 24) / 255;
    const float cover = (strength - static_cast<float>(kLeastCover)) / (1 - static_cast<float>(kLeastCover));
    sums[i].add(texel, std::max(cover, kFaintest));
  }
  for (const WideSlice& slice : strip.slices) {
    if (slice.waits) continue;
    const double end = std::min(slice.x1, static_cast<double>(sums.size()));
    for (double x = std::max(0.0, std::floor(slice.x0)); x < end; ++x) {
      sums[static_cast<std::size_t>(x)].add(opaque(slice.colour), 1);
    }
  }
}

}  // namespace

bool summary_texels(const Snapshot& snapshot, std::span<const std::uint32_t> lanes, LaneWindows& windows,
                    const TimeView& view, LaneStripBuilder& builder, std::vector<Pixel>& texels,
                    const EventColours* colours) {
  std::vector<Sum> sums(static_cast<std::size_t>(view.width));
  LaneStrip strip;
  bool complete = true;
  float count = 0;
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = snapshot.lanes[index];
    if (lane.data->kind == EventKind::counter || lane.event_count == 0) continue;
    LaneShade shade;
    shade.lane_index = index;
    shade.colour_by(colours);
    builder.build(lane, &windows.lane(lane), view, strip, &shade);
    complete = complete && strip.complete;
    add_strip(strip, sums);
    ++count;
  }
  texels.resize(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) texels[i] = sums[i].texel(std::max(count, 1.0F));
  return complete;
}

}  // namespace accelscope::render
