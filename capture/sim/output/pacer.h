// Keeps a live simulation to a rate of events by the wall clock, holds it while the capture is paused, and says when to
// stop by time. At an unlimited rate it never sleeps otherwise and asks for a flush by event count, so that equal runs
// give equal bytes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

namespace accelscope::capture::sim {

class Pacer {
 public:
  static constexpr std::chrono::milliseconds kFlushPeriod{100};
  static constexpr std::uint64_t kFlushEvents = 4'000'000;  // about 100 ms at full speed

  Pacer(double events_per_second, double seconds) noexcept
      : rate_(events_per_second), seconds_(seconds), begin_(Clock::now()), flushed_at_(begin_) {}

  [[nodiscard]] bool limited() const noexcept { return std::isfinite(rate_); }
  [[nodiscard]] bool out_of_time() const noexcept { return seconds_ > 0 && elapsed() >= seconds_; }

  // Returns when `events` may have been made and paused() is false; calls flush() meanwhile. Gives up early when stop()
  // is true.
  template <typename Flush, typename Stop, typename Paused>
  void keep(std::uint64_t events, Flush flush, Stop stop, Paused paused) {
    if (paused()) hold(flush, stop, paused);
    if (!limited()) {
      if (events - flushed_events_ >= kFlushEvents) {
        flushed_events_ = events;
        flush();
      }
      return;
    }
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (now - flushed_at_ >= kFlushPeriod) {
        flushed_at_ = now;
        flush();
      }
      const double ahead = static_cast<double>(events) / rate_ - elapsed();
      if (ahead <= 0 || out_of_time() || stop()) return;
      std::this_thread::sleep_for(
          std::min(std::chrono::duration<double>(ahead), std::chrono::duration<double>(kFlushPeriod)));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kNap{20};

  // Time that goes by during a pause counts for neither the rate nor the end.
  template <typename Flush, typename Stop, typename Paused>
  void hold(Flush flush, Stop stop, Paused paused) {
    const Clock::time_point begin = Clock::now();
    flush();
    while (paused() && !stop()) std::this_thread::sleep_for(kNap);
    begin_ += Clock::now() - begin;
  }
  [[nodiscard]] double elapsed() const noexcept { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  double rate_;
  double seconds_;
  Clock::time_point begin_;
  Clock::time_point flushed_at_;
  std::uint64_t flushed_events_ = 0;
};

}  // namespace accelscope::capture::sim
