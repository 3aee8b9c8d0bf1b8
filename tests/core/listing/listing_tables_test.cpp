// Listings as tables of SQL: the names, columns and rows that `view --table` has.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/chunk/session_writer.h"
#include "core/listing/listings.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "core/sql/base/sql.h"
#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::listing;

namespace {

std::vector<std::string> names_of(const std::vector<ListingColumn>& columns) {
  std::vector<std::string> names;
  for (const ListingColumn& column : columns) names.push_back(column.name);
  return names;
}

}  // namespace

TEST_CASE("listings: SQL has each of them as a table with the same columns and cells, of all events or of a filter") {
  RandomSession session(61, 3'000);
  TaskControl control;
  for (const EventFilter& filter : {EventFilter{}, EventFilter{.range = session.random_range()}}) {
    const auto mask = search::filter_mask(session.context(), filter).value();
    sql::Session sql(*session.store, session.snapshot, session.pool, mask);
    for (const ListingKind& kind : listing_kinds()) {
      const std::string table = table_name(kind);
      CAPTURE(table);
      QueryContext query = session.context();
      query.mask = mask;
      ListingRequest request{.filter = filter};
      if (!kind.facts.by.empty()) request.by.emplace_back(kind.facts.by);
      const auto expected = kind.make(query, request);
      REQUIRE_MESSAGE(expected.ok(), expected.message());
      const auto found = sql.run("SELECT * FROM " + table, {}, control);
      REQUIRE_MESSAGE(found.ok(), found.message());
      CHECK(found->columns == names_of(expected->columns));
      CHECK(found->cells == expected->rows.cells);
      const auto listed =
          std::find_if(sql.tables().begin(), sql.tables().end(), [&](const auto& each) { return each.name == table; });
      REQUIRE(listed != sql.tables().end());
      CHECK_FALSE(listed->columns.empty());
      if (!kind.facts.varies) CHECK(listed->columns == found->columns);
    }
  }
}

TEST_CASE("listings: a kind of event that is called like one keeps its name in SQL") {
  auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber ranks = writer.add_schema({.name = "ranks"}), waits = writer.add_schema({.name = "wait"});
  const TrackNumber first = writer.add_track({.name = "a", .schema = ranks});
  const TrackNumber second = writer.add_track({.name = "b", .schema = waits});
  for (int i = 0; i < 3; ++i) writer.begin_event(first, std::int64_t{i} * 10, 5, writer.intern("one"));
  for (int i = 0; i < 2; ++i) writer.begin_event(second, std::int64_t{i} * 10, 5, writer.intern("two"));
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  sql::Session sql(*store, store->snapshot(), pool);
  TaskControl control;
  CHECK(sql.run("SELECT count(*) FROM ranks WHERE name = 'one'", {}, control)->at(0, 0) == SqlValue(std::int64_t{3}));
  CHECK(sql.run("SELECT count(*) FROM wait_event", {}, control)->at(0, 0) == SqlValue(std::int64_t{2}));
  CHECK(sql.run("SELECT event_id, id FROM wait", {}, control).ok());
  const auto is_ranks = [](const sql::ListedTable& table) { return table.name == "ranks"; };
  CHECK(std::count_if(sql.tables().begin(), sql.tables().end(), is_ranks) == 1);
}

TEST_CASE("the chain of an event's dependencies is listed in its order, with the gap of each step") {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const auto work =
      writer.add_schema({.name = "work", .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
  const auto flow =
      writer.add_schema({.name = "flow",
                         .kind = EventKind::flow,
                         .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source},
                                     {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target}}});
  const auto engine = writer.add_track({.name = "Engine", .kind = "engine", .device = "nc0", .schema = work});
  const auto flows = writer.add_track({.name = "flows", .kind = "flow", .device = "nc0", .schema = flow});
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto at = static_cast<std::int64_t>(i * 100);
    writer.begin_event(engine, at, 80, writer.intern("STEP" + std::to_string(i))).unsigned_integer(0, i);
    if (i == 0) continue;
    auto row = writer.begin_event(flows, at, 0, writer.intern("semaphore"));
    row.unsigned_integer(0, i - 1);
    row.unsigned_integer(1, i);
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto* kind = find_listing("dependency-chain");
  REQUIRE(kind != nullptr);
  const std::string event = std::to_string(make_event_id(0, 2));
  const auto listing = kind->make(query, {.filter = {}, .by = {event}});
  REQUIRE(listing.ok());
  REQUIRE(listing->rows.row_count() == 4);
  CHECK(std::get<std::int64_t>(listing->rows.cells[0]) == -2);
  CHECK(std::get<std::string>(listing->rows.cells[1]) == "STEP0");
  CHECK(std::get<std::int64_t>(listing->rows.cells[5]) == 20);
  CHECK(std::get<EventId>(listing->targets[2]) == make_event_id(0, 2));
  CHECK_FALSE(kind->make(query, {.filter = {}, .by = {"STEP0"}}).ok());
  CHECK_FALSE(kind->make(query, {})->note.empty());
}
