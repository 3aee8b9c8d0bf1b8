// Every format, cut: a file that ends early is refused with a sentence that names it, or read with one that says that
// something is missing. Only a cut exactly behind a record, in formats that have no end mark, cannot be seen.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "capture/sources/base/source.h"
#include "core/export/base/writers.h"
#include "tests/capture/recording_sink.h"
#include "tests/capture/sources/rocm/rocpd_maker.h"
#include "tests/capture/sources/rocm/rocprof_maker.h"
#include "tests/capture/sources/ttnn/report_maker.h"
#include "tests/core/export/export_session.h"
#include "tests/support/files.h"
#include "tests/support/neuron/neff.h"
#include "tests/support/nsys_export.h"
#include "tests/support/parquet/parquet_writer.h"
#include "tests/support/torch/allocator_model.h"
#include "tests/support/tracy_trace.h"
#include "tests/support/tt_log_generator.h"
#include "tests/support/xspace.h"

namespace accelscope::capture::sources {
namespace {

namespace fs = std::filesystem;

struct WholeFile {
  std::string format;
  std::string name;  // of the file; of a folder's with the folder, which is what is imported
  std::string bytes;
  // Of formats without an end mark: whether the begin of a file is a whole file too.
  std::function<bool(std::string_view begin)> is_whole = [](std::string_view) { return false; };
};

bool ends_line(std::string_view text) { return text.ends_with('\n'); }

// Messages of protobuf, one after another: packets of Perfetto, planes of XPlane.
bool ends_message(std::string_view text) {
  const auto varint = [&]() -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !text.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(text.front());
      text.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  };
  while (!text.empty()) {
    if (!varint()) return false;
    const auto size = varint();
    if (!size || *size > text.size()) return false;
    text.remove_prefix(static_cast<std::size_t>(*size));
  }
  return true;
}

std::string lines(const std::string& head, int count, const std::function<std::string(int)>& line) {
  std::string text = head;
  for (int i = 0; i < count; ++i) text += line(i);
  return text;
}

std::string database_of(const test::TemporaryFolder& folder, const std::function<void(const std::string& path)>& make) {
  const std::string path = folder.file("made.db");
  make(path);
  std::string bytes = test::read_file(path);
  fs::remove(path);
  return bytes;
}

template <typename Write>
std::string exported(Write write) {
  test::ExportSession session(31, 300);
  test::CollectedFiles output;
  REQUIRE(write(session.request(), output).ok());
  return output.files[""];
}

std::string json_rows(const std::string& head, int count, const std::string& tail,
                      const std::function<std::string(int)>& row) {
  std::string text = head;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",\n") + row(i);
  return text + tail;
}

