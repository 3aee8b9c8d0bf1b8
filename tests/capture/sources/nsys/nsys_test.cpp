// What an export says comes out of the session: of every table, of the newest version and of the oldest.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "capture/sources/base/importers.h"
#include "core/analysis/memory/usage.h"
#include "tests/capture/imported.h"
#include "tests/support/files.h"
#include "tests/support/nsys_export.h"

namespace accelscope::capture::sources::nsys {
namespace {

Imported imported_export(std::string_view sql) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("report.sqlite");
  REQUIRE(test::make_nsys_export(path, sql).ok());
  CHECK(recognise(path).name() == "nsys");
  return Imported::by([&](EventSink& sink) { return import_nsys(path, {}, sink); });
}

// What the events of a table are called, by the row that they lie on, in the order of time.
std::vector<std::string> rows_and_names(const Imported& session, std::string_view table) {
  std::vector<EventValues> events = session.events(table);
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<std::string> names;
  for (const EventValues& event : events) {
    names.push_back((event.device.empty() ? event.host : event.device) + ": " + event.track + ": " + event.name);
  }
  return names;
}

EventValues one_event(const Imported& session, std::string_view table, std::string_view name) {
  const std::vector<EventValues> events = session.events(table);
  const auto found = std::find_if(events.begin(), events.end(), [&](const auto& event) { return event.name == name; });
  REQUIRE_MESSAGE(found != events.end(), name);
  return *found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("an Nsight Systems export: what ran on devices lies on the rows of their streams, collectives on their own") {
  const Imported session = imported_export(test::nsys_export_of_2026());
  CHECK(rows_and_names(session, "kernel") == Names{"GPU 0: stream 7: void gemm<(int)4>(float *)",
                                                   "GPU 3: stream 7: void gemm<(int)4>(float *)",
                                                   "GPU 0: NCCL, stream 9: ncclDevKernel_AllReduce"});
  CHECK(rows_and_names(session, "memcpy") ==
        Names{"GPU 0: memcpy stream 7: Memcpy HtoD (Pageable as the file says -> Device)",
              "GPU 0: memcpy stream 0: Memcpy Unified HtoD"});
  CHECK(rows_and_names(session, "memset") == Names{"GPU 0: memset stream 7: Memset (Device)"});
  CHECK(rows_and_names(session, "cuda_graph") == Names{"GPU 0: graphs stream 7: CUDA graph 12"});
  // By stream and event, as older versions number the types otherwise; device 0 of the second process is GPU 3.
  CHECK(rows_and_names(session, "cuda_sync") == Names{"GPU 3: sync context 1: Context Sync",
                                                      "GPU 0: sync stream 7: Stream Sync",
                                                      "GPU 0: sync stream 7: Stream Wait Event"});
  CHECK(quality_count(session, "rows_mended") == 2);
  CHECK(rows_and_names(session, "cuda_event") == Names{"GPU 0: events stream 7: event 70"});
  const EventValues kernel = one_event(session, "kernel", "void gemm<(int)4>(float *)");
  CHECK(kernel.begin == 1000 - 0);
  CHECK(kernel.end == 1400);
  CHECK(kernel.integer("correlation") == 5);
  CHECK(kernel.string("grid") == "[264, 1, 1]");
  CHECK(kernel.string("cluster") == "[2, 1, 1]");
  CHECK(kernel.string("shortName") == "gemm");
  CHECK(kernel.integer("shared memory") == 116);
  CHECK(kernel.real("blocks per SM") == 2.0);
  CHECK(kernel.real("warps per SM") == 4.0);
  CHECK(kernel.string("launchType") == "Regular");
  const EventValues copy = one_event(session, "memcpy", "Memcpy Unified HtoD");
  CHECK(copy.integer("bytes") == 65536);
  CHECK(copy.string("migrationCause") == "Page fault");
  CHECK(copy.integer("virtualAddress") == 140037240913920);
  CHECK(quality_count(session, "times_out_of_capture") == 3);  // a kernel, an event, a sample
}

TEST_CASE("an Nsight Systems export: a stream that waits for an event names the stream and the call that recorded it") {
  // Recorded on stream 7 by call 12 and again by call 15, after stream 9 was told to wait by call 14; stream 7 needs
  // not wait for itself.
  const Imported session = imported_export(std::string(test::nsys_export_of_2026()) + R"(
    INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (1660, 0, 1, 9, 15, 281476838981632, 70);
    INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1492, 1494, 0, 1, 9, 14, 281476838981632, 2, 70),
      (1495, 1496, 0, 1, 7, 16, 281476838981632, 2, 70), (1497, 1498, 0, 1, 9, 17, 281476838981632, 2, 71);)");
  Names waits;
  for (const EventValues& event : session.events("cuda_sync")) {
    const auto stream = event.integer("wait_on_stream"), call = event.integer("wait_on_cuda_event_record_corr_id");
    if (stream && call) waits.push_back(event.track + ": " + std::to_string(*stream) + ", " + std::to_string(*call));
  }
  std::sort(waits.begin(), waits.end());
  CHECK(waits == Names{"sync stream 7: 9, 15", "sync stream 9: 7, 12", "sync stream 9: 7, 13"});
}

TEST_CASE("an Nsight Systems export: a kernel of FlashAttention has the operations that its name and grid tell") {
  const std::string sql =
      std::string(test::nsys_export_of_2026()) +
      "UPDATE StringIds SET value = 'void flash::flash_fwd_kernel<flash::Flash_fwd_kernel_traits<(int)64, "
      "(int)128, (int)64, (int)4>, (bool)0, (bool)0>(flash::Flash_fwd_params)' WHERE value LIKE 'void gemm%';"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 8, gridY = 2, gridZ = 16;";
  const Imported session = imported_export(sql);
  std::size_t known = 0;
  for (const EventValues& kernel : session.events("kernel")) {
    if (kernel.name.find("flash_fwd_kernel") == std::string::npos) {
      CHECK(!kernel.real("flops"));
      continue;
    }
    ++known;
    CHECK(kernel.real("flops") == 4.0 * 2 * 16 * 1024 * 1024 * 64);
    CHECK(kernel.string("precision") == "fp16");
    CHECK(kernel.string("work from").find("name and grid") == 0);
  }
  CHECK(known > 0);
}

TEST_CASE("an Nsight Systems export: calls and what they launched are joined within their process only") {
  const Imported session = imported_export(test::nsys_export_of_2026());
  CHECK(rows_and_names(session, "runtime_call") == Names{"python3 (111): Main thread runtime: cudaLaunchKernel",
                                                         "python3 (112): Main thread: cudaLaunchKernel",
                                                         "python3 (111): Main thread runtime: cudaLaunchKernel",
                                                         "python3 (111): Main thread runtime: cudaGraphLaunch",
                                                         "python3 (111): Main thread runtime: cudaStreamSynchronize"});
  std::map<EventId, EventValues> by_id;
  for (const char* table : {"kernel", "runtime_call", "cuda_graph"}) {
    for (EventValues& event : session.events(table)) by_id[event.id] = event;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> joined;  // begins
  for (const EventValues& flow : session.events("dependency")) {
    const auto source = by_id.find(static_cast<EventId>(flow.integer("source_event").value()));
    const auto target = by_id.find(static_cast<EventId>(flow.integer("target_event").value()));
    REQUIRE(source != by_id.end());
    REQUIRE(target != by_id.end());
    joined.emplace_back(source->second.begin, target->second.begin);
  }
  std::sort(joined.begin(), joined.end());
  CHECK(joined ==
        std::vector<std::pair<std::int64_t, std::int64_t>>{{700, 1000}, {730, 1100}, {770, 1500}, {790, 2000}});
  CHECK(quality_count(session, "flow_without_partner") == 2);  // a copy and a set
  const EventValues call = one_event(session, "runtime_call", "cudaLaunchKernel");
  CHECK(call.string("stack") == "step (libc.so.6)\nmain (libc.so.6)");
  CHECK(call.string("kind") == "CUDA runtime");
  CHECK(one_event(session, "runtime_call", "cudaGraphLaunch").integer("returnValue") == 700);
}

TEST_CASE("an Nsight Systems export: ranges with domains, categories and payloads, and what names others is no event") {
  const Imported session = imported_export(test::nsys_export_of_2026());
  CHECK(rows_and_names(session, "nvtx") ==
        Names{"python3 (111): Main thread annotations: aten::add",
              "python3 (111): Main thread annotations: registered range",
              "python3 (111): Main thread annotations: aten::mul", "python3 (111): NVTX ranges: free",
              "python3 (111): NVTX ranges: never ended", "python3 (111): worker 120 annotations: mark",
              "python3 (111): Main thread annotations: ncclAllReduce",
              "python3 (111): Main thread annotations: odd payload"});
  CHECK(one_event(session, "nvtx", "aten::add").string("message") == "aten::add, op_id = 314290");
  CHECK(one_event(session, "nvtx", "aten::mul").string("message") == "aten::mul, seq = 3, op_id = 9");
  CHECK(one_event(session, "nvtx", "aten::mul").string("payload") == "0.5");
  CHECK(one_event(session, "nvtx", "aten::mul").string("category") == "9");
  const EventValues registered = one_event(session, "nvtx", "registered range");
  CHECK(registered.string("domain") == "NCCL");
  CHECK(registered.string("category") == "collectives");
  CHECK(registered.string("payload") == "18446744073709551615");
  CHECK(registered.string("message").empty());
  CHECK(registered.string("kind") == "push/pop");
  const EventValues free_range = one_event(session, "nvtx", "free");
  CHECK(free_range.integer("rangeId") == 77);
  CHECK(free_range.string("payload") == "{\"a\":1}");
  CHECK(one_event(session, "nvtx", "never ended").end == 3000);
  CHECK(quality_count(session, "begin_without_end") == 1);
  const EventValues reduce = one_event(session, "nvtx", "ncclAllReduce");
  CHECK(reduce.string("payload") == "NCCL communicator ID=3735928559, Message size [bytes]=4096");
  CHECK(reduce.integer("message bytes") == 4096);
  CHECK(quality_count(session, "values_left_out") == 1);
  CHECK(quality_count(session, "unknown_types") == 1);
}

TEST_CASE("an Nsight Systems export: what threads did, with stacks, and the profiler's own rows apart") {
  const Imported session = imported_export(test::nsys_export_of_2026());
  CHECK(rows_and_names(session, "osrt_call") == Names{"python3 (111): whole process: pthread_cond_wait",
                                                      "python3 (111): worker 120 system: pthread_cond_wait"});
  CHECK(session.events("osrt_call").size() == 2);
  CHECK(rows_and_names(session, "cpu_sample") ==
        Names{"python3 (111): Main thread samples: step", "python3 (111): Main thread samples: sample"});
  CHECK(one_event(session, "cpu_sample", "step").string("stack") == "step (libc.so.6)\nmain (libc.so.6)");
  CHECK(one_event(session, "cpu_sample", "step").string("state") == "Running");
  CHECK(rows_and_names(session, "thread_state") ==
        Names{"python3 (111): Main thread state: Running", "python3 (111): Main thread state: Interruptible"});
  CHECK(one_event(session, "thread_state", "Running").end == 800);
  CHECK(quality_count(session, "unmatched_ends") == 1);
  CHECK(quality_count(session, "unmatched_begins") == 1);
  CHECK(rows_and_names(session, "mpi_p2p") == Names{"python3 (111): Main thread mpi_p2p: MPI_Send"});
  CHECK(one_event(session, "mpi_p2p", "MPI_Send").integer("size") == 4096);
  CHECK(rows_and_names(session, "overhead") == Names{"profiler: overhead of python3 (111), Main thread: buffer flush"});
  CHECK(rows_and_names(session, "diagnostic") ==
        Names{"profiler: messages: Events were lost.", "profiler: messages: Profiling has started."});
  CHECK(quality_count(session, "profiler_message") == 1);
}

TEST_CASE("an Nsight Systems export: memory by address, metrics with units, facts of the machine and the time") {
  const Imported session = imported_export(test::nsys_export_of_2026());
  const std::vector<EventValues> memory = session.events("memory");
  REQUIRE(memory.size() == 4);
  CHECK(memory.front().device == "GPU 0");
  CHECK(memory.front().string("pool") == "memory");
  CHECK(memory.back().string("pool") == "Pinned host memory, python3 (111)");
  CHECK(one_event(session, "memory", "release").integer("Bytes") == -1024);
  std::vector<std::string> counters;
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    if (track.track->kind == "counter")
      counters.push_back(track.track->device + " " + track.track->name + " " + track.track->unit);
  }
  std::sort(counters.begin(), counters.end());
  CHECK(counters == Names{"GPU 3 GPC Clock Frequency MHz", "GPU 3 SMs Active %"});
  CHECK(session.count("counter") == 3);
  CHECK(session.snapshot().meta_value("begin_unix_ns") == "1779630014975716426");
  CHECK(session.snapshot().meta_value("device.3.name") == "NVIDIA H100 80GB HBM3");
  CHECK(session.snapshot().meta_value("nsys.Hostname") == "node7");
  CHECK(session.snapshot().meta_value("nsys.DeviceEnvironment").empty());  // the user's own affair
  CHECK(session.snapshot().meta_value("source.rows.nvtx") == "9");         // without those that name others
  const QualityEntry* unread = session.quality("unknown_table");
  REQUIRE(unread != nullptr);
  CHECK(unread->count == 2);
  CHECK(unread->detail.find("GENERIC_EVENTS") != std::string::npos);
}

TEST_CASE("an Nsight Systems export of 2022: no tables that explain numbers, fewer columns, the metadata's old name") {
  const Imported session = imported_export(test::nsys_export_of_2022());
  CHECK(rows_and_names(session, "kernel") == Names{"GPU 1: stream 7: kernel"});
  CHECK(rows_and_names(session, "runtime_call") == Names{"process 111: Main thread: cudaLaunchKernel"});
  CHECK(session.count("dependency") == 1);
  CHECK(one_event(session, "kernel", "kernel").string("launchType") == "Coop Single Device");
  CHECK(one_event(session, "runtime_call", "cudaLaunchKernel").string("kind") == "CUDA driver");
  CHECK(session.snapshot().meta_value("nsys.EXPORT_SCHEMA_VERSION") == "2.9.1");
  CHECK(session.snapshot().quality.empty());
}

TEST_CASE("an Nsight Systems export with every value of a wrong type is read, and what cannot be shown is counted") {
  const Imported session = imported_export(R"(
    CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, text, textId);
    INSERT INTO NVTX_EVENTS VALUES ('x', 'y', 59, 'z', 12, 'q'), (5, 'y', 59, 'z', 12, 'q'), (6, 9, 59, 5, X'FF00', 3);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start BLOB, end REAL, deviceId TEXT, demangledName TEXT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (X'00', 1.5, 'a', 'b'), (1, 2, 'a', 'b'),
      (-9223372036854775807, 9223372036854775807, -1, -1);
    CREATE TABLE StringIds (id TEXT, value BLOB);
    CREATE TABLE COMPOSITE_EVENTS (start, globalTid); INSERT INTO COMPOSITE_EVENTS VALUES (1, 1);
    CREATE TABLE SAMPLING_CALLCHAINS (id, symbol); INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 1);
    CREATE TABLE GPU_METRICS (timestamp, typeId, metricId, value); INSERT INTO GPU_METRICS VALUES (1, -1, 99999999999, 'x');
  )");
  CHECK(session.count("nvtx") == 2);
  CHECK(quality_count(session, "rows_skipped") >= 2);
  CHECK(session.count("counter") == 1);
  CHECK(session.count("cpu_sample") == 1);
}

