// Importing a generated rocpd database into a store in memory, against SQLite stepping over the same rows and doing
// nothing with them.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "capture/sources/base/source.h"
#include "core/database/database.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/import/import_cost.h"

namespace accelscope::bench {
namespace {

// As rocprofv3 fills its tables: a call and a kernel for each launch, an event for both.
constexpr const char* kRocpdTables = R"(
  PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
  CREATE TABLE rocpd_metadata_0(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
  INSERT INTO rocpd_metadata_0(tag, value) VALUES('schema_version', '3');
  CREATE TABLE rocpd_string_0(id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'g', string TEXT);
  INSERT INTO rocpd_string_0(id, string) VALUES(1, 'HIP_RUNTIME_API_EXT'), (2, 'KERNEL_DISPATCH'), (3, 'hipLaunchKernel');
  CREATE TABLE rocpd_info_process_0(id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'g', nid INTEGER, pid INTEGER);
  INSERT INTO rocpd_info_process_0(id, nid, pid) VALUES(908, 1, 908);
  CREATE TABLE rocpd_info_agent_0(id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'g', pid INTEGER, type TEXT, type_index INTEGER);
  INSERT INTO rocpd_info_agent_0(id, pid, type, type_index) VALUES(2, 908, 'GPU', 0);
  CREATE TABLE rocpd_info_kernel_symbol_0(id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'g', display_name TEXT);
  CREATE TABLE rocpd_event_0(id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'g' NOT NULL, category_id INTEGER,
    stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, call_stack TEXT DEFAULT '{}',
    line_info TEXT DEFAULT '{}', extdata TEXT DEFAULT '{}');
  CREATE TABLE rocpd_region_0(id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'g' NOT NULL, nid INTEGER, pid INTEGER,
    tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER, extdata TEXT DEFAULT '{}');
  CREATE TABLE rocpd_kernel_dispatch_0(id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'g' NOT NULL, nid INTEGER, pid INTEGER,
    tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER,
    start BIGINT, end BIGINT, private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER,
    workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER,
    region_name_id INTEGER, event_id INTEGER, extdata TEXT DEFAULT '{}');
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO rocpd_info_kernel_symbol_0(id, display_name) SELECT i, 'kernel_' || i || '<float>(float*, int)' FROM n;
)";

// Counts from 1 to the number in the place of {0}.
constexpr const char* kRocpdRows = R"(
  BEGIN;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {0})
    INSERT INTO rocpd_event_0(id, category_id, stack_id, parent_stack_id, correlation_id) SELECT i, 1, i, 0, 0 FROM n;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {0})
    INSERT INTO rocpd_event_0(id, category_id, stack_id, parent_stack_id, correlation_id) SELECT {0} + i, 2, i, i, 0 FROM n;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {0})
    INSERT INTO rocpd_region_0(id, nid, pid, tid, start, end, name_id, event_id)
      SELECT i, 1, 908, 908, 1000000000 + i * 5000, 1000000000 + i * 5000 + 900 + i % 97, 3, i FROM n;
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {0})
    INSERT INTO rocpd_kernel_dispatch_0(id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start,
      end, private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x,
      grid_size_y, grid_size_z, event_id)
      SELECT i, 1, 908, 908, 2, 1 + i % 200, i, 16, i % 4, 1000020000 + i * 5000, 1000020000 + i * 5000 + 3000 + i % 911,
        0, 1024, 256, 1, 1, 65536, 1, 1, {0} + i FROM n;
  COMMIT;
)";

[[nodiscard]] bool make_rocpd(const std::string& path, std::uint64_t launches) {
  std::filesystem::remove(path);
  const auto database = Database::open(path, OpenMode::create);
  return database && (*database)->execute(kRocpdTables) &&
         (*database)->execute(fmt::format(fmt::runtime(kRocpdRows), launches).c_str());
}

// Every column of every row.
void step_over(const std::string& path) {
  const auto database = Database::open(path, OpenMode::read_only);
  if (!database) return;
  std::int64_t sum = 0;
  for (const char* table : {"rocpd_event_0", "rocpd_region_0", "rocpd_kernel_dispatch_0"}) {
    Result<Statement> rows = (*database)->prepare(fmt::format("SELECT * FROM {}", table));
    while (rows) {
      const Result<bool> more = rows->step();
      if (!more || !*more) break;
      for (int column = 0; column < rows->column_count(); ++column) sum += rows->integer(column);
    }
  }
  if (sum == 0) fmt::print(stderr, "rocpd_import: nothing was read\n");
}

}  // namespace

void bench_rocpd_import(const BenchOptions& options) {
  const std::string path = options.work_folder + "/rocpd_import.db";
  const auto launches = static_cast<std::uint64_t>(1e6 * options.scale);
  if (!make_rocpd(path, launches)) return;
  const auto cost = import_cost("rocpd_import", launches * 3, [&](EventSink& sink) {
    return capture::sources::find_format("rocpd").value()->run(path, {}, sink);
  });
  if (!cost) return;
  const double stepping = best_seconds(2, [&] { step_over(path); });
  const double millions = static_cast<double>(launches) * 4 / 1e6;
  const std::string recipe = fmt::format(
      "{} calls and as many kernels, with their events, {} rows; yardstick: SQLite stepping over all columns", launches,
      launches * 4);
  report({"rocpd_import", millions / cost->seconds, "M rows/s", "at least 2", "SQLite alone", millions / stepping,
          recipe});
  report({"rocpd_import_memory", cost->grown_bytes / 1e6, "MB", "at most twice the final and 128 MB",
          "the store afterwards", cost->retained_bytes / 1e6, recipe});
  std::filesystem::remove(path);
}

}  // namespace accelscope::bench