void add_texts(std::vector<WholeFile>& files) {
  files.push_back(
      {"vtune-csv", "phases-hostname-box.csv",
       lines("name,start_tsc.TSC,end_tsc,pid,tid\n", 40,
             [](int i) { return fmt::format("task{},{},{},77,{}\n", i, 100 * i, 100 * i + 90, 78 + i % 2); }),
       ends_line});
  files.push_back({"neuron-csv", "Instruction.csv",
                   lines("timeline_track,start_ts,end_ts,engine,opcode,id\n", 40,
                         [](int i) { return fmt::format("Vector,{},{},Vector,COPY,{}\n", 100 * i, 100 * i + 90, i); }),
                   ends_line});
  files.push_back({"neuron-summary", "summary.txt",
                   lines("n_0123456789abcdef0123456789abcdef01234567\ntotal_time  0.25\n", 40,
                         [](int i) { return fmt::format("figure_{}_count  {}\n", i, 100 + i); }),
                   ends_line});
  files.push_back({"vtune-report", "report.csv",
                   lines("Function\tCPU Time\tModule\n", 40,
                         [](int i) { return fmt::format("f{}\t{}.25\tlibwork.so\n", i, i + 1); }),
                   ends_line});
  files.push_back({"unitrace", "unitrace.txt",
                   lines("", 20,
                         [](int i) {
                           return fmt::format(
                               "Thread 47 Device 597 : \"k{}[SIMD32 {{1; 4; 1}} {{16; 1; 1}}]\" [ns] {} (append) {} "
                               "(submit) {} (start) {} (end)\n",
                               i, 1000 * i, 1000 * i + 100, 1000 * i + 200, 1000 * i + 900);
                         }) +
                       lines("\n=== Device Timing Summary ===\n\n   Kernel, Calls, Time (ns)\n", 10,
                             [](int i) { return fmt::format("  k{},  {},  {}\n", i, i + 1, 900 * i); }),
                   ends_line});
  files.push_back({"perf-script", "perf.txt",
                   lines("", 15,
                         [](int i) {
                           return fmt::format(
                               "tool {}/{} [001] 12.{:06}: 1000 cycles:u: \n"
                               "\t 7f12ab34 work+0x12 (/usr/lib/libwork.so)\n"
                               "\t 55aa main+0x3 (/bin/tool)\n\n",
                               7, 8, 100 * i);
                         }),
                   [](std::string_view begin) { return begin.ends_with("\n\n"); }});
  files.push_back({"collapsed", "stacks.txt",
                   lines("", 40, [](int i) { return fmt::format("main;work;leaf{} {}\n", i, 100 + i); }), ends_line});
  files.push_back({"tracy-csv", "zones.csv",
                   lines("name,src_file,src_line,ns_since_start,exec_time_ns,thread\n", 40,
                         [](int i) { return fmt::format("zone{},a.cpp,{},{},{},{}\n", i, i + 1, 100 * i, 90, 5); }),
                   ends_line});
  files.push_back({"rocprofv3-csv", "908_kernel_trace.csv",
                   lines("\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
                         "\"Start_Timestamp\",\"End_Timestamp\"\n",
                         40,
                         [](int i) {
                           return fmt::format("\"KERNEL_DISPATCH\",4,1,8,\"gemm{}\",{},{},{}\n", i, i, 100 * i,
                                              100 * i + 90);
                         }),
                   ends_line});
  files.push_back(
      {"rocprof-csv", "results.csv",
       lines("Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,BeginNs,EndNs\n", 40,
             [](int i) { return fmt::format("{},\"gemm{}\",1,0,77,78,256,64,{},{}\n", i, i, 100 * i, 100 * i + 90); }),
       ends_line});
  files.push_back({"tt-ops", "ops_perf_results.csv",
                   lines("OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,HOST START TS,HOST END TS,DEVICE FW START CYCLE,"
                         "DEVICE FW END CYCLE,DEVICE FW DURATION [ns]\n",
                         30,
                         [](int i) {
                           return fmt::format("Matmul,tt_dnn_device,{},0,{},{},{},{},90\n", i, 1000 * i, 1000 * i + 500,
                                              9000 + 100 * i, 9090 + 100 * i);
                         }),
                   ends_line});
  files.push_back(
      {"tt-device-report", "cpp_device_perf_report.csv",
       lines("GLOBAL CALL COUNT,DEVICE ID,OP NAME,DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE\n",
             30, [](int i) { return fmt::format("{},0,Matmul,90,{},{}\n", i, 9000 + 100 * i, 9090 + 100 * i); }),
       ends_line});
  test::TtLogOptions log;
  log.cores_x = log.cores_y = 1;
  log.programs = 2;
  files.push_back({"tt-device-log", "profile_log_device.csv", test::tt_log_text(log), ends_line});
}

