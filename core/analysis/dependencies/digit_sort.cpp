#include "core/analysis/dependencies/digit_sort.h"

#include <array>

namespace accelscope {

void sort_by_digits(std::vector<DigitKey>& keys) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigitBits;
  std::uint64_t differ = 0;
  for (const DigitKey& each : keys) differ |= each.key ^ keys.front().key;
  std::vector<DigitKey> other(differ == 0 ? 0 : keys.size());
  for (unsigned shift = 0; shift < 64; shift += kDigitBits) {
    if ((differ >> shift & (kDigits - 1)) == 0) continue;
    std::array<std::size_t, kDigits + 1> places{};
    const auto digit = [shift](const DigitKey& each) {
      return static_cast<std::size_t>(each.key >> shift & (kDigits - 1));
    };
    for (const DigitKey& each : keys) ++places[digit(each) + 1];
    for (std::size_t i = 1; i < places.size(); ++i) places[i] += places[i - 1];
    for (const DigitKey& each : keys) other[places[digit(each)]++] = each;
    keys.swap(other);
  }
}

}  // namespace accelscope
