// `view` in the formats that sessions are exported in: names, pipes, folders, ranges, what is left out, and traces that
// are read back.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "core/export/formats/formats.h"
#include "core/store/store.h"
#include "tests/app/program_run.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::csv;
using test::holds;
using test::ProgramOutcome;
using test::read_file;
using test::run;
using test::write_file;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// As PyTorch's profiler writes it: calls within calls, two at one time, a launch, a gradient, memory.
constexpr const char* kTrace = R"json({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"X","cat":"python_function","name":"train.py(3): step","pid":9,"tid":9,"ts":1.0,"dur":100,"args":{"Python id":1}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":10,"dur":30.5,
 "args":{"External id":5,"Input Dims":[[2,3],[3,4]],"odd \"key\"":"x;y","wide":9007199254740993}},
{"ph":"X","cat":"cpu_op","name":"aten::mm_inner","pid":9,"tid":9,"ts":10,"dur":20,"args":{"External id":6}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":12,"dur":3,
 "args":{"External id":6,"correlation":77}},
{"ph":"X","cat":"kernel","name":"gemm<float>","pid":0,"tid":7,"ts":20.25,"dur":15.125,
 "args":{"device":0,"stream":7,"correlation":77,"grid":[1,2,3]}},
{"ph":"X","cat":"kernel","name":"gemm<float>","pid":0,"tid":7,"ts":36,"dur":15,
 "args":{"device":0,"stream":7,"correlation":78}},
{"ph":"s","id":77,"pid":9,"tid":9,"ts":12,"cat":"ac2g","name":"ac2g"},
{"ph":"f","id":77,"pid":0,"tid":7,"ts":20.25,"cat":"ac2g","name":"ac2g","bp":"e"},
{"ph":"s","id":3,"pid":9,"tid":9,"ts":10,"cat":"fwdbwd","name":"fwdbwd"},
{"ph":"f","id":3,"pid":9,"tid":9,"ts":13,"cat":"fwdbwd","name":"fwdbwd","bp":"e"},
{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":9,"ts":11,
 "args":{"Bytes":512,"Addr":4096,"Device Type":1,"Device Id":0,"Total Allocated":512,"Total Reserved":2048}},
{"ph":"M","name":"thread_name","pid":9,"tid":9,"args":{"name":"thread 9 (python)"}},
{"ph":"C","name":"load","pid":9,"ts":5,"args":{"value":2.5}}]})json";

}  // namespace

TEST_CASE("a Chrome trace that was exported is imported as the same events, arguments, counters and flows") {
  const test::TemporaryFolder folder;
  write_file(folder.file("a.json"), kTrace);
  REQUIRE(run({"import", folder.file("a.json"), "-o", folder.file("a.accel")}).code == terminal::kExitDone);
  const ProgramOutcome made =
      run({"view", folder.file("a.accel"), "--output-format", "chrome", "-o", folder.file("b.json")});
  REQUIRE(made.code == terminal::kExitDone);
  CHECK_FALSE(holds(made.err, "left out"));
  REQUIRE(run({"import", folder.file("b.json"), "-o", folder.file("b.accel")}).code == terminal::kExitDone);
  // And once more: nothing drifts.
  REQUIRE(run({"view", folder.file("b.accel"), "--output-format", "chrome", "-o", folder.file("c.json")}).code ==
          terminal::kExitDone);
  REQUIRE(run({"import", folder.file("c.json"), "-o", folder.file("c.accel")}).code == terminal::kExitDone);
  const auto rows = [&](const std::string& name, const std::string& sql) { return csv(folder.file(name), sql); };
  for (const char* name : {"b.accel", "c.accel"}) {
    CAPTURE(name);
    for (const std::string sql :
         {"SELECT schema, name, category, dur_ns, ts_ns FROM slice ORDER BY 5, 4, 2",
          "SELECT f.kind, a.name, a.ts_ns, b.name, b.ts_ns FROM flow f JOIN slice a ON a.id = f.src_id JOIN slice b ON "
          "b.id = f.dst_id ORDER BY 1, 2, 3, 4, 5",
          "SELECT t.name, c.ts_ns, value FROM counter c JOIN track t ON t.id = c.track_id ORDER BY 1, 2",
          "SELECT pool, ts_ns, address, size_bytes FROM memory", "SELECT value FROM meta WHERE key = 'begin_unix_ns'",
          "SELECT \"External id\", \"Input Dims\", \"odd \"\"key\"\"\", wide FROM cpu_op ORDER BY 1",
          "SELECT \"correlation\", grid, device, stream FROM kernel ORDER BY 1",
          "SELECT source_location, \"Python id\" FROM python_function",
          "SELECT name, kind, device, host FROM track WHERE kind IN ('stream', 'memory') ORDER BY 1"}) {
      CAPTURE(sql);
      const std::string before = rows("a.accel", sql);
      CHECK_FALSE(holds(before, "failed: "));
      CHECK(rows(name, sql) == before);
    }
  }
  CHECK(holds(rows("b.accel", "SELECT kind, count(*) FROM flow GROUP BY kind"), "fwdbwd,1"));
}

