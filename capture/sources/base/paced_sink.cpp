#include "capture/sources/base/paced_sink.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace accelscope::capture::sources {
namespace {

// How long a cancelled or resumed replay may go on sleeping.
constexpr std::chrono::milliseconds kNap{50};

}  // namespace

Result<void> PacedSink::define(const Definition& definition) {
  time_.define(definition);
  return ForwardingSink::define(definition);
}

Result<void> PacedSink::append(SealedChunk chunk) {
  if (const std::optional<TimeRange> range = time_.of(chunk)) {
    if (!first_ns_) {
      first_ns_ = range->begin_ns;
      begin_ = std::chrono::steady_clock::now();
    }
    const auto after = static_cast<double>(range->end_ns - *first_ns_) / speed_;
    wait_until(static_cast<std::int64_t>(after));
  }
  return ForwardingSink::append(std::move(chunk));
}

void PacedSink::wait_until(std::int64_t after_ns) {
  while (!cancelled()) {
    const auto now = std::chrono::steady_clock::now();
    if (paused()) {
      std::this_thread::sleep_for(kNap);
      begin_ += std::chrono::steady_clock::now() - now;
      continue;
    }
    const auto due = begin_ + std::chrono::nanoseconds(after_ns);
    if (now >= due) return;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(due - now, kNap));
  }
}

}  // namespace accelscope::capture::sources
