// rocpd and rpd: every row comes out once, whichever version, whatever is missing or damaged.
#include <doctest/doctest.h>
#include <zlib.h>

#include <filesystem>

#include "capture/sources/base/importers.h"
#include "tests/capture/sources/rocm/rocpd_maker.h"

namespace accelscope::capture {
namespace {

std::string made_rocpd(const test::TemporaryFolder& folder, const std::string& name, const RocpdOptions& options = {}) {
  const std::string path = folder.file(name);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  run_sql(path, rocpd_sql(options));
  return path;
}

void check_rocpd(const Imported& session, std::int64_t first_ns = 1'000'000) {
  const auto kernels = session.events("kernel");
  REQUIRE(kernels.size() == 2);
  const EventValues& gemm = kernels[0].name == "gemm(float*)" ? kernels[0] : kernels[1];
  const EventValues& collective = kernels[0].name == "gemm(float*)" ? kernels[1] : kernels[0];
  CHECK(gemm.begin + first_ns == first_ns + 100);
  CHECK(gemm.end - gemm.begin == 80);
  CHECK(gemm.device == "GPU 2");
  CHECK(gemm.track == "stream 3");
  CHECK(gemm.string("grid") == "[4, 2, 1]");  // 1000 work-items in groups of 256 are 4 groups
  CHECK(gemm.string("block") == "[256, 1, 1]");
  CHECK(gemm.string("grid_size") == "[1000, 2, 1]");
  CHECK(gemm.integer("shared memory") == 4096);
  CHECK(gemm.integer("private_segment_size") == 32);
  CHECK(gemm.integer("registers per thread") == 128);
  CHECK(gemm.integer("sgpr_count") == 96);
  CHECK(gemm.integer("correlation") == 501);
  CHECK(gemm.integer("External id") == 7);
  CHECK(gemm.integer("device") == 2);
  CHECK(gemm.integer("stream") == 3);
  CHECK(gemm.integer("queue_id") == 16);
  CHECK(gemm.string("region") == "renamed");
  CHECK(gemm.string("kind") == "KERNEL_DISPATCH");
  CHECK(gemm.real("SQ_WAVES") == 111.75);  // the sum over the places that count
  CHECK(gemm.real("kind (counter)") == 1);
  CHECK(collective.track == "NCCL, stream 3");
  CHECK(collective.kind == "collective");
  CHECK(collective.real("SQ_WAVES") == 8);
  CHECK(!collective.real("kind (counter)"));
  const auto copies = session.events("memcpy");
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].track == "memcpy stream 3");
  CHECK(copies[0].name == "MEMORY_COPY_HOST_TO_DEVICE");
  CHECK(copies[0].integer("bytes") == 4000);
  CHECK(copies[0].real("memory bandwidth (GB/s)") == 100);
  CHECK(copies[0].string("dst_agent") == "GPU 2");
  CHECK(copies[0].string("src_agent") == "CPU 0");
  CHECK(copies[0].integer("src_address") == 4096);
  const auto calls = session.events("runtime_call");
  REQUIRE(calls.size() == 2);
  for (const EventValues& call : calls) {
    const bool launch = call.name == "hipLaunchKernel";
    CHECK(call.integer("correlation") == (launch ? 501 : 503));
    CHECK(call.string("args") == (launch ? "grid=4, shared=0" : ""));
    CHECK(call.host == "train (908)");
    CHECK(call.track == (launch ? "Main thread runtime" : "loader (909)"));
  }
  const auto marks = session.events("nvtx");
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].name == "step 1");
  CHECK(marks[0].end - marks[0].begin == 500);
  CHECK(marks[0].string("domain") == "ROCTX");
  CHECK(marks[1].name == "mark");
  CHECK(marks[1].end == marks[1].begin);
  const auto samples = session.events("counter");
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].real("value") == 42.5);
  CHECK(samples[0].track == "busy");
  const auto memory = session.events("memory");
  REQUIRE(memory.size() == 3);
  CHECK(memory[0].integer("Bytes") == 512);
  CHECK(memory[1].integer("Bytes").value_or(0) + memory[2].integer("Bytes").value_or(0) == -512);
  CHECK(quality_count(session, "releases_unknown") == 1);
  CHECK(session.count("dependency") == 2);  // both calls and what they started
  for (const EventValues& flow : session.events("dependency")) {
    CHECK((flow.integer("id") == 501 || flow.integer("id") == 503));
  }
  CHECK(quality_count(session, "relations_open") == 0);
  CHECK(quality_count(session, "rows_left_out") == 0);
  CHECK(session.snapshot().meta_value("hostname") == "node1");
  CHECK(session.snapshot().meta_value("device.2.name") == "AMD Instinct MI350X");
  CHECK(session.snapshot().meta_value("device.2.numSms") == "256");
  for (const MetaEntry& entry : session.snapshot().meta) CHECK(entry.value.find("secret") == std::string::npos);
}

}  // namespace

