#include "core/model/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

namespace accelscope {
namespace {

constexpr std::size_t kMaxWindows = 256;
constexpr std::int64_t kFar = std::int64_t{1} << 50;  // 13 days: rounding does not tilt a line of this length
constexpr std::int64_t kClockFitLargest = std::int64_t{1} << 61;  // pairs beyond this cannot be times
constexpr double kMaxDrift = 1e-3;  // ten times what a bad quartz does; more is a step of a clock, or not known yet

double line_at(const ClockPair& from, const ClockPair& to, std::int64_t ticks) {
  const double slope = static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
  return static_cast<double>(ticks - from.ticks) * slope;  // from from.ns on
}

// Whether the line through two pairs passes all pairs between these indexes within what is known of them.
bool explains(const std::vector<ClockPair>& pairs, std::size_t p, std::size_t q, std::size_t first, std::size_t last) {
  const auto ends = static_cast<double>(std::max(pairs[p].uncertainty_ns, pairs[q].uncertainty_ns));
  for (std::size_t k = first; k <= last; ++k) {
    const double distance =
        std::abs(line_at(pairs[p], pairs[q], pairs[k].ticks) - static_cast<double>(pairs[k].ns - pairs[p].ns));
    if (distance > ends + static_cast<double>(pairs[k].uncertainty_ns)) return false;
  }
  return true;
}

// How far off the slope of a line through two pairs may be.
double slope_error(const ClockPair& p, const ClockPair& q) {
  return static_cast<double>(p.uncertainty_ns + q.uncertainty_ns) / static_cast<double>(q.ticks - p.ticks);
}

bool is_step(const ClockAnchor& a, const ClockAnchor& b) {
  return std::abs(static_cast<double>(b.ns - a.ns) / static_cast<double>(b.ticks - a.ticks) - 1.0) > kMaxDrift;
}

std::vector<ClockPair> rising(const std::vector<ClockPair>& pairs) {
  std::vector<ClockPair> retained;
  for (const ClockPair& pair : pairs) {
    while (!retained.empty() && (pair.ticks <= retained.back().ticks || pair.ns <= retained.back().ns) &&
           pair.uncertainty_ns < retained.back().uncertainty_ns) {
      retained.pop_back();
    }
    if (retained.empty() || (pair.ticks > retained.back().ticks && pair.ns > retained.back().ns))
      retained.push_back(pair);
  }
  return retained;
}

const ClockPair& best_of(const std::vector<ClockPair>& pairs) {
  return *std::ranges::min_element(pairs, {}, &ClockPair::uncertainty_ns);
}

// Whether clocks that run alike would give these pairs. `sum`: with the uncertainties of both, else of the larger.
bool same_rate(const std::vector<ClockPair>& pairs, const ClockPair& best, bool sum) {
  return std::ranges::all_of(pairs, [&](const ClockPair& pair) {
    const std::int64_t distance = std::abs((pair.ns - pair.ticks) - (best.ns - best.ticks));
    return distance <=
           (sum ? pair.uncertainty_ns + best.uncertainty_ns : std::max(pair.uncertainty_ns, best.uncertainty_ns));
  });
}

}  // namespace

void ClockFit::add(const ClockPair& pair) {
  if (std::max(std::abs(pair.ticks / 2), std::abs(pair.ns / 2)) > kClockFitLargest / 2 || pair.uncertainty_ns < 0 ||
      pair.uncertainty_ns > kClockFitLargest) {
    return;
  }
  const std::int64_t number =
      pair.ticks >= 0 ? pair.ticks / window_ns_ : -((-pair.ticks + window_ns_ - 1) / window_ns_);
  if (windows_.empty() || number > windows_.back().number) {
    windows_.push_back({number, pair});
  } else if (number < windows_.back().number || pair.uncertainty_ns >= windows_.back().best.uncertainty_ns) {
    return;
  } else {
    windows_.back().best = pair;
  }
  while (windows_.size() > kMaxWindows) merge_windows();
  fit();
}

void ClockFit::merge_windows() {
  window_ns_ *= 2;
  std::vector<Window> merged;
  for (Window window : windows_) {
    window.number >>= 1;
    if (merged.empty() || merged.back().number != window.number) {
      merged.push_back(window);
    } else if (window.best.uncertainty_ns < merged.back().best.uncertainty_ns) {
      merged.back() = window;
    }
  }
  windows_ = std::move(merged);
}

// The ends of segments, each as long as one line explains.
std::vector<std::size_t> ClockFit::breaks(const std::vector<ClockPair>& pairs) {
  std::vector<std::size_t> chosen = {0};
  while (chosen.back() + 1 < pairs.size()) {
    const std::size_t begin = chosen.back();
    std::size_t end = pairs.size() - 1;
    while (end > begin + 1 && !explains(pairs, begin, end, begin, end)) --end;
    chosen.push_back(end);
  }
  return chosen;
}

// The first and the last end need not be the outermost pairs: those whose line is known best are taken.
void ClockFit::choose_ends(const std::vector<ClockPair>& pairs, std::vector<std::size_t>& chosen) {
  const auto better = [&](std::size_t p, std::size_t q, std::size_t& best_p, std::size_t& best_q, std::size_t first,
                          std::size_t last) {
    if (slope_error(pairs[p], pairs[q]) >= slope_error(pairs[best_p], pairs[best_q])) return;
    if (!explains(pairs, p, q, first, last)) return;
    best_p = p;
    best_q = q;
  };
  std::size_t& head = chosen.front();
  std::size_t& tail = chosen.back();
  const std::size_t last = pairs.size() - 1;
  if (chosen.size() == 2) {
    for (std::size_t p = 0; p <= last / 2; ++p) {
      for (std::size_t q = std::max(p + 1, last / 2); q <= last; ++q) better(p, q, head, tail, 0, last);
    }
    return;
  }
  const std::size_t first_break = chosen[1];
  for (std::size_t p = 0; p < first_break; ++p) better(p, chosen[1], head, chosen[1], 0, first_break);
  std::size_t& last_break = chosen[chosen.size() - 2];
  for (std::size_t q = last_break + 1; q <= last; ++q) better(last_break, q, last_break, tail, last_break, last);
}

void ClockFit::fit() {
  std::vector<ClockPair> all;
  for (const Window& window : windows_) all.push_back(window.best);
  const std::vector<ClockPair> pairs = rising(all);
  const ClockPair& best = best_of(pairs);
  best_uncertainty_ns_ = best.uncertainty_ns;
  std::vector<std::size_t> chosen = breaks(pairs);
  const bool one_line = chosen.size() <= 2;
  if (chosen.size() >= 2) choose_ends(pairs, chosen);
  const bool slope_unknown =
      chosen.size() < 2 || (one_line && slope_error(pairs[chosen.front()], pairs[chosen.back()]) > kMaxDrift);
  anchors_.clear();
  if (one_line && same_rate(pairs, best, slope_unknown)) {
    anchors_ = {{best.ticks, best.ns}, {best.ticks + kFar, best.ns + kFar}};
    uncertainty_ns_ = best.uncertainty_ns;
  } else {
    uncertainty_ns_ = 0;
    for (const std::size_t index : chosen) {
      anchors_.push_back({pairs[index].ticks, pairs[index].ns});
      uncertainty_ns_ = std::max(uncertainty_ns_, pairs[index].uncertainty_ns);
    }
    // A step is no rate: before and after it the clocks run alike until more is known.
    if (is_step(anchors_[0], anchors_[1])) {
      anchors_.insert(anchors_.begin(), {anchors_.front().ticks - kFar, anchors_.front().ns - kFar});
    }
    if (is_step(anchors_[anchors_.size() - 2], anchors_.back())) {
      anchors_.push_back({anchors_.back().ticks + kFar, anchors_.back().ns + kFar});
    }
  }
  const ClockMap map(clock());
  residual_ns_ = 0;
  for (const ClockPair& pair : all) {
    residual_ns_ = std::max(residual_ns_, std::abs(static_cast<double>(map.to_ns(pair.ticks) - pair.ns)));
  }
}

Clock ClockFit::clock() const {
  Clock clock;
  clock.anchors = anchors_;
  clock.residual_ns = residual_ns_;
  return clock;
}

Clock compose(const Clock& inner, const std::vector<ClockAnchor>& outer) {
  if (outer.size() < 2) return inner;
  const ClockMap inner_map(inner);
  Clock outer_clock;
  outer_clock.anchors = outer;
  const ClockMap outer_map(outer_clock);
  std::vector<std::int64_t> ticks;
  if (inner.anchors.size() > 1) {
    for (const ClockAnchor& anchor : inner.anchors) ticks.push_back(anchor.ticks);
  }
  for (const ClockAnchor& anchor : outer) ticks.push_back(inner_map.to_ticks(anchor.ticks));
  std::ranges::sort(ticks);
  Clock whole = inner;
  whole.anchors.clear();
  for (const std::int64_t tick : ticks) {
    const ClockAnchor anchor{tick, outer_map.to_ns(inner_map.to_ns(tick))};
    if (whole.anchors.empty() || (anchor.ticks > whole.anchors.back().ticks && anchor.ns > whole.anchors.back().ns)) {
      whole.anchors.push_back(anchor);
    }
  }
  return whole;
}

std::vector<ClockAnchor> inverted(const std::vector<ClockAnchor>& anchors) {
  std::vector<ClockAnchor> turned;
  turned.reserve(anchors.size());
  for (const ClockAnchor& anchor : anchors) turned.push_back({anchor.ns, anchor.ticks});
  return turned;
}

}  // namespace accelscope
