// `export` and `fleet`: a data set of many sessions holds each of them once and as it is, and DuckDB, where it is
// installed, answers what a team asks of it. Without DuckDB the product's own reader of Parquet reads the files.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "app/output/duckdb.h"
#include "capture/sim/output/simulator.h"
#include "capture/sources/base/sinks.h"
#include "core/export/dataset/dataset.h"
#include "core/export/dataset/questions.h"
#include "core/sql/base/sql.h"
#include "core/store/store.h"
#include "tests/app/program_run.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app;
using listing::SqlResult;
using listing::SqlValue;
using test::holds;
using test::ProgramOutcome;
using test::run;

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDayNs = 86'400'000'000'000;
constexpr std::int64_t kFirstDayNs = 1'767'225'600'000'000'000;  // 2026-01-01

// What the sessions of a fleet hold, added up by SQL over each of them.
struct FleetSums {
  std::int64_t sessions = 0, events = 0, samples = 0, slice_ns = 0, tracks = 0;
};

bool has_duckdb() {
  static const bool found = output::DuckDb::find([] { return false; }).ok();
  return found;
}

std::int64_t number_of(const Store& store, WorkerPool& pool, const std::string& sql) {
  TaskControl control;
  sql::Session session(store, store.snapshot(), pool);
  const auto rows = session.run(sql, {}, control);
  REQUIRE_MESSAGE(rows.ok(), rows.message());
  const auto* number = std::get_if<std::int64_t>(&rows->at(0, 0));
  return number == nullptr ? 0 : *number;
}

// Sessions of eight hosts, four jobs and ten days. Host 3 is slower, and from the sixth day on all are.
FleetSums write_fleet(const std::string& folder, int count) {
  FleetSums sums;
  WorkerPool pool;
  fs::create_directories(folder);
  for (int i = 0; i < count; ++i) {
    const auto store = Store::create();
    REQUIRE(store.ok());
    const int host = i % 8, day = i / 8 % 10;
    capture::sim::SimulationOptions options;
    options.seed = static_cast<std::uint64_t>(i) + 1;
    options.events = 300;
    options.detail = capture::sim::Detail::slim;
    options.slower = (host == 3 ? 0.5 : 0.0) + (day >= 5 ? 0.25 : 0.0);
    StoreSink sink(**store);
    REQUIRE(capture::sim::simulate(options, sink).ok());
    const auto define = [&](const char* key, const std::string& value) {
      REQUIRE((*store)->define(0, MetaEntry{key, value}).ok());
    };
    define("capture.host", fmt::format("trn1-{:02}", host));
    define("capture.begin_unix_ns", std::to_string(kFirstDayNs + day * kDayNs + i));
    define("job.id", std::to_string(100 + i / 8 % 4));
    REQUIRE((*store)->save(fmt::format("{}/{:04}.accel", folder, i)).ok());
    ++sums.sessions;
    sums.slice_ns += number_of(**store, pool, "SELECT sum(dur_ns) FROM slice");
    sums.tracks += number_of(**store, pool, "SELECT count(*) FROM track");
    for (const LaneSnapshot& lane : (*store)->snapshot()->lanes)
      (lane.schema->kind == EventKind::counter ? sums.samples : sums.events) +=
          static_cast<std::int64_t>(lane.event_count);
  }
  return sums;
}

// All rows of a table, and the number of its files.
struct TableRows {
  std::vector<std::string> columns;
  std::vector<std::map<std::string, SqlValue>> rows;
  std::size_t files = 0;
};
TableRows table_of(const std::string& dataset, const std::string& table) {
  TableRows all;
  for (const auto& entry : fs::recursive_directory_iterator(dataset + "/" + table)) {
    if (!entry.is_regular_file()) continue;
    CHECK(entry.path().filename() == "data.parquet");  // no draft was left behind
    const auto read = output::read_parquet_rows(entry.path().string());
    REQUIRE_MESSAGE(read.ok(), read.message());
    ++all.files;
    all.columns = read->columns;
    for (std::size_t row = 0; row < read->row_count(); ++row) {
      auto& cells = all.rows.emplace_back();
      for (std::size_t i = 0; i < read->columns.size(); ++i) cells[read->columns[i]] = read->at(row, i);
    }
  }
  return all;
}

