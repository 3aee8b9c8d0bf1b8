// A strip that was made for one view, seen from another.
#include <algorithm>
#include <cmath>

#include "render/timeline/lane_strip.h"

namespace accelscope::render {
namespace {

constexpr double kRounding = 1e-6;  // pixels; edges that are the same must not differ by one

// Pixels [begin, end) of the view, and where they lie in the old one.
struct Reach {
  int begin = 0;
  int end = 0;
  double first = 0;  // of pixel 0 of the view, in the old one's pixels
  double step = 1;

  // Between a view and one that is wider than numbers tell apart there is none.
  [[nodiscard]] bool is_one() const { return std::isfinite(first) && std::isfinite(step) && step > 0; }

  Reach(const TimeView& made, const TimeView& view)
      : first(made.x(view.begin_ns)), step(view.ns_per_pixel() / made.ns_per_pixel()) {
    // What is no number is outside.
    const auto inside = [&view](double x) { return x > 0 ? static_cast<int>(std::min<double>(x, view.width)) : 0; };
    begin = inside(std::ceil(view.x(made.begin_ns) - kRounding));
    end = std::max(begin, inside(std::floor(view.x(made.end_ns) + kRounding)));
  }
};

// Each pixel takes the strongest of the texels that it covers: what is lit stays lit.
void move_texels(const LaneStrip& made, const Reach& reach, LaneStrip& strip) {
  constexpr double kOne =
      4294967296.0;  // a pixel, in fixed point: this loop is run for every lane of a frame that moves
  constexpr auto kRound = static_cast<std::int64_t>(kRounding * kOne);
  const auto width = static_cast<std::int64_t>(made.texels.size());
  const auto step = static_cast<std::int64_t>(std::min(reach.step, static_cast<double>(width)) * kOne);
  constexpr double kFarthest = 1e9;  // pixels; beyond any strip, and within the fixed point
  const double begin = std::clamp(reach.first + reach.begin * reach.step, -kFarthest, kFarthest);
  auto from = static_cast<std::int64_t>(begin * kOne) + kRound;
  for (int pixel = reach.begin; pixel < reach.end; ++pixel, from += step) {
    const std::int64_t low = std::clamp<std::int64_t>(from >> 32, 0, width - 1);
    const std::int64_t last = std::clamp<std::int64_t>((from + step - 2 * kRound) >> 32, low, width - 1);
    Pixel texel = made.texels[static_cast<std::size_t>(low)];
    for (std::int64_t i = low + 1; i <= last; ++i) texel = std::max(texel, made.texels[static_cast<std::size_t>(i)]);
    strip.texels[static_cast<std::size_t>(pixel)] = texel;  // the alpha is on top
  }
}

void add_run(std::vector<PixelRun>& runs, int begin, int end) {
  if (begin >= end) return;
  if (!runs.empty() && begin >= runs.back().begin && begin <= runs.back().end) {
    runs.back().end = std::max(runs.back().end, end);
  } else {
    runs.push_back({begin, end});
  }
}

// The old runs where the old view reaches, those that are there already elsewhere.
void move_runs(const std::vector<PixelRun>& made, const Reach& reach, std::vector<PixelRun>& runs) {
  std::vector<PixelRun> all;
  for (const PixelRun& run : runs) add_run(all, run.begin, std::min(run.end, reach.begin));
  for (const PixelRun& run : made) {
    const double begin = std::floor((run.begin - reach.first) / reach.step);
    const double end = std::ceil((run.end - reach.first) / reach.step);
    if (end <= reach.begin || begin >= reach.end) continue;
    add_run(all, static_cast<int>(std::max<double>(begin, reach.begin)),
            static_cast<int>(std::min<double>(std::max(end, begin + 1), reach.end)));
  }
  for (const PixelRun& run : runs) add_run(all, std::max(run.begin, reach.end), run.end);
  runs = std::move(all);
}

// What has become too narrow to be drawn by itself joins the texels.
void add_narrow(const WideSlice& slice, int width, std::uint32_t background, LaneStrip& strip) {
  const int begin = static_cast<int>(std::clamp<double>(std::floor(slice.x0), 0, width - 1));
  const int end = static_cast<int>(std::clamp<double>(std::ceil(slice.x1), begin + 1, width));
  if (slice.waits) {
    add_run(strip.waits, begin, end);
  } else {
    const std::uint32_t colour = slice.dimmed ? mixed_rgb(slice.colour, background, kDimShare) : slice.colour;
    std::fill(strip.texels.begin() + begin, strip.texels.begin() + end, opaque(colour));
  }
  if (slice.found) add_run(strip.found, begin, end);
  if (slice.lit) add_run(strip.lit, begin, end);
}

}  // namespace

void add_moved(const LaneStrip& made, const TimeView& made_view, const TimeView& view, std::uint32_t background,
               LaneStrip& strip) {
  strip.complete = false;
  const Reach reach(made_view, view);
  if (!reach.is_one() || (reach.begin == reach.end && made.slices.empty())) return;
  if (reach.begin == 0 && reach.end == view.width) {
    strip.busy_share = made.busy_share;
    strip.wait_share = made.wait_share;
  }
  move_texels(made, reach, strip);
  move_runs(made.waits, reach, strip.waits);
  move_runs(made.found, reach, strip.found);
  move_runs(made.lit, reach, strip.lit);
  for (WideSlice slice : made.slices) {
    slice.x0 = (slice.x0 - reach.first) / reach.step;
    slice.x1 = (slice.x1 - reach.first) / reach.step;
    if (slice.x1 <= 0 || slice.x0 >= view.width) continue;
    if (slice.x1 - slice.x0 < kSlicePixels) {
      add_narrow(slice, view.width, background, strip);
    } else {
      strip.slices.push_back(slice);
    }
  }
}

}  // namespace accelscope::render
