#include "render/timeline/pixel_cover.h"

#include <array>
#include <cmath>

namespace accelscope::render {
namespace {

constexpr std::size_t kCovers = 512;  // more than a sum can hold

struct Tables {
  std::array<std::uint32_t, kCovers> reciprocal{};  // 65536 / cover
  std::array<std::uint32_t, kCovers> alpha{};       // in the top byte; 0 for no cover
};

[[nodiscard]] constexpr Tables make_tables() {
  Tables tables;
  for (std::uint32_t cover = 1; cover < kCovers; ++cover) {
    tables.reciprocal[cover] = 65536 / cover;
    const double share = std::min(1.0, static_cast<double>(cover) / PixelCover::kParts);
    const double strength = kLeastCover + (1 - kLeastCover) * share;
    tables.alpha[cover] = static_cast<std::uint32_t>(strength * 255 + 0.5) << 24;
  }
  return tables;
}
constexpr Tables kTables = make_tables();

// Where the stretch lies in the view, whatever its ends are: a caller's arithmetic may give anything.
[[nodiscard]] double within(double x, int width) noexcept { return x > 0 ? std::min<double>(x, width) : 0; }

// std::ceil of what is not negative, without a call: this is where the time goes.
[[nodiscard]] int whole_above(double x) noexcept {
  const int below = static_cast<int>(x);
  return below < x ? below + 1 : below;
}

}  // namespace

void PixelCover::reset(int width) {
  width_ = width;
  cover_.assign(static_cast<std::size_t>(width) + kPadding, 0);
  wait_.assign(static_cast<std::size_t>(width) + kPadding, 0);
}

void PixelCover::add_busy(double x0, double x1, double busy, std::uint64_t colour) noexcept {
  const double density = x1 > x0 ? busy / (x1 - x0) : 0;
  const double share = density > 0 ? std::min(density, 1.0) : 0;
  const double begin = within(x0, width_);
  const double end = within(x1, width_);
  const int first = std::min(static_cast<int>(begin), width_ - 1);
  const int last = std::max(first, whole_above(end) - 1);
  const auto amount = [share](double seen) {
    return static_cast<std::uint32_t>(std::max(0.0, seen) * share * kFull + 0.5);
  };
  cover(first, amount(std::min<double>(end, first + 1) - begin), colour);
  if (last == first) return;
  const std::uint32_t inner = amount(1);
  for (int pixel = first + 1; pixel < last; ++pixel) cover(pixel, inner, colour);
  cover(last, amount(end - last), colour);
}

void PixelCover::add_wait(double x0, double x1) noexcept {
  const int first = std::min(static_cast<int>(within(x0, width_)), width_ - 1);
  const int end = std::max(first + 1, whole_above(within(x1, width_)));
  std::fill(wait_.begin() + first, wait_.begin() + end, std::uint8_t{1});
}

void PixelCover::add_block(double x0, double x1, std::uint64_t colour) noexcept {
  const int begin = std::clamp(static_cast<int>(std::lround(within(x0, width_))), 0, width_ - 1);
  const int end = std::clamp(static_cast<int>(std::lround(within(x1, width_ + 1))) - 1, begin + 1, width_);
  for (int pixel = begin; pixel < end; ++pixel) cover(pixel, kFull, colour);
}

void PixelCover::write_texels(std::vector<Pixel>& texels) const {
  texels.resize(static_cast<std::size_t>(width_));
  std::uint64_t last = 0;  // coarse pictures and gaps are long runs of one sum
  for (std::size_t i = 0; i < texels.size(); ++i) {
    const std::uint64_t sum = cover_[i];
    if (sum == last) {
      texels[i] = i == 0 ? Pixel() : texels[i - 1];
      continue;
    }
    last = sum;
    if (sum == 0) {
      texels[i] = Pixel();
      continue;
    }
    const std::uint32_t reciprocal = kTables.reciprocal[sum >> 48 & (kCovers - 1)];
    const std::uint32_t red = (static_cast<std::uint32_t>(sum & 0xffff) * reciprocal + 0x8000U) >> 16;
    const std::uint32_t green = (static_cast<std::uint32_t>(sum >> 16 & 0xffff) * reciprocal + 0x8000U) >> 16;
    const std::uint32_t blue = (static_cast<std::uint32_t>(sum >> 32 & 0xffff) * reciprocal + 0x8000U) >> 16;
    texels[i] = Pixel(red | green << 8 | blue << 16 | kTables.alpha[sum >> 48 & (kCovers - 1)]);
  }
}

void PixelCover::write_waits(std::vector<PixelRun>& runs) const {
  runs.clear();
  const auto last = wait_.begin() + width_;
  auto begin = std::find(wait_.begin(), last, std::uint8_t{1});
  while (begin != last) {
    const auto end = std::find(begin, last, std::uint8_t{0});
    runs.push_back({static_cast<int>(begin - wait_.begin()), static_cast<int>(end - wait_.begin())});
    begin = std::find(end, last, std::uint8_t{1});
  }
}

}  // namespace accelscope::render