TEST_CASE("rocpd: kernels, copies, memory, calls, ranges and counters, with or without views, by any identifier") {
  const test::TemporaryFolder folder;
  check_rocpd(imported_input({made_rocpd(folder, "plain.db")}));
  check_rocpd(imported_input({made_rocpd(folder, "views.db", {.views = true})}));
  check_rocpd(imported_input({made_rocpd(folder, "bare.db", {.identifier = "cc3883073c204c7da65be8c5f67fa23c"})}));
  check_rocpd(imported_input({made_rocpd(folder, "none.db", {.identifier = ""})}));
  check_rocpd(imported_input({made_rocpd(folder, "four.db", {.tracks = true})}));
}

TEST_CASE("rocpd: a packed file and one with a journal beside it are read as they are, and left alone") {
  const test::TemporaryFolder folder;
  const std::string path = made_rocpd(folder, "run.db");
  const std::string packed = folder.file("run.db.gz");
  const std::string bytes = test::read_file(path);
  gzFile out = gzopen(packed.c_str(), "wb");
  REQUIRE(gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  REQUIRE(gzclose(out) == Z_OK);
  check_rocpd(imported_input({packed}));

  // What the writer committed last is in the journal only.
  const std::string live = folder.file("live.db");
  std::filesystem::create_directory(folder.file("left"));
  {
    const auto writer = Database::open(live, OpenMode::create);
    REQUIRE(writer.ok());
    REQUIRE((*writer)->execute("PRAGMA journal_mode=WAL").ok());
    REQUIRE((*writer)->execute(rocpd_sql().c_str()).ok());
    for (const char* ending : {"", "-wal"}) {
      std::filesystem::copy_file(live + ending, folder.file("left/live.db") + ending);
    }
  }
  check_rocpd(imported_input({folder.file("left/live.db")}, "rocpd"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.file("left")), {}) == 2);
  // The mode of a file whose journal is worked in asks for files beside it, which reading must not make.
  std::filesystem::create_directory(folder.file("alone"));
  std::filesystem::copy_file(live, folder.file("alone/live.db"));
  check_rocpd(imported_input({folder.file("alone/live.db")}));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.file("alone")), {}) == 1);
}

TEST_CASE("rocpd: processes of one host are one session on one time, from a folder or several files") {
  const test::TemporaryFolder folder;
  const std::string one = made_rocpd(folder, "node1/908_results.db");
  const std::string two = made_rocpd(folder, "node1/909_results.db", {.pid = 909, .first_ns = 1'000'250});
  for (const auto& paths : {std::vector<std::string>{folder.path()}, {one, two}}) {
    const Imported session = imported_input(paths);
    const auto kernels = session.events("kernel");
    REQUIRE(kernels.size() == 4);
    std::map<std::string, std::int64_t> begins;
    for (const EventValues& kernel : kernels) {
      CHECK(kernel.device == "GPU 2");
      begins[kernel.track] = kernel.begin;
    }
    REQUIRE(begins.size() == 4);
    CHECK(begins.at("pid 909 stream 3") - begins.at("pid 908 stream 3") == 250);
    CHECK(session.count("dependency") == 4);
    CHECK(quality_count(session, "clocks_not_aligned") == 0);
  }
}

