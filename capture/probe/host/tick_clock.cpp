#include "capture/probe/host/tick_clock.h"

#include <algorithm>
#include <cmath>

#include "capture/probe/tick_source.h"

namespace accelscope::capture::probes {
namespace {

constexpr std::size_t kMaxAnchors = 8192;
constexpr int kTries = 5;  // the shortest of them was not interrupted

}  // namespace

TickClock::TickClock(probe::ClockKind kind, std::chrono::steady_clock::time_point origin)
    : kind_(kind), origin_(origin) {
  anchors_.push_back(read());
}

TickClock::Anchor TickClock::read() const noexcept {
  Anchor best;
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const auto before = std::chrono::steady_clock::now() - origin_;
    const std::uint64_t ticks = probe::read_ticks(kind_);
    const auto after = std::chrono::steady_clock::now() - origin_;
    const std::int64_t took = std::chrono::nanoseconds(after - before).count();
    if (took >= shortest) continue;
    shortest = took;
    best = {ticks, std::chrono::nanoseconds(before).count() + took / 2};
  }
  return best;
}

void TickClock::anchor() {
  const Anchor now = read();
  if (now.ticks <= anchors_.back().ticks || now.ns <= anchors_.back().ns) return;
  if (anchors_.size() >= kMaxAnchors) {
    anchors_.erase(anchors_.begin(), anchors_.begin() + static_cast<std::ptrdiff_t>(kMaxAnchors / 2));
  }
  anchors_.push_back(now);
}

std::int64_t TickClock::to_ns(std::uint64_t ticks) const noexcept {
  if (anchors_.size() < 2) return anchors_.front().ns;
  if (ticks > anchors_.back().ticks) {
    return anchors_.back().ns + along(anchors_.front(), anchors_.back(), ticks - anchors_.back().ticks);
  }
  // What was just written lies behind the last anchor but one.
  std::size_t upper = anchors_.size() - 1;
  if (ticks < anchors_[upper - 1].ticks) {
    const auto found =
        std::upper_bound(anchors_.begin(), anchors_.end(), ticks,
                         [](std::uint64_t wanted, const Anchor& anchor) { return wanted < anchor.ticks; });
    upper = std::max<std::size_t>(1, static_cast<std::size_t>(found - anchors_.begin()));
  }
  const Anchor& from = anchors_[upper - 1];
  return from.ns + along(from, anchors_[upper], ticks - from.ticks);
}

std::int64_t TickClock::along(const Anchor& from, const Anchor& to, std::uint64_t ticks) noexcept {
  const double rate = static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
  const auto since = static_cast<std::int64_t>(ticks);  // below 0 before the first anchor
  return static_cast<std::int64_t>(std::floor(static_cast<double>(since) * rate));
}

}  // namespace accelscope::capture::probes