TEST_CASE("an Nsight Systems export that is cut anywhere gives an error or what it still holds, and says so") {
  const test::TemporaryFolder folder;
  const std::string whole = folder.file("whole.sqlite");
  REQUIRE(test::make_nsys_export(whole, test::nsys_export_of_2026()).ok());
  const std::string bytes = test::read_file(whole);
  const std::string path = folder.file("cut.sqlite");
  std::size_t read = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 997) {
    CAPTURE(size);
    test::write_file(path, bytes.substr(0, size));
    std::unique_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    const Result<void> done = import_nsys(path, {}, sink);
    if (!done) {
      CHECK(done.message().find("cut.sqlite") != std::string::npos);
      continue;
    }
    ++read;
    const auto& quality = store->snapshot()->quality;
    CHECK(std::any_of(quality.begin(), quality.end(), [](const auto& entry) { return entry.kind == "truncated"; }));
  }
  CHECK(read > 10);
}

TEST_CASE("an Nsight Systems export with one table's description damaged gives the other tables, and says so") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("damaged.sqlite");
  REQUIRE(test::make_nsys_export(path, test::nsys_export_of_2026()).ok());
  std::string bytes = test::read_file(path);
  const std::size_t at = bytes.find("CREATE TABLE GENERIC_EVENTS (");
  REQUIRE(at != std::string::npos);
  bytes.replace(at + 28, 1, "'");
  test::write_file(path, bytes);
  const Imported session = Imported::by([&](EventSink& sink) { return import_nsys(path, {}, sink); });
  CHECK(session.count("kernel") == 3);
  CHECK(session.count("nvtx") == 8);
  CHECK(quality_count(session, "salvaged") == 1);
}

