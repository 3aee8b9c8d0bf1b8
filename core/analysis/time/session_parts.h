// A session of several hosts as the sessions that each of them alone would be, so that what is told of one host is told
// whatever else was recorded. Hosts whose devices are ranks of one job work together: they stay one part.
//
//   for (const SessionPart& part : session_parts(query.snapshot)) ... QueryContext alone = part_of(query, part);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

struct SessionPart {
  std::string host;  // "": the session is one part
  // With the session's tracks and lanes at their places; lanes of the other hosts hold nothing.
  std::shared_ptr<const Snapshot> snapshot;
};

// At least one, in the order of their names; the snapshot itself where it is the only one. What belongs to no host of a
// device is in every part.
[[nodiscard]] std::vector<SessionPart> session_parts(const std::shared_ptr<const Snapshot>& snapshot);

// By device: the part that its host is; nothing where its host has no devices that work.
[[nodiscard]] std::vector<std::optional<std::size_t>> part_numbers(const std::vector<SessionPart>& parts,
                                                                   const TrackDevices& devices);

// By device: the time in which its host took part.
[[nodiscard]] std::vector<TimeRange> times_of_devices(const std::shared_ptr<const Snapshot>& snapshot,
                                                      const TrackDevices& devices);

[[nodiscard]] QueryContext part_of(const QueryContext& query, const SessionPart& part);

}  // namespace accelscope
