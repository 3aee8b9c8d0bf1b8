#include "core/model/clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/model/time_range.h"

namespace accelscope {
namespace {

__extension__ using Wide = __int128;

std::int64_t saturate(Wide value, std::int64_t smallest, std::int64_t largest) {
  if (value < Wide{smallest}) return smallest;
  if (value > Wide{largest}) return largest;
  return static_cast<std::int64_t>(value);
}

Wide divide_down(Wide value, std::int64_t divisor) {
  const Wide quotient = value / divisor;
  return (value % divisor != 0 && (value < 0) != (divisor < 0)) ? quotient - 1 : quotient;
}

Wide divide_up(Wide value, std::int64_t divisor) { return -divide_down(-value, divisor); }

// A rate as a fraction: exact for rates of up to six decimals of a tick per ns (1.4 GHz is 7/5).
void rate_fraction(double ticks_per_ns, std::int64_t& numerator, std::int64_t& denominator) {
  constexpr double kScale = 1e9;
  if (!(ticks_per_ns > 1e-9) || !(ticks_per_ns < 1e9)) ticks_per_ns = 1.0;
  numerator = static_cast<std::int64_t>(kScale);
  denominator = static_cast<std::int64_t>(std::llround(ticks_per_ns * kScale));
}

}  // namespace

ClockMap::ClockMap(const Clock& clock) {
  // Anchors that do not rise are of no use to a monotone map; between those that are near enough nothing overflows.
  std::vector<ClockAnchor> anchors;
  for (const ClockAnchor& anchor : clock.anchors) {
    if (!is_near_enough(anchor.ticks) || !is_near_enough(anchor.ns)) continue;
    if (anchors.empty() || (anchor.ticks > anchors.back().ticks && anchor.ns > anchors.back().ns)) {
      anchors.push_back(anchor);
    }
  }
  if (anchors.size() < 2) {
    Segment only;
    if (!anchors.empty()) {
      only.ticks = anchors.front().ticks;
      only.ns = anchors.front().ns;
    }
    rate_fraction(clock.ticks_per_ns, only.numerator, only.denominator);
    only.slope = static_cast<double>(only.numerator) / static_cast<double>(only.denominator);
    identity_ = only.numerator == only.denominator && only.ticks == only.ns;
    if (!identity_) segments_.push_back(only);
    return;
  }
  for (std::size_t i = 0; i + 1 < anchors.size(); ++i) {
    Segment segment{anchors[i].ticks, anchors[i].ns, anchors[i + 1].ns - anchors[i].ns,
                    anchors[i + 1].ticks - anchors[i].ticks, 1.0};
    segment.slope = static_cast<double>(segment.numerator) / static_cast<double>(segment.denominator);
    segments_.push_back(segment);
  }
  identity_ = false;
}

const ClockMap::Segment& ClockMap::segment_of(std::int64_t ticks) const noexcept {
  const auto after = std::upper_bound(segments_.begin() + 1, segments_.end(), ticks,
                                      [](std::int64_t t, const Segment& s) { return t < s.ticks; });
  return *(after - 1);
}

std::int64_t ClockMap::to_ns(std::int64_t ticks) const noexcept {
  if (identity_) return ticks;
  const Segment& s = segment_of(ticks);
  return saturate(Wide{s.ns} + divide_down((Wide{ticks} - s.ticks) * s.numerator, s.denominator), -kFarthestTime,
                  kFarthestTime);
}

void ClockMap::to_ns(std::span<const std::int64_t> ticks, std::int64_t* ns) const noexcept {
  if (ticks.empty()) return;
  if (identity_) {
    std::copy(ticks.begin(), ticks.end(), ns);
    return;
  }
  // Doubles hold whole numbers below 2^52 exactly; a quotient computed with them is then at most one off.
  constexpr Wide kExact = Wide{1} << 52;
  const std::int64_t first = ticks.front();
  const Segment& s = segment_of(first);
  const Wide product = (Wide{first} - s.ticks) * s.numerator;
  const Wide quotient = divide_down(product, s.denominator);
  const Wide first_ns = Wide{s.ns} + quotient;
  const Wide largest = (Wide{ticks.back()} - first) * s.numerator + s.denominator;
  const bool close = largest < kExact && first_ns >= -kFarthestTime && first_ns + kExact <= kFarthestTime;
  if (!close || &s != &segment_of(ticks.back())) {
    for (std::size_t i = 0; i < ticks.size(); ++i) ns[i] = to_ns(ticks[i]);
    return;
  }
  const auto base = static_cast<std::int64_t>(first_ns);
  const auto rest = static_cast<std::int64_t>(product - quotient * s.denominator);
  const double inverse = 1.0 / static_cast<double>(s.denominator);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const std::int64_t distance = (ticks[i] - first) * s.numerator + rest;
    auto whole = static_cast<std::int64_t>(static_cast<double>(distance) * inverse);
    const std::int64_t remainder = distance - whole * s.denominator;
    whole += static_cast<std::int64_t>(remainder >= s.denominator) - static_cast<std::int64_t>(remainder < 0);
    ns[i] = base + whole;
  }
}

std::int64_t ClockMap::to_ticks(std::int64_t ns) const noexcept {
  if (identity_) return ns;
  auto after = std::upper_bound(segments_.begin() + 1, segments_.end(), ns,
                                [](std::int64_t t, const Segment& s) { return t < s.ns; });
  const Segment& s = *(after - 1);
  return saturate(Wide{s.ticks} + divide_up((Wide{ns} - s.ns) * s.denominator, s.numerator),
                  std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

}  // namespace accelscope
