// The time of a session and the clocks of its hosts. Session time is the time of the first agent's capture; every agent
// is compared with the viewer's own clock by exchanges over its connection, and the first agent's exchanges turn the
// viewer's time into session time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/model/clock_fit.h"

namespace accelscope::capture::ingest {

// Viewer ns -> session ns, known once the first agent has answered. Shared by the threads of all agents.
class SessionClock {
 public:
  void set(std::vector<ClockAnchor> anchors);
  [[nodiscard]] std::vector<ClockAnchor> anchors() const;

 private:
  mutable std::mutex mutex_;
  std::vector<ClockAnchor> anchors_;
};

// Of one agent; used by its thread only.
class HostClock {
 public:
  // reference: this agent's time is the session's.
  HostClock(std::shared_ptr<SessionClock> session, bool reference)
      : session_(std::move(session)), reference_(reference) {}

  void add(const ClockPair& pair);  // agent ns, viewer ns

  // Agent ns -> session ns, if it is to be told anew: at first, and then at most once a second, when something would
  // move by more than the uncertainty. `last`: also if it moves by less.
  [[nodiscard]] std::optional<std::vector<ClockAnchor>> due(std::chrono::steady_clock::time_point now, bool last);

  [[nodiscard]] bool reference() const noexcept { return reference_; }
  [[nodiscard]] const ClockFit& fit() const noexcept { return fit_; }

 private:
  [[nodiscard]] double change(const std::vector<ClockAnchor>& anchors) const;

  std::shared_ptr<SessionClock> session_;
  bool reference_;
  ClockFit fit_;
  std::int64_t first_ns_ = 0;  // of the agent's readings
  std::int64_t last_ns_ = 0;
  std::vector<ClockAnchor> told_;
  std::chrono::steady_clock::time_point told_at_;
};

}  // namespace accelscope::capture::ingest
