#include "capture/ingest/host_clock_sink.h"

#include <utility>

#include "core/model/clock_fit.h"

namespace accelscope::capture::ingest {

Result<void> HostClockSink::define(const Definition& definition) {
  if (const auto* clock = std::get_if<Clock>(&definition); clock != nullptr && !keeps_time_) {
    clocks_.insert_or_assign(clock->number, *clock);
    return define_clock(*clock);
  }
  if (const auto* track = std::get_if<Track>(&definition)) return define_track(*track);
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
