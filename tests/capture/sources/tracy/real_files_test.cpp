// Real traces, where the environment names a folder that holds some: what tracy-csvexport wrote of a trace and the
// trace itself are the same zones.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "capture/sources/base/importers.h"
#include "tests/capture/sources/tracy/imported_trace.h"

namespace accelscope::capture {
namespace {

// The table numbers threads in its own way.
std::vector<std::string> lines_without_threads(const Imported& session) {
  std::vector<std::string> lines;
  for (const EventValues& event : session.events("tracy_zone")) {
    lines.push_back(fmt::format("{} {} {}-{} '{}' '{}'", event.name, event.string("source"), event.begin, event.end,
                                event.string("zone_name"), event.string("zone_text")));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> said_in(const Imported& session) {
  std::vector<std::string> lines;
  for (const EventValues& event : session.events("tracy_message")) {
    lines.push_back(fmt::format("{} {} {}", event.begin, event.name, event.string("message")));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("a real trace is whole, and what tracy-csvexport wrote of it is in it to the last zone") {
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return;
  std::error_code failure;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(folder) / "tenstorrent", failure)) {
    if (entry.path().extension() != ".tracy") continue;
    const std::string path = entry.path().string();
    CAPTURE(path);
    REQUIRE(sources::recognise(path).name() == "tracy");
    const Imported trace = Imported::by(
        [&](EventSink& sink) { return sources::import_file(sources::tracy::import_tracy, path, {}, sink); });
    for (const char* kind : {"truncated", "trailing_bytes", "rows_lost", "rows_skipped", "too_many_overlaps"}) {
      CHECK(quality_count(trace, kind) == 0);
    }
    constexpr std::string_view kTrace = "tracy_profile_log_host.tracy";
    if (!path.ends_with(kTrace)) continue;
    const std::string beside = path.substr(0, path.size() - kTrace.size());
    const auto table = [&](const char* name) {
      return Imported::by([&](EventSink& sink) {
        return sources::import_file(sources::tracy_csv::import_tracy_csv, beside + name, {}, sink);
      });
    };
    if (!std::filesystem::exists(beside + "tracy_ops_times.csv")) continue;
    CHECK(lines_without_threads(trace) == lines_without_threads(table("tracy_ops_times.csv")));
    CHECK(said_in(trace) == said_in(table("tracy_ops_data.csv")));
  }
}

}  // namespace accelscope::capture