void add_json(std::vector<WholeFile>& files) {
  const auto first = static_cast<std::ptrdiff_t>(files.size());
  files.push_back({"neuron-json", "profile.json",
                   json_rows("{\"metadata\":[{\"last_hw_timestamp\":900}],\"instruction\":[", 20, "]}\n", [](int i) {
                     return fmt::format(
                         R"({{"timestamp":{},"duration":9,"opcode":"MATMUL","engine":"Tensor","id":{}}})", 10 * i, i);
                   })});
  files.push_back({"chrome-json", "trace.json", exported(exporting::write_chrome)});
  files.push_back(
      {"rocprofv3-json", "908_results.json",
       json_rows("{\"rocprofiler-sdk-tool\": [{\"metadata\": {\"pid\": 908}, \"strings\": "
                 "{\"callback_records\": [], \"buffer_records\": [{\"kind\": \"NONE\", \"operations\": []}, "
                 "{\"kind\": \"KERNEL_DISPATCH\", \"operations\": [\"a\", \"b\"]}]}, \"buffer_records\": "
                 "{\"kernel_dispatch\": [",
                 20, "]}}]}\n", [](int i) {
                   return fmt::format(
                       R"({{"kind": 1, "operation": 1, "thread_id": 908, "correlation_id": {{"internal": {},
 "external": 0}}, "start_timestamp": {}, "end_timestamp": {}, "dispatch_info": {{"kernel_id": 8, "dispatch_id": {}}}}})",
                       i, 100 * i, 100 * i + 90, i);
                 })});
  files.push_back({"tt-noc-trace", "noc_trace_dev0.json", json_rows("[", 20, "]\n", [](int i) {
                     return fmt::format(
                         R"({{"proc":"BRISC","noc":"NOC_0","sx":1,"sy":2,"type":"WRITE_","num_bytes":7,"timestamp":{},
 "run_host_id":2}})",
                         1000 + 5 * i);
                   })});
  files.push_back(
      {"tt-npe", "npe.json",
       json_rows(R"({"chips":{"0":[0,0,0,0]},"common_info":{"arch":"blackhole","cycles_per_timestep":256},
 "noc_transfers":[)",
                 20, "],\n \"timestep_data\":[{\"start_cycle\":0,\"end_cycle\":256,\"avg_link_demand\":1.5}]}\n",
                 [](int i) {
                   return fmt::format(
                       R"({{"id":{},"src":[0,1,3],"dst":[[0,0,9]],"start_cycle":{},"end_cycle":{},"total_bytes":2048,
 "noc_event_type":"WRITE_"}})",
                       i, 100 * i, 100 * i + 90);
                 })});
  files.push_back(
      {"proton", "run.hatchet",
       json_rows(
           R"json([{"frame":{"name":"ROOT","type":"function"},"metrics":{"count":0,"time (ns)":0},"children":[)json",
           20, "]},{\"CUDA\":{\"1\":{\"arch\":\"90\",\"num_sms\":132}}}]\n", [](int i) {
             return fmt::format(R"json({{"frame":{{"name":"k{}","type":"function"}},
 "metrics":{{"time (ns)":{},"count":3,"device_id":"1","device_type":"CUDA"}},"children":[]}})json",
                                i, 100 + i);
           })});
  // Nothing is missing without the last line end.
  for (auto file = files.begin() + first; file != files.end(); ++file) {
    file->bytes.resize(file->bytes.find_last_not_of('\n') + 1);
  }
}

