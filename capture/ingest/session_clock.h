// The time of a session and the clocks of its hosts. Session time is the time of the first agent's capture; every agent
// is compared with the viewer's own clock by exchanges over its connection, and the first agent's exchanges turn the
// viewer's time into session time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/chunk/event_sink.h"
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
  std::vector<ClockAnchor> reported_;
  std::chrono::steady_clock::time_point reported_at_;
};

// Puts the events of a host onto the time of the session: tracks without a clock get one of the host, and every clock
// that the host defines is carried on to session time. When the host's clock is known better, the clocks are defined
// again with a higher version. Tracks, figures and facts say which of the hosts they are of.

// Of the clock that tracks without one get. Agents leave this number free.
inline constexpr ClockNumber kHostClock = kMaxLocalNumber;

// The facts that the hosts of a session state, each once: what several state alike lies under its key, what another
// host than the first states otherwise under "HOST.key". Any thread.
class HostFacts {
 public:
  // What to define for the fact; a key of "" if it is known already.
  [[nodiscard]] MetaEntry place(const MetaEntry& entry, const std::string& host);

 private:
  struct Stated {
    std::string host, value;
  };
  std::mutex mutex_;
  std::map<std::string, Stated> first_;  // by key
};

class HostClockSink final : public ForwardingSink {
 public:
  // The host's name is put on tracks that have none. keeps_time: its time is the session's, so clocks stay as they are.
  // facts: of all hosts of the session; null: they are taken as they are.
  HostClockSink(EventSink& sink, std::string host, bool keeps_time, std::shared_ptr<HostFacts> facts = nullptr)
      : ForwardingSink(sink), host_(std::move(host)), keeps_time_(keeps_time), facts_(std::move(facts)) {}

  Result<void> define(const Definition& definition) override;
  // Host ns -> session ns. Until it is known, the one is taken for the other.
  void start_with(const std::vector<ClockAnchor>& anchors, double residual_ns);  // before anything is defined
  Result<void> set_map(const std::vector<ClockAnchor>& anchors, double residual_ns);

 private:
  Result<void> define_clock(const Clock& clock);
  Result<void> define_track(Track track);

  std::string host_;
  bool keeps_time_;
  std::shared_ptr<HostFacts> facts_;
  std::vector<ClockAnchor> map_;
  double residual_ns_ = 0;
  std::map<ClockNumber, Clock> clocks_;  // as the agent defines them
  std::uint32_t version_ = 0;            // of the map
};

}  // namespace accelscope::capture::ingest
