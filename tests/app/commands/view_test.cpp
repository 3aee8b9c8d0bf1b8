// `view`: its outputs, ranges by markers, the vendor's options, and the vendor's JSON read back.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "app/view/marker_sets.h"
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

std::string sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// Every table of the session by name: its rows with the track's name, in one order whatever their ids.
std::map<std::string, std::string> tables_of(const std::string& session) {
  std::map<std::string, std::string> tables;
  std::istringstream listing(run({"query", session, "--tables"}).out);
  for (std::string line; std::getline(listing, line);) {
    const std::size_t open = line.find("(id, track_id, lane, ");
    const std::size_t vendor_id = line.find("(track_id, lane, ");  // the vendor's own id is a column like others
    if (open == std::string::npos && vendor_id == std::string::npos) continue;
    const std::string name = line.substr(0, std::min(open, vendor_id));
    if (name == "slice") continue;
    std::string columns = line.substr(line.find("lane, ") + 6);
    columns.pop_back();
    std::vector<std::string> names;  // sorted: those of a table nobody knows come in the order of its first row
    std::istringstream in(columns);
    for (std::string column; std::getline(in, column, ',');)
      names.push_back(column.substr(column.find_first_not_of(' ')));
    std::sort(names.begin(), names.end());
    std::string list;
    for (const std::string& column : names) list += ", e.\"" + column + "\"";
    tables[name] = sorted_lines(csv(session, "SELECT t.name, t.kind, t.device" + list + " FROM \"" + name +
                                                 "\" e JOIN track t ON t.id = e.track_id"));
  }
  tables["flow"] = csv(session, "SELECT kind, count(*) FROM flow GROUP BY kind ORDER BY kind");
  tables["metric"] = sorted_lines(csv(session, "SELECT name, group_name, unit, vendor_value FROM metric"));
  tables["meta"] =
      sorted_lines(csv(session, "SELECT key, value FROM meta WHERE key NOT LIKE 'source.%' AND key <> 'name'"));
  return tables;
}

void check_same_tables(const std::string& a, const std::string& b, const test::TemporaryFolder& folder) {
  REQUIRE(run({"import", a, "-o", folder.file("a.accel"), "--force"}).code == terminal::kExitDone);
  REQUIRE(run({"import", b, "-o", folder.file("b.accel"), "--force"}).code == terminal::kExitDone);
  const auto before = tables_of(folder.file("a.accel"));
  const auto after = tables_of(folder.file("b.accel"));
  REQUIRE(before.size() > 10);
  CHECK(before.size() == after.size());
  for (const auto& [name, rows] : before) {
    CAPTURE(name);
    REQUIRE(after.contains(name));
    CHECK_FALSE(holds(rows, "failed: "));
    CHECK((rows == after.at(name)));
  }
}

}  // namespace

TEST_CASE("the vendor's JSON of a session reads back as the same tables, flows, figures and facts") {
  for (const char* seed : {"1", "2", "7"}) {
    CAPTURE(seed);
    const test::TemporaryFolder folder;
    const std::string original = folder.file("p.json");
    const std::string again = folder.file("again.json");
    REQUIRE(run({"simulate", "-o", original, "--format", "neuron-json", "--kernels", "1", "--seed", seed}).code ==
            terminal::kExitDone);
    const ProgramOutcome made = run({"view", original, "--output-format", "json", "--output-file", again});
    REQUIRE(made.code == terminal::kExitDone);
    CHECK(made.out.empty());
    CHECK(holds(made.err, again + ": "));
    check_same_tables(original, again, folder);
    // And once more, from a saved session.
    const std::string session = folder.file("p.accel");
    REQUIRE(run({"import", original, "-o", session}).code == terminal::kExitDone);
    const std::string third = folder.file("third.json");
    REQUIRE(run({"view", session, "--output-format", "json", "--output-file", third}).code == terminal::kExitDone);
    CHECK((read_file(third) == read_file(again)));
  }
}

