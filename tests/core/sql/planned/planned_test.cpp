// Which queries are answered by loops over chunks, and that nothing else about them changes.
#include "core/lod/range_statistics.h"
#include "tests/core/odd_session.h"
#include "tests/core/random_session.h"

using namespace accelscope;

namespace {

std::string failure_of(const Result<listing::SqlResult>& result) { return result.ok() ? "" : result.message(); }

}  // namespace

TEST_CASE("planned SQL: what users ask most is answered without a row by row scan, with the same cells and titles") {
  OddSession session(21, 500);
  const std::vector<std::string> ordered{
      "SELECT count(*) FROM slice",
      "select COUNT ( * ) , Sum(Dur_ns)/1e6 ms from SLICE where NAME like '%MAT%' ;",
      "SELECT name, count(*), sum(dur_ns)/1e6 AS ms FROM slice GROUP BY name ORDER BY ms DESC, name LIMIT 10",
      "SELECT name, sum(dur_ns) AS dur_ns FROM slice GROUP BY name ORDER BY dur_ns DESC, name",
      "SELECT name AS n, count(*) c FROM slice GROUP BY n HAVING c > 3 ORDER BY c DESC, n",
      "SELECT name, count(*) AS \"how many\" FROM slice GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5 OFFSET 2",
      "SELECT s.\"name\", max(s.ts_ns + s.dur_ns) - min(s.ts_ns) FROM slice AS s GROUP BY s.name ORDER BY [name]",
      "SELECT count(*) FROM slice WHERE ts_ns < 6000 AND ts_ns + dur_ns > 5*1000 -- a window",
      "SELECT count(*), sum(dur_ns), min(ts_ns), max(end_ns - ts_ns) FROM slice WHERE (name = 'matmul_4')",
      "SELECT round(avg(dur_ns), 2), max(min(dur_ns), 5), coalesce(sum(flag), 0) FROM op WHERE category = 'compute'",
      "SELECT CASE WHEN count(*) > 5 THEN 'many' ELSE 'few' END, typeof(sum(dur_ns)) FROM slice",
      "SELECT upper(name) AS name, count(1) FROM slice GROUP BY name ORDER BY name, 2",
      "SELECT count(*) FROM slice WHERE name = 'it''s'",
      "SELECT name, count(*) AS a1, sum(dur_ns) AS a0 FROM slice GROUP BY name HAVING a0 > 60 ORDER BY a0 + 0, name",
      "SELECT count(*) AS made_a1, sum(dur_ns) AS made_a0 FROM slice GROUP BY name ORDER BY made_a0, made_a1",
      "SELECT * FROM slice ORDER BY dur_ns DESC LIMIT 10",
      "SELECT name, dur_ns / 1000.0 AS us FROM slice WHERE track_id = 1 ORDER BY dur_ns DESC, ts_ns LIMIT 4",
      "SELECT note, rate, key FROM op ORDER BY rate LIMIT 30",
      "SELECT id, ts_ns AS t, name FROM slice WHERE name GLOB '*matmul*' AND track_id <> 1",
      "SELECT * FROM slice WHERE dur_ns BETWEEN 5 AND 20 LIMIT 20",
      std::string(
          "SELECT track.name, track.kind, count(*), sum(dur_ns) FROM slice JOIN track ON slice.track_id = track.id ") +
          "GROUP BY track.name, track.kind ORDER BY 1, 2",
      std::string("SELECT t.device, t.name AS n, avg(value) FROM track t INNER JOIN counter c ON t.id = c.track_id ") +
          "WHERE t.name LIKE 'pend%' GROUP BY t.name, t.device ORDER BY n"};
  for (const std::string& query : ordered) {
    CAPTURE(query);
    const std::uint64_t before = session.sql->planned_answers();
    session.compare(query, true);
    CHECK(session.sql->planned_answers() == before + 1);
  }
}

TEST_CASE("planned SQL: what is not understood in full is left to SQLite") {
  OddSession session(22, 200);
  for (const std::string query :
       {"SELECT name, count(*), ts_ns FROM slice GROUP BY name ORDER BY name",
        "SELECT name, max(ts_ns), dur_ns FROM slice GROUP BY name ORDER BY name",
        "SELECT count(DISTINCT name), group_concat(DISTINCT category) FROM slice",
        "SELECT count(*) FROM slice WHERE name = 'matmul_4' OR dur_ns = 3",
        "SELECT count(*) FROM slice WHERE NOT name = 'matmul_4'",
        "SELECT count(*) FROM slice WHERE name = 'MATMUL_4' COLLATE NOCASE",
        "SELECT count(*) FROM slice WHERE name LIKE '%#_4' ESCAPE '#'",
        "SELECT count(*) FROM slice WHERE dur_ns > '5'",
        "SELECT count(*) FROM slice WHERE dur_ns > (SELECT avg(dur_ns) FROM slice)",
        "SELECT count(*) FROM slice a JOIN slice b ON a.id = b.id",
        "SELECT count(*) FROM slice LEFT JOIN track ON slice.track_id = track.id",
        "SELECT count(*) FILTER (WHERE dur_ns > 5) FROM slice",
        "SELECT sum(dur_ns) OVER () FROM slice LIMIT 3",
        "SELECT sum(dur_ns * 2) FROM slice",
        "SELECT count(*) FROM slice UNION ALL SELECT 7",
        "WITH s AS (SELECT * FROM slice) SELECT count(*) FROM s",
        "SELECT count(*) FROM (SELECT * FROM slice)",
        "SELECT count(*), x'00' FROM slice",
        "SELECT count(*) FROM track",
        "SELECT name, count(*) AS made_a1, sum(dur_ns) AS made_a0 FROM slice GROUP BY 1 HAVING made_a0 > 6 ORDER BY 1",
        "SELECT sum(either) FROM op",
        "SELECT total(rate), sum(rate) FROM op WHERE rate > 0.05",
        "SELECT sum(size) + 1 FROM op WHERE size > 1000000",
        "SELECT 1"}) {
    CAPTURE(query);
    session.compare(query, true);
    session.sql->set_planned(true);
    const std::uint64_t before = session.sql->planned_answers();
    (void)session.run(query, true);
    CHECK(session.sql->planned_answers() == before);
  }
}

