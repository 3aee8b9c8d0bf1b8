#include "core/sql/base/sql.h"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "core/chunk/session_writer.h"

using namespace accelscope;

namespace {

struct WrittenEvent {
  std::int64_t id, track, ts, dur;
  std::string name, note;
  std::int64_t size;
  bool has_size;
  std::uint64_t key;
  double rate;
};

// Two tracks of slices over a session clock and one over a clock of 1.4 ticks per ns, with every type of column.
struct TestSession {
  std::unique_ptr<Store> store = Store::create().value();
  std::vector<WrittenEvent> events;
  TrackNumber counter = 0;

  explicit TestSession(int count) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema =
        writer.add_schema({.name = "op",
                           .name_column = "opcode",
                           .columns = {{.name = "size", .type = ColumnType::int64},
                                       {.name = "key", .type = ColumnType::uint64, .required = true},
                                       {.name = "rate", .type = ColumnType::float64, .required = true},
                                       {.name = "kind", .type = ColumnType::string},
                                       {.name = "note", .type = ColumnType::text},
                                       {.name = "id", .type = ColumnType::int64}}});
    const ClockNumber clock = writer.add_clock({.name = "device", .ticks_per_ns = 1.4});
    const std::array tracks{writer.add_track({.name = "a", .kind = "engine", .device = "nc0", .schema = schema}),
                            writer.add_track({.name = "b", .kind = "engine", .device = "nc1", .schema = schema}),
                            writer.add_track({.name = "c", .kind = "stream", .schema = schema, .clock = clock})};
    std::mt19937_64 random(7);
    for (const TrackNumber track : tracks) {
      std::int64_t ticks = 1000;
      const double rate = track == tracks[2] ? 1.4 : 1.0;
      for (int i = 0; i < count; ++i) {
        const std::int64_t duration = static_cast<std::int64_t>(random() % (random() % 50 == 0 ? 100'000 : 300));
        ticks += static_cast<std::int64_t>(random() % 200);
        WrittenEvent event;
        event.name = "name_" + std::to_string(random() % 40);
        event.size = static_cast<std::int64_t>(random() % 100'000) - 50'000;
        event.has_size = random() % 5 != 0;
        event.key = random();
        event.rate = static_cast<double>(random() % 1000) / 8;
        event.note = "note " + std::to_string(i);
        Row row = writer.begin_event(track, ticks, duration, writer.intern(event.name));
        if (event.has_size) row.integer(0, event.size);
        row.unsigned_integer(1, event.key);
        row.real(2, event.rate);
        row.string(3, writer.intern(i % 2 == 0 ? "even" : "odd"));
        row.text(4, event.note);
        row.integer(5, i);
        event.id = static_cast<std::int64_t>(row.id());
        event.track = track;
        const auto ns = [&](std::int64_t t) {
          return static_cast<std::int64_t>(std::floor(static_cast<double>(t) / rate));
        };
        event.ts = ns(ticks);
        event.dur = ns(ticks + duration) - event.ts;
        events.push_back(event);
        ticks += duration;
      }
    }
    write_others(writer);
    REQUIRE(writer.finish().ok());
  }

  void write_others(SessionWriter& writer) {
    const SchemaNumber samples =
        writer.add_schema({.name = "queue",
                           .kind = EventKind::counter,
                           .columns = {{.name = "value", .role = Role::value, .required = true}}});
    counter = writer.add_track({.name = "pending", .kind = "counter", .schema = samples});
    for (std::int64_t i = 0; i < 10; ++i) writer.sample(counter, i * 100, i * i);
    const SchemaNumber memory =
        writer.add_schema({.name = "memory",
                           .kind = EventKind::memory,
                           .columns = {{.name = "bytes", .role = Role::allocation},
                                       {.name = "address", .type = ColumnType::uint64, .role = Role::address},
                                       {.name = "tensor", .type = ColumnType::string, .role = Role::tensor}}});
    const TrackNumber heap = writer.add_track({.name = "hbm", .kind = "memory", .schema = memory});
    const auto allocate = [&](std::int64_t ts, std::int64_t bytes, std::uint64_t address) {
      Row row = writer.begin_event(heap, ts, 0, writer.intern("t"));
      row.integer(0, bytes);
      row.unsigned_integer(1, address);
      row.string(2, writer.intern("tensor_a"));
    };
    allocate(100, 4096, 0xffff'8000'0000'0000);
    allocate(200, 512, 64);
    allocate(300, -4096, 0xffff'8000'0000'0000);
    writer.set_meta("instance", "test");
    writer.add_quality({"rows_skipped", 3, "three rows"});
    writer.add_metric({.name = "total", .group = "overall", .value = 1.5, .unit = "s"});
    writer.add_source_file("k.py", "abc");
  }
};

struct QueriedSession : TestSession {
  // Row by row: sql_planned_test asks the other way too.
  explicit QueriedSession(int count) : TestSession(count), sql(*store, store->snapshot(), pool) {
    sql.set_planned(false);
  }
  WorkerPool pool{2};
  sql::Session sql;
  TaskControl control;

  listing::SqlResult ask(const std::string& query) {
    CAPTURE(query);
    Result<listing::SqlResult> result = sql.run(query, {}, control);
    const std::string message = result.ok() ? "" : result.message();
    REQUIRE(message == "");
    return std::move(*result);
  }
  std::int64_t number(const std::string& query) { return std::get<std::int64_t>(ask(query).at(0, 0)); }
  std::string text(const std::string& query) { return std::get<std::string>(ask(query).at(0, 0)); }
  std::string failure(const std::string& query) {
    const Result<listing::SqlResult> result = sql.run(query, {}, control);
    return result.ok() ? "" : result.message();
  }
  std::vector<std::int64_t> ids(const std::string& query) {
    const listing::SqlResult result = ask(query);
    std::vector<std::int64_t> all;
    for (std::size_t row = 0; row < result.row_count(); ++row) all.push_back(std::get<std::int64_t>(result.at(row, 0)));
    return all;
  }
};

}  // namespace

TEST_CASE("SQL: the slice table holds every event exactly") {
  QueriedSession session(3000);
  const listing::SqlResult result =
      session.ask("SELECT id, track_id, ts_ns, dur_ns, name, category, schema FROM slice");
  REQUIRE(result.row_count() == session.events.size());
  std::map<std::int64_t, const WrittenEvent*> by_id;
  for (const WrittenEvent& event : session.events) by_id[event.id] = &event;
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < result.row_count(); ++row) {
    const WrittenEvent* event = by_id[std::get<std::int64_t>(result.at(row, 0))];
    REQUIRE(event != nullptr);
    const bool same =
        result.at(row, 1) == listing::SqlValue(event->track) && result.at(row, 2) == listing::SqlValue(event->ts) &&
        result.at(row, 3) == listing::SqlValue(event->dur) && result.at(row, 4) == listing::SqlValue(event->name) &&
        result.at(row, 6) == listing::SqlValue("op");
    wrong += same ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(session.text("SELECT group_concat(DISTINCT category) FROM slice") == "engine,stream");
}

TEST_CASE("SQL: a condition answered inside the scan gives the rows that an unfiltered scan gives") {
  QueriedSession session(20'000);
  const std::vector<std::string> conditions = {
      "ts_ns >= 500000 AND ts_ns < 900000",
      "ts_ns > 500000.5 AND ts_ns <= 600000.5",
      "ts_ns = (SELECT max(ts_ns) FROM slice)",
      "ts_ns BETWEEN 1000000 AND 400000",
      "end_ns >= 700000 AND end_ns <= 800000",
      "ts_ns < 800000 AND ts_ns + dur_ns > 700000",
      "dur_ns + ts_ns = (SELECT max(end_ns) FROM slice)",
      "ts_ns + dur_ns > '700000'",
      "ts_ns + dur_ns < '7'",
      "ts_ns + dur_ns BETWEEN 3000.5 AND 4000",
      "dur_ns > 5000",
      "dur_ns = 17",
      "dur_ns <= 1",
      "dur_ns > '90000'",
      "dur_ns < 'soon'",
      "dur_ns > NULL",
      "track_id = 1",
      "track_id IN (0, 2)",
      "track_id > 1",
      "opcode = 'name_7'",
      "opcode = 'NAME_7' COLLATE NOCASE",
      "opcode IN ('name_7', 'name_8', 'absent')",
      "opcode LIKE 'NAME_1%'",
      "opcode GLOB 'name_?'",
      "opcode REGEXP '_(3|4)$'",
      "opcode = 'absent'",
      "opcode > 'name_38'",
      "size > 40000",
      "size = -50000",
      "size BETWEEN -10 AND 10.5",
      "size <> 5",
      "size IS NULL",
      "rate > 124.5",
      "rate = 3.125",
      "rate <= 0",
      "key < 1000000000000000000",
      "key >= 0",
      "key > '9'",
      "kind = 'odd'",
      "kind <> 'odd'",
      "kind <> 'ODD' COLLATE NOCASE",
      "kind > 'even' AND kind <= 'odd'",
      "opcode <> 'name_3' AND opcode < 'name_35'",
      "opcode <> NULL",
      "opcode >= 5",
      "kind GLOB 'e*'",
      "note = 'note 77'",
      "event_id > (SELECT max(id) FROM slice) - 70",
  };
  for (const std::string& condition : conditions) {
    CAPTURE(condition);
    // A subquery with a LIMIT is computed whole: the outer condition does not reach the table.
    const std::string all = "(SELECT event_id, end_ns, * FROM op LIMIT -1 OFFSET 0)";
    const auto pushed = session.ids("SELECT event_id FROM op WHERE " + condition + " ORDER BY +event_id");
    const auto plain = session.ids("SELECT event_id FROM " + all + " WHERE " + condition + " ORDER BY +event_id");
    CHECK(pushed == plain);
  }
}

TEST_CASE("SQL: a condition on ts_ns + dur_ns reads as little as one on end_ns") {
  QueriedSession session(40'000);
  const auto chunks_read = [&](const std::string& condition) {
    TaskControl control;
    const auto result = session.sql.run("SELECT count(*) FROM slice WHERE " + condition, {}, control);
    REQUIRE(result.ok());
    CHECK(std::get<std::int64_t>(result->at(0, 0)) > 0);
    return control.total();
  };
  const std::uint64_t all = chunks_read("ts_ns + dur_ns + 0 > 100");
  const std::string last = std::to_string(session.number("SELECT max(ts_ns) FROM slice"));
  CHECK(chunks_read("ts_ns + dur_ns > " + last) < all);
  CHECK(chunks_read("ts_ns + dur_ns < 5000") < all);
  const listing::SqlResult named = session.ask("SELECT count(*) FILTER (WHERE ts_ns + dur_ns > 5) FROM slice");
  CHECK(named.columns[0] == "count(*) FILTER (WHERE ts_ns + dur_ns > 5)");
}

TEST_CASE("SQL: LIMIT with OFFSET gives the rows that counting them off gives") {
  QueriedSession session(40'000);
  for (const std::string& rest :
       {std::string(), std::string("WHERE dur_ns > 100"), std::string("WHERE track_id IN (0, 2)"),
        std::string("WHERE name <> 'name_7' AND id > 5000"), std::string("WHERE ts_ns > 3000000 ORDER BY id"),
        std::string("ORDER BY ts_ns"), std::string("WHERE dur_ns > 100 ORDER BY ts_ns, id"),
        std::string("WHERE category LIKE 'S%' ORDER BY ts_ns DESC")}) {
    const std::vector<std::int64_t> all = session.ids("SELECT id FROM slice " + rest);
    for (const std::size_t offset : {0UL, 1UL, 63UL, 16'384UL, 16'390UL, 70'001UL, 500'000UL}) {
      CAPTURE(rest);
      CAPTURE(offset);
      const auto some = session.ids("SELECT id FROM slice " + rest + " LIMIT 5 OFFSET " + std::to_string(offset));
      const std::size_t first = std::min(offset, all.size());
      const std::size_t last = std::min(first + 5, all.size());
      CHECK(some == std::vector<std::int64_t>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                              all.begin() + static_cast<std::ptrdiff_t>(last)));
    }
  }
  CHECK(session.ids("SELECT id FROM slice LIMIT 3 OFFSET -1").size() == 3);
}

TEST_CASE("SQL: category and schema are conditions on lanes and dictionaries") {
  QueriedSession session(500);
  CHECK(session.number("SELECT count(*) FROM slice WHERE schema = 'op'") == 1500);
  CHECK(session.number("SELECT count(*) FROM slice WHERE schema <> 'op'") == 0);
  CHECK(session.number("SELECT count(*) FROM slice WHERE schema GLOB 'o*' AND category = 'engine'") == 1000);
  CHECK(session.number("SELECT count(*) FROM slice WHERE category <> 'engine'") == 500);
  CHECK(session.failure("SELECT * FROM slice WHERE schema REGEXP '('").find("regular expression") != std::string::npos);
}

TEST_CASE("SQL: a chunk that cannot be read costs its rows, not the query") {
  const std::string path = (std::filesystem::temp_directory_path() / "accelscope_sql_damaged.accel").string();
  {
    const TestSession whole(40'000);
    REQUIRE(whole.store->save(path).ok());
  }
  sqlite3* file = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &file) == SQLITE_OK);
  REQUIRE(sqlite3_exec(file, "UPDATE chunk SET payload = zeroblob(length(payload)) WHERE id = 2", nullptr, nullptr,
                       nullptr) == SQLITE_OK);
  std::int64_t lost = 0;
  sqlite3_exec(
      file, "SELECT count FROM chunk WHERE id = 2",
      [](void* out, int, char** values, char**) {
        *static_cast<std::int64_t*>(out) = std::stoll(values[0]);
        return 0;
      },
      &lost, nullptr);
  sqlite3_close(file);
  REQUIRE(lost > 0);
  {
    auto store = Store::open(path);
    REQUIRE(store.ok());
    WorkerPool pool(1);
    sql::Session sql(**store, (*store)->snapshot(), pool);
    TaskControl control;
    const auto result = sql.run("SELECT count(+id) FROM slice", {}, control);
    REQUIRE(result.ok());
    CHECK(std::get<std::int64_t>(result->at(0, 0)) == 120'000 - lost);
    CHECK(result->skipped_events == static_cast<std::uint64_t>(lost));
    CHECK(result->note.find("1 chunk could not be read and are left out") != std::string::npos);
    CHECK(sql.note() == result->note);
    const auto other = sql.run("SELECT count(*) FROM track", {}, control);
    CHECK(other->note.empty());
    CHECK(sql.run("SELECT count(*) FROM memory", {}, control).ok());
  }
  std::filesystem::remove(path);
}

TEST_CASE("SQL: random combinations of conditions agree with a plain loop") {
  QueriedSession session(6000);
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t from = static_cast<std::int64_t>(random() % 1'500'000);
    const std::int64_t to = from + static_cast<std::int64_t>(random() % 400'000);
    const std::int64_t longer = static_cast<std::int64_t>(random() % 400);
    const std::string name = "name_" + std::to_string(random() % 45);
    const bool by_name = random() % 2 == 0;
    std::vector<std::int64_t> expected;
    for (const WrittenEvent& event : session.events) {
      if (event.ts >= from && event.ts < to && event.dur > longer && (!by_name || event.name == name))
        expected.push_back(event.id);
    }
    std::sort(expected.begin(), expected.end());
    std::string query = "SELECT id FROM slice WHERE ts_ns >= " + std::to_string(from) + " AND ts_ns < " +
                        std::to_string(to) + " AND dur_ns > " + std::to_string(longer);
    if (by_name) query += " AND name = '" + name + "'";
    CAPTURE(query);
    CHECK(session.ids(query + " ORDER BY id") == expected);
  }
}

TEST_CASE("SQL: grouping by name gives what a plain loop adds up") {
  QueriedSession session(5000);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> expected;
  for (const WrittenEvent& event : session.events) {
    if (event.dur <= 20) continue;
    expected[event.name].first += 1;
    expected[event.name].second += event.dur;
  }
  for (const char* query :
       {"SELECT name, count(*), sum(dur_ns) FROM slice WHERE dur_ns > 20 GROUP BY name",
        "SELECT name, count(*), sum(dur_ns) FROM slice WHERE dur_ns > 20 GROUP BY name ORDER BY name DESC",
        "SELECT name, count(*), sum(dur_ns) FROM slice WHERE dur_ns > 20 GROUP BY name || ''",
        "SELECT opcode, count(*), sum(end_ns - ts_ns) FROM op WHERE dur_ns > 20 GROUP BY opcode"}) {
    CAPTURE(query);
    const listing::SqlResult result = session.ask(query);
    CHECK(result.row_count() == expected.size());
    for (std::size_t row = 0; row < result.row_count(); ++row) {
      const auto& [count, sum] = expected[std::get<std::string>(result.at(row, 0))];
      CHECK(result.at(row, 1) == listing::SqlValue(count));
      CHECK(result.at(row, 2) == listing::SqlValue(sum));
    }
  }
  CHECK(session.ask("SELECT DISTINCT name FROM slice WHERE name <> 'name_0'").row_count() == 39);
  CHECK(session.ask("SELECT DISTINCT name FROM slice ORDER BY name").at(0, 0) == listing::SqlValue("name_0"));
  CHECK(session.ask("SELECT opcode, max(size) FROM op GROUP BY opcode").row_count() == 40);
  CHECK(session.ask("SELECT name, track_id, count(*) FROM slice GROUP BY name, track_id").row_count() == 120);
  CHECK(session.failure("SELECT name, min(rowid) FROM slice GROUP BY name").find("use the column id") !=
        std::string::npos);
}

TEST_CASE("SQL: an event is found by its id, and rows come in time order over all lanes") {
  QueriedSession session(5000);
  const WrittenEvent& event = session.events[7777];
  const std::string id = std::to_string(event.id);
  CHECK(session.text("SELECT name FROM slice WHERE id = " + id) == event.name);
  CHECK(session.text("SELECT note FROM op WHERE event_id = " + id) == event.note);
  CHECK(session.ids("SELECT id FROM slice WHERE id = " + std::to_string(event.id + 100'000)).empty());
  CHECK(session.ids("SELECT id FROM slice WHERE id IN (" + id + ", 0, -1)").size() == 2);
  const std::vector<std::int64_t> times = session.ids("SELECT ts_ns FROM slice ORDER BY ts_ns");
  CHECK(times.size() == session.events.size());
  CHECK(std::is_sorted(times.begin(), times.end()));
  const std::vector<std::int64_t> first =
      session.ids("SELECT ts_ns FROM slice WHERE ts_ns > 3000 ORDER BY ts_ns LIMIT 20");
  CHECK(first.size() == 20);
  CHECK(std::equal(first.begin(), first.end(), std::upper_bound(times.begin(), times.end(), 3000)));
}

TEST_CASE("SQL: a table per schema carries the vendor's column names, and our own columns always win") {
  QueriedSession session(100);
  CHECK(session.number("SELECT arg_id FROM op WHERE id = " + std::to_string(session.events[42].id)) == 42);
  CHECK(session.number("SELECT arg_id FROM op WHERE event_id = " + std::to_string(session.events[42].id)) == 42);
  CHECK(session.text("SELECT opcode FROM op WHERE arg_id = 5 LIMIT 1") == session.events[5].name);
  CHECK(session.number("SELECT count(*) FROM op WHERE size IS NULL") ==
        std::count_if(session.events.begin(), session.events.end(), [](const WrittenEvent& e) { return !e.has_size; }));
  for (const sql::ListedTable& table : session.sql.tables()) {
    CAPTURE(table.name);
    for (const std::string& column : table.hidden_columns) CHECK(column.find("event_event") == std::string::npos);
  }
  const listing::SqlResult keys = session.ask("SELECT key FROM op ORDER BY event_id");
  for (std::size_t i = 0; i < keys.row_count(); ++i) {
    const std::uint64_t key = session.events[i].key;
    const listing::SqlValue expected =
        key >> 63 == 0 ? listing::SqlValue(static_cast<std::int64_t>(key)) : listing::SqlValue(std::to_string(key));
    CHECK(keys.at(i, 0) == expected);
    if (key >> 63 != 0) CHECK(session.number("SELECT count(*) FROM op WHERE key = '" + std::to_string(key) + "'") == 1);
  }
  CHECK(session.number("SELECT count(*) FROM memory_event") == 3);  // the schema is named like a table of ours
}

TEST_CASE("SQL: schemas of one name in several sources are one table with all their columns") {
  auto store = Store::create().value();
  const auto write = [&](std::vector<Column> columns, std::string schema_name, std::string name_column, int value) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema(
        {.name = std::move(schema_name), .name_column = std::move(name_column), .columns = std::move(columns)});
    const TrackNumber track = writer.add_track({.name = "t", .kind = "stream", .schema = schema});
    for (int i = 0; i < 100; ++i) {
      Row row = writer.begin_event(track, std::int64_t{i} * 10, 5, writer.intern("e"));
      row.integer(0, value + i);
    }
    REQUIRE(writer.finish().ok());
  };
  write({{.name = "grid"}, {.name = "stream"}}, "kernel", "kernel_name", 0);
  write({{.name = "GRID"}, {.name = "order"}}, "Kernel", "kernel_name", 1000);
  write({{.name = "value"}}, "group", "id", 0);
  write({{.name = "name"}}, "sqlite_master", "", 0);
  write({{.name = "event_id"}}, "", "ts_ns", 7);
  write({{.name = "x"}}, "Track", "", 0);
  WorkerPool pool(1);
  TaskControl control;
  sql::Session sql(*store, store->snapshot(), pool);
  const auto number = [&](const char* query) {
    const auto result = sql.run(query, {}, control);
    REQUIRE_MESSAGE(result.ok(), std::string(result.ok() ? "" : result.message()));
    return std::get<std::int64_t>(result->at(0, 0));
  };
  CHECK(number("SELECT count(*) FROM kernel WHERE kernel_name = 'e'") == 200);
  CHECK(number("SELECT sum(grid) FROM kernel") == 100 * 1000 + 2 * 4950);
  CHECK(number("SELECT count(*) FROM kernel WHERE stream IS NULL AND \"order\" IS NULL") == 200);
  CHECK(number("SELECT count(DISTINCT id) FROM \"group\" WHERE name = 'e'") == 100);
  CHECK(number("SELECT max(arg_name) FROM event_sqlite_master WHERE name = 'e'") == 99);
  CHECK(number("SELECT min(event_id) FROM event_ WHERE name = 'e' AND ts_ns >= 0") == 7);
  CHECK(number("SELECT count(*) FROM track_event") == 100);
  const auto quoted = sql.run("SELECT * FROM group", {}, control);
  REQUIRE_FALSE(quoted.ok());
  CHECK(quoted.message() == "near \"group\": syntax error; group is a word of SQL too: write \"group\"");
}

TEST_CASE("SQL: tracks, counters, allocations, quality, metrics, sources and markers") {
  QueriedSession session(10);
  CHECK(session.number("SELECT count(*) FROM track WHERE kind = 'engine' AND device LIKE 'nc%'") == 2);
  CHECK(session.number("SELECT count(*) FROM slice JOIN track ON track.id = slice.track_id WHERE track.name = 'b'") ==
        10);
  CHECK(session.number("SELECT sum(value) FROM counter WHERE track_id = " + std::to_string(session.counter)) == 285);
  CHECK(session.number("SELECT count(*) FROM counter WHERE value >= 49 AND ts_ns < 900") == 2);
  const listing::SqlResult memory =
      session.ask("SELECT ts_ns, end_ns, address, size_bytes, tensor FROM memory ORDER BY ts_ns");
  REQUIRE(memory.row_count() == 2);
  CHECK(memory.at(0, 1) == listing::SqlValue(std::int64_t{300}));
  CHECK(memory.at(0, 2) == listing::SqlValue(std::to_string(0xffff'8000'0000'0000)));
  CHECK(memory.at(1, 1) == listing::SqlValue());
  CHECK(memory.at(1, 3) == listing::SqlValue(std::int64_t{512}));
  CHECK(memory.at(1, 4) == listing::SqlValue("tensor_a"));
  CHECK(session.number("SELECT count FROM quality WHERE kind = 'rows_skipped'") == 3);
  CHECK(session.text("SELECT value FROM meta WHERE key = 'instance'") == "test");
  CHECK(session.ask("SELECT vendor_value FROM metric WHERE name = 'total'").at(0, 0) == listing::SqlValue(1.5));
  CHECK(session.text("SELECT sha256 FROM source_file").starts_with("ba7816bf"));
  CHECK(session.number("SELECT count(*) FROM marker") == 0);
  REQUIRE(session.store->put_marker({.set_name = "mine", .ts_ns = 5, .name = "here"}).ok());
  CHECK(session.text("SELECT name FROM marker WHERE end_ns IS NULL") == "here");
}

TEST_CASE("SQL: flows are resolved and source lines added up") {
  auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber work =
      writer.add_schema({.name = "work",
                         .columns = {{.name = "key", .type = ColumnType::uint64, .role = Role::key},
                                     {.name = "where", .type = ColumnType::string, .role = Role::source_location}}});
  const SchemaNumber flow =
      writer.add_schema({.name = "flow",
                         .kind = EventKind::flow,
                         .columns = {{.name = "from_key", .type = ColumnType::uint64, .role = Role::flow_source},
                                     {.name = "to_key", .type = ColumnType::uint64, .role = Role::flow_target}}});
  const TrackNumber track = writer.add_track({.name = "w", .kind = "engine", .schema = work});
  const TrackNumber flows = writer.add_track({.name = "f", .kind = "flow", .schema = flow});
  for (std::uint64_t i = 0; i < 50; ++i) {
    Row row = writer.begin_event(track, static_cast<std::int64_t>(i) * 10, 4, writer.intern("w"));
    row.unsigned_integer(0, 900 + i);
    row.string(1, writer.intern(i % 2 == 0 ? "k.py:3" : "k.py:4"));
  }
  for (std::uint64_t i = 1; i < 50; ++i) {
    Row row = writer.begin_event(flows, static_cast<std::int64_t>(i) * 10, 0, writer.intern("dependency"));
    row.unsigned_integer(0, 900 + i - 1);
    row.unsigned_integer(1, 900 + i);
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  sql::Session sql(*store, store->snapshot(), pool);
  const auto number = [&](const char* query) { return std::get<std::int64_t>(sql.run(query, {}, control)->at(0, 0)); };
  CHECK(number("SELECT count(*) FROM flow WHERE kind = 'dependency'") == 49);
  CHECK(number("SELECT dst.ts_ns FROM flow JOIN slice src ON src.id = src_id JOIN slice dst ON dst.id = dst_id "
               "WHERE src.ts_ns = 120") == 130);
  CHECK(number("SELECT event_count FROM source_line WHERE path = 'k.py' AND line = 3") == 25);
  CHECK(number("SELECT busy_ns FROM source_line WHERE line = 4") == 100);
}

TEST_CASE("SQL: anything but one SELECT is refused with a reason") {
  QueriedSession session(10);
  for (const char* hostile :
       {"DELETE FROM slice", "DROP TABLE slice", "CREATE TABLE t(a)", "ATTACH '/etc/passwd' AS x",
        "PRAGMA temp_store = 1", "INSERT INTO slice(name) VALUES ('x')", "UPDATE slice SET name = 'x'", "BEGIN",
        "VACUUM INTO 'x.db'", "SELECT load_extension('x')", "CREATE VIRTUAL TABLE t USING accelscope_events(99)",
        "DETACH main", "REINDEX", "UPDATE sqlite_master SET sql = 'x'", "SELECT * FROM accelscope_rows"}) {
    CAPTURE(hostile);
    CHECK_FALSE(session.failure(hostile).empty());
  }
  CHECK(session.failure("DROP TABLE slice") == "only SELECT is allowed: a session is read-only to SQL");
  CHECK(session.failure("SELECT 1; DELETE FROM slice").find("one statement") != std::string::npos);
  CHECK(session.failure("  ;").find("empty") != std::string::npos);
  CHECK(session.failure("SELECT * FROM slyce") == "no such table: slyce; did you mean slice?");
  CHECK(session.failure("SELECT * FROM xyz").find("there are slice, counter, op") != std::string::npos);
  CHECK(session.failure("SELECT s.dur FROM slice s") == "no such column: s.dur; did you mean dur_ns?");
  CHECK(session.failure("SELECT xyz FROM slice").find("slice has id, track_id") != std::string::npos);
  CHECK(session.failure("SELECT rate FROM slice") == "no such column: rate; it is a column of op, roofline");
  CHECK(session.failure("SELECT * FROM slice WHERE name REGEXP '('").find("regular expression") != std::string::npos);
  const std::string deep = "SELECT " + std::string(100'000, '(') + "1" + std::string(100'000, ')');
  CHECK((!session.failure(deep).empty() || session.number(deep) == 1));  // as the library's year has it
  CHECK(session.number("SELECT count(*) FROM slice") == 30);
  CHECK(session.number("SELECT 1; -- done") == 1);
}

TEST_CASE("SQL: a long query can be cancelled, and the session goes on") {
  QueriedSession session(2000);
  for (const char* endless :
       {"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
        "SELECT count(*) FROM slice a, slice b, slice c WHERE a.dur_ns + b.dur_ns + c.dur_ns < -1"}) {
    Task<Result<listing::SqlResult>> task =
        session.pool.start([&](TaskControl& own) { return session.sql.run(endless, {}, own); });
    task.cancel();
    const Result<listing::SqlResult> result = task.take();
    REQUIRE_FALSE(result.ok());
    CHECK(result.message() == cancelled_error().message);
  }
  CHECK(session.number("SELECT count(*) FROM slice") == 6000);
}

TEST_CASE("SQL: a query is cancelled in the middle, between rows and inside a scan that finds none") {
  QueriedSession session(20'000);
  struct CancelsAfter final : listing::SqlRowVisitor {
    explicit CancelsAfter(TaskControl& given) : control(given) {}
    bool columns(const std::vector<std::string>&) override { return true; }
    bool row(const std::vector<listing::SqlValue>&) override {
      if (++rows == 1000) control.cancel();
      return true;
    }
    TaskControl& control;
    int rows = 0;
  };
  TaskControl control;
  CancelsAfter visitor(control);
  const Result<void> stopped = session.sql.visit("SELECT a.id FROM slice a, slice b", visitor, control);
  REQUIRE_FALSE(stopped.ok());
  CHECK(stopped.message() == cancelled_error().message);
  CHECK(visitor.rows < 100'000);

  Task<Result<listing::SqlResult>> task = session.pool.start([&](TaskControl& own) {
    return session.sql.run("SELECT count(*) FROM slice a, slice b WHERE b.dur_ns > a.ts_ns + 1000000000", {}, own);
  });
  while (task.done() == 0 && !task.ready()) std::this_thread::yield();
  REQUIRE_FALSE(task.ready());
  task.cancel();
  const Result<listing::SqlResult> result = task.take();
  REQUIRE_FALSE(result.ok());
  CHECK(result.message() == cancelled_error().message);
  CHECK(session.number("SELECT count(*) FROM slice") == 60'000);
}

TEST_CASE("SQL: a result is cut at its limit and says so") {
  QueriedSession session(1000);
  const Result<listing::SqlResult> cut = session.sql.run("SELECT * FROM slice", {.max_rows = 10}, session.control);
  REQUIRE(cut.ok());
  CHECK(cut->row_count() == 10);
  CHECK(cut->truncated);
  const Result<listing::SqlResult> small =
      session.sql.run("SELECT name FROM slice", {.max_bytes = 4000}, session.control);
  REQUIRE(small.ok());
  CHECK(small->truncated);
  CHECK_FALSE(session.sql.run("SELECT * FROM slice LIMIT 10", {.max_rows = 10}, session.control)->truncated);
}
