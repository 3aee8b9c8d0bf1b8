// The markers of one processor while its log is written: they are handed on by time, so each waits until no earlier one
// is to be expected. Those that come too late all the same are kept until the end.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "capture/sources/tt_metal/write/marker_runs.h"
#include "capture/sources/tt_metal/write/writer.h"

namespace accelscope::capture::sources::tt_metal {

class HeldMarkers {
 public:
  HeldMarkers(DeviceLogWriter& writer, std::unique_ptr<DeviceLogWriter::Processor> events)
      : writer_(&writer), events_(std::move(events)) {}

  // The firmware runs again: what was before that time is complete.
  void hand_on_before(std::int64_t time);
  // False: it came after later ones had been handed on.
  Result<bool> add(const LogMarker& marker, ChunkSpill& spill);
  void hand_on_all() { hand_on(markers_.size()); }
  // No more comes; `last_time`: of those whose times can be true.
  Result<void> finish(ChunkSpill& spill, std::int64_t last_time);

  [[nodiscard]] const LogProcessor& processor() const noexcept { return events_->facts; }

 private:
  void hand_on(std::size_t count);

  DeviceLogWriter* writer_;
  std::unique_ptr<DeviceLogWriter::Processor> events_;
  std::vector<LogMarker> markers_;
  std::int64_t written_ = std::numeric_limits<std::int64_t>::min();  // the time of the newest that was handed on
  MarkerRuns late_;
};

}  // namespace accelscope::capture::sources::tt_metal
