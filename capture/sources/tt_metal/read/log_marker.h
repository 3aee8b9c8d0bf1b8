// One row of a device log in numbers. Everything that many rows share is in the log's dictionary.
#pragma once

#include <cstdint>

namespace accelscope::capture::sources::tt_metal {

struct LogMarker {
  std::int64_t time = 0;      // cycles since the chip's reset
  std::uint64_t data = 0;     // "data"; of a performance counter its value
  std::uint64_t extra = 0;    // number of the meta data's text; of a performance counter its reference count
  std::uint32_t site = 0;     // which marker of the code: DeviceLogDictionary::site
  std::uint32_t context = 0;  // which run of it: DeviceLogDictionary::context
  bool operator==(const LogMarker&) const = default;
};

}  // namespace accelscope::capture::sources::tt_metal
