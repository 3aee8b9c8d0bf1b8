// Real device logs, where the environment names a folder that holds some: every row arrives or is told of.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/capture/sources/tt_metal/device_log.h"

namespace accelscope::capture {

TEST_CASE("every row of a real device log is in the session, and no other table is taken for one") {
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return;
  std::error_code failure;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(folder) / "tenstorrent", failure)) {
    if (entry.path().extension() != ".csv") continue;
    const std::string path = entry.path().string();
    CAPTURE(path);
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const bool is_log = text.find("core_x") < 1000;
    REQUIRE((sources::recognise(path).name() == "tt-device-log") == is_log);
    if (!is_log) continue;
    const auto rows = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) - 2;
    const Imported session = Imported::by(
        [&](EventSink& sink) { return sources::import_file(sources::tt_metal::import_device_log, path, {}, sink); });
    std::uint64_t accounted = 2 * session.count("zone") - quality_count(session, "unmatched_begins");
    for (const char* table : {"zone_total", "ts_data", "ts_event", "perf_counter"}) accounted += session.count(table);
    for (const char* kind : {"rows_skipped", "truncated", "repeated_header", "duplicate_rows"})
      accounted += quality_count(session, kind);
    CHECK(accounted == rows);
    for (const EventValues& zone : session.events("zone")) {
      CHECK_FALSE(zone.string("source").empty());
      CHECK(zone.integer("cycles").value_or(-1) >= 0);
    }
  }
}

}  // namespace accelscope::capture