TEST_CASE("a session that is no Neuron profile is not written as one: the JSON that nothing reads is refused") {
  const test::TemporaryFolder folder;
  const std::string trace = folder.file("trace.json");
  write_file(trace, R"({"traceEvents":[{"ph":"X","name":"a","cat":"kernel","pid":1,"tid":1,"ts":1,"dur":2}]})");
  const std::string made = folder.file("tables.json");
  const ProgramOutcome refused = run({"view", trace, "--output-format", "json", "-o", made});
  CHECK(refused.code == terminal::kExitFailed);
  CHECK(holds(refused.err, "chrome"));
  CHECK_FALSE(fs::exists(made));
  CHECK(run({"view", trace, "--output-format", "chrome", "-o", made}).code == terminal::kExitDone);
  CHECK(run({"view", made}).code == terminal::kExitDone);
}

TEST_CASE(
    "every export format is written to a file, to the standard output where it is one file, and never over another") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const auto snapshot = Store::open(session).value()->snapshot();
  for (const exporting::ExportFormat& format : exporting::export_formats()) {
    CAPTURE(format.name);
    const std::string path =
        folder.file("out-" + std::string(format.name) +
                    (format.shape == exporting::ExportShape::folder ? "" : std::string(format.suffix)));
    const ProgramOutcome made = run({"view", session, "--output-format", std::string(format.name), "-o", path});
    if (format.applies != nullptr && !format.applies(*snapshot)) {
      CHECK(made.code == terminal::kExitFailed);
      CHECK(holds(made.err, "the session has"));
      CHECK_FALSE(fs::exists(path));
      continue;
    }
    REQUIRE(made.code == terminal::kExitDone);
    CHECK(made.out.empty());
    CHECK(holds(made.err, path + ": "));
    REQUIRE(fs::exists(path));
    const ProgramOutcome again = run({"view", session, "--output-format", std::string(format.name), "-o", path});
    CHECK(again.code == terminal::kExitFailed);
    CHECK(holds(again.err, "--force"));
    CHECK(run({"view", session, "--output-format", std::string(format.name), "-o", path, "--force"}).code ==
          terminal::kExitDone);
    const ProgramOutcome piped = run({"view", session, "--output-format", std::string(format.name), "-o", "-"});
    if (format.shape == exporting::ExportShape::folder) {
      CHECK(piped.code == terminal::kExitFailed);
      CHECK(holds(piped.err, "name a folder"));
      continue;
    }
    REQUIRE(piped.code == terminal::kExitDone);
    CHECK_FALSE(piped.out.empty());
    CHECK((piped.out == read_file(path)));
    if (format.binary) {
      CHECK(run({"view", session, "--output-format", std::string(format.name), "-o", "-"}, true).code ==
            terminal::kExitFailed);
    }
  }
  // Nothing half-written stays behind.
  for (const std::string& name : names_in(folder.path())) CHECK_FALSE(holds(name, ".part"));
}

TEST_CASE("CSV and Parquet in a folder are a file for each table, and what else is there stays") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const std::string out = folder.file("tables");
  REQUIRE(run({"view", session, "--output-format", "csv", "-o", out}).code == terminal::kExitDone);
  const std::vector<std::string> names = names_in(out);
  CHECK(std::find(names.begin(), names.end(), "flow.csv") != names.end());
  CHECK(names.size() >= 3);
  write_file(out + "/notes.txt", "mine");
  CHECK(run({"view", session, "--output-format", "csv", "-o", out}).code == terminal::kExitFailed);
  CHECK(run({"view", session, "--output-format", "parquet", "-o", out, "--force"}).code == terminal::kExitDone);
  CHECK(read_file(out + "/notes.txt") == "mine");
  // What has no table of its own in CSV has one here: sessions are joined by it.
  std::vector<std::string> expected = names;
  for (const std::string& name : names) expected.push_back(name.substr(0, name.rfind('.')) + ".parquet");
  expected.insert(expected.end(), {"meta.parquet", "metric.parquet", "track.parquet", "notes.txt"});
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> found = names_in(out);
  std::sort(found.begin(), found.end());
  CHECK(found == expected);
  const ProgramOutcome file = run({"view", session, "--output-format", "parquet", "-o", out + "/notes.txt", "--force"});
  CHECK(file.code == terminal::kExitFailed);
  CHECK(holds(file.err, "name a folder"));
}

TEST_CASE("exports hold what --filter, --tracks and --range leave, and say what the format cannot hold") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const auto rows = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"view", session, "--output-format", "csv", "-o", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string out = run(arguments).out;
    return std::count(out.begin(), out.end(), '\n') - 1;
  };
  const auto all = rows({});
  const auto filtered = rows({"--filter", "MATMUL"});
  CHECK(filtered > 0);
  CHECK(filtered < all);
  CHECK(rows({"--range", "0%:10%"}) < all);
  const ProgramOutcome stacks = run({"view", session, "--output-format", "collapsed", "-o", "-"});
  REQUIRE(stacks.code == terminal::kExitDone);
  CHECK(holds(stacks.err, "left out"));
  CHECK_FALSE(stacks.out.empty());
  const ProgramOutcome as_json =
      run({"view", session, "--output-format", "speedscope", "-o", folder.file("s.json"), "--json"});
  CHECK(holds(as_json.out, "\"left_out\": [\""));
  const ProgramOutcome unknown = run({"view", session, "--output-format", "pprof"});
  CHECK(unknown.code == terminal::kExitUsage);
  CHECK(holds(unknown.err, "perfetto"));
}