TEST_CASE("rocpd: several processes in one file are told apart by their identifiers") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("merged.db");
  run_sql(path, rocpd_sql());
  run_sql(path, rocpd_sql({.identifier = "_00000911_565d_765d_bc41_19a2073d19ee", .pid = 911}));
  const Imported session = imported_input({path});
  CHECK(session.count("kernel") == 4);
  CHECK(session.count("dependency") == 4);
  CHECK(session.snapshot().meta_value("process.911.command") == "/usr/bin/train --fast");
}

TEST_CASE("rocpd: what a broken file still holds is read, and what not is told") {
  const test::TemporaryFolder folder;
  const std::string path = made_rocpd(folder, "run.db");
  const auto without = [&](const std::string& table) {
    const std::string copy = folder.file("without_" + table + ".db");
    std::filesystem::copy_file(path, copy);
    run_sql(copy, fmt::format("DROP TABLE \"rocpd_{}_0000090f_565d_765d_bc41_19a2073d19ee\"", table));
    return imported_input({copy});
  };
  const Imported events = without("event");
  CHECK(events.count("kernel") == 2);
  CHECK(events.count("region") == 3);  // of no category
  CHECK(quality_count(events, "relations_open") > 0);
  CHECK(without("string").count("memcpy") == 1);
  const Imported symbols = without("info_kernel_symbol");
  CHECK(symbols.events("kernel")[0].name == "kernel 11");
  CHECK(without("info_process").count("kernel") == 2);
  CHECK(without("info_agent").events("kernel")[0].device == "agent 4");
  CHECK(without("track").count("nvtx") == 2);
  CHECK(without("info_pmc").count("kernel") == 2);
  CHECK(without("kernel_dispatch").count("runtime_call") == 2);

  // A file of many pages that is cut: whatever comes out was in it.
  const std::string large = made_rocpd(folder, "large.db");
  run_sql(large, R"(
    WITH RECURSIVE n(i) AS (VALUES(10) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO "rocpd_event_0000090f_565d_765d_bc41_19a2073d19ee"(id, category_id, stack_id) SELECT i, 2, i FROM n;
    WITH RECURSIVE n(i) AS (VALUES(10) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO "rocpd_kernel_dispatch_0000090f_565d_765d_bc41_19a2073d19ee"(id, nid, pid, tid, agent_id, queue_id,
      stream_id, kernel_id, dispatch_id, start, end, event_id)
      SELECT i, 1, 908, 908, 4, 16, 3, 11, i, 1000000 + i * 10, 1000000 + i * 10 + 5, i FROM n;
  )");
  const std::uintmax_t size = std::filesystem::file_size(large);
  CHECK(imported_input({large}).count("kernel") == 19'993);
  for (const int percent : {97, 80, 50}) {
    const std::string cut = folder.file("cut.db");
    std::filesystem::copy_file(large, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, size * static_cast<std::uintmax_t>(percent) / 100);
    const Imported session = imported_input({cut}, "rocpd");
    CHECK(session.count("kernel") < 19'993);
    CHECK(quality_count(session, "truncated") == 1);
  }
  // Damage in the middle: rows behind it are read too.
  std::string bytes = test::read_file(large);
  const std::size_t middle = bytes.size() * 3 / 4 / 4096 * 4096;
  bytes.replace(middle, 4096, std::string(4096, '\x5a'));
  test::write_file(folder.file("middle.db"), bytes);
  const Imported middle_lost = imported_input({folder.file("middle.db")});
  CHECK(middle_lost.count("kernel") > 19'000);
  CHECK(middle_lost.count("kernel") < 19'993);
  CHECK(quality_count(middle_lost, "unreadable") == 1);
}

TEST_CASE("rocpd: random bytes in a database never break its import") {
  const test::TemporaryFolder folder;
  const std::string whole = test::read_file(made_rocpd(folder, "run.db"));
  const std::string path = folder.file("flipped.db");
  std::uint64_t random = 7;
  for (int round = 0; round < 60; ++round) {
    std::string bytes = whole;
    for (int flip = 0; flip < 1 + round % 8; ++flip) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      bytes[100 + (random >> 20) % (bytes.size() - 100)] = static_cast<char>(random >> 50);
    }
    test::write_file(path, bytes);
    const auto store = std::move(Store::create().value());
    StoreSink sink(*store);
    const Result<void> done = sources::rocm::import_rocpd(path, {}, sink);
    if (!done) CHECK(done.message().find("flipped.db") != std::string::npos);
  }
}

TEST_CASE("rpd: operations, the calls that started them, marks, stacks and monitors") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("trace.rpd");
  run_sql(path, R"(
    CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
    INSERT INTO rocpd_metadata(tag, value) VALUES('schema_version', '2');
    CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);
    INSERT INTO rocpd_string VALUES(1, ''), (2, 'hipLaunchKernel'), (3, 'hipExtModuleLaunchKernel'), (4, 'UserMarker'),
      (5, 'forward'), (6, 'KernelExecution'), (7, 'CopyHostToDevice'), (8, 'FillBuffer'), (9, 'gemm'),
      (10, 'hipMemcpyAsync'), (11, 'ptr=0x1 | size=0x2');
    CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER,
      completionSignal TEXT, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
    INSERT INTO rocpd_op VALUES(4294967297, 1, 0, 0, '', 2000, 2500, 9, 6), (4294967298, 1, 1, 0, '', 2600, 2700, 9, 6),
      (4294967299, 1, 0, 0, '', 2800, 3000, 1, 7), (4294967300, 1, 0, 0, '', 3000, 3001, 1, 8);
    CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,
      apiName_id INTEGER, args_id INTEGER);
    INSERT INTO rocpd_api VALUES(4294967301, 77, 77, 1000, 1100, 2, 1), (4294967302, 77, 78, 1100, 1200, 3, 1),
      (4294967303, 77, 77, 1200, 1300, 10, 11), (4294967304, 77, 77, 900, 1400, 4, 5), (4294967305, 77, 77, 950, 950, 4, 5);
    CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
    INSERT INTO rocpd_api_ops VALUES(1, 4294967303, 4294967299), (2, 4294967301, 4294967297), (3, 4294967302, 4294967298);
    CREATE TABLE rocpd_kernelapi(api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX INTEGER, gridY INTEGER,
      gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER, groupSegmentSize INTEGER,
      privateSegmentSize INTEGER, kernelName_id INTEGER);
    INSERT INTO rocpd_kernelapi VALUES(4294967301, '0x10', 8, 2, 1, 64, 1, 1, 512, 4, 9),
      (4294967302, '0x0', 512, 2, 1, 64, 1, 1, 0, 0, 9);
    CREATE TABLE rocpd_copyapi(api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size INTEGER, width INTEGER, height INTEGER,
      kind INTEGER, dst TEXT, src TEXT, dstDevice INTEGER, srcDevice INTEGER, sync INTEGER, pinned INTEGER);
    INSERT INTO rocpd_copyapi VALUES(4294967303, '0x0', 4096, '', '', 1, '0xffff800000000000', '0x20', 0, 0, 0, 0);
    CREATE TABLE rocpd_monitor(id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER, monitorType TEXT,
      start INTEGER, end INTEGER, value TEXT);
    INSERT INTO rocpd_monitor VALUES(1, 'gpu', 1, 'sclk', 800, 1700, '1700'), (2, 'gpu', 1, 'sclk', 1700, 3100, '800');
    CREATE TABLE ext_callstack(id INTEGER PRIMARY KEY, parent_id INTEGER, child_id INTEGER, depth INTEGER,
      cpu_time INTEGER, gpu_time INTEGER);
    INSERT INTO ext_callstack VALUES(1, 4294967304, 4294967301, 1, 0, 0), (2, 4294967301, 4294967301, 0, 0, 0);
  )");
  const Imported session = imported_input({path});
  const auto kernels = session.events("kernel");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].track == "queue 0");
  CHECK(kernels[0].device == "GPU 1");
  CHECK(kernels[0].integer("dispatch_id") == 4'294'967'297);
  CHECK(kernels[0].integer("correlation") == 4'294'967'301);
  CHECK(kernels[0].integer("stream") == 16);
  CHECK(kernels[0].string("grid") == "[8, 2, 1]");  // groups
  CHECK(kernels[0].integer("shared memory") == 512);
  CHECK(kernels[1].string("grid") == "[8, 2, 1]");  // of 512 work-items
  CHECK(kernels[1].integer("tid") == 78);
  const auto copies = session.events("memcpy");
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].name == "CopyHostToDevice");
  CHECK(copies[0].integer("bytes") == 4096);
  CHECK(copies[0].integer("dst_address") == static_cast<std::int64_t>(0xffff800000000000U));
  CHECK(session.count("memset") == 1);
  CHECK(session.count("dependency") == 3);
  CHECK(quality_count(session, "flow_without_partner") == 1);  // what was set
  const auto marks = session.events("nvtx");
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].name == "forward");
  CHECK(marks[1].string("kind") == "mark");
  bool stack = false;
  for (const EventValues& call : session.events("runtime_call")) {
    stack = stack || call.string("Call stack") == "hipLaunchKernel\nforward";
    if (call.name == "hipMemcpyAsync") CHECK(call.string("args") == "ptr=0x1 | size=0x2");
  }
  CHECK(stack);
  const auto samples = session.events("counter");
  REQUIRE(samples.size() == 2);
  CHECK(samples[1].real("value") == 800);
  CHECK(samples[0].track == "sclk");
  CHECK(samples[0].device == "GPU 1");
}

