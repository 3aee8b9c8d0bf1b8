// Exports of stacks, and of traces and tables as text, read with SQLite's JSON functions and by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <sstream>

#include "core/export/base/writers.h"
#include "core/export/formats/formats.h"
#include "tests/core/export/export_session.h"

using namespace accelscope;
using namespace accelscope::exporting;
using test::CollectedFiles;
using test::ExportedEvent;
using test::ExportSession;

namespace {

// One value that SQLite makes of a JSON text.
class JsonAnswer {
 public:
  explicit JsonAnswer(const std::string& text) {
    REQUIRE(sqlite3_open(":memory:", &database_) == SQLITE_OK);
    sqlite3_exec(database_, "CREATE TABLE j(t)", nullptr, nullptr, nullptr);
    sqlite3_stmt* insert = nullptr;
    REQUIRE(sqlite3_prepare_v2(database_, "INSERT INTO j VALUES(?)", -1, &insert, nullptr) == SQLITE_OK);
    sqlite3_bind_text(insert, 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    CHECK(sqlite3_step(insert) == SQLITE_DONE);
    sqlite3_finalize(insert);
  }
  ~JsonAnswer() { sqlite3_close(database_); }
  JsonAnswer(const JsonAnswer&) = delete;
  JsonAnswer& operator=(const JsonAnswer&) = delete;

  std::string ask(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    REQUIRE(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    std::string answer;
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != nullptr) {
      answer = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    return answer;
  }

 private:
  sqlite3* database_ = nullptr;
};

std::string exported_by(Result<ExportReport> (*write)(const ExportRequest&, ExportOutput&),
                        const ExportRequest& request, ExportReport* report = nullptr) {
  CollectedFiles output;
  const auto written = write(request, output);
  REQUIRE(written.ok());
  REQUIRE(output.files.size() == 1);
  CHECK(written->bytes == output.files.begin()->second.size());
  if (report != nullptr) *report = *written;
  return output.files.begin()->second;
}

std::map<std::string, std::int64_t> lines_of(const std::string& text) {
  std::map<std::string, std::int64_t> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t blank = line.rfind(' ');
    CHECK(lines.emplace(line.substr(0, blank), std::stoll(line.substr(blank + 1))).second);
  }
  return lines;
}

// Records of a CSV by RFC 4180.
std::vector<std::vector<std::string>> csv_records(const std::string& text) {
  std::vector<std::vector<std::string>> records(1);
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else if (c == '"') {
        quoted = false;
      } else {
        cell += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\n') {
      records.back().push_back(std::move(cell));
      cell.clear();
      if (c == '\n') records.emplace_back();
    } else {
      cell += c;
    }
  }
  CHECK(records.back().empty());
  records.pop_back();
  return records;
}

}  // namespace

