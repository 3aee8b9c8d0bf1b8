// Small databases of rocpd and rpd, made by the schemas that their tools use, so far as a reader needs them.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "capture/sources/base/source.h"
#include "capture/sources/import_input.h"
#include "core/database/database.h"
#include "core/store/store.h"
#include "tests/capture/imported.h"
#include "tests/support/files.h"

namespace accelscope::capture {

inline void run_sql(const std::string& path, const std::string& sql) {
  const auto database = Database::open(path, OpenMode::create);
  REQUIRE(database.ok());
  const Result<void> done = (*database)->execute(sql.c_str());
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.message()));
}

struct RocpdOptions {
  std::string identifier = "_0000090f_565d_765d_bc41_19a2073d19ee";
  std::int64_t pid = 908;
  std::int64_t first_ns = 1'000'000;
  bool views = false;
  bool tracks = false;  // as version 4 has it
};

// Two kernels with counters, a copy, an allocation and its release, a call for each, a range of the program, a sample
// of a counter, a moment.
inline std::string rocpd_sql(const RocpdOptions& options = {}) {
  const auto table = [&](const char* base) { return "rocpd_" + std::string(base) + options.identifier; };
  const std::string guid = "guid TEXT DEFAULT \"g\" NOT NULL";
  std::string sql;
  const auto create = [&](const char* base, const std::string& columns) {
    sql +=
        fmt::format("CREATE TABLE `{}`(id INTEGER PRIMARY KEY AUTOINCREMENT, {}, {});\n", table(base), guid, columns);
    if (options.views) sql += fmt::format("CREATE VIEW rocpd_{} AS SELECT * FROM `{}`;\n", base, table(base));
  };
  const auto insert = [&](const char* base, const std::string& columns, const std::string& values) {
    sql += fmt::format("INSERT INTO `{}`({}) VALUES {};\n", table(base), columns, values);
  };
  const std::int64_t t = options.first_ns;
  const std::int64_t pid = options.pid;
  sql += fmt::format("CREATE TABLE `{}`(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);\n", table("metadata"));
  insert("metadata", "tag, value",
         fmt::format("('schema_version', '{}'), ('guid', 'g')", options.tracks ? "4.1.0" : "3.0.0"));
  create("string", "string TEXT NOT NULL UNIQUE");
  create("info_node", "hash BIGINT, machine_id TEXT, hostname TEXT");
  create("info_process", "nid INTEGER, pid INTEGER, command TEXT, environment TEXT");
  create("info_thread", "nid INTEGER, pid INTEGER, tid INTEGER, name TEXT");
  create("info_agent",
         "nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, type_index INTEGER, name TEXT, "
         "product_name TEXT, extdata TEXT");
  create("info_kernel_symbol", "kernel_name TEXT, display_name TEXT, arch_vgpr_count INTEGER, sgpr_count INTEGER");
  create("info_pmc", "agent_id INTEGER, pid INTEGER, name TEXT, symbol TEXT, units TEXT, description TEXT");
  create("track",
         "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER, "
         "name_id INTEGER");
  create("event",
         "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, "
         "call_stack TEXT DEFAULT '{}', line_info TEXT DEFAULT '{}', extdata TEXT DEFAULT '{}'");
  create("arg", "event_id INTEGER, position INTEGER, type TEXT, name TEXT, value TEXT");
  create("pmc_event", "event_id INTEGER, pmc_id INTEGER, value REAL");
  const std::string where = options.tracks ? "track_id INTEGER" : "nid INTEGER, pid INTEGER, tid INTEGER";
  const std::string on_device =
      options.tracks ? where : where + ", agent_id INTEGER, queue_id INTEGER, stream_id INTEGER";
  create("region", where + ", start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER");
  create("sample", "track_id INTEGER, timestamp BIGINT, event_id INTEGER");
  create("kernel_dispatch", on_device +
                                ", kernel_id INTEGER, dispatch_id INTEGER, start BIGINT, end BIGINT, "
                                "private_segment_size INTEGER, group_segment_size INTEGER, "
                                "workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, "
                                "grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, "
                                "region_name_id INTEGER, event_id INTEGER");
  create("memory_copy", on_device +
                            ", start BIGINT, end BIGINT, name_id INTEGER, dst_agent_id INTEGER, "
                            "dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, size INTEGER, "
                            "event_id INTEGER");
  create("memory_allocate", on_device +
                                ", type TEXT, level TEXT, start BIGINT, end BIGINT, address INTEGER, "
                                "size INTEGER, event_id INTEGER");
  if (options.tracks) {
    create("info_category", "name TEXT");
    insert("info_category", "id, name",
           "(1, 'HIP_RUNTIME_API_EXT'), (2, 'KERNEL_DISPATCH'), (3, 'MEMORY_COPY'), (4, 'MARKER_CORE_RANGE_API'), "
           "(5, 'sampling')");
  }
  insert("string", "id, string",
         "(1, 'HIP_RUNTIME_API_EXT'), (2, 'KERNEL_DISPATCH'), (3, 'MEMORY_COPY'), (4, 'MARKER_CORE_RANGE_API'), (5, "
         "'sampling'), (6, 'hipLaunchKernel'), (7, 'MEMORY_COPY_HOST_TO_DEVICE'), (8, 'roctxRangePushA'), (9, "
         "'renamed'), (10, 'hipMalloc')");
  insert("info_node", "id, machine_id, hostname", "(1, 'm1', 'node1')");
  insert("info_process", "id, nid, pid, command, environment",
         fmt::format("({0}, 1, {0}, '/usr/bin/train --fast', '{{\"TOKEN\":\"secret\"}}')", pid));
  insert("info_thread", "id, nid, pid, tid, name",
         fmt::format("({0}, 1, {0}, {0}, NULL), ({1}, 1, {0}, {1}, 'loader')", pid, pid + 1));
  insert("info_agent", "id, nid, pid, type, absolute_index, type_index, name, product_name, extdata",
         fmt::format("(0, 1, {0}, 'CPU', 0, 0, 'EPYC', 'EPYC', '{{}}'), (4, 1, {0}, 'GPU', 4, 2, 'gfx950', "
                     "'AMD Instinct MI350X', '{{\"cu_count\": 256, \"wave_front_size\": 64}}')",
                     pid));
  insert("info_kernel_symbol", "id, kernel_name, display_name, arch_vgpr_count, sgpr_count",
         "(11, '_Z4gemm', 'gemm(float*)', 128, 96), (12, 'ncclDevKernel_Generic', 'ncclDevKernel_Generic', 92, 112)");
  insert("info_pmc", "id, agent_id, pid, name, symbol, units, description",
         fmt::format("(70, 4, {0}, 'SQ_WAVES', 'SQ_WAVES', '', 'Waves.'), (71, 4, {0}, 'busy', 'busy', '%', ''), "
                     "(72, 4, {0}, 'kind', 'kind', '', '')",
                     pid));
  insert("track", "id, nid, pid, tid, agent_id, queue_id, stream_id, name_id",
         fmt::format("(1, 1, {0}, {0}, NULL, NULL, NULL, 5), (2, 1, {0}, {0}, 4, 16, 3, NULL), (3, 1, {0}, {1}, 4, "
                     "NULL, 3, NULL)",
                     pid, pid + 1));
  insert("event", "id, category_id, stack_id, parent_stack_id, correlation_id, extdata",
         "(1, 1, 501, 500, 0, '{}'), (2, 2, 501, 501, 7, '{}'), (3, 2, 502, 502, 0, '{}'), (4, 3, 503, 503, 0, '{}'), "
         "(5, 4, 504, 0, 0, '{\"message\": \"step 1\"}'), (6, 5, 0, 0, 0, '{}'), (7, 4, 505, 0, 0, "
         "'{\"message\": \"mark\"}'), (8, 1, 503, 0, 0, '{}')");
  insert("arg", "event_id, position, type, name, value", "(1, 0, 'dim3', 'grid', '4'), (1, 1, 'int', 'shared', '0')");
  insert("pmc_event", "event_id, pmc_id, value",
         "(2, 70, 100.5), (2, 70, 11.25), (2, 72, 1), (3, 70, 8), (6, 71, 42.5)");
  const auto at = [&](std::int64_t thread, int track) {
    return options.tracks ? std::to_string(track) : fmt::format("1, {}, {}", pid, thread);
  };
  const auto there = [&](std::int64_t thread, int track) {
    return options.tracks ? std::to_string(track)
                          : fmt::format("1, {}, {}, 4, {}, 3", pid, thread, track == 2 ? "16" : "NULL");
  };
  const std::string here = options.tracks ? "track_id" : "nid, pid, tid";
  const std::string device = options.tracks ? "track_id" : "nid, pid, tid, agent_id, queue_id, stream_id";
  insert("region", "id, " + here + ", start, end, name_id, event_id",
         fmt::format("(501, {0}, {1}, {2}, 6, 1), (504, {0}, {3}, {4}, 8, 5), (503, {5}, {6}, {7}, 10, 8)", at(pid, 1),
                     t + 10, t + 30, t, t + 500, at(pid + 1, 3), t + 40, t + 60));
  insert("sample", "id, track_id, timestamp, event_id", fmt::format("(1, 1, {}, 6), (2, 1, {}, 7)", t + 300, t + 310));
  insert(
      "kernel_dispatch",
      "id, " + device +
          ", kernel_id, dispatch_id, start, end, private_segment_size, group_segment_size, "
          "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, "
          "grid_size_z, region_name_id, event_id",
      fmt::format("(1, {0}, 11, 1, {1}, {2}, 32, 4096, 256, 1, 1, 1000, 2, 1, 9, 2), (2, {0}, 12, 2, {3}, {4}, 0, 0, "
                  "64, 1, 1, 64, 1, 1, NULL, 3)",
                  there(pid, 2), t + 100, t + 180, t + 150, t + 400));
  insert(
      "memory_copy",
      "id, " + device + ", start, end, name_id, dst_agent_id, dst_address, src_agent_id, src_address, size, event_id",
      fmt::format("(1, {0}, {1}, {2}, 7, 4, 18446744073709551615.0, 0, 4096, 4000, 4)", there(pid + 1, 3), t + 200,
                  t + 240));
  insert(
      "memory_allocate", "id, " + device + ", type, level, start, end, address, size, event_id",
      fmt::format("(1, {0}, 'ALLOC', 'REAL', {1}, {2}, 4096, 512, NULL), (2, {0}, 'FREE', 'REAL', {3}, {4}, 4096, 0, "
                  "NULL), (3, {0}, 'FREE', 'REAL', {3}, {4}, 77, 0, NULL)",
                  there(pid, 2), t + 5, t + 8, t + 450, t + 455));
  return sql;
}

inline Imported imported_input(const std::vector<std::string>& paths, const std::string& format = {}) {
  return Imported::by([&](EventSink& sink) {
    sources::InputOptions options;
    options.format = format;
    return sources::import_input(sources::recognise(paths), options,
                                 [&] { return std::make_unique<ForwardingSink>(sink); });
  });
}

}  // namespace accelscope::capture