void add_binaries(std::vector<WholeFile>& files, const test::TemporaryFolder& folder) {
  files.push_back({"neuron-neff", "kernel.neff", test::neff_file(test::tar_file(test::small_program()))});
  files.push_back({"perfetto", "trace.pftrace", exported(exporting::write_perfetto), ends_message});
  test::XPlane plane("/device:TPU:0");
  plane.event_name(1, "%add = f32[8] add(...)", "add", {plane.number("flops", 8)});
  test::XLine line(2, "XLA Ops", 100);
  for (int i = 0; i < 40; ++i) line.event(1, 5'000 * i, 2'500, {plane.text("tf_op", "jit(f)/add:")});
  plane.add(line);
  files.push_back({"xplane", "host.xplane.pb", test::XSpace().add(plane).host("tpu-vm-0").bytes(), ends_message});
  files.push_back({"tracy", "run.tracy", test::tracy_trace(test::rich_tracy_model(1), test::tracy_releases().back())});
  files.push_back({"torch-memory", "snapshot.pickle", test::TorchModel({.requests = 60}).pickle()});
  std::vector<test::ParquetColumn> columns;
  for (const char* const name : {"start_ts", "end_ts", "duration_ns", "id"}) {
    columns.push_back({name, test::kParquetInt64, {}});
    for (std::int64_t i = 0; i < 60; ++i) columns.back().values.emplace_back(i * 10);
  }
  files.push_back({"neuron-parquet", "export/Instruction.parquet", test::parquet_file(columns, {.rows_per_page = 10})});
  files.push_back({"session", "run.accel", database_of(folder, [](const std::string& path) {
                     REQUIRE(test::ExportSession(31, 300).store->save(path).ok());
                   })});
  files.push_back({"nsys", "report.sqlite", database_of(folder, [](const std::string& path) {
                     REQUIRE(test::make_nsys_export(path, test::nsys_export_of_2026()).ok());
                   })});
  files.push_back(
      {"rocpd", "run_results.db", database_of(folder, [](const std::string& path) { run_sql(path, rocpd_sql()); })});
  files.push_back({"rpd", "trace.rpd", database_of(folder, [](const std::string& path) {
                     run_sql(path, R"(
    CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
    INSERT INTO rocpd_metadata(tag, value) VALUES('schema_version', '2');
    CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);
    INSERT INTO rocpd_string VALUES(1, ''), (2, 'hipLaunchKernel'), (6, 'KernelExecution'), (9, 'gemm');
    CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER,
      completionSignal TEXT, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
    INSERT INTO rocpd_op VALUES(1, 1, 0, 0, '', 2000, 2500, 9, 6), (2, 1, 1, 0, '', 2600, 2700, 9, 6);
    CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,
      apiName_id INTEGER, args_id INTEGER);
    INSERT INTO rocpd_api VALUES(3, 77, 77, 1000, 1100, 2, 1);
    CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
    INSERT INTO rocpd_api_ops VALUES(1, 3, 1);)");
                   })});
  files.push_back(
      {"rocprof-db", "results.db", database_of(folder, [](const std::string& path) { run_sql(path, rocprof_sql()); })});
  files.push_back({"ttnn-report", "db.sqlite",
                   database_of(folder, [](const std::string& path) { run_sql(path, ttnn_report_sql()); })});
  files.push_back({"rocprof-compute", "analysis.db", database_of(folder, [](const std::string& path) {
                     run_sql(path, R"(
    CREATE TABLE compute_workload(workload_id INTEGER, name TEXT, sub_name TEXT, sys_info_extdata TEXT);
    INSERT INTO compute_workload VALUES(1, 'vcopy', '', '{}');
    CREATE TABLE compute_kernel(kernel_uuid INTEGER, workload_id INTEGER, kernel_name TEXT);
    INSERT INTO compute_kernel VALUES(1, 1, 'vecCopy');
    CREATE TABLE compute_dispatch(dispatch_uuid INTEGER, kernel_uuid INTEGER, dispatch_id INTEGER, gpu_id INTEGER,
      start_timestamp INTEGER, end_timestamp INTEGER);
    INSERT INTO compute_dispatch VALUES(1, 1, 1, 0, 100, 200), (2, 1, 2, 0, 300, 400);)");
                   })});
}

// What a report says besides what it says of the whole file too.
std::vector<QualityEntry> news(const RecordingSink& cut, const RecordingSink& whole) {
  std::vector<QualityEntry> found;
  for (const QualityEntry& entry : cut.qualities) {
    const bool known = std::any_of(whole.qualities.begin(), whole.qualities.end(), [&](const QualityEntry& other) {
      return other.kind == entry.kind && other.detail == entry.detail && other.count == entry.count;
    });
    if (!known && entry.severity >= Severity::warning) found.push_back(entry);
  }
  return found;
}

struct RowSums {
  std::uint64_t rows = 0;  // that the source says the file has
  std::uint64_t read = 0;  // into an event of their table, or into something else, which is counted too
};

RowSums row_sums(const RecordingSink& session) {
  constexpr std::string_view kRows = "source.rows.";
  std::map<std::string, std::uint64_t> events;
  for (const RecordedEvent& event : session.events()) ++events[session.schema_of(event).name];
  RowSums sums;
  for (const auto& [key, rows] : session.meta) {
    if (!key.starts_with(kRows)) continue;
    const std::string table = key.substr(kRows.size());
    const auto read = session.meta.find("source.read." + table);
    sums.rows += std::stoull(rows);
    sums.read += read == session.meta.end() ? events[table] : std::stoull(read->second);
  }
  return sums;
}

// Rows that the report says were left out.
std::uint64_t left_out(const RecordingSink& session) {
  std::uint64_t rows = 0;
  for (const QualityEntry& entry : session.qualities) {
    for (const char* const kind : {"rows_skipped", "rows_left_out", "times_out_of_capture", "unknown_types"})
      rows += entry.kind == kind ? entry.count : 0;
  }
  return rows;
}

