#include "app/content/sql/console.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "app/persist/persist.h"
#include "tests/support/small_session.h"

namespace accelscope::app::content {
namespace {

const std::vector<sql::ListedTable> kTables = {
    {"track", {"id", "name", "device"}, {}, 3},
    {"slice", {"id", "track_id", "ts_ns", "dur_ns", "name"}, {"end_ns"}, 100},
    {"odd name", {"first column"}, {}, 1}};

// The candidates at the place of the bar.
std::vector<std::string> offered(std::string text) {
  const std::size_t caret = text.find('|');
  REQUIRE(caret != std::string::npos);
  text.erase(caret, 1);
  std::vector<std::string> names;
  for (const SqlCandidate& candidate : complete_sql(text, caret, kTables).candidates) names.push_back(candidate.text);
  return names;
}

bool offers(const std::string& text, const std::string& candidate) {
  const std::vector<std::string> names = offered(text);
  return std::find(names.begin(), names.end(), candidate) != names.end();
}

using Names = std::vector<std::string>;

TEST_CASE("tokens: words, quotes with doubled quotes, parameters, comments left out") {
  const std::string sql = "SELECT a.\"b \"\"c\", 'x''y' -- no\n, :end /* no */ 1.5e3";
  Names texts;
  for (const SqlToken& token : sql_tokens(sql)) texts.push_back(sql.substr(token.begin, token.end - token.begin));
  CHECK(texts == Names{"SELECT", "a", ".", "\"b \"\"c\"", ",", "'x''y'", ",", ":end", "1.5e3"});
  CHECK(sql_tokens("'never closed").back().end == 13);
}

TEST_CASE("completion: tables after FROM and JOIN, columns of a table or of its alias after a dot") {
  CHECK(offered("SELECT * FROM |") == Names{"track", "slice", "\"odd name\""});
  CHECK(offered("SELECT * FROM sl|") == Names{"slice"});
  CHECK(offered("SELECT * FROM slice JOIN tr|") == Names{"track"});
  CHECK(offered("SELECT slice.| FROM slice") == Names{"id", "track_id", "ts_ns", "dur_ns", "name", "end_ns"});
  CHECK(offered("SELECT s.du| FROM slice AS s") == Names{"dur_ns"});
  CHECK(offered("SELECT t.| FROM slice s JOIN track t") == Names{"id", "name", "device"});
  CHECK(offered("SELECT nothing.| FROM slice").empty());
}

TEST_CASE("completion: columns of the named tables come first, then functions and keywords, and hidden columns too") {
  CHECK(offered("SELECT d| FROM slice").front() == "dur_ns");
  CHECK(offers("SELECT * FROM slice WHERE en|", "end_ns"));
  CHECK(offers("SELECT su|", "sum("));
  CHECK(offers("SELECT name FROM slice gr|", "GROUP BY"));
  CHECK(offers("SELECT * FROM slice WHERE ts_ns < :e|", ":end"));
  CHECK(offers("SELECT \"odd name\".f| FROM \"odd name\"", "\"first column\""));
  CHECK_FALSE(offers("SELECT device| FROM slice", "device"));
}

TEST_CASE("completion: nothing inside texts and comments, and a finished word asks for nothing") {
  CHECK(offered("SELECT * FROM slice WHERE name = 'tr|ack'").empty());
  CHECK(offered("SELECT 1 -- from sl|").empty());
  CHECK(offered("SELECT /* sl| */ 1").empty());
  CHECK_FALSE(offers("SELECT * FROM slice|", "slice"));
  CHECK(offered("SELECT 12|").empty());
}

TEST_CASE("completion replaces the whole word around the caret") {
  const SqlCompletion completion = complete_sql("SELECT dur FROM slice", 9, kTables);
  CHECK(completion.begin == 7);
  CHECK(completion.end == 10);
}

TEST_CASE("named tables: aliases, quotes and cases, and a name inside a text is none") {
  CHECK(named_tables("select * from SLICE s, \"odd name\" where s.name = 'track'", kTables) ==
        Names{"slice", "odd name"});
}

TEST_CASE("parameters: the view's range and the selection become numbers, texts stay") {
  CHECK(with_parameters("ts_ns < :end AND end_ns > :BEGIN AND ':end' <> :other", {-5, 10, {}}) ==
        "ts_ns < 10 AND end_ns > -5 AND ':end' <> :other");
  CHECK(with_parameters("id = :selected", {0, 1, {}}) == "id = NULL");
  CHECK(with_parameters("id = :selected", {0, 1, 7}) == "id = 7");
}

TEST_CASE("query book: history newest first without doubles, saved ones by name, both there after a restart") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("queries.txt");
  persist::QueryHistory book(file);
  REQUIRE(book.load().ok());
  for (const char* sql : {"SELECT 1", "SELECT\n\t2", "SELECT 1"}) REQUIRE(book.remember(sql).ok());
  REQUIRE(book.save({"waits", "SELECT 3"}).ok());
  REQUIRE(book.save({"busy", "SELECT 4"}).ok());
  REQUIRE(book.save({"waits", "SELECT 5"}).ok());
  persist::QueryHistory again(file);
  REQUIRE(again.load().ok());
  CHECK(again.history() == Names{"SELECT 1", "SELECT\n\t2"});
  CHECK(again.saved() == std::vector<persist::NamedQuery>{{"busy", "SELECT 4"}, {"waits", "SELECT 5"}});
  REQUIRE(again.forget("busy").ok());
  persist::QueryHistory third(file);
  REQUIRE(third.load().ok());
  CHECK(third.saved().size() == 1);
  for (std::size_t i = 0; i < persist::QueryHistory::kMostHistory + 5; ++i)
    REQUIRE(third.remember(std::to_string(i)).ok());
  CHECK(third.history().size() == persist::QueryHistory::kMostHistory);
}

}  // namespace
}  // namespace accelscope::app::content
