// Names of columns and tables that SQL has no words for.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/chunk/session_writer.h"
#include "core/sql/base/sql.h"
#include "core/store/store.h"

using namespace accelscope;

namespace {

class NamedColumns {
 public:
  explicit NamedColumns(const std::vector<std::string>& names) {
    StoreSink sink(*store_);
    SessionWriter writer(sink);
    Schema schema{.name = "event"};
    for (const std::string& name : names) schema.columns.push_back({.name = name});
    const TrackNumber odd = writer.add_track({.name = "t", .kind = "engine", .schema = writer.add_schema(schema)});
    const SchemaNumber other = writer.add_schema({.name = "other", .columns = {{.name = "size"}}});
    const TrackNumber plain = writer.add_track({.name = "u", .kind = "engine", .schema = other});
    for (std::int64_t i = 0; i < 3; ++i) {
      writer.begin_event(odd, i * 10, 5, writer.intern("x")).integer(0, i);
      writer.begin_event(plain, i * 10, 5, writer.intern("x")).integer(0, i);
    }
    REQUIRE(writer.finish().ok());
    sql_ = std::make_unique<sql::Session>(*store_, store_->snapshot(), pool_);
  }
  Result<listing::SqlResult> run(std::string_view text) { return sql_->run(text, {}, control_); }
  [[nodiscard]] bool has_table(std::string_view name) const {
    return std::any_of(sql_->tables().begin(), sql_->tables().end(),
                       [name](const sql::ListedTable& table) { return table.name == name; });
  }

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  WorkerPool pool_{1};
  TaskControl control_;
  std::unique_ptr<sql::Session> sql_;
};

}  // namespace

TEST_CASE("SQL: a name with a NUL is shown with a sign for it, and nothing else changes") {
  NamedColumns session({std::string("a\0b", 3), "plain"});
  const auto sum = session.run(
      "SELECT sum(\"a\xE2\x90\x80"
      "b\") FROM event");
  REQUIRE_MESSAGE(sum.ok(), sum.message());
  CHECK(std::get<std::int64_t>(sum->at(0, 0)) == 3);
  CHECK(sum->note.empty());
  const auto all = session.run("SELECT * FROM event");
  REQUIRE(all.ok());
  CHECK(std::find(all->columns.begin(), all->columns.end(),
                  "a\xE2\x90\x80"
                  "b") != all->columns.end());
  CHECK(session.run("SELECT count(*) FROM slice").ok());
}

TEST_CASE("SQL: a table that cannot be made costs itself only, and it is said") {
  // The sign itself is taken already: SQLite refuses two columns of one name.
  NamedColumns session({std::string("a\0b", 3),
                        "a\xE2\x90\x80"
                        "b"});
  const auto others = session.run("SELECT count(*) FROM other");
  REQUIRE_MESSAGE(others.ok(), others.message());
  CHECK(std::get<std::int64_t>(others->at(0, 0)) == 3);
  CHECK(others->note.find("the table event cannot be made: duplicate column name") != std::string::npos);
  CHECK(session.has_table("other"));
  CHECK_FALSE(session.has_table("event"));
  const auto refused = session.run("SELECT * FROM event");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.message().find("cannot be made") != std::string::npos);
}