// What the files that are made here hold, and how one row of each is spoilt, or gets a value more than it should have.
struct FileRows {
  std::string_view format;
  std::uint64_t rows;
  std::string_view good, bad;
  std::string_view first, more;    // in the header, if there is one
  std::string_view value, valued;  // in a row
};
constexpr FileRows kFileRows[] = {
    {"vtune-csv", 40, "task7,700,", "task7,x,", "pid,tid\n", "pid,tid,Surprise\n", "78\n", "78,7\n"},
    {"neuron-csv", 40, "Vector,700,", "Vector,x,", "opcode,id\n", "opcode,id,Surprise\n", "0\n", "0,7\n"},
    {"vtune-report", 40, "f7\t8.25", "f7\t\"8.25", "Module\n", "Module\tSurprise\n", "work.so\n", "work.so\t7\n"},
    {"unitrace", 30, "7200 (start)", "", "", "", "(submit)", "(submit) 7 (Surprise)"},
    {"perf-script", 15, "tool 7/8 [001] 12.000700:", "tool", "", "", "cycles:u: \n", "cycles:u: Surprise=7\n"},
    {"collapsed", 40, "leaf7 107", "leaf7 many", "", "", "leaf7", "Surprise"},
    {"tracy-csv", 40, ",700,90", ",x,90", ",thread\n", ",thread,Surprise\n", ",5\n", ",5,7\n"},
    {"rocprofv3-csv", 40, ",700,790", ",,790", "Timestamp\"\n", "Timestamp\",\"Surprise\"\n", "90\n", "90,7\n"},
    {"rocprof-csv", 40, ",700,790", ",,790", "EndNs\n", "EndNs,Surprise\n", "90\n", "90,7\n"},
    {"tt-ops", 30, ",7000,7500,9700,9790", ",,,,", "ns]\n", "ns],Surprise\n", ",90\n", ",90,7\n"},
    {"tt-device-report", 30, "90,9700,9790", "90,,", "END CYCLE\n", "END CYCLE,Surprise\n", "90\n", "90,7\n"},
    {"neuron-json", 21, R"("timestamp":70,)", "", "", "", R"("duration":9)", R"("duration":9,"Surprise":7)"},
    {"chrome-json", 0, R"("ph":"X")", R"("ph":"?")", "", "", R"("ph":"X")", R"("ph":"X","Surprise":7)"},
    {"rocprofv3-json", 20, R"("start_timestamp": 700,)", "", "", "", R"("thread_id")", R"("Surprise": 7, "thread_id")"},
    {"tt-noc-trace", 20, R"("timestamp":1035,)", "", "", "", R"("sx":1)", R"("sx":1,"Surprise":7)"},
    {"tt-npe", 21, R"("start_cycle":700,)", "", "", "", R"("total_bytes")", R"("Surprise":7,"total_bytes")"},
    {"proton", 0, "", "", "", "", R"("children":[])", R"("children":[],"Surprise":7)"},
};

std::string replaced(std::string text, std::string_view from, std::string_view to, bool all) {
  for (std::size_t at = text.find(from); !from.empty() && at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    if (!all) break;
    at += to.size();
  }
  return text;
}

// Whether a word of the file is anywhere in its session, in the report at least.
bool tells_of(const RecordingSink& session, std::string_view word) {
  const auto holds = [&](std::string_view text) { return text.find(word) != std::string_view::npos; };
  for (const auto& [number, schema] : session.schemas) {
    if (std::any_of(schema.columns.begin(), schema.columns.end(), [&](const auto& each) { return holds(each.name); }))
      return true;
  }
  return std::any_of(session.strings.begin(), session.strings.end(), holds) ||
         std::any_of(session.qualities.begin(), session.qualities.end(),
                     [&](const QualityEntry& entry) { return holds(entry.detail); }) ||
         std::any_of(session.chunks.begin(), session.chunks.end(), [&](const SealedChunk& chunk) {
           return holds({reinterpret_cast<const char*>(chunk.bytes.data()), chunk.bytes.size()});
         });
}

std::set<std::size_t> cuts_of(const WholeFile& file) {
  const std::size_t size = file.bytes.size();
  std::set<std::size_t> cuts = {size - 1, size - 2, size - 5};
  for (const std::size_t percent : {10U, 35U, 50U, 66U, 80U, 93U, 99U}) cuts.insert(size * percent / 100);
  // Behind a record, and one byte around it.
  const std::size_t end = file.bytes.find('\n', size / 3);
  if (file.is_whole("\n\n") && end != std::string::npos) cuts.insert({end, end + 1, end + 2});
  return cuts;
}

