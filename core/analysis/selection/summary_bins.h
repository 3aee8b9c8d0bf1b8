// The bins of the histograms of a selection: transfer sizes in powers of two, durations in steps of 1, 2, 5.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace accelscope {

// Bin 0 holds what is 0, bin k holds [2^(k-1), 2^k) bytes.
[[nodiscard]] constexpr std::uint32_t size_bin(std::uint64_t bytes) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(bytes));
}
// The smallest size in the bin; the next bin's is the first that lies above it.
[[nodiscard]] constexpr std::uint64_t size_bin_begin(std::uint32_t bin) noexcept {
  return bin == 0 ? 0 : std::uint64_t{1} << (bin - 1);
}

namespace detail {
inline constexpr std::size_t kDurationBins = 56;  // 0, then 1, 2, 5, 10 ... ns to the largest that 64 bits hold
constexpr std::array<std::int64_t, kDurationBins> duration_bin_begins() noexcept {
  std::array<std::int64_t, kDurationBins> begins{};
  std::int64_t decade = 1;
  for (std::size_t i = 1; i < kDurationBins; ++i) {
    const std::size_t step = (i - 1) % 3;
    begins[i] = step == 0 ? decade : step == 1 ? 2 * decade : 5 * decade;
    if (step == 2 && i + 1 < kDurationBins) decade *= 10;
  }
  return begins;
}
inline constexpr std::array<std::int64_t, kDurationBins> kDurationBinBegins = duration_bin_begins();
// The bin of the largest number with so many bits: one of its bits more lies at most two bins higher.
constexpr std::array<std::uint8_t, 64> duration_bins_of_widths() noexcept {
  std::array<std::uint8_t, 64> bins{};
  for (std::size_t width = 1; width < bins.size(); ++width) {
    const std::int64_t smallest = std::int64_t{1} << (width - 1);
    std::size_t bin = 0;
    while (bin + 1 < kDurationBins && kDurationBinBegins[bin + 1] <= smallest) ++bin;
    bins[width] = static_cast<std::uint8_t>(bin);
  }
  return bins;
}
inline constexpr std::array<std::uint8_t, 64> kDurationBinsOfWidths = duration_bins_of_widths();
}  // namespace detail

[[nodiscard]] constexpr std::uint32_t duration_bin(std::int64_t ns) noexcept {
  if (ns <= 0) return 0;
  std::uint32_t bin = detail::kDurationBinsOfWidths[std::bit_width(static_cast<std::uint64_t>(ns))];
  while (bin + 1 < detail::kDurationBins && detail::kDurationBinBegins[bin + 1] <= ns) ++bin;
  return bin;
}
[[nodiscard]] constexpr std::int64_t duration_bin_begin(std::uint32_t bin) noexcept {
  return bin < detail::kDurationBins ? detail::kDurationBinBegins[bin] : std::numeric_limits<std::int64_t>::max();
}

}  // namespace accelscope
