// Ctrl+C, SIGTERM and the end of the terminal (SIGHUP, unless it is ignored, as under nohup) during a capture that ends
// in order: the first two are remembered, which leaves the program its grace; the third ends this process at once. One
// object at a time.
#pragma once

namespace accelscope::capture::agent {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  [[nodiscard]] bool asked() const noexcept;
};

}  // namespace accelscope::capture::agent
