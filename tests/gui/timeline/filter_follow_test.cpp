// What follows the filter, and what says that it does not: SQL, figures, exports, the command line. With real input.
#include <doctest/doctest.h>

#include <fstream>

#include "app/session/analysis.h"
#include "tests/app/program_run.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct FilterFollowFixture : OpenViewer {
  void set_filter(EventFilter filter) {
    tab().change([&](session::ViewChoices& choices) { choices.filter = std::move(filter); });
    shell.frame(2);
    REQUIRE(shell.settle());
  }
  void ask(std::string_view sql) {
    app.layout().show("sql");
    shell.frame(3);
    REQUIRE(shell.click("sql.editor"));
    shell.key(Key::a, {.ctrl = true});
    shell.key(Key::del);
    shell.type(sql);
    shell.frame(2);
    shell.key(Key::enter, {.ctrl = true});
    REQUIRE(shell.settle());
  }
};

const EventFilter kMatmul{.range = {}, .tracks = {}, .terms = {{"MATMUL", false}}};

}  // namespace

TEST_CASE_FIXTURE(FilterFollowFixture,
                  "filter: a query sees what passes and says how much, until it is told to see all") {
  ask("SELECT 'n=' || count(*) AS n FROM slice");
  CHECK(shell.shows("n=31"));
  CHECK(shell.find("sql.filtered") == nullptr);

  set_filter(kMatmul);
  CHECK(shell.shows("the filter has changed since"));
  ask("SELECT 'n=' || count(*) AS n FROM slice");
  CHECK(shell.shows("n=20"));
  CHECK(shell.shows("sees 20 of 87 events"));
  // The command line counts the same.
  CHECK(test::run({"query", path, "SELECT count(*) FROM slice", "--format", "csv", "--filter", "MATMUL"}).out ==
        "count(*)\n20\n");

  REQUIRE(shell.click("sql.filtered"));
  REQUIRE(shell.settle());
  CHECK(shell.shows("n=31"));
  CHECK_FALSE(shell.shows("sees 20 of 87 events"));
}

TEST_CASE_FIXTURE(FilterFollowFixture, "filter: a query in a range sees the same events as the command line") {
  set_filter({.range = TimeRange{1'000, 1'250}, .tracks = {}, .terms = {{"MATMUL", true}}});
  ask("SELECT 'n=' || count(*) AS n FROM slice");
  CHECK(shell.shows("n=2"));
  CHECK(test::run({"query", path, "SELECT count(*) FROM slice", "--format", "csv", "--filter", "!MATMUL", "--range",
                   "1000ns:1250ns"})
            .out == "count(*)\n2\n");
}

TEST_CASE_FIXTURE(FilterFollowFixture,
                  "filter: figures are of what passes, those that cannot be say so, and back undoes it") {
  app.layout().show("metrics");
  shell.frame(3);
  const auto count = [&] {
    const auto figures = tab().analysis->figures(tab().choices.filter);
    if (!figures || figures->filter != tab().choices.filter) return -1.0;
    for (const analysis::SessionMetric& metric : figures->metrics) {
      if (metric.name == "instruction_event_count") return metric.value.value_or(-1);
    }
    return -1.0;
  };
  REQUIRE(wait_for([&] { return count() == 31; }));
  CHECK_FALSE(shell.shows("not filtered"));
  set_filter(kMatmul);
  REQUIRE(wait_for([&] { return count() == 20; }));
  shell.frame(2);
  CHECK(shell.shows("not filtered"));
  CHECK(shell.shows("of what passes the filter"));
  shell.key(Key::left, {.alt = true});
  REQUIRE(wait_for([&] { return count() == 31; }));
}

TEST_CASE_FIXTURE(FilterFollowFixture, "filter: panels that show everything say so while there is a filter") {
  app.layout().show("markers");
  shell.frame(3);
  CHECK_FALSE(shell.shows("Not filtered: markers"));
  set_filter(kMatmul);
  CHECK(shell.shows("Not filtered: markers"));
  app.layout().show("quality");
  shell.frame(3);
  CHECK(shell.shows("Not filtered: the quality"));
}

TEST_CASE_FIXTURE(FilterFollowFixture, "filter: what is filtered is exported to a file that the user names") {
  CHECK_FALSE(app.commands().run("export_filtered"));
  set_filter(kMatmul);
  run("export_filtered");
  shell.type(folder.file("part.csv"));
  shell.key(Key::enter);
  REQUIRE(shell.settle());
  if (shell.find("file_dialog.done") != nullptr) REQUIRE(shell.click("file_dialog.done"));
  REQUIRE(wait_for([&] { return shell.shows("Wrote 20 rows"); }));
  std::ifstream in(folder.file("part.csv"));
  const std::string written{std::istreambuf_iterator<char>(in), {}};
  CHECK(holds(written, "MATMUL"));
  CHECK_FALSE(holds(written, "ACTIVATE"));
}

TEST_CASE_FIXTURE(FilterFollowFixture,
                  "filter: Shift+F filters in what is selected, or what is visible, and Alt+Left returns") {
  const session::ViewRange before = tab().view;
  select(kFirstMatmul);
  shell.key(Key::f, {.shift = true});
  REQUIRE(shell.settle());
  CHECK(tab().choices.filter.terms == std::vector<FilterTerm>{{"name=\"MATMUL\"", false}});
  shell.key(Key::left, {.alt = true});
  shell.frame(2);
  CHECK(tab().choices.filter.empty());

  tab().selected.reset();
  tab().show({1'000, 2'000});
  shell.key(Key::f, {.shift = true});
  REQUIRE(shell.settle());
  CHECK(tab().choices.filter.range == TimeRange{1'000, 2'000});
  CHECK(tab().view == session::ViewRange{1'000, 2'000});
  shell.key(Key::left, {.alt = true});
  shell.key(Key::left, {.alt = true});
  shell.frame(2);
  CHECK(tab().choices.filter.empty());
  CHECK(tab().view == before);
}
