// Any session as JSON tables, checked with SQLite's JSON functions against the plain events.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <map>

#include "core/base/json.h"
#include "core/export/json_row.h"
#include "core/export/json_tables.h"
#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::exporting;

namespace {

// One value that SQLite makes of a JSON text.
class JsonText {
 public:
  explicit JsonText(const std::string& text) {
    REQUIRE(sqlite3_open(":memory:", &database_) == SQLITE_OK);
    ask("CREATE TABLE j(t)");
    sqlite3_stmt* insert = nullptr;
    REQUIRE(sqlite3_prepare_v2(database_, "INSERT INTO j VALUES(?)", -1, &insert, nullptr) == SQLITE_OK);
    sqlite3_bind_text(insert, 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    CHECK(sqlite3_step(insert) == SQLITE_DONE);
    sqlite3_finalize(insert);
  }
  ~JsonText() { sqlite3_close(database_); }
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

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

std::string exported(RandomSession& session, const TimeRange& range = {}) {
  JsonExport request{session.context(), {}, range, {}};
  std::string text;
  const auto report = export_json(request, [&](std::string_view part) {
    text += part;
    return Result<void>{};
  });
  REQUIRE(report.ok());
  return text;
}

}  // namespace

TEST_CASE("JSON tables of any session hold every event once, with its time, name and columns") {
  RandomSession session(5, 2'000);
  JsonText json(exported(session));
  CHECK(json.ask("SELECT json_valid(t) FROM j") == "1");
  struct Sums {
    std::uint64_t rows = 0;
    std::int64_t begin = 0, length = 0, bytes = 0;
    std::uint64_t located = 0;
  };
  std::map<std::string, Sums> expected;
  for (const PlainEvent& event : session.events) {
    Sums& sums = expected[session.snapshot->lanes[event.lane].schema->name];
    ++sums.rows;
    sums.begin += event.begin_ns;
    sums.length += event.end_ns - event.begin_ns;
    sums.bytes += std::max<std::int64_t>(event.bytes, 0);
    sums.located += event.location.empty() ? 0 : 1;
  }
  REQUIRE(expected.size() == 2);
  for (const auto& [table, sums] : expected) {
    CAPTURE(table);
    const auto total = [&](const std::string& what) {
      return json.ask(fmt::format("SELECT {} FROM j, json_each(j.t, '$.{}') r", what, table));
    };
    CHECK(total("count(*)") == std::to_string(sums.rows));
    CHECK(total("sum(r.value ->> 'timestamp')") == std::to_string(sums.begin));
    CHECK(total("sum(r.value ->> 'duration')") == std::to_string(sums.length));
    CHECK(total("sum(r.value ->> 'bytes')") == std::to_string(sums.bytes));
    CHECK(total("count(r.value ->> 'line')") == std::to_string(sums.located));
    CHECK(total("count(DISTINCT r.value ->> 'track')") == "3");
  }
}

TEST_CASE("JSON tables of a range hold the events that share time with it") {
  RandomSession session(6, 2'000);
  for (int round = 0; round < 20; ++round) {
    const TimeRange range = session.random_range();
    CAPTURE(range.begin_ns);
    CAPTURE(range.end_ns);
    std::map<std::string, std::uint64_t> expected{{"instruction", 0}, {"dma", 0}};
    for (const PlainEvent& event : session.events) {
      const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
      if (tick_range(lane, range).holds(event.begin_ticks, event.end_ticks)) ++expected[lane.schema->name];
    }
    JsonText json(exported(session, range));
    CHECK(json.ask("SELECT json_valid(t) FROM j") == "1");
    for (const auto& [table, rows] : expected) {
      CHECK(json.ask(fmt::format("SELECT count(*) FROM j, json_each(j.t, '$.{}')", table)) == std::to_string(rows));
    }
  }
}

TEST_CASE("JSON tables stop where the receiver fails or the user cancels") {
  RandomSession session(7, 2'000);
  JsonExport request{session.context(), {}, {}, {}};
  int calls = 0;
  const auto full = export_json(request, [&](std::string_view) -> Result<void> {
    if (++calls > 3) return Error{"the disk is full"};
    return {};
  });
  REQUIRE_FALSE(full.ok());
  CHECK(full.message() == "the disk is full");
  CHECK(calls == 4);
  session.control.cancel();
  CHECK_FALSE(export_json(request, [](std::string_view) { return Result<void>{}; }).ok());
}

TEST_CASE("JSON texts are quoted so that every reader gets them back") {
  const auto quoted = [](std::string_view text) {
    std::string out;
    append_json_quoted(out, text);
    return out;
  };
  CHECK(quoted("plain") == "\"plain\"");
  CHECK(quoted("a\"b\\c") == "\"a\\\"b\\\\c\"");
  for (const std::string& text : {std::string("tab\tnewline\n"), std::string("caf\xc3\xa9"), std::string("\x01\x1f")}) {
    JsonText json("[" + quoted(text) + "]");
    CHECK(json.ask("SELECT t ->> '$[0]' FROM j") == text);
  }
}
