// Ctrl+C and SIGTERM during a capture that ends in order: the first two are remembered, which leaves the program its
// grace; the third ends this process at once. One object at a time.
#pragma once

namespace accelscope::capture {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  [[nodiscard]] bool asked() const noexcept;
};

}  // namespace accelscope::capture
