#include "render/timeline/summary_strip.h"

#include <algorithm>
#include <cmath>

namespace accelscope::render {
namespace {

constexpr float kFaintest = 0.004F;  // a texel with hardly any cover still colours its pixel

[[nodiscard]] std::vector<PixelRun> runs_of(const std::vector<std::uint8_t>& pixels) {
  std::vector<PixelRun> runs;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (pixels[i] == 0) continue;
    const int x = static_cast<int>(i);
    if (!runs.empty() && runs.back().end == x) {
      runs.back().end = x + 1;
    } else {
      runs.push_back({x, x + 1});
    }
  }
  return runs;
}

}  // namespace

void SummaryBuilder::Sum::add(Pixel texel, float amount) noexcept {
  red += amount * static_cast<float>(texel & 0xffU);
  green += amount * static_cast<float>(texel >> 8 & 0xffU);
  blue += amount * static_cast<float>(texel >> 16 & 0xffU);
  cover += amount;
}

Pixel SummaryBuilder::Sum::texel(float lanes) const noexcept {
  if (cover <= 0) return {};
  const auto channel = [this](float sum) { return static_cast<std::uint32_t>(sum / cover + 0.5F); };
  const float strength =
      static_cast<float>(kLeastCover) + (1 - static_cast<float>(kLeastCover)) * std::min(1.0F, cover / lanes);
  const auto alpha = static_cast<std::uint32_t>(strength * 255 + 0.5F);
  return Pixel(channel(red) | channel(green) << 8 | channel(blue) << 16 | alpha << 24);
}

void SummaryBuilder::begin(std::vector<std::uint32_t> lanes, const TimeView& view) {
  busy_ = true;
  lanes_ = std::move(lanes);
  next_ = 0;
  view_ = view;
  sums_.assign(static_cast<std::size_t>(view.width), {});
  found_.assign(static_cast<std::size_t>(view.width), 0);
  lit_.assign(static_cast<std::size_t>(view.width), 0);
  counted_ = 0;
  complete_ = true;
}

void SummaryBuilder::advance(const Snapshot& snapshot, lod::LaneWindows& windows, StripCrew& crew,
                             const ShadeOf& shade_of, std::size_t& budget) {
  if (!busy_) return;
  std::vector<std::uint32_t> now;
  for (; next_ < lanes_.size() && now.size() < budget; ++next_) {
    const LaneSnapshot& lane = snapshot.lanes[lanes_[next_]];
    if (lane.data->kind != EventKind::counter && lane.event_count > 0) now.push_back(lanes_[next_]);
  }
  budget -= now.size();
  if (strips_.size() < now.size()) strips_.resize(now.size());
  shades_.clear();
  for (const std::uint32_t lane : now) shades_.push_back(shade_of(lane));
  std::vector<StripTask> tasks;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[now[i]];
    tasks.push_back({&lane, &windows.lane(lane), &strips_[i], &shades_[i]});
  }
  crew.build(tasks, view_);
  for (std::size_t i = 0; i < now.size(); ++i) add(strips_[i], shades_[i]);
  counted_ += now.size();
  if (next_ >= lanes_.size()) finish();
}

void SummaryBuilder::add(const LaneStrip& strip, const LaneShade& shade) {
  complete_ = complete_ && strip.complete;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Pixel texel = strip.texels[i];
    if (texel == 0) continue;
    const float strength = static_cast<float>(texel >> 24) / 255;
    const float cover = (strength - static_cast<float>(kLeastCover)) / (1 - static_cast<float>(kLeastCover));
    sums_[i].add(texel, std::max(cover, kFaintest));
  }
  const auto mark = [](std::vector<std::uint8_t>& pixels, double begin, double end) {
    const double last = std::min(end, static_cast<double>(pixels.size()));
    for (double x = std::max(0.0, std::floor(begin)); x < last; ++x) pixels[static_cast<std::size_t>(x)] = 1;
  };
  for (const PixelRun& run : strip.found) mark(found_, run.begin, run.end);
  for (const PixelRun& run : strip.lit) mark(lit_, run.begin, run.end);
  for (const WideSlice& slice : strip.slices) {
    if (slice.found) mark(found_, slice.x0, slice.x1);
    if (slice.lit) mark(lit_, slice.x0, slice.x1);
    if (slice.waits) continue;
    const Pixel colour = opaque(slice.dimmed ? mixed_rgb(slice.colour, shade.background, kDimShare) : slice.colour);
    const double end = std::min(slice.x1, static_cast<double>(sums_.size()));
    for (double x = std::max(0.0, std::floor(slice.x0)); x < end; ++x)
      sums_[static_cast<std::size_t>(x)].add(colour, 1);
  }
}

void SummaryBuilder::finish() {
  busy_ = false;
  strip_.view = view_;
  strip_.complete = complete_;
  strip_.texels.resize(sums_.size());
  const auto lanes = static_cast<float>(std::max<std::size_t>(counted_, 1));
  for (std::size_t i = 0; i < sums_.size(); ++i) strip_.texels[i] = sums_[i].texel(lanes);
  strip_.found = runs_of(found_);
  strip_.lit = runs_of(lit_);
}

SummaryStrip at_view(const SummaryStrip& strip, const TimeView& view) {
  if (strip.view == view) return strip;
  SummaryStrip seen;
  seen.view = view;
  seen.texels.assign(static_cast<std::size_t>(view.width), {});
  for (std::size_t i = 0; i < seen.texels.size(); ++i) {
    const double x = std::floor(strip.view.x(view.ns(static_cast<double>(i) + 0.5)));
    if (x >= 0 && x < static_cast<double>(strip.texels.size()))
      seen.texels[i] = strip.texels[static_cast<std::size_t>(x)];
  }
  const auto move = [&](const std::vector<PixelRun>& from, std::vector<PixelRun>& to) {
    for (const PixelRun& run : from) {
      const double begin = std::floor(view.x(strip.view.ns(run.begin)));
      const double end = std::max(begin + 1, std::floor(view.x(strip.view.ns(run.end))));
      if (end <= 0 || begin >= view.width) continue;
      to.push_back({static_cast<int>(std::max(0.0, begin)), static_cast<int>(std::min<double>(end, view.width))});
    }
  };
  move(strip.found, seen.found);
  move(strip.lit, seen.lit);
  return seen;
}

}  // namespace accelscope::render