TEST_CASE("an Nsight Systems export with flipped bytes neither crashes nor hangs") {
  const test::TemporaryFolder folder;
  const std::string whole = folder.file("whole.sqlite");
  REQUIRE(test::make_nsys_export(whole, test::nsys_export_of_2026()).ok());
  const std::string bytes = test::read_file(whole);
  const std::string path = folder.file("flipped.sqlite");
  std::uint32_t random = 12345;
  for (int round = 0; round < 120; ++round) {
    CAPTURE(round);
    std::string broken = bytes;
    for (int i = 0; i < 4; ++i) {
      random = random * 1664525U + 1013904223U;
      broken[random % broken.size()] = static_cast<char>(random >> 24);
    }
    test::write_file(path, broken);
    std::unique_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    const Result<void> done = import_nsys(path, {}, sink);
    if (!done) CHECK_FALSE(done.message().empty());
  }
}

TEST_CASE("a database of another program is no Nsight Systems export, and the error says what to do") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("other.sqlite");
  REQUIRE(test::make_nsys_export(path, "CREATE TABLE StringIds(id); CREATE TABLE bookmarks(id)").ok());
  CHECK(recognise(path).format() == nullptr);
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  const Result<void> done = import_nsys(path, {}, sink);
  REQUIRE_FALSE(done.ok());
  CHECK(done.message().find("nsys export") != std::string::npos);
}

