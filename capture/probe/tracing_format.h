// What collectors of vendors' tracing libraries (CUPTI, rocprofiler-sdk) tell alike, beside records and definitions of
// their own, whose numbers are below these.
#pragma once

#include <cstdint>

#include "capture/probe/channel_format.h"

namespace accelscope::probe {

enum class TracingRecord : std::uint16_t { clock = 192, lost };

// The library's clock stood at `library` at some time between the two others, which are of CLOCK_MONOTONIC.
struct ClockRecord {
  RecordHead head;  // value: 1: the library was given our clock
  std::uint64_t library, before, after;
};

enum class LossCause : std::uint32_t { no_room = 1, not_read, cut };
struct LostRecord {
  RecordHead head;  // value: LossCause
  std::uint64_t count;
};

// Bodies, as BodyWriter packs them.
enum class TracingDefinition : std::uint32_t {
  name = 192,  // u32 number, text
  thread,      // u32 the system's number, text
  trouble,     // text: something that is not captured, with what to do
};

}  // namespace accelscope::probe
