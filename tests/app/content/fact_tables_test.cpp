#include "app/content/figure_text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/sql/base/sql.h"
#include "tests/app/program_run.h"
#include "tests/support/simulated_session.h"

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;
using test::holds;
using test::run;

TEST_CASE("tables without time: all that SQL has of them, with as many rows, and no other") {
  const std::shared_ptr<Store> store = test::simulated_session();
  const auto snapshot = store->snapshot();
  WorkerPool pool(1);
  sql::Session sql(*store, snapshot, pool);
  TaskControl control;
  const std::vector<FactTable> tables = fact_tables(*snapshot);
  CHECK(tables.size() > 5);
  CHECK(tables.back().name == "meta");
  for (const FactTable& table : tables) {
    CAPTURE(table.name);
    const auto rows = sql.run(sql_of_table(*snapshot, table.name), {}, control);
    REQUIRE(rows.ok());
    CHECK(rows->row_count() == table.rows);
    CHECK(std::find(rows->columns.begin(), rows->columns.end(), "ts_ns") == rows->columns.end());
  }
  for (const auto& schema : snapshot->schemas) {
    const bool listed =
        std::any_of(tables.begin(), tables.end(), [&](const FactTable& table) { return table.name == schema->name; });
    CHECK((!listed || schema->kind == EventKind::table));
  }
}

TEST_CASE("tables without time: a row's events lie on the tracks of its name, else they are called so") {
  const auto snapshot = test::simulated_session()->snapshot();
  CHECK_FALSE(events_of_row(*snapshot, ""));
  const auto tensor = events_of_row(*snapshot, "w\"1");
  REQUIRE(tensor);
  CHECK(tensor->tracks.empty());
  REQUIRE(tensor->terms.size() == 1);
  CHECK(tensor->terms[0].search == "name~/^w\\\"1$/");
  const auto engine = events_of_row(*snapshot, "Vector");
  REQUIRE(engine);
  CHECK(engine->terms.empty());
  REQUIRE(engine->tracks.size() == 1);
  CHECK(snapshot->find_track(engine->tracks[0])->track->name == "Vector");
}

TEST_CASE("view --table prints what a query of it prints, and an unknown one names those that there are") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  REQUIRE(test::simulated_session()->save(path).ok());
  const auto asked = run({"query", path, "SELECT variable_name, type, shape FROM neff_node", "--format", "csv"});
  const auto printed = run({"view", path, "--table", "neff_node", "--output-format", "csv"});
  REQUIRE(printed.code == terminal::kExitDone);
  CHECK(printed.out.starts_with("variable_name,type,format,shape,size"));
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  CHECK(lines(printed.out) == lines(asked.out));
  CHECK(holds(run({"view", path, "--table", "meta", "--json"}).out, "\"key\""));
  const auto wrong = run({"view", path, "--table", "neff_nodes"});
  CHECK(wrong.code != terminal::kExitDone);
  CHECK(holds(wrong.err, "did you mean neff_node?"));
  CHECK(holds(wrong.err, "dma_queues_info"));
  CHECK(run({"view", path, "--table", "meta", "--range", "10%:20%"}).code != terminal::kExitDone);
  CHECK(holds(run({"view", path, "--table", "instruction", "--output-format", "csv"}).out.substr(0, 200), "ts_ns"));
}
