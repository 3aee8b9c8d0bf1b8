// Events and bytes per second over about the last second.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

namespace accelscope::capture::client {

class RateMeter {
 public:
  void add(std::chrono::steady_clock::time_point now, std::uint64_t events, std::uint64_t bytes) {
    samples_.push_back({now, events, bytes});
    while (samples_.size() > 2 && now - samples_[1].time >= kInterval) samples_.pop_front();
    const Sample& first = samples_.front();
    const double seconds = std::chrono::duration<double>(now - first.time).count();
    if (seconds <= 0) return;
    events_per_second = static_cast<double>(events - first.events) / seconds;
    bytes_per_second = static_cast<double>(bytes - first.bytes) / seconds;
  }
  double events_per_second = 0;
  double bytes_per_second = 0;

 private:
  static constexpr std::chrono::milliseconds kInterval{1000};
  struct Sample {
    std::chrono::steady_clock::time_point time;
    std::uint64_t events;
    std::uint64_t bytes;
  };
  std::deque<Sample> samples_;
};

}  // namespace accelscope::capture::client
