// Ticks stay ticks: a chunk keeps its clock's own ticks and every clock has a monotone piecewise-linear map to
// session time in ns. The map is fitted from (ticks, ns) anchors; outside them the nearest slope goes on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/ids.h"

namespace accelscope {

struct ClockAnchor {
  std::int64_t ticks = 0;
  std::int64_t ns = 0;
  bool operator==(const ClockAnchor&) const = default;
  static void fields(auto& walk, auto& a) { walk(a.ticks, a.ns); }
};

struct Clock {
  ClockNumber number = 0;
  std::string name;
  double ticks_per_ns = 1.0;         // nominal rate; used while there are fewer than two anchors
  std::vector<ClockAnchor> anchors;  // strictly rising in both fields; none means ns = ticks / rate
  std::uint32_t version = 0;         // a later definition of the same number replaces an earlier one
  double residual_ns = 0;            // largest distance of a pair from the fitted map
  bool operator==(const Clock&) const = default;
  static void fields(auto& walk, auto& c) {
    walk(c.number, c.name, c.ticks_per_ns, c.version, c.residual_ns, c.anchors);
  }
};

// Integer arithmetic: to_ns is monotone, exact where the rate is one, and to_ticks(to_ns(t)) <= t. Times saturate at
// kFarthestTime, ticks at the ends of int64. Anchors farther than that are left out.
class ClockMap {
 public:
  ClockMap() = default;  // identity: a tick is a ns
  explicit ClockMap(const Clock& clock);

  [[nodiscard]] std::int64_t to_ns(std::int64_t ticks) const noexcept;
  // The same for many ticks that never fall, with one division for all of them where they lie close together.
  void to_ns(std::span<const std::int64_t> ticks, std::int64_t* ns) const noexcept;
  // The smallest tick whose ns is >= the argument.
  [[nodiscard]] std::int64_t to_ticks(std::int64_t ns) const noexcept;
  [[nodiscard]] bool is_identity() const noexcept { return identity_; }
  // One straight line for every tick: pixels may then be computed by one multiplication.
  [[nodiscard]] bool is_affine() const noexcept { return segments_.size() <= 1; }
  [[nodiscard]] double ns_per_tick() const noexcept { return segments_.empty() ? 1.0 : segments_.front().slope; }

 private:
  struct Segment {
    std::int64_t ticks = 0;  // begins here (the first also covers everything before it)
    std::int64_t ns = 0;
    std::int64_t numerator = 1;  // ns = segment.ns + (t - segment.ticks) * numerator / denominator, rounded down
    std::int64_t denominator = 1;
    double slope = 1.0;
  };
  [[nodiscard]] const Segment& segment_of(std::int64_t ticks) const noexcept;
  std::vector<Segment> segments_;
  bool identity_ = true;
};

}  // namespace accelscope
