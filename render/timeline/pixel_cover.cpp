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

}  // namespace

void PixelCover::reset(int width) {
  width_ = width;
  cover_.assign(static_cast<std::size_t>(width) + kPadding, 0);
  wait_.assign(static_cast<std::size_t>(width) + kPadding, 0);
}

void PixelCover::add_busy(double x0, double x1, double busy, std::uint64_t colour) noexcept {
  const double share = x1 > x0 ? busy / (x1 - x0) : 0;
  const double begin = std::max(x0, 0.0);
  const double end = std::min<double>(x1, width_);
  int pixel = static_cast<int>(begin);
  do {
    const double seen = std::max(0.0, std::min<double>(end, pixel + 1) - std::max<double>(begin, pixel));
    cover(pixel, static_cast<std::uint32_t>(seen * share * kFull + 0.5), colour);
  } while (++pixel < end);
}

void PixelCover::add_wait(double x0, double x1) noexcept {
  const double end = std::min<double>(x1, width_);
  auto pixel = static_cast<std::size_t>(std::max(x0, 0.0));
  do {
    wait_[pixel] = 1;
  } while (static_cast<double>(++pixel) < end);
}

void PixelCover::add_block(double x0, double x1, std::uint64_t colour) noexcept {
  const int begin = std::clamp(static_cast<int>(std::lround(x0)), 0, width_ - 1);
  const int end = std::clamp(static_cast<int>(std::lround(x1)) - 1, begin + 1, width_);
  for (int pixel = begin; pixel < end; ++pixel) cover(pixel, kFull, colour);
}

void PixelCover::write_texels(std::vector<std::uint32_t>& texels) const {
  texels.resize(static_cast<std::size_t>(width_));
  for (std::size_t i = 0; i < texels.size(); ++i) {
    const std::uint64_t sum = cover_[i];
    if (sum == 0) {
      texels[i] = 0;
      continue;
    }
    const std::uint32_t reciprocal = kTables.reciprocal[sum >> 48 & (kCovers - 1)];
    const std::uint32_t red = (static_cast<std::uint32_t>(sum & 0xffff) * reciprocal + 0x8000U) >> 16;
    const std::uint32_t green = (static_cast<std::uint32_t>(sum >> 16 & 0xffff) * reciprocal + 0x8000U) >> 16;
    const std::uint32_t blue = (static_cast<std::uint32_t>(sum >> 32 & 0xffff) * reciprocal + 0x8000U) >> 16;
    texels[i] = red | green << 8 | blue << 16 | kTables.alpha[sum >> 48 & (kCovers - 1)];
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
