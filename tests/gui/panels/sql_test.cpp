// The SQL panel with real input events: typing with completion, running, what a click on a row does, what is kept.
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

constexpr render::Modifiers kCtrl{.ctrl = true};

struct SqlViewer : OpenViewer {
  explicit SqlViewer(frame::AppOptions options = {}) : OpenViewer(std::move(options)) {
    app.layout().show("sql");
    REQUIRE(shell.settle());
  }
  void write(std::string_view sql) {
    REQUIRE(shell.click("sql.editor"));
    shell.key(Key::a, kCtrl);
    shell.key(Key::del);
    shell.type(sql);
    shell.frame(2);
  }
  void ask(std::string_view sql) {
    write(sql);
    shell.key(Key::enter, kCtrl);
    REQUIRE(shell.settle());
  }
};

}  // namespace

TEST_CASE("sql: the panel begins with an example that runs and shows its rows") {
  SqlViewer viewer;
  CHECK(viewer.shell.shows("Run a query to see its rows here."));
  REQUIRE(viewer.shell.click("sql.run"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("MATMUL"));
  CHECK(viewer.shell.shows("total_ns"));
  CHECK(viewer.shell.shows("rows  in"));
}

TEST_CASE("sql: a click on a row selects its event, a double click fits it, and ids of tracks select nothing") {
  SqlViewer viewer;
  viewer.ask("SELECT id, name, ts_ns, dur_ns FROM slice WHERE name = 'ACTIVATE' ORDER BY ts_ns LIMIT 3");
  REQUIRE(viewer.shell.click("sql.rows.row.1"));
  REQUIRE(viewer.tab().selected.has_value());
  const auto event = read_event(viewer.tab(), *viewer.tab().selected);
  REQUIRE(event.ok());
  CHECK(event->name_text == "ACTIVATE");
  REQUIRE(viewer.shell.click("sql.rows.row.1", render::MouseButton::left, 2));
  CHECK(viewer.tab().view.span_ns() < 3 * static_cast<double>(event->end_ns - event->begin_ns));

  viewer.tab().selected.reset();
  viewer.ask("SELECT id, name FROM track");
  REQUIRE(viewer.shell.click("sql.rows.row.0"));
  CHECK_FALSE(viewer.tab().selected.has_value());
}

TEST_CASE("sql: all columns of a vendor's table, whose ids are its own, still find the event by track and time") {
  SqlViewer viewer;
  viewer.ask("SELECT * FROM instruction WHERE opcode = 'ACTIVATE' ORDER BY ts_ns LIMIT 2");
  REQUIRE(viewer.shell.click("sql.rows.row.1"));
  REQUIRE(viewer.tab().selected.has_value());
  CHECK(read_event(viewer.tab(), *viewer.tab().selected)->name_text == "ACTIVATE");
}

TEST_CASE("sql: a row with a time and no event moves the view there") {
  SqlViewer viewer;
  viewer.ask("SELECT min(ts_ns) AS ts_ns, 100 AS dur_ns FROM slice");
  REQUIRE(viewer.shell.click("sql.rows.row.0"));
  CHECK_FALSE(viewer.tab().selected.has_value());
  CHECK(viewer.tab().view.span_ns() == doctest::Approx(120));
}

TEST_CASE("sql: errors are said where the rows would be, and the next query goes on") {
  SqlViewer viewer;
  viewer.ask("SELECT nonsense FROM slice");
  CHECK(viewer.shell.shows("nonsense"));
  CHECK(viewer.shell.find("sql.rows.row.0") == nullptr);
  viewer.ask("SELECT 6 * 7 AS answer");
  CHECK(viewer.shell.shows("42"));
  viewer.ask("SELECT 1 WHERE 0");
  CHECK(viewer.shell.shows("No row matches."));
}

TEST_CASE("sql: Tab completes the word at the caret, Down chooses another, Esc hides the list and keeps the text") {
  SqlViewer viewer;
  viewer.write("SELECT count(*) FROM sli");
  REQUIRE(viewer.shell.find("sql.candidate.0") != nullptr);
  viewer.shell.key(Key::tab);
  viewer.shell.frame(3);
  viewer.shell.type("WHERE dur");
  viewer.shell.frame(2);
  viewer.shell.key(Key::tab);
  viewer.shell.frame(3);
  viewer.shell.type("> 0");
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("SELECT count(*) FROM slice WHERE dur_ns > 0"));
  viewer.write("SELECT t FROM slice");
  for (int i = 0; i < 11; ++i) viewer.shell.key(Key::left);
  viewer.shell.frame(2);
  viewer.shell.key(Key::down);
  viewer.shell.key(Key::tab);
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("SELECT ts_ns  FROM slice"));
  viewer.write("SELECT na");
  viewer.shell.key(Key::escape);
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("SELECT na"));
  CHECK(viewer.shell.find("sql.candidate.0") == nullptr);
}