TEST_CASE("the vendor's JSON of a system profile keeps its times since 1970") {
  const test::TemporaryFolder folder;
  const std::string original = folder.file("system_profile.json");
  test::write_file(original,
                   R"({"trace_events":[{"timestamp":1700000000000000000,"duration":900,"name":"nrt_execute","id":7,)"
                   R"("instance_id":"i-1","process_id":4,"thread_id":5,"type":3,"group":"api","colour":"red"}],)"
                   R"("cpu_util":[{"timestamp":1700000000000000000,"duration":1000,"cpu_id":"average","util":25.5}]})");
  const ProgramOutcome made = run({"view", original, "--output-format", "json", "--output-file", "-"});
  REQUIRE(made.code == terminal::kExitDone);
  CHECK(holds(made.out, "\"timestamp\":1700000000000000000,\"duration\":900,\"name\":\"nrt_execute\""));
  CHECK(holds(made.out, "\"colour\":\"red\""));  // a field without a column comes back as it was
  CHECK(holds(made.out, "\"util\":25.5"));
}

TEST_CASE("what an import knows of the device besides is not written as the vendor's") {
  const test::TemporaryFolder folder;
  const std::string original = folder.file("p.json");
  test::write_file(original,
                   R"({"metadata":[{"hbm_ddr_bandwidth":410000000000}],)"
                   R"("instruction":[{"id":1,"opcode":"ACTIVATE","subgroup":"q1","timestamp":10,"duration":5}]})");
  REQUIRE(holds(csv(original, "SELECT value FROM meta WHERE key = 'capacity.SBUF'"), "25165824"));
  const ProgramOutcome made = run({"view", original, "--output-format", "json", "--output-file", "-"});
  REQUIRE(made.code == terminal::kExitDone);
  CHECK(holds(made.out, "\"hbm_ddr_bandwidth\":410000000000"));
  CHECK_FALSE(holds(made.out, "\"capacity\""));
}

TEST_CASE("rows of a real profile come out as they went in") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(root) / "neuron")) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path().string());
    const test::TemporaryFolder folder;
    const std::string again = folder.file("again.json");
    REQUIRE(run({"view", entry.path().string(), "--output-format", "json", "--output-file", again}).code ==
            terminal::kExitDone);
    check_same_tables(entry.path().string(), again, folder);
    // Counts by table; the vendor's own prose is left out.
    for (const char* table : {"instruction", "dma", "dma_transfer", "semaphore_update", "active_time"}) {
      const std::string sql = std::string("SELECT count(*) FROM ") + table;
      CHECK(csv(entry.path().string(), sql) == csv(again, sql));
    }
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("a session of any other source becomes tables under the names of its own fields") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const ProgramOutcome made = run({"view", session, "--output-format", "json", "--output-file", "-"});
  REQUIRE(made.code == terminal::kExitDone);
  CHECK(made.out.starts_with("{"));
  CHECK(made.out.ends_with("]}\n"));
  CHECK(holds(made.out, "MATMUL"));
  CHECK(made.err.empty());
}

TEST_CASE("a folder of ranks becomes one file for each of them") {
  const test::TemporaryFolder folder;
  fs::create_directories(folder.file("run/profile_rank_1"));
  fs::create_directories(folder.file("out"));
  const auto simulate = [&](const std::string& path, const char* seed) {
    REQUIRE(run({"simulate", "-o", path, "--format", "neuron-json", "--kernels", "1", "--seed", seed}).code ==
            terminal::kExitDone);
  };
  simulate(folder.file("run/profile_rank_0.json"), "1");
  simulate(folder.file("run/profile_rank_1/ntff.json"), "2");
  simulate(folder.file("run/device_profile_model_3.json"), "3");
  const std::vector<std::string> view{
      "view", "-d", folder.file("run"), "--output-format", "json", "--output-file", folder.file("out")};
  REQUIRE(run(view).code == terminal::kExitDone);
  for (const char* name : {"profile_rank_0.json", "profile_rank_1.json", "device_profile_model_3.json"}) {
    CAPTURE(name);
    CHECK(fs::exists(folder.file(std::string("out/") + name)));
  }
  CHECK(csv(folder.file("out/profile_rank_1.json"), "SELECT count(*) FROM instruction") ==
        csv(folder.file("run/profile_rank_1/ntff.json"), "SELECT count(*) FROM instruction"));
  CHECK(run(view).code == terminal::kExitFailed);  // nothing is replaced without --force
  std::vector<std::string> forced = view;
  forced.emplace_back("--force");
  CHECK(run(forced).code == terminal::kExitDone);
  const ProgramOutcome one_name =
      run({"view", "-d", folder.file("run"), "--output-format", "json", "--output-file", folder.file("one.json")});
  CHECK(one_name.code == terminal::kExitUsage);
  CHECK(holds(one_name.err, "holds 3 profiles"));
}

