#include "capture/ingest/host_clock_sink.h"

#include <utility>

#include "core/model/clock_fit.h"

namespace accelscope::capture::ingest {

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
  Clock carried = compose(clock, map_);
  carried.version = clock.version + version_;
  carried.residual_ns = clock.residual_ns + residual_ns_;
  return ForwardingSink::define(carried);
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