TEST_CASE("collapsed stacks hold the time that each call took itself, over all pieces") {
  ExportSession session(11, 100'000);
  const auto lines = lines_of(exported_by(write_collapsed, session.request()));
  std::map<std::string, std::int64_t> expected;
  for (const auto& [stack, ns] : session.self_ns) {
    if (ns > 0) expected["host;main: thread;" + stack] = ns;
  }
  for (const ExportedEvent& event : session.events) {
    if (event.table != "kernel" || event.end == event.begin) continue;
    expected["gpu 0;stream 7;" + event.name] += event.end - event.begin;
  }
  CHECK((lines == expected));
}

TEST_CASE("collapsed stacks of a range hold no time outside of it") {
  ExportSession session(12, 5'000);
  ExportRequest request = session.request();
  const std::int64_t middle = (session.snapshot->begin_ns + session.snapshot->end_ns) / 2;
  request.range = {middle, middle + 700};
  std::int64_t roots = 0;
  for (const ExportedEvent& event : session.events) {
    if (event.name != "step") continue;
    roots += std::max<std::int64_t>(
        0, std::min(event.end, request.range.end_ns) - std::max(event.begin, request.range.begin_ns));
  }
  std::int64_t all = 0;
  for (const auto& [stack, ns] : lines_of(exported_by(write_collapsed, request))) {
    if (stack.starts_with("host;")) all += ns;
  }
  CHECK(roots > 0);
  CHECK(all == roots);
}

TEST_CASE("a speedscope file opens and closes frames in order, a profile for each track") {
  ExportSession session(13, 500);
  ExportReport report;
  JsonAnswer json(exported_by(write_speedscope, session.request(), &report));
  REQUIRE(json.ask("SELECT json_valid(t) FROM j") == "1");
  const auto intervals = std::count_if(session.events.begin(), session.events.end(),
                                       [](const ExportedEvent& event) { return event.table != "mark"; });
  CHECK(report.rows == static_cast<std::uint64_t>(intervals));
  const std::string events = "FROM j, json_each(t, '$.profiles') p, json_each(p.value, '$.events') e";
  CHECK(json.ask("SELECT count(*) " + events) == std::to_string(2 * intervals));
  CHECK(json.ask("SELECT count(*) " + events + " WHERE e.value ->> 'type' = 'O'") == std::to_string(intervals));
  // Times never fall within a profile, and lie within what it says.
  CHECK(json.ask("SELECT count(*) FROM (SELECT e.value ->> 'at' AS at, lag(e.value ->> 'at') OVER (PARTITION BY p.key "
                 "ORDER BY e.key) AS before, p.value ->> 'startValue' AS first, p.value ->> 'endValue' AS last " +
                 events + ") WHERE at < before OR at < first OR at > last") == "0");
  std::int64_t length = 0;
  for (const ExportedEvent& event : session.events) {
    if (event.table != "mark") length += event.end - event.begin;
  }
  CHECK(json.ask("SELECT sum((e.value ->> 'at') * iif(e.value ->> 'type' = 'O', -1, 1)) " + events) ==
        std::to_string(length));
  CHECK(json.ask("SELECT p.value ->> 'name' FROM j, json_each(t, '$.profiles') p LIMIT 1") == "host: main; thread");
  CHECK(std::any_of(report.losses.begin(), report.losses.end(),
                    [](const std::string& loss) { return loss.starts_with("600 samples of counters are left out"); }));
}

TEST_CASE("a Chrome trace holds every event with its arguments, every sample and both ends of every flow") {
  ExportSession session(14, 1'000);
  JsonAnswer json(exported_by(write_chrome, session.request()));
  REQUIRE(json.ask("SELECT json_valid(t) FROM j") == "1");
  const std::string rows = "FROM j, json_each(t, '$.traceEvents') e WHERE e.value ->> 'ph' ";
  CHECK(json.ask("SELECT count(*) " + rows + "IN ('X', 'i')") == std::to_string(session.events.size()));
  CHECK(json.ask("SELECT count(*) " + rows + "= 'C'") == std::to_string(session.samples.size()));
  CHECK(json.ask("SELECT count(*) " + rows + "= 's'") == std::to_string(session.arrows.size()));
  CHECK(json.ask("SELECT count(*) " + rows + "= 'f'") == std::to_string(session.arrows.size()));
  std::int64_t length = 0, notes = 0;
  for (const ExportedEvent& event : session.events) {
    length += event.end - event.begin;
    notes += event.args.contains("note") ? 1 : 0;
  }
  CHECK(json.ask("SELECT CAST(round(sum(e.value ->> 'dur') * 1000) AS INTEGER) " + rows + "= 'X'") ==
        std::to_string(length));
  CHECK(json.ask("SELECT count(e.value ->> '$.args.note') " + rows + "IN ('X', 'i')") == std::to_string(notes));
  CHECK(
      json.ask("SELECT count(*) " + rows + "= 'X' AND e.value ->> 'cat' = 'kernel' AND e.value ->> 'pid' = 'gpu 0'") ==
      std::to_string(std::count_if(session.events.begin(), session.events.end(),
                                   [](const ExportedEvent& event) { return event.table == "kernel"; })));
  // Beyond 2^53 a number is still all its digits.
  CHECK(json.ask("SELECT instr(t, '\"value\":1152921504606846977') > 0 FROM j") == "1");
}

TEST_CASE("one CSV file holds the events of all tables, a folder a file for each") {
  ExportSession session(15, 3'000);
  const auto all = csv_records(exported_by(write_csv, session.request()));
  REQUIRE(all.size() > 1);
  const auto column = [&](const std::vector<std::string>& header, const std::string& name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const std::size_t table = column(all[0], "table"), note = column(all[0], "note"), begin = column(all[0], "ts_ns");
  std::vector<std::string> found, expected;
  for (std::size_t i = 1; i < all.size(); ++i) {
    REQUIRE(all[i].size() == all[0].size());
    if (all[i][table] == "kernel") found.push_back(all[i][begin] + " " + all[i][note]);
  }
  for (const ExportedEvent& event : session.events) {
    const auto text = event.args.find("note");
    if (event.table == "kernel") {
      expected.push_back(std::to_string(event.begin) + " " + (text == event.args.end() ? "" : text->second));
    }
  }
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  CHECK((found == expected));

  CollectedFiles folder;
  ExportRequest request = session.request();
  request.into_folder = true;
  REQUIRE(write_csv(request, folder).ok());
  for (const char* name : {"kernel.csv", "runtime_call.csv", "mark.csv", "tensor.csv", "bytes.csv", "load.csv",
                           "dependency.csv", "flow.csv"}) {
    CAPTURE(name);
    CHECK(folder.files.contains(name));
  }
  CHECK(csv_records(folder.files["tensor.csv"]).size() == 1 + session.rows_without_time);
  CHECK(csv_records(folder.files["flow.csv"]).size() == 1 + session.arrows.size());
  const auto calls = csv_records(folder.files["runtime_call.csv"]);
  CHECK(column(calls[0], "share") < calls[0].size());
  CHECK(calls[1][column(calls[0], "key")] == "9223372036854775808");
}

TEST_CASE("every format of the table writes something, has a name of its own, and stops when the disk is full") {
  ExportSession session(16, 1'000);
  std::vector<std::string_view> names;
  for (const ExportFormat& format : export_formats()) {
    CAPTURE(format.name);
    names.push_back(format.name);
    CHECK(find_export_format(format.name) == &format);
    CHECK(format.suffix.starts_with("."));
    CHECK_FALSE(format.title.empty());
    CHECK_FALSE(format.summary.empty());
    CollectedFiles output;
    ExportRequest request = session.request();
    request.into_folder = format.shape == ExportShape::folder;
    const auto written = format.write(request, output);
    if (format.applies != nullptr && !format.applies(*request.query.snapshot)) {
      REQUIRE_FALSE(written.ok());
      CHECK(written.message().find("the session has") == 0);
      continue;
    }
    REQUIRE(written.ok());
    CHECK(written->rows > 100);
    CollectedFiles full;
    full.writes_left = 1;
    const auto failed = format.write(request, full);
    if (written->bytes > 100'000) CHECK_FALSE(failed.ok());
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(find_export_format("pprof") == nullptr);
}