std::int64_t whole(const SqlValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? 0 : *number;
}
std::string word(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}
std::int64_t sum_of(const TableRows& table, const std::string& column) {
  std::int64_t sum = 0;
  for (const auto& row : table.rows) sum += whole(row.at(column));
  return sum;
}

ProgramOutcome add_to(const std::string& dataset, const std::vector<std::string>& inputs) {
  std::vector<std::string> words = {"export", "--parquet", dataset};
  words.insert(words.end(), inputs.begin(), inputs.end());
  return run(words);
}

// The first cell of an answer of DuckDB.
std::string asked(const std::string& dataset, const std::string& sql) {
  const ProgramOutcome outcome = run({"fleet", dataset, "--query", sql, "--format", "csv"});
  const std::size_t head = outcome.out.find('\n');
  return outcome.code == terminal::kExitDone && head != std::string::npos
             ? outcome.out.substr(head + 1, outcome.out.find('\n', head + 1) - head - 1)
             : "failed: " + outcome.err;
}

}  // namespace

TEST_CASE("fleet: a data set holds every session once, with all its events, also when it is exported again") {
  const test::TemporaryFolder folder;
  const std::string runs = folder.file("runs"), dataset = folder.file("fleet");
  const FleetSums sums = write_fleet(runs, has_duckdb() ? 1000 : 40);
  const ProgramOutcome made = add_to(dataset, {runs});
  REQUIRE_MESSAGE(made.code == terminal::kExitDone, made.err);
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    const TableRows sessions = table_of(dataset, "sessions");
    CHECK(static_cast<std::int64_t>(sessions.rows.size()) == sums.sessions);
    CHECK(sum_of(sessions, "events") == sums.events);
    CHECK(sum_of(sessions, "samples") == sums.samples);
    CHECK(sum_of(sessions, "tracks") == sums.tracks);
    const TableRows operations = table_of(dataset, "operations");
    CHECK(sum_of(operations, "total_ns") == sums.slice_ns);
    CHECK(static_cast<std::int64_t>(table_of(dataset, "tracks").rows.size()) == sums.tracks);
    if (has_duckdb()) {
      CHECK(asked(dataset, "SELECT count(*) FROM events") == std::to_string(sums.events));
      CHECK(asked(dataset, "SELECT CAST(sum(dur_ns) AS BIGINT) FROM events") == std::to_string(sums.slice_ns));
      CHECK(asked(dataset, "SELECT count(*) FROM counters") == std::to_string(sums.samples));
      CHECK(asked(dataset, "SELECT count(DISTINCT session_id) FROM events") == std::to_string(sums.sessions));
      CHECK(asked(dataset, "SELECT count(DISTINCT date) FROM sessions") == (sums.sessions >= 80 ? "10" : "5"));
      // One that is not whole, or twice there, would not join.
      CHECK(
          asked(
              dataset,
              "SELECT count(*) FROM sessions s JOIN (SELECT session_id, date, count(*) AS n FROM events GROUP BY 1, 2) "
              "e ON e.session_id = s.session_id AND e.date = s.date WHERE e.n = s.events AND s.host LIKE 'trn1-%'") ==
          std::to_string(sums.sessions));
    } else {
      const TableRows events = table_of(dataset, "events");
      CHECK(static_cast<std::int64_t>(events.rows.size()) == sums.events);
      CHECK(sum_of(events, "dur_ns") == sums.slice_ns);
    }
    // Again, some of them as copies under other names; the second round sees the same.
    fs::copy_file(runs + "/0007.accel", folder.file("copy.accel"), fs::copy_options::overwrite_existing);
    REQUIRE(add_to(dataset, {runs + "/0003.accel", folder.file("copy.accel")}).code == terminal::kExitDone);
  }
}

