// Importing a generated export of Nsight Systems into a store in memory, against SQLite stepping over the same rows and
// doing nothing with them: kernels, copies and the calls that launched them on two GPUs of two processes, nested ranges
// whose text is new each time, metrics of the GPUs.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "capture/sources/base/importers.h"
#include "core/database/database.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/import/import_cost.h"

namespace accelscope::bench {
namespace {

// Of each table so many rows; %1 is their number, p the process of row i.
constexpr const char* kExportTables = R"(
  CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
    INSERT INTO StringIds SELECT i, 'void at::native::vectorized_kernel_' || i || '<(int)4, float>(int, T2)' FROM n;
  INSERT INTO StringIds VALUES (500, 'cudaLaunchKernel_v7000'), (501, 'cudaMemcpyAsync_v3020');
  CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
  INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779630014975716426);
  CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);
  INSERT INTO TARGET_INFO_GPU_METRICS VALUES (512, 0, 'SMs Active [Throughput %]'), (513, 0, 'SMs Active [Throughput %]');
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
    greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
    shortName INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER,
    gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
    staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER,
    gridId INTEGER, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER,
    graphId INTEGER, clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
    greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER,
    srcKind INTEGER, dstKind INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
  CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
    color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
    uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL,
    jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);
  CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
)";
// {}: the number of rows. Processes 111 and 112 take turns.
constexpr const char* kExportRows = R"(
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {kernels})
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 5000 + i * 900, 5000 + i * 900 + 300 + i * 7 % 1300, i % 2, 1 + i % 2, 0,
      7 + i % 2 * 8, i, 281476838981632 + i % 2 * 16777216, 1 + i * 13 % 400, 1 + i * 13 % 400, NULL, 1, 1, 32, i * 5 % 264,
      1, 1, 128, 1, 1, 0, i % 3 * 1024, 0, 250871808, i, 32768, NULL, 0, NULL, 0, 0, 0 FROM n;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {copies})
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT 5100 + i * 3600, 5100 + i * 3600 + 900, i % 2, 1 + i % 2, 0, 9 + i % 2 * 8,
      100000000 + i, 281476838981632 + i % 2 * 16777216, 4096 * (1 + i % 64), 1 + i % 2, 1, 2 FROM n;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {calls})
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 1000 + i * 450, 1000 + i * 450 + 100 + i * 3 % 290, 0,
      281476838981743 + i / 2 % 2 * 16777217, CASE i % 2 WHEN 0 THEN i / 2 ELSE 200000000 + i END, 500 + i % 2, 0, NULL
      FROM n;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {ranges})
    INSERT INTO NVTX_EVENTS SELECT 900 + i / 4 * 1200 + i % 4 * 20, 900 + i / 4 * 1200 + 1100 - i % 4 * 20, 59, NULL, NULL,
      NULL, 'aten::operator_' || i % 90 || ', op_id = ' || i, 281476838981743 + i / 4 % 2 * 16777217, NULL, NULL, 0, NULL,
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM n;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {samples})
    INSERT INTO GPU_METRICS SELECT i * 800, 512 + i % 2, 0, i * 7 % 101 FROM n;
)";
constexpr const char* kExportTableNames[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                             "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "GPU_METRICS"};

Result<void> write_export(const std::string& path, double rows) {
  const auto share = [&](double of) { return static_cast<std::int64_t>(rows * of); };
  const Result<std::unique_ptr<Database>> database = Database::open(path, OpenMode::create);
  if (!database) return database.error();
  const std::string sql =
      std::string("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;") + kExportTables +
      fmt::format(fmt::runtime(kExportRows), fmt::arg("kernels", share(0.2)), fmt::arg("copies", share(0.05)),
                  fmt::arg("calls", share(0.35)), fmt::arg("ranges", share(0.3)), fmt::arg("samples", share(0.1))) +
      "COMMIT;";
  return database.value()->execute(sql.c_str());
}

// Every row is stepped to and every column of it found; no value is looked at.
std::uint64_t step_rows(const std::string& path) {
  const Result<std::unique_ptr<Database>> database = Database::open(path, OpenMode::read_only);
  if (!database) return 0;
  std::uint64_t values = 0;
  for (const char* table : kExportTableNames) {
    Result<Statement> rows = database.value()->prepare(fmt::format("SELECT * FROM {}", table));
    while (rows) {
      const Result<bool> row = rows->step();
      if (!row || !row.value()) break;
      values += static_cast<std::uint64_t>(rows->column_count());
    }
  }
  return values;
}

}  // namespace

void bench_nsys_import(const BenchOptions& options) {
  const std::string path = options.work_folder + "/nsys_import.sqlite";
  const auto rows = static_cast<std::uint64_t>(4e6 * options.scale);
  if (const Result<void> done = write_export(path, static_cast<double>(rows)); !done) {
    fmt::print(stderr, "{}\n", done.message());
    return;
  }
  const auto cost = import_cost("nsys_import", rows,
                                [&](EventSink& sink) { return capture::sources::nsys::import_nsys(path, {}, sink); });
  if (!cost) return;
  std::uint64_t values = 0;
  const double stepping = best_seconds(2, [&] { values = step_rows(path); });
  const double millions = static_cast<double>(rows) / 1e6;
  const std::string recipe = fmt::format(
      "{} rows, {:.0f} MB: a fifth kernels of 32 columns, a third calls, nested ranges with a text of their own each, "
      "copies, metrics; yardstick: SQLite stepping over the {} values of these tables",
      rows, static_cast<double>(std::filesystem::file_size(path)) / 1e6, values);
  report(
      {"nsys_import", millions / cost->seconds, "M rows/s", "at least 3", "SQLite alone", millions / stepping, recipe});
  report({"nsys_import_memory", cost->grown_bytes / 1e6, "MB", "at most twice the final and 128 MB",
          "the store afterwards", cost->retained_bytes / 1e6, recipe});
  std::filesystem::remove(path);
}

}  // namespace accelscope::bench
