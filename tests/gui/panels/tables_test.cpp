// The Tables panel with real clicks on a simulated Neuron session: what is listed, what a row selects, fields of tables
// with one row, and the glossary.
#include <algorithm>

#include "app/session/analysis.h"
#include "capture/sim/output/simulator.h"
#include "core/sql/base/sql.h"
#include "tests/gui/held_pool.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct TablesViewer : Viewer {
  TemporaryFolder folder;
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  TablesViewer() {
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
    REQUIRE(store->save(folder.file("simulated.accel")).ok());
    open(folder.file("simulated.accel"));
    app.layout().show("tables");
    REQUIRE(shell.settle());
  }
  void choose(std::string_view table) {
    REQUIRE(shell.click("tables.list." + std::string(table)));
    REQUIRE(shell.settle());
  }
  [[nodiscard]] std::int64_t number(const std::string& sql) {
    WorkerPool pool(1);
    TaskControl control;
    auto result = sql::Session(*store, store->snapshot(), pool).run(sql, {}, control);
    REQUIRE(result.ok());
    return std::get<std::int64_t>(result->at(0, 0));
  }
};

}  // namespace

TEST_CASE("tables: tensors of the program are listed, and a row selects the events that are called so") {
  TablesViewer viewer;
  CHECK(viewer.shell.shows("Tensor of the program"));
  CHECK(viewer.shell.shows("DMA queue"));
  viewer.choose("neff_node");
  CHECK(viewer.shell.find("tables.rows.row.0") != nullptr);
  CHECK(viewer.shell.shows("[1024 2048]"));  // the shape of w1
  CHECK(viewer.shell.shows("Shape"));
  CHECK_FALSE(viewer.shell.shows("Node"));  // no row has one
  REQUIRE(viewer.shell.click("tables.rows.row.1"));
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms[0].search == "name=\"w1\"");
  std::shared_ptr<const session::SessionSummary> summary;
  REQUIRE(viewer.wait_for([&] {
    summary = viewer.tab().analysis->summary(*viewer.tab().region);
    return summary && summary->summary->filter == *viewer.tab().region;
  }));
  const std::int64_t called = viewer.number("SELECT count(*) FROM slice WHERE name = 'w1'");
  CHECK(called > 0);
  CHECK(static_cast<std::int64_t>(summary->summary->event_count) >= called);
}

TEST_CASE("tables: a click on a head sorts by what the column holds") {
  TablesViewer viewer;
  viewer.choose("neff_node");
  REQUIRE(viewer.shell.click("tables.rows.head.0"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("tables.rows.row.0"));
  const std::string first = viewer.tab().region->terms[0].search;
  REQUIRE(viewer.shell.click("tables.rows.head.0"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("tables.rows.row.0"));
  CHECK(viewer.tab().region->terms[0].search != first);
}

TEST_CASE("tables: a table of one row stands as fields with what they mean") {
  TablesViewer viewer;
  viewer.choose("neff_header");
  CHECK(viewer.shell.shows("Meaning"));
  CHECK(viewer.shell.shows("major_version"));
  CHECK(viewer.shell.shows("dge"));
  viewer.choose("model_info");
  REQUIRE(viewer.shell.click("tables.fields.cell.0.1"));
  CHECK(viewer.tab().region.has_value());
  viewer.choose("meta");
  CHECK(viewer.shell.shows("Facts"));
}

TEST_CASE("tables: words are looked up in the glossary, of figures and of columns") {
  TablesViewer viewer;
  viewer.choose("(glossary)");
  REQUIRE(viewer.shell.click("tables.term"));
  viewer.shell.type("repeat");
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("load_to_sbuf_repeat_factor"));
  CHECK_FALSE(viewer.shell.shows("mfu_estimated_percent"));
  viewer.shell.type("zzz");
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("No term matches \"repeatzzz\"."));
  REQUIRE(viewer.shell.click("tables.no_term.0"));
  viewer.shell.frame(2);
  CHECK(viewer.shell.find("tables.terms.row.0") != nullptr);
}