TEST_CASE("fleet: the questions find the host that was made slow and the kernels that got slower") {
  if (!has_duckdb()) {
    MESSAGE("skipped: there is no DuckDB (duckdb on the PATH, or the module of python3 or node)");
    return;
  }
  const test::TemporaryFolder folder;
  const std::string dataset = folder.file("fleet");
  write_fleet(folder.file("runs"), 80);
  REQUIRE(add_to(dataset, {folder.file("runs")}).code == terminal::kExitDone);
  const auto answer = [&](const std::string& question) {
    const ProgramOutcome outcome = run({"fleet", dataset, question, "--since", "2026-01-06", "--format", "csv"});
    CHECK_MESSAGE(outcome.code == terminal::kExitDone, outcome.err);
    return outcome.out;
  };
  const std::string stragglers = answer("stragglers");
  CHECK(holds(stragglers, "host,job,total_ns,others_ns,slower_share,operations\ntrn1-03,"));
  CHECK(holds(answer("slower"), "name,track_kind,before_ns,since_ns,change_share,cost_ns,calls\n"));
  CHECK(std::ranges::count(answer("slower"), '\n') > 1);
  CHECK(holds(answer("utilisation"), "2026-01-10,"));
  CHECK(holds(answer("days"), "2026-01-10,8,8,1,"));
  CHECK(holds(answer("memory"), "host,memory,sessions,peak_bytes,mean_bytes,session_id\n"));
  CHECK(holds(answer("growth"), "name,unit,before_mean,since_mean,change_share\n"));
  CHECK(holds(answer("losses"), "kind,severity,sessions,occurrences,last_day\n"));
  // For people all of them, each under its title.
  const ProgramOutcome all = run({"fleet", dataset, "--since", "2026-01-06", "--limit", "3"});
  for (const exporting::FleetQuestion& each : exporting::fleet_questions())
    CHECK(holds(all.out, fmt::format("{}: {}", each.name, each.summary)));
  // Of nothing it says why.
  const ProgramOutcome later = run({"fleet", dataset, "stragglers", "--since", "2027-01-01"});
  CHECK(holds(later.out, "two hosts that are known"));
  const ProgramOutcome wrong = run({"fleet", dataset, "--query", "SELECT nothing FROM sessions"});
  CHECK(wrong.code == terminal::kExitFailed);
  CHECK(holds(wrong.err, "nothing"));
}

TEST_CASE("fleet: without DuckDB it says how to get one and still prints the queries for another engine") {
  const test::TemporaryFolder folder;
  const std::string dataset = folder.file("fleet");
  test::save_small_session(folder.path());
  REQUIRE(add_to(dataset, {folder.file("small.accel")}).code == terminal::kExitDone);
  const std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  const ProgramOutcome none = run({"fleet", dataset, "days"});
  ::setenv("PATH", path.c_str(), 1);
  CHECK(none.code == terminal::kExitFailed);
  CHECK(holds(none.err, "pip install duckdb"));
  CHECK(holds(none.err, "--sql"));

  std::set<std::string> queries;
  for (const char* engine : {"duckdb", "spark", "trino"}) {
    const ProgramOutcome sql =
        run({"fleet", "s3://bucket/fleet", "slower", "--sql", "--for", engine, "--since", "2026-01-06"});
    CHECK(sql.code == terminal::kExitDone);
    CHECK(holds(sql.out, "s3://bucket/fleet/operations"));
    CHECK(holds(sql.out, "date >= DATE '2026-01-06'"));
    queries.insert(sql.out.substr(sql.out.find("\n-- slower")));
  }
  CHECK(queries.size() == 1);  // the same for all
  CHECK(run({"fleet", dataset, "--since", "2026-02-30", "--sql"}).code == terminal::kExitUsage);
  CHECK(run({"fleet", dataset, "nonsense", "--sql"}).code == terminal::kExitUsage);
  CHECK(run({"fleet", dataset, "--json"}).code == terminal::kExitUsage);
  CHECK(holds(run({"fleet", folder.file("nothing"), "days"}).err, "accelscope export --parquet"));
}