TEST_CASE("planned SQL: EXPLAIN, refusals and error messages stay as they are") {
  OddSession session(23, 50);
  for (const std::string query :
       {"EXPLAIN SELECT name, count(*) FROM slice GROUP BY name", "EXPLAIN QUERY PLAN SELECT count(*) FROM slice",
        "SELECT nam, count(*) FROM slice GROUP BY nam", "SELECT count(*) FROM slyce",
        "SELECT count(*) FROM slice WHERE", "SELECT count(*) FROM slice WHERE name REGEXP '('",
        "SELECT count(*) FROM slice; SELECT 2", "DELETE FROM slice", "SELECT name FROM slice GROUP BY name ORDER BY 7",
        "SELECT sum(count(*)) FROM slice", "SELECT count(*) AS n FROM slice WHERE n > 3",
        "SELECT * FROM accelscope_made",
        "SELECT abs(min(ts_ns) - 9223372036854775807 - 9223372036854775807) FROM slice",
        "SELECT sum(id) FROM op WHERE name <> ''", "SELECT sum(size) FROM op"}) {
    session.compare(query, true);
  }
  CHECK_FALSE(failure_of(session.run("DELETE FROM slice", true)).empty());
}

TEST_CASE("planned SQL: counts by name are those of the range statistics") {
  RandomSession session(31, 3000);
  sql::Session sql(*session.store, session.snapshot, session.pool);
  const auto statistics = lod::name_statistics(session.context(), all_lanes(*session.snapshot), {});
  const auto result = sql.run("SELECT name, count(*) FROM slice GROUP BY name", {}, session.control);
  REQUIRE(statistics.ok());
  REQUIRE(result.ok());
  CHECK(sql.planned_answers() == 1);
  REQUIRE(result->row_count() == statistics->names.size());
  for (const lod::NameStatistic& name : statistics->names) {
    const std::string text(session.snapshot->strings->text(name.name));
    bool found = false;
    for (std::size_t row = 0; row < result->row_count(); ++row) {
      if (result->at(row, 0) != listing::SqlValue(text)) continue;
      found = result->at(row, 1) == listing::SqlValue(static_cast<std::int64_t>(name.count));
    }
    CAPTURE(text);
    CHECK(found);
  }
}

TEST_CASE("planned SQL: a query can be cancelled, shows its progress, and the session goes on") {
  RandomSession session(32, 3000);
  sql::Session sql(*session.store, session.snapshot, session.pool);
  const std::vector<std::string> queries{"SELECT dur_ns, count(*) FROM slice GROUP BY dur_ns",
                                         "SELECT id, name FROM slice WHERE dur_ns > 3",
                                         "SELECT * FROM slice ORDER BY dur_ns DESC LIMIT 5"};
  for (const std::string& query : queries) {
    CAPTURE(query);
    TaskControl cancelled;
    cancelled.cancel();
    CHECK(failure_of(sql.run(query, {}, cancelled)) == cancelled_error().message);
    TaskControl control;
    CHECK(failure_of(sql.run(query, {}, control)) == "");
    CHECK(control.total() > 0);
    CHECK(control.done() == control.total());
  }
  CHECK(sql.planned_answers() == queries.size());
}

TEST_CASE("planned SQL: a result is cut at its limit and says so, and a visitor may leave") {
  OddSession session(24, 500);
  TaskControl control;
  for (const char* query : {"SELECT id FROM slice", "SELECT name, track_id, count(*) FROM slice GROUP BY 1, 2"}) {
    CAPTURE(query);
    const auto cut = session.sql->run(query, {.max_rows = 10}, control);
    REQUIRE(cut.ok());
    CHECK(cut->row_count() == 10);
    CHECK(cut->truncated);
  }
  CHECK_FALSE(session.sql->run("SELECT id FROM slice LIMIT 10", {.max_rows = 10}, control)->truncated);
}
