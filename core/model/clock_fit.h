// Fits one clock to another from pairs of readings, such as those of an exchange over a network: the reference's time
// is known to lie within +-uncertainty of what the pair says (half of the round trip). The result is a monotone
// piecewise-linear map through few of the pairs.
//
//   ClockFit fit;
//   fit.add({agent_ns, reference_ns, round_trip_ns / 2});
//   ClockMap map(fit.clock());
//
// Of each window of time only the best pair counts; windows grow, so that a capture of any length has a bounded number.
// Neighbouring pairs that a straight line explains within their uncertainty become one segment, so a constant drift is
// one line, measured over all of it, and a step is a segment of its own. Both clocks count ns, so that a slope far from
// one is a step and no rate.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/clock.h"

namespace accelscope {

struct ClockPair {
  std::int64_t ticks = 0;           // of the clock that is fitted
  std::int64_t ns = 0;              // of the reference
  std::int64_t uncertainty_ns = 0;  // the reference's true time is at most so far away
};

class ClockFit {
 public:
  explicit ClockFit(std::int64_t window_ns = 1'000'000'000) : window_ns_(window_ns) {}

  void add(const ClockPair& pair);

  [[nodiscard]] bool empty() const noexcept { return windows_.empty(); }
  // The map as anchors; at least two once there is a pair. ns = ticks before that.
  [[nodiscard]] const std::vector<ClockAnchor>& anchors() const noexcept { return anchors_; }
  [[nodiscard]] Clock clock() const;  // with residual_ns
  // Largest distance of a window's best pair from the map.
  [[nodiscard]] double residual_ns() const noexcept { return residual_ns_; }
  // The largest of the pairs that the map goes through: at them, it is at most so far off.
  [[nodiscard]] std::int64_t uncertainty_ns() const noexcept { return uncertainty_ns_; }
  [[nodiscard]] std::int64_t best_uncertainty_ns() const noexcept { return best_uncertainty_ns_; }

 private:
  struct Window {
    std::int64_t number = 0;  // ticks / window_ns_
    ClockPair best;
  };
  void merge_windows();
  void fit();
  [[nodiscard]] static std::vector<std::size_t> breaks(const std::vector<ClockPair>& pairs);
  static void choose_ends(const std::vector<ClockPair>& pairs, std::vector<std::size_t>& chosen);

  std::int64_t window_ns_;
  std::vector<Window> windows_;
  std::vector<ClockAnchor> anchors_;
  double residual_ns_ = 0;
  std::int64_t uncertainty_ns_ = 0;
  std::int64_t best_uncertainty_ns_ = 0;
};

// The clock whose ns are mapped on by further anchors (at least two): ticks -> ns -> outer. Its anchors are exact, at
// every place where either map bends.
[[nodiscard]] Clock compose(const Clock& inner, const std::vector<ClockAnchor>& outer);
[[nodiscard]] std::vector<ClockAnchor> inverted(const std::vector<ClockAnchor>& anchors);

}  // namespace accelscope