TEST_CASE("sql: a click on a candidate puts it into the text") {
  SqlViewer viewer;
  viewer.write("SELECT * FROM mem");
  REQUIRE(viewer.shell.click("sql.candidate.0"));
  viewer.shell.frame(4);
  viewer.shell.type("LIMIT 1");
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("SELECT * FROM memory LIMIT 1"));
}

TEST_CASE("sql: letters typed into the editor are no commands, and :begin and :end are the visible range") {
  SqlViewer viewer;
  viewer.tab().show({1'000, 2'000});
  viewer.write("SELECT :begin AS b, :end AS e -- wasd m 0");
  CHECK(viewer.tab().markers.empty());
  CHECK(viewer.tab().view.span_ns() == 1'000);
  viewer.shell.key(Key::enter, kCtrl);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("1,000"));
  CHECK(viewer.shell.shows("2,000"));
}

TEST_CASE("sql: what was run and what was saved is offered again, also after a restart") {
  const TemporaryFolder state;
  {
    SqlViewer viewer({.state_directory = state.path()});
    viewer.ask("SELECT 11 AS eleven");
    REQUIRE(viewer.shell.click("sql.save"));
    viewer.shell.frame(3);
    viewer.shell.type("my query");
    REQUIRE(viewer.shell.click("sql.keep"));
    viewer.write("SELECT 12");
  }
  SqlViewer viewer({.state_directory = state.path()});
  REQUIRE(viewer.shell.click("sql.queries"));
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("SELECT 11 AS eleven"));
  REQUIRE(viewer.shell.click("sql.book.saved:my query"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("sql.run"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("eleven"));
}

TEST_CASE("sql: rows sort by a click on a head and are copied as CSV and JSON") {
  SqlViewer viewer;
  viewer.ask("SELECT 2 AS n, 'b,c' AS t UNION ALL SELECT 10, 'a' UNION ALL SELECT NULL, 'z'");
  REQUIRE(viewer.shell.click("sql.copy_csv"));
  CHECK(viewer.shell.clipboard() == "n,t\n2,\"b,c\"\n10,a\n,z\n");
  REQUIRE(viewer.shell.click("sql.copy_json"));
  CHECK(viewer.shell.clipboard().find("\"n\": 10") != std::string::npos);
  CHECK(viewer.shell.shows("NULL"));
  REQUIRE(viewer.shell.click("sql.rows.head.0"));
  viewer.shell.frame(2);
  const std::string text = viewer.shell.visible_text();
  CHECK(text.rfind("b,c") > text.find("\na\n"));  // 10 before 2
}

TEST_CASE("sql: what is begun behind another panel holds nothing up, and is there when the panel comes back") {
  SqlViewer viewer;
  viewer.write("SELECT count(*) AS how_many FROM slice");
  viewer.shell.key(Key::enter, kCtrl);
  viewer.app.layout().show("details");
  REQUIRE(viewer.shell.settle());
  CHECK_FALSE(viewer.shell.shows("how_many"));
  viewer.app.layout().show("sql");
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("how_many"));
}
