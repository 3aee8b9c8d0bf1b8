#include "tests/capture/sources/tt_metal/followed_log.h"

namespace accelscope::capture {

std::string log_events(const Imported& session, bool depth) {
  std::string text;
  for (const char* table : {"zone", "zone_total", "ts_data", "ts_event", "perf_counter", "run"}) {
    std::vector<std::string> events;
    for (const EventValues& event : session.events(table)) {
      std::string line = event.track + "|" + event.device + "|" + event.name;
      if (depth) line += "|" + std::to_string(event.depth);
      for (const auto& [name, value] : event.integers) line += "|" + name + "=" + std::to_string(value);
      for (const auto& [name, value] : event.strings) line += "|" + name + "=" + value;
      events.push_back(line + "\n");
    }
    std::sort(events.begin(), events.end());
    for (const std::string& event : events) text += event;
  }
  return text;
}

}  // namespace accelscope::capture
