#include "capture/ingest/session_clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/model/clock_fit.h"

namespace accelscope::capture::ingest {
namespace {

constexpr std::chrono::seconds kTellEvery{1};
constexpr std::int64_t kAhead = 2'000'000'000;  // events up to so long after the last reading are placed by it

ClockMap map_of(const std::vector<ClockAnchor>& anchors) {
  Clock clock;
  clock.anchors = anchors;
  return ClockMap(clock);
}

}  // namespace

void SessionClock::set(std::vector<ClockAnchor> anchors) {
  const std::lock_guard lock(mutex_);
  anchors_ = std::move(anchors);
}

std::vector<ClockAnchor> SessionClock::anchors() const {
  const std::lock_guard lock(mutex_);
  return anchors_;
}

void HostClock::add(const ClockPair& pair) {
  if (fit_.empty()) first_ns_ = pair.ticks;
  last_ns_ = std::max(last_ns_, pair.ticks);
  fit_.add(pair);
  if (reference_) session_->set(inverted(fit_.anchors()));
}

// The largest movement of an event between the first reading and a little after the last. Both maps are straight
// between their anchors, so nowhere else can it be larger.
double HostClock::change(const std::vector<ClockAnchor>& anchors) const {
  const ClockMap before = map_of(reported_);
  const ClockMap after = map_of(anchors);
  const std::int64_t end = last_ns_ + kAhead;
  double largest = 0;
  const auto look = [&](std::int64_t ns) {
    ns = std::clamp(ns, first_ns_, end);
    largest = std::max(largest, std::abs(static_cast<double>(after.to_ns(ns) - before.to_ns(ns))));
  };
  look(first_ns_);
  look(end);
  for (const ClockAnchor& anchor : reported_) look(anchor.ticks);
  for (const ClockAnchor& anchor : anchors) look(anchor.ticks);
  return largest;
}

std::optional<std::vector<ClockAnchor>> HostClock::due(std::chrono::steady_clock::time_point now, bool last) {
  if (reference_ || fit_.empty()) return {};
  if (!last && !reported_.empty() && now - reported_at_ < kTellEvery) return {};
  const std::vector<ClockAnchor> session = session_->anchors();
  if (session.empty()) return {};
  std::vector<ClockAnchor> anchors = compose(fit_.clock(), session).anchors;
  if (!reported_.empty()) {
    const double moved = change(anchors);
    if (moved <= (last ? 0.0 : static_cast<double>(fit_.best_uncertainty_ns()))) return {};
  }
  reported_ = anchors;
  reported_at_ = now;
  return anchors;
}

MetaEntry HostFacts::place(const MetaEntry& entry, const std::string& host) {
  const std::lock_guard lock(mutex_);
  const auto [known, first] = first_.try_emplace(entry.key, Stated{host, entry.value});
  if (known->second.host == host) {
    known->second.value = entry.value;
    return entry;
  }
  if (known->second.value == entry.value) return {};
  return {host + "." + entry.key, entry.value};
}

Result<void> HostClockSink::define(const Definition& definition) {
  if (const auto* clock = std::get_if<Clock>(&definition); clock != nullptr && !keeps_time_) {
    clocks_.insert_or_assign(clock->number, *clock);
    return define_clock(*clock);
  }
  if (const auto* track = std::get_if<Track>(&definition)) return define_track(*track);
  if (const auto* entry = std::get_if<MetaEntry>(&definition); entry != nullptr && facts_) {
    const MetaEntry placed = facts_->place(*entry, host_);
    return placed.key.empty() ? Result<void>() : ForwardingSink::define(placed);
  }
  if (const auto* metric = std::get_if<Metric>(&definition); metric != nullptr && !host_.empty()) {
    Metric of_host = *metric;
    of_host.device = host_ + (metric->device.empty() ? "" : " ") + metric->device;
    return ForwardingSink::define(of_host);
  }
  return ForwardingSink::define(definition);
}

Result<void> HostClockSink::define_track(Track track) {
  if (track.host.empty()) track.host = host_;
  if (track.clock == kNone && !keeps_time_) {
    track.clock = kHostClock;
    if (!clocks_.contains(kHostClock)) {
      Clock clock{.number = kHostClock, .name = "time of " + host_};
      if (Result<void> defined = define(clock); !defined) return defined;
    }
  }
  return ForwardingSink::define(track);
}

Result<void> HostClockSink::define_clock(const Clock& clock) {
  if (map_.empty()) return ForwardingSink::define(clock);
  Clock embedded = compose(clock, map_);
  embedded.version = clock.version + version_;
  embedded.residual_ns = clock.residual_ns + residual_ns_;
  return ForwardingSink::define(embedded);
}

void HostClockSink::start_with(const std::vector<ClockAnchor>& anchors, double residual_ns) {
  map_ = anchors;
  residual_ns_ = residual_ns;
}

Result<void> HostClockSink::set_map(const std::vector<ClockAnchor>& anchors, double residual_ns) {
  start_with(anchors, residual_ns);
  ++version_;
  for (const auto& [number, clock] : clocks_) {
    if (Result<void> defined = define_clock(clock); !defined) return defined;
  }
  return {};
}

}  // namespace accelscope::capture::ingest