TEST_CASE("db and --ingest-only write the session file, and nothing is replaced without --force") {
  const test::TemporaryFolder folder;
  const std::string json = folder.file("p.json");
  REQUIRE(run({"simulate", "-o", json, "--format", "neuron-json", "--kernels", "1"}).code == terminal::kExitDone);
  const std::string session = folder.file("p.accel");
  REQUIRE(run({"view", json, "--ingest-only", "--output-file", session}).code == terminal::kExitDone);
  CHECK(csv(session, "SELECT count(*) FROM instruction") == csv(json, "SELECT count(*) FROM instruction"));
  const ProgramOutcome again = run({"view", json, "--output-format", "db", "--output-file", session});
  CHECK(again.code == terminal::kExitFailed);
  CHECK(holds(again.err, "--force"));
  CHECK(run({"view", json, "--output-format", "db", "--output-file", session, "--force"}).code == terminal::kExitDone);
  const ProgramOutcome own = run({"view", session, "--output-format", "db", "--output-file", session, "--force"});
  CHECK(own.code == terminal::kExitFailed);
  CHECK(holds(own.err, "the input itself"));
  CHECK(run({"view", json, "--output-format", "db", "--output-file", "-"}).out.starts_with("SQLite format 3"));
  CHECK(run({"view", json, "--ingest-only", "--output-format", "json"}).code == terminal::kExitUsage);
  CHECK(run({"view", json, "--output-format", "db", "--range", "1us:2us"}).code == terminal::kExitUsage);
}

TEST_CASE("options of the vendor's tool are taken and said to be unneeded where there is no server") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const ProgramOutcome outcome = run({"view", session, "--db-endpoint", "http://localhost:8086", "--db-org", "o",
                                      "--port", "3001", "--show-perfetto-flows", "--enable-memory-tracker",
                                      "--nki-source-root", folder.path(), "--framework-source-root", folder.path()});
  CHECK(outcome.code == terminal::kExitDone);
  for (const char* name : {"--db-endpoint is not needed", "--db-org is not needed", "--port is not needed",
                           "--show-perfetto-flows is not needed", "memory tracker"}) {
    CAPTURE(name);
    CHECK(holds(outcome.err, name));
  }
  CHECK(run({"view", session, "-d", folder.path()}).code == terminal::kExitUsage);
  CHECK(run({"view"}).code == terminal::kExitUsage);
}

TEST_CASE("-s takes a converted profile, and a raw one is converted or explained") {
  const test::TemporaryFolder folder;
  const std::string json = folder.file("p.json");
  REQUIRE(run({"simulate", "-o", json, "--format", "neuron-json", "--kernels", "1"}).code == terminal::kExitDone);
  test::write_file(folder.file("a b.neff"), "program");
  CHECK(run({"view", "-n", folder.file("a b.neff"), "-s", json, "--output-format", "summary-json"}).code ==
        terminal::kExitDone);
  test::write_file(folder.file("x.ntff"), "\x01raw");
  const char* path = std::getenv("PATH");
  const std::string old = path == nullptr ? "" : path;
  ::setenv("PATH", folder.path().c_str(), 1);
  const ProgramOutcome raw = run({"view", "-n", folder.file("a b.neff"), "-s", folder.file("x.ntff")});
  ::setenv("PATH", old.c_str(), 1);
  CHECK(raw.code == terminal::kExitFailed);
  CHECK(holds(raw.err, "neuron-explorer view -n '" + folder.file("a b.neff") + "' -s " + folder.file("x.ntff")));
}

