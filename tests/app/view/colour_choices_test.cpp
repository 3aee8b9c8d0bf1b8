#include "app/view/colour_choices.h"

#include <doctest/doctest.h>

#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app::view;
using namespace accelscope::app;

namespace {

struct Session {
  std::shared_ptr<Store> store = test::make_small_session().store;
  WorkerPool pool{2};
  TaskControl control;
  [[nodiscard]] QueryContext query() { return {*store, store->snapshot(), pool, control}; }
  [[nodiscard]] colour::ColourTable table(const std::string& column) {
    const auto colours = colour::event_colours(query(), {{"instruction", column}});
    REQUIRE(colours.ok());
    return *(*colours)->table("instruction");
  }
  // Of the events of the table only: other tables have no such columns, but may have such names.
  [[nodiscard]] std::uint64_t passing(const EventFilter& filter) {
    EventFilter of_table = filter;
    for (const LaneSnapshot& lane : store->snapshot()->lanes) {
      if (lane.schema->name == "instruction") of_table.tracks.push_back(lane.track);
    }
    const auto mask = search::event_mask(query(), of_table);
    REQUIRE_MESSAGE(mask.ok(), (mask.ok() ? "" : mask.message()));
    return (*mask)->total();
  }
};

}  // namespace

TEST_CASE("colours: what a legend counts for a value is what a filter for it lets through, and hiding it the rest") {
  Session session;
  for (const char* column : {"name", "duration", "source", "stack", "operands", "evt_wait_time", "id"}) {
    CAPTURE(column);
    const colour::ColourTable table = session.table(column);
    CHECK(table.events == 31);
    REQUIRE_FALSE(table.values.empty());
    for (const colour::ColourValue& value : table.values) {
      CAPTURE(value.text);
      EventFilter only, hidden;
      toggle_only(only, table, value);
      toggle_hidden(hidden, table, value);
      CHECK(session.passing(only) == value.events);
      CHECK(session.passing(hidden) == table.events - value.events);
      CHECK(state_of(only, table, value) == ValueState::only);
      CHECK(state_of(hidden, table, value) == ValueState::hidden);
      toggle_only(only, table, value);
      toggle_hidden(hidden, table, value);
      CHECK(only.empty());
      CHECK(hidden.empty());
    }
  }
}

TEST_CASE("colours: showing only one value takes the place of another, and what else is filtered stays") {
  Session session;
  const colour::ColourTable table = session.table("source");
  EventFilter filter{.range = {}, .tracks = {}, .terms = {{"duration>=50", false}}};
  toggle_only(filter, table, table.values[0]);
  toggle_only(filter, table, table.values[1]);
  CHECK(filter.terms == std::vector<FilterTerm>{{"duration>=50", false}, term_of(table, table.values[1])});
  toggle_hidden(filter, table, table.values[1]);
  CHECK(state_of(filter, table, table.values[1]) == ValueState::hidden);
  toggle_only(filter, table, table.values[1]);
  CHECK(filter.terms == std::vector<FilterTerm>{{"duration>=50", false}, term_of(table, table.values[1])});
}

TEST_CASE("colours: a table offers its name, what is used most, the duration, then every other column by its group") {
  Session session;
  const auto snapshot = session.store->snapshot();
  CHECK(coloured_tables(*snapshot) == std::vector<std::string>{"instruction", "allocation"});
  const std::vector<ColourColumn> columns = colour_columns(*snapshot, "instruction");
  std::vector<std::string> names;
  for (const ColourColumn& column : columns) names.push_back(column.column);
  CHECK(names == std::vector<std::string>{"name", "source", "operands", "duration", "evt_wait_time", "id", "stack"});
  CHECK(columns[0].title == "Opcode");
  CHECK(columns[3].group.empty());
  CHECK(columns[4].group == "Timing");
  CHECK(colour_columns(*snapshot, "nosuch").empty());
}
