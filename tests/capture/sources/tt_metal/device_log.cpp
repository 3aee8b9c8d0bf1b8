#include "tests/capture/sources/tt_metal/device_log.h"

namespace accelscope::capture {

std::vector<test::TtZone> zones_of(const Imported& session) {
  std::vector<test::TtZone> zones;
  for (const EventValues& event : session.events("zone")) {
    const auto run = event.integer("run_host_id");
    const std::int64_t begin = event.integer("time_cycles").value_or(-1);
    zones.push_back({.chip = static_cast<std::uint32_t>(event.integer("pcie_slot").value_or(-1)),
                     .track = event.track,
                     .name = event.name,
                     .begin = begin,
                     .end = begin + event.integer("cycles").value_or(-1),
                     .depth = event.depth,
                     .source = event.string("source"),
                     .run = static_cast<std::uint64_t>(run ? *run : event.integer("run_id").value_or(0))});
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

}  // namespace accelscope::capture
