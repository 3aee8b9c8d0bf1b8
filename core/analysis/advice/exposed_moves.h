// Copies and collectives of a device one by one, with the part of each in which nothing else of the device is under
// way: what rules of advice tell of who moves what, how often, and at what cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/advice/device_sums.h"
#include "core/analysis/advice/words.h"

namespace accelscope::analysis {

struct DeviceMove {
  EventId event = kNoEvent;
  TrackNumber track = 0;
  StringId name = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  // inside of the range
  std::int64_t bytes = 0;                 // 0: not known
  std::int64_t alone_ns = 0;
  CopyWords words;  // of copies
  [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - begin_ns; }
};

struct DeviceMoves {
  static constexpr std::size_t kMost = 1'000'000;  // of each
  std::vector<DeviceMove> copies, collectives;     // by begin
  bool cut = false;                                // there are more
};

// Of one device, as device_sums() has it of the same range.
[[nodiscard]] Result<DeviceMoves> device_moves(const QueryContext& query, const DeviceSum& device,
                                               const TimeRange& range);

}  // namespace accelscope::analysis
