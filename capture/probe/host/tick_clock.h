// From a program's ticks to capture time. The agent reads both clocks one after the other, now and then, and joins the
// anchors by straight lines; both sides run on one host, whose counters agree.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "capture/probe/channel_format.h"

namespace accelscope::capture::probes {

class TickClock {
 public:
  TickClock(probe::ClockKind kind, std::chrono::steady_clock::time_point origin);

  // Takes an anchor now. Ticks up to it lie between two anchors: from now on their time is settled.
  void anchor();
  // ns since the origin; rises with the ticks. Before the first anchor its line goes on; after the last one the line
  // between the first and the last, which the next anchor may shorten.
  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) const noexcept;
  [[nodiscard]] std::uint64_t last_ticks() const noexcept { return anchors_.back().ticks; }
  [[nodiscard]] std::int64_t last_ns() const noexcept { return anchors_.back().ns; }

 private:
  struct Anchor {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
  };
  [[nodiscard]] Anchor read() const noexcept;
  // ns that so many ticks take at the rate between the two.
  [[nodiscard]] static std::int64_t along(const Anchor& from, const Anchor& to, std::uint64_t ticks) noexcept;

  probe::ClockKind kind_;
  std::chrono::steady_clock::time_point origin_;
  std::vector<Anchor> anchors_;  // by rising ticks and ns; the oldest are let go
};

}  // namespace accelscope::capture::probes
