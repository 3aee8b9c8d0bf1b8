// The clock of an OpenCL device, found by brackets: readings of the device that were taken between two times of the
// host. Every command gives one, since the device's time of queueing lies within the call that queued it. The tightest
// bracket of every tenth of a second becomes an anchor, wide ones only where the clock would miss them otherwise;
// between anchors the clock runs evenly.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/clock.h"

namespace accelscope::capture::kinds::opencl {

class DeviceClock {
 public:
  static constexpr std::int64_t kFirstSpacingNs = 100'000'000;
  static constexpr std::size_t kMostAnchors = 1024;  // then every second one goes, and new ones come half as often

  // The device stood at `ticks` between the two times; brackets may come in any order.
  void add(std::int64_t ticks, std::int64_t before_ns, std::int64_t after_ns);
  // The anchors so far, among them the tightest bracket of the stretch that has not ended; true if any is new.
  bool update(Clock& clock);
  [[nodiscard]] bool known() const noexcept { return stretch_.has_value() || !anchors_.empty(); }

 private:
  struct Bracket {
    std::int64_t ticks = 0;
    std::int64_t before_ns = 0;
    std::int64_t after_ns = 0;
    [[nodiscard]] std::int64_t width() const noexcept { return after_ns - before_ns; }
    [[nodiscard]] ClockAnchor anchor() const noexcept { return {ticks, before_ns + width() / 2}; }
  };
  void join(const std::vector<Bracket>& brackets, Clock& clock) const;
  void end_stretch();
  void thin_out();

  std::vector<Bracket> anchors_;
  std::optional<Bracket> stretch_;  // the tightest since stretch_begin_ns_
  std::int64_t stretch_begin_ns_ = 0;
  std::int64_t spacing_ns_ = kFirstSpacingNs;
  bool changed_ = false;
};

}  // namespace accelscope::capture::kinds::opencl
