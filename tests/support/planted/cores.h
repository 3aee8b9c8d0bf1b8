// Device logs of a chip out of a seed, with one planted defect or none, and the twin of each in which it is mended:
// what the mending saves is the difference of the two runs. For judging advice by a truth that is known.
//
//   simulate_planted_cores(CoreDefect::slow_reader, seed, false, sink);  // and true: its twin
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sim {

enum class CoreDefect : std::uint8_t {
  none,
  late_dispatch,  // the host is late with every other run
  uneven_cores,   // one core has more tiles than the others
  slow_reader,    // tiles are read in small parts: computing waits for data
  slow_writer,    // results are written in small parts: computing waits for room
  few_cores,      // every other program runs on a part of the cores
};
inline constexpr std::size_t kCoreDefectCount = 6;
[[nodiscard]] std::string_view core_defect_name(CoreDefect defect) noexcept;

[[nodiscard]] Result<void> simulate_planted_cores(CoreDefect defect, std::uint64_t seed, bool repaired,
                                                  EventSink& sink);
// "core 3,2" that has more to do than the others; "": no core is to blame.
[[nodiscard]] std::string planted_core(CoreDefect defect, std::uint64_t seed);

}  // namespace accelscope::capture::sim