TEST_CASE("tables: a session without such tables says what would bring them") {
  OpenViewer viewer;
  viewer.app.layout().show("tables");
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.visible_text().find("No table without time") != std::string::npos);
  CHECK(viewer.shell.find("tables.terms.row.0") != nullptr);
}

TEST_CASE("tables: a figure and a field of an event are looked up where they stand") {
  TablesViewer viewer;
  viewer.app.layout().show("metrics");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("metrics.table.row.0") != nullptr; }));
  REQUIRE(viewer.shell.click("metrics.filter"));
  viewer.shell.type("spill_save");
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.click("metrics.table.row.0", render::MouseButton::right));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("metrics.table.menu.3"));
  viewer.shell.frame(3);
  CHECK(viewer.app.layout().is_seen("tables"));
  CHECK(viewer.shell.find("tables.terms.row.0") != nullptr);
  CHECK_FALSE(viewer.shell.shows("spill_reload_bytes"));

  const auto& lanes = viewer.tab().snapshot->lanes;
  const auto engine =
      std::find_if(lanes.begin(), lanes.end(), [](const auto& lane) { return lane.schema->name == "instruction"; });
  REQUIRE(engine != lanes.end());
  viewer.tab().selected = make_event_id(engine->number(), 0);
  viewer.app.layout().show("details");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("details.field.pc") != nullptr; }));
  REQUIRE(viewer.shell.click("details.field.pc", render::MouseButton::right));
  viewer.shell.frame(3);
  CHECK(viewer.app.layout().is_seen("tables"));
  CHECK(viewer.shell.find("tables.terms.row.0") != nullptr);
  CHECK_FALSE(viewer.shell.shows("spill_save_bytes"));
}

TEST_CASE("tables: a tensor shows when it is moved and where it lies, and the selected transfer points at its row") {
  TablesViewer viewer;
  viewer.choose("neff_node");
  CHECK(viewer.shell.find("tables.life") == nullptr);
  {
    const HeldPool held(viewer.app.workspace().pool());  // workers look for it
    REQUIRE(viewer.shell.click("tables.rows.row.1"));
    viewer.shell.frame(5);
    CHECK(viewer.shell.find("tables.life") == nullptr);
  }
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("w1 over time") && viewer.shell.shows("transfers of"); }));
  CHECK(viewer.shell.find("tables.life") != nullptr);
  CHECK(viewer.shell.shows("moved"));
  viewer.tab().region.reset();
  REQUIRE(viewer.shell.settle());
  viewer.tab().selected = static_cast<EventId>(viewer.number("SELECT min(id) FROM slice WHERE name = 'w2'"));
  viewer.shell.frame(3);  // which brings its details to the front
  viewer.app.layout().show("tables");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("w2 over time"); }));
  // The time of all of its events.
  const session::ViewRange before = viewer.tab().view;
  const render::Rect life = *viewer.shell.find("tables.life");
  viewer.shell.click(life.centre(), render::MouseButton::left, 2);
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.tab().view == before);
}

TEST_CASE("tables: the head of any table is looked up in the glossary, with its tooltip where that has no such word") {
  TablesViewer viewer;
  viewer.choose("neff_node");
  REQUIRE(viewer.shell.click("tables.rows.head.0", render::MouseButton::right));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("tables.rows.columns.look_up"));
  viewer.shell.frame(3);
  CHECK(viewer.shell.find("tables.terms.row.0") != nullptr);
  viewer.app.layout().show("core-grid");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("grid.table.head.1") != nullptr; }));
  REQUIRE(viewer.shell.click("grid.table.head.1", render::MouseButton::right));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("grid.table.columns.look_up"));
  viewer.shell.frame(3);
  CHECK(viewer.app.layout().is_seen("tables"));
  CHECK(viewer.shell.visible_text().find("farther from the median") != std::string::npos);
}
