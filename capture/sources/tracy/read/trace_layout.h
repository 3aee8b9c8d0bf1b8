// Which fields the traces of a version of Tracy have. The format is the profiler's memory written out in a fixed order,
// without tags; versions differ by the rows of a table.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::capture::sources::tracy {

struct TraceVersion {
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  std::uint8_t patch = 0;
  auto operator<=>(const TraceVersion&) const = default;
};
[[nodiscard]] std::string version_text(TraceVersion version);  // "0.10.0"

// What traces have since a version, or up to one.
struct TraceLayout {
  TraceVersion version;
  bool timer_delay = true;        // a number before all others
  bool on_demand = false;         // a byte after the processor's name
  bool group_hints = false;       // of threads
  bool dies = false;              // in the topology, between packages and cores
  bool wakeup_cpu = false;        // of context switches
  bool gpu_notes = false;         // values beside GPU zones, and the zones' query numbers
  bool message_severity = false;  // and the source of messages
  bool sorted_plots = false;
  bool sections = false;        // after the frames
  bool device_markers = false;  // after each GPU context, in tt-metal's variant, which has no sections
};

struct LayoutChange {
  TraceVersion since;
  bool TraceLayout::*field;
  bool value;
};
[[nodiscard]] std::span<const LayoutChange> layout_changes() noexcept;
inline constexpr std::string_view kVersionsRead = "0.9 to 0.14";

// Refuses versions that are not known, with what to try.
[[nodiscard]] Result<TraceLayout> layout_of(TraceVersion version);

}  // namespace accelscope::capture::sources::tracy
