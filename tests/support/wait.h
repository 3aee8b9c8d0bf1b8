// Waiting for what another thread does: steps until the condition holds, or for a long while.
#pragma once

#include <chrono>
#include <thread>

namespace accelscope::test {

// How long what must come may take where everything else is at work too: only what never comes ends by it.
inline constexpr std::chrono::seconds kPatience{600};

template <typename Condition, typename Step>
[[nodiscard]] bool step_until(Condition condition, Step step) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    step();
    std::this_thread::yield();
  }
  return true;
}

}  // namespace accelscope::test
