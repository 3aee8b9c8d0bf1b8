#include "capture/ingest/session_clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace accelscope::capture::ingest {
namespace {

constexpr std::chrono::seconds kTellEvery{1};
constexpr std::int64_t kAhead = 2'000'000'000;  // events up to so long after the last reading are placed by it

ClockMap map_of(const std::vector<ClockAnchor>& anchors) {
  Clock clock;
  clock.anchors = anchors;
  return ClockMap(clock);
}

}  // namespace

void SessionClock::set(std::vector<ClockAnchor> anchors) {
  const std::lock_guard lock(mutex_);
  anchors_ = std::move(anchors);
}

std::vector<ClockAnchor> SessionClock::anchors() const {
  const std::lock_guard lock(mutex_);
  return anchors_;
}

void HostClock::add(const ClockPair& pair) {
  if (fit_.empty()) first_ns_ = pair.ticks;
  last_ns_ = std::max(last_ns_, pair.ticks);
  fit_.add(pair);
  if (reference_) session_->set(inverted(fit_.anchors()));
}

// The largest movement of an event between the first reading and a little after the last. Both maps are straight
// between their anchors, so nowhere else can it be larger.
double HostClock::change(const std::vector<ClockAnchor>& anchors) const {
  const ClockMap before = map_of(told_);
  const ClockMap after = map_of(anchors);
  const std::int64_t end = last_ns_ + kAhead;
  double largest = 0;
  const auto look = [&](std::int64_t ns) {
    ns = std::clamp(ns, first_ns_, end);
    largest = std::max(largest, std::abs(static_cast<double>(after.to_ns(ns) - before.to_ns(ns))));
  };
  look(first_ns_);
  look(end);
  for (const ClockAnchor& anchor : told_) look(anchor.ticks);
  for (const ClockAnchor& anchor : anchors) look(anchor.ticks);
  return largest;
}

std::optional<std::vector<ClockAnchor>> HostClock::due(std::chrono::steady_clock::time_point now, bool last) {
  if (reference_ || fit_.empty()) return {};
  if (!last && !told_.empty() && now - told_at_ < kTellEvery) return {};
  const std::vector<ClockAnchor> session = session_->anchors();
  if (session.empty()) return {};
  std::vector<ClockAnchor> anchors = compose(fit_.clock(), session).anchors;
  if (!told_.empty()) {
    const double moved = change(anchors);
    if (moved <= (last ? 0.0 : static_cast<double>(fit_.best_uncertainty_ns()))) return {};
  }
  told_ = anchors;
  told_at_ = now;
  return anchors;
}

}  // namespace accelscope::capture::ingest