TEST_CASE("an Nsight Systems export with times and sizes at the ends of all numbers has as many events as a good one") {
  const std::string sql = R"(
    UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -9223372036854775807 - 1, end = 1, gridX = 9223372036854775807,
      gridY = 9223372036854775807, blockX = 9223372036854775807, blockY = 9223372036854775807,
      staticSharedMemory = 9223372036854775807, dynamicSharedMemory = 9223372036854775807 WHERE end > 0;
    UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = -9223372036854775807 - 1, end = 9223372036854775807;
    UPDATE OSRT_API SET start = -9223372036854775807 - 1, end = 9223372036854775807;
    UPDATE MPI_P2P_EVENTS SET start = -9223372036854775807 - 1, end = 9223372036854775807;
    UPDATE CUPTI_ACTIVITY_KIND_OVERHEAD SET start = -9223372036854775807 - 1, end = 9223372036854775807;
    UPDATE NVTX_EVENTS SET start = -9223372036854775807 - 1, end = 9223372036854775807 WHERE end IS NOT NULL;
    UPDATE SCHED_EVENTS SET start = -9223372036854775807 - 1 WHERE isSchedIn = 1;)";
  const Imported plain = imported_export(test::nsys_export_of_2026());
  const Imported session = imported_export(test::nsys_export_of_2026() + sql);
  for (const char* table : {"kernel", "runtime_call", "osrt_call", "nvtx"}) {
    CAPTURE(table);
    CHECK(session.count(table) == plain.count(table));
  }
}

}  // namespace accelscope::capture::sources::nsys
