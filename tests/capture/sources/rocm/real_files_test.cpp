// Real profiles of ROCm, where the environment names a folder that holds some: what an independent reading counts comes
// out of the store again.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>

#include "tests/capture/sources/rocm/rocpd_maker.h"

namespace accelscope::capture {
namespace {

struct CountAndSum {
  std::int64_t count = 0;
  std::int64_t sum = 0;
  bool operator==(const CountAndSum&) const = default;
};

// Straight from SQLite, with nothing of the importer.
CountAndSum asked(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(("file:" + path + "?immutable=1").c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                          nullptr) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  CountAndSum found;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    found = {sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1)};
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return found;
}

CountAndSum imported_sum(const Imported& session, const std::vector<std::string>& tables) {
  CountAndSum found;
  for (const std::string& table : tables) {
    for (const EventValues& event : session.events(table)) {
      ++found.count;
      found.sum += event.end - event.begin;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("real databases of ROCm: counts and durations agree with SQLite's own") {
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder) / "rocpd", failure)) {
    const std::string path = entry.path().string();
    const std::string kind = entry.path().extension().string();
    if (kind != ".db" && kind != ".rpd") continue;
    const Imported session = imported_input({path});
    INFO(path);
    if (kind == ".rpd") {
      CHECK(imported_sum(session, {"kernel", "memcpy", "memset"}) ==
            asked(path, "SELECT count(*), sum(end - start) FROM rocpd_op"));
      CHECK(imported_sum(session, {"runtime_call", "nvtx", "region"}) ==
            asked(path, "SELECT count(*), sum(end - start) FROM rocpd_api"));
    } else if (asked(path, "SELECT count(*), 0 FROM rocpd_kernel_dispatch").count > 0) {
      CHECK(imported_sum(session, {"kernel"}) ==
            asked(path, "SELECT count(*), sum(\"end\" - start) FROM rocpd_kernel_dispatch"));
    }
  }
}

}  // namespace accelscope::capture