TEST_CASE("rocprof-compute: tables and columns that nobody reads are named with their rows") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("analysis.db");
  run_sql(path, R"(
    CREATE TABLE compute_workload(workload_id INTEGER, name TEXT, sub_name TEXT, sys_info_extdata TEXT, profiled_by TEXT);
    INSERT INTO compute_workload VALUES(1, 'vcopy', '', '{}', 'someone');
    CREATE TABLE compute_kernel(kernel_uuid INTEGER, workload_id INTEGER, kernel_name TEXT);
    INSERT INTO compute_kernel VALUES(1, 1, 'vecCopy');
    CREATE TABLE compute_dispatch(dispatch_uuid INTEGER, kernel_uuid INTEGER, dispatch_id INTEGER, gpu_id INTEGER,
                                  start_timestamp INTEGER, end_timestamp INTEGER);
    INSERT INTO compute_dispatch VALUES(1, 1, 1, 0, 100, 200), (2, 1, 2, 0, 300, 400);
    CREATE TABLE compute_novelty(a INTEGER);
    INSERT INTO compute_novelty VALUES(1), (2), (3);
    CREATE TABLE compute_empty(a INTEGER);)");
  const Imported session =
      Imported::by([&](EventSink& sink) { return sources::rocm::import_rocprof_compute(path, {}, sink); });
  CHECK(session.count("kernel") == 2);
  REQUIRE(session.quality("unknown_table") != nullptr);
  CHECK(session.quality("unknown_table")->count == 1);
  CHECK(session.quality("unknown_table")->detail.find("compute_novelty (3 rows)") != std::string::npos);
  REQUIRE(session.quality("unknown_columns") != nullptr);
  CHECK(session.quality("unknown_columns")->detail.find("compute_workload.profiled_by") != std::string::npos);
  CHECK(session.quality("unknown_columns")->detail.find("kernel_name") == std::string::npos);
}

}  // namespace accelscope::capture