TEST_CASE("fleet: what an event has is in its row, and a session without a date is filed under the day it was saved") {
  const test::TemporaryFolder folder;
  const std::string dataset = folder.file("fleet"), session = folder.file("small.accel");
  test::save_small_session(folder.path());
  REQUIRE(add_to(dataset, {session}).code == terminal::kExitDone);
  for (const exporting::DatasetTable& table : exporting::dataset_tables()) {
    CAPTURE(table.name);
    const TableRows rows = table_of(dataset, std::string(table.name));
    CHECK(rows.files == 1);
    std::vector<std::string> names;
    for (const exporting::DatasetColumn& column : table.columns) names.push_back(column.field.name);
    CHECK(rows.columns == names);
  }
  const TableRows events = table_of(dataset, "events");
  const auto row =
      std::ranges::find_if(events.rows, [](const auto& each) { return holds(word(each.at("args")), "kernel.py:3"); });
  REQUIRE(row != events.rows.end());
  CHECK(word(row->at("args")).starts_with("{\""));
  CHECK(word(row->at("kind")) == "slice");
  // As SQL over the session has it.
  CHECK(test::csv(session,
                  fmt::format("SELECT ts_ns, dur_ns, name FROM slice WHERE id = {}", whole(row->at("event_id")))) ==
        fmt::format("{},{},{}\n", whole(row->at("ts_ns")), whole(row->at("dur_ns")), word(row->at("name"))));
  const TableRows counters = table_of(dataset, "counters");
  REQUIRE_FALSE(counters.rows.empty());
  CHECK(test::csv(session, fmt::format("SELECT count(*) FROM counter WHERE id = {}",
                                       whole(counters.rows.front().at("event_id")))) == "1\n");
  CHECK(std::to_string(table_of(dataset, "flows").rows.size()) + "\n" ==
        test::csv(session, "SELECT count(*) FROM flow"));
  CHECK(word(table_of(dataset, "sessions").rows.front().at("date_from")) == "saved");

  // The file is saved on another day: its rows move there.
  fs::last_write_time(session, fs::last_write_time(session) - std::chrono::hours(72));
  REQUIRE(add_to(dataset, {session}).code == terminal::kExitDone);
  CHECK(table_of(dataset, "sessions").files == 1);
  CHECK(table_of(dataset, "events").rows.size() == events.rows.size());
  CHECK(run({"export", "--parquet", dataset, session, "--tables", "nonsense"}).code == terminal::kExitUsage);
  const ProgramOutcome missing = run({"export", "--parquet", dataset, folder.file("missing.accel"), session});
  CHECK(missing.code == terminal::kExitFailed);
  CHECK(holds(missing.err, "missing.accel"));
  CHECK(holds(missing.err, "1 session, "));  // the other is in all the same
}

TEST_CASE("fleet: a session is of the rank that its trace states, one of several ranks of none") {
  const test::TemporaryFolder folder;
  fs::create_directories(folder.file("both"));
  for (int rank = 0; rank < 2; ++rank) {
    test::write_file(folder.file(fmt::format("both/rank_{}.json", rank)),
                     fmt::format(R"({{"schemaVersion":1,"distributedInfo":{{"rank":{},"world_size":2}},)"
                                 R"("traceEvents":[{{"ph":"X","cat":"cpu_op","name":"op","pid":{},"tid":1,"ts":1,)"
                                 R"("dur":1}}]}})",
                                 rank, 7 + rank));
  }
  const auto rank_of = [&](const std::string& dataset, const std::string& input) {
    const ProgramOutcome made = add_to(folder.file(dataset), {folder.file(input)});
    REQUIRE_MESSAGE(made.code == terminal::kExitDone, made.err);
    const TableRows sessions = table_of(folder.file(dataset), "sessions");
    REQUIRE(sessions.rows.size() == 1);
    CHECK(whole(sessions.rows.front().at("job_ranks")) == 2);
    return sessions.rows.front().at("job_rank");
  };
  CHECK(rank_of("one", "both/rank_1.json") == SqlValue(std::int64_t{1}));
  REQUIRE(run({"import", folder.file("both"), "-o", folder.file("both.accel")}).code == terminal::kExitDone);
  CHECK(rank_of("several", "both.accel") == SqlValue());
}
