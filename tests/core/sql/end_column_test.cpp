#include "core/sql/end_column.h"

#include <doctest/doctest.h>

using namespace accelscope::sql;

namespace {

std::vector<EventTableSpec> tables() {
  std::vector<EventTableSpec> specs(3);
  specs[0].name = "slice";
  specs[0].columns = {
      {"ts_ns", EventField::ts_ns},
      {"dur_ns", EventField::dur_ns},
      {std::string(kEndExpression), EventField::end_ns, accelscope::ColumnType::int64, true, false, true}};
  specs[1] = specs[0];
  specs[1].name = "Op";
  specs[2].name = "counter";
  specs[2].columns = {{"ts_ns", EventField::ts_ns}};
  return specs;
}

std::string rewritten(const std::string& sql) { return with_end_column(sql, tables()); }

}  // namespace

TEST_CASE("SQL: the end of an event as a sum is found in conditions, with any names and blanks") {
  CHECK(rewritten("SELECT id FROM slice WHERE ts_ns < 9 AND ts_ns + dur_ns > 5") ==
        "SELECT id FROM slice WHERE ts_ns < 9 AND [ts_ns + dur_ns] > 5");
  CHECK(rewritten("select 1 from op where 5<DUR_NS+ts_ns;") == "select 1 from op where 5<[ts_ns + dur_ns];");
  CHECK(rewritten("SELECT 1 FROM slice s JOIN op o ON o.ts_ns < s.ts_ns + s.dur_ns") ==
        "SELECT 1 FROM slice s JOIN op o ON o.ts_ns < s.[ts_ns + dur_ns]");
  CHECK(rewritten("SELECT 1 FROM slice WHERE (ts_ns + /* to */ dur_ns) BETWEEN 1 AND 2") ==
        "SELECT 1 FROM slice WHERE ([ts_ns + dur_ns]) BETWEEN 1 AND 2");
  CHECK(rewritten("SELECT 1 FROM track WHERE id IN (SELECT track_id FROM slice WHERE \"ts_ns\"+[dur_ns]>5)") ==
        "SELECT 1 FROM track WHERE id IN (SELECT track_id FROM slice WHERE [ts_ns + dur_ns]>5)");
}

TEST_CASE("SQL: what only looks like an event's end stays as it is") {
  for (const char* other : {
           "SELECT ts_ns + dur_ns FROM slice",
           "SELECT 1 FROM slice WHERE ts_ns + dur_ns * 2 > 5",
           "SELECT 1 FROM slice WHERE 2 * ts_ns + dur_ns > 5",
           "SELECT 1 FROM slice WHERE -ts_ns + dur_ns > 5",
           "SELECT 1 FROM slice WHERE 9 - ts_ns + dur_ns > 5",
           "SELECT 1 FROM slice WHERE ts_ns + ts_ns > 5",
           "SELECT 1 FROM slice WHERE name = 'ts_ns + dur_ns' -- ts_ns + dur_ns",
           "SELECT 1 FROM slice a JOIN slice b ON a.ts_ns + b.dur_ns > 5",
           "SELECT 1 FROM counter WHERE ts_ns + dur_ns > 5",
           "SELECT 1 FROM (SELECT ts_ns, dur_ns FROM slice) WHERE ts_ns + dur_ns > 5",
           "WITH slice AS (SELECT 1 AS ts_ns, 2 AS dur_ns) SELECT 1 FROM slice WHERE ts_ns + dur_ns > 5",
           "WITH slice(ts_ns, dur_ns) AS (VALUES (1, 2)) SELECT 1 FROM slice WHERE ts_ns + dur_ns > 5",
           "SELECT 1 FROM slice GROUP BY ts_ns + dur_ns",
       }) {
    CAPTURE(other);
    CHECK(rewritten(other) == "");
  }
}