void import_bytes(const test::TemporaryFolder& folder, const WholeFile& file, const std::string& bytes,
                  RecordingSink& session) {
  const auto format = std::find_if(source_formats().begin(), source_formats().end(),
                                   [&](const SourceFormat& each) { return each.name == file.format; });
  REQUIRE(format != source_formats().end());
  const std::string path = folder.file(file.name);
  test::write_file(path, bytes);
  const Result<void> done = format->run(path, {}, session);
  REQUIRE_MESSAGE(done.ok(), done.message());
  fs::remove(path);
}

}  // namespace

TEST_CASE("a row that cannot be read is in the sum of its file, and a value that nobody knows is kept or named") {
  const test::TemporaryFolder folder;
  std::vector<WholeFile> files;
  add_texts(files);
  add_json(files);
  for (const FileRows& rows : kFileRows) {
    CAPTURE(rows.format);
    const auto file =
        std::find_if(files.begin(), files.end(), [&](const auto& each) { return each.format == rows.format; });
    REQUIRE(file != files.end());
    RecordingSink whole;
    import_bytes(folder, *file, file->bytes, whole);
    const RowSums of_whole = row_sums(whole);
    if (rows.rows > 0) CHECK(of_whole.rows == rows.rows);
    if (!rows.good.empty()) {
      REQUIRE(file->bytes.find(rows.good) != std::string::npos);
      RecordingSink spoilt;
      import_bytes(folder, *file, replaced(file->bytes, rows.good, rows.bad, false), spoilt);
      const RowSums sums = row_sums(spoilt);
      CHECK(sums.rows == of_whole.rows);
      CHECK(sums.read + 1 == of_whole.read);
      CHECK(!news(spoilt, whole).empty());
    }
    REQUIRE(file->bytes.find(rows.value) != std::string::npos);
    const std::string header = replaced(file->bytes, rows.first, rows.more, false);
    CHECK(!tells_of(whole, "Surprise"));
    RecordingSink further;
    import_bytes(folder, *file, replaced(header, rows.value, rows.valued, true), further);
    CHECK(tells_of(further, "Surprise"));
  }
}

TEST_CASE("a file of any format adds up to what it holds, and one that ends early is refused by name or says so") {
  const test::TemporaryFolder folder;
  std::vector<WholeFile> files;
  add_texts(files);
  add_json(files);
  add_binaries(files, folder);
  for (const SourceFormat& format : source_formats()) {
    CAPTURE(format.name);
    // Those that a vendor's tool converts first are the tool's to judge.
    if (format.converter() != nullptr) continue;
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const WholeFile& file) { return file.format == format.name; });
    REQUIRE(found != files.end());
    const WholeFile& file = *found;
    const std::string path = folder.file(file.name);
    const std::string input = file.name.find('/') == std::string::npos ? path : fs::path(path).parent_path().string();
    test::write_file(path, file.bytes);
    CHECK(recognise(input).name() == format.name);
    RecordingSink whole;
    const Result<void> read = format.run(input, {}, whole);
    REQUIRE_MESSAGE(read.ok(), read.message());
    CHECK(whole.event_count + whole.metrics.size() > 0);
    for (const QualityEntry& entry : whole.qualities) CHECK(entry.kind != "truncated");
    if (file.format != "session") {
      const RowSums sums = row_sums(whole);
      CHECK(sums.rows > 0);
      CHECK(sums.read <= sums.rows);
      CHECK(sums.read + left_out(whole) >= sums.rows);
    }
    for (const std::size_t cut : cuts_of(file)) {
      CAPTURE(cut);
      const std::string begin = file.bytes.substr(0, cut);
      if (file.is_whole(begin)) continue;
      test::write_file(path, begin);
      RecordingSink sink;
      const Result<void> done = format.run(input, {}, sink);
      if (!done) {
        CHECK(done.message().find(fs::path(input).filename().string()) != std::string::npos);
        continue;
      }
      CHECK(sink.event_count <= whole.event_count);
      CHECK(!news(sink, whole).empty());
    }
    fs::remove(path);
  }
}

}  // namespace accelscope::capture::sources
