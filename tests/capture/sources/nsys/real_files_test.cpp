// Real exports, where the environment names a folder that holds some: what a plain reading of their tables counts and
// adds up comes out of the session again.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "capture/sources/base/importers.h"
#include "capture/sources/sqlite/foreign_database.h"
#include "tests/capture/imported.h"

namespace accelscope::capture::sources::nsys {
namespace {

std::vector<std::string> real_exports() {
  std::vector<std::string> files;
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder) / "nsys", failure)) {
    if (entry.path().extension() == ".sqlite") files.push_back(entry.path().string());
  }
  return files;
}

std::int64_t number_in(const sqlite::ForeignDatabase& file, std::string_view sql) {
  Result<sqlite::ForeignRows> rows = file.select(sql);
  REQUIRE_MESSAGE(rows.ok(), (rows.ok() ? "" : rows.message()));
  return rows->next() ? rows->integer(0) : 0;
}

struct RealTable {
  const char* in_file;
  const char* in_session;
  const char* which;
};
constexpr RealTable kRealTables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", "kernel", ""},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "memcpy", ""},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "memset", ""},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "cuda_sync", ""},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "cuda_graph", ""},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "runtime_call", ""},
    {"NVTX_EVENTS", "nvtx", " WHERE eventType IN (34, 59, 60)"},
    {"OSRT_API", "osrt_call", ""},
};

}  // namespace

TEST_CASE("real exports of Nsight Systems: counts, sums and joins as a plain reading of the tables has them") {
  for (const std::string& path : real_exports()) {
    CAPTURE(path);
    const auto file = sqlite::ForeignDatabase::open(path);
    REQUIRE(file.ok());
    const Imported session = Imported::by([&](EventSink& sink) { return import_nsys(path, {}, sink); });
    for (const RealTable& table : kRealTables) {
      if (!file->has_table(table.in_file)) continue;
      CAPTURE(table.in_file);
      const std::vector<EventValues> events = session.events(table.in_session);
      std::int64_t duration = 0;
      for (const EventValues& event : events) duration += event.end - event.begin;
      const std::string from = std::string(" FROM ") + table.in_file + table.which;
      CHECK(static_cast<std::int64_t>(events.size()) == number_in(*file, "SELECT count(*)" + from));
      CHECK(duration == number_in(*file, "SELECT sum(coalesce(end, start) - start)" + from));
    }
    std::int64_t pairs = 0;
    for (const char* work :
         {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"}) {
      if (!file->has_table(work) || !file->has_table("CUPTI_ACTIVITY_KIND_RUNTIME")) continue;
      pairs += number_in(*file, std::string("SELECT count(*) FROM ") + work +
                                    " k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON k.correlationId = r.correlationId AND "
                                    "k.globalPid >> 24 = r.globalTid >> 24 WHERE k.correlationId <> 0");
    }
    CHECK(static_cast<std::int64_t>(session.count("dependency")) == pairs);
  }
}

}  // namespace accelscope::capture::sources::nsys