TEST_CASE("a range is given by times, shares or markers") {
  const std::vector<Marker> markers{{1, "", 100, std::nullopt, "start", ""},
                                    {2, "", 500, 700, "layer: 1", ""},
                                    {3, "", 900, std::nullopt, "end", ""}};
  const TimeRange session{0, 1000};
  const auto range = [&](std::string_view text) { return view::parse_marker_range(text, session, markers); };
  CHECK(*range("#start:#end") == TimeRange{100, 900});
  CHECK(*range("#layer: 1") == TimeRange{500, 700});
  CHECK(*range("#layer: 1:#end") == TimeRange{500, 900});
  CHECK(*range("#start:#layer: 1") == TimeRange{100, 700});
  CHECK(*range("#start:50%") == TimeRange{100, 500});
  CHECK(*range("10%:#end") == TimeRange{100, 900});
  CHECK(*range("#start:") == TimeRange{100, 1000});
  CHECK(*range("10ns:20ns") == TimeRange{10, 20});
  CHECK(holds(range("#nowhere:#end").message(), "there are #start, #layer: 1, #end"));
  CHECK(holds(range("#end:#start").message(), "is empty"));
  CHECK(holds(range("#start").message(), "one point in time"));
  CHECK(holds(view::parse_marker_range("#a:#b", session, {}).message(), "no markers"));
}

TEST_CASE("--range limits the rows and the figures, and says so when a marker is unknown") {
  const test::TemporaryFolder folder;
  const std::string session = folder.file("s.accel");
  REQUIRE(run({"simulate", "-o", session, "--kernels", "1"}).code == terminal::kExitDone);
  {
    const auto store = Store::open(session);
    REQUIRE(store.ok());
    REQUIRE((*store)->put_marker({0, "", 100'000, std::nullopt, "a", ""}).ok());
    REQUIRE((*store)->put_marker({0, "", 200'000, std::nullopt, "b", ""}).ok());
  }
  const std::string part = folder.file("part.json");
  REQUIRE(run({"view", session, "--output-format", "json", "--range", "#a:#b", "--output-file", part}).code ==
          terminal::kExitDone);
  CHECK(csv(part, "SELECT count(*) FROM instruction") ==
        csv(session, "SELECT count(*) FROM instruction WHERE ts_ns < 200000 AND ts_ns + dur_ns > 100000"));
  const ProgramOutcome whole = run({"view", session, "--output-format", "summary-json"});
  const ProgramOutcome ranged = run({"view", session, "--output-format", "summary-json", "--range", "#a:#b"});
  CHECK(ranged.code == terminal::kExitDone);
  CHECK(ranged.out != whole.out);
  const ProgramOutcome unknown = run({"view", session, "--range", "#a:#c"});
  CHECK(unknown.code == terminal::kExitFailed);
  CHECK(holds(unknown.err, "#c: there is no such marker; there are #a, #b"));
}

TEST_CASE("--terminology explains all figures or one, without a file") {
  const ProgramOutcome all = run({"view", "--terminology"});
  CHECK(all.code == terminal::kExitDone);
  CHECK(holds(all.out, "hardware_flops"));
  const ProgramOutcome one = run({"view", "--terminology", "tensor_engine_active_time"});
  CHECK(one.code == terminal::kExitDone);
  CHECK(one.out.starts_with("tensor_engine_active_time"));
  CHECK(holds(one.out, "meaning"));
  CHECK(run({"view", "--terminology", "hardware_flops", "--json"}).out.starts_with("{\"name\": \"hardware_flops\""));
  CHECK(run({"view", "--terminology", "--json"}).out.starts_with("[\n{\"name\": "));
  const ProgramOutcome unknown = run({"view", "--terminology", "flop"});
  CHECK(unknown.code == terminal::kExitFailed);
  CHECK(holds(unknown.err, "hardware_flops"));
}
