// The line above the timeline that says what bounds a session, with real input events.
#include "core/analysis/figures/metrics.h"
#include "core/analysis/figures/session_terms.h"
#include "core/base/format.h"
#include "tests/gui/viewer.h"
#include "tests/support/files.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

TEST_CASE("verdict: the first view says what bounds the session, its worst line and what its data lack") {
  OpenViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("verdict.line") != nullptr; }));
  CHECK(viewer.shell.shows(" of work"));
  CHECK(viewer.shell.shows("kernel.py:3 waits 40 ns"));
  CHECK(viewer.shell.shows("missing dge notifications"));
}

TEST_CASE("verdict: a click on the worst line opens its source, one on what is missing the quality report") {
  OpenViewer viewer;
  viewer.app.layout().close("source");
  viewer.shell.frame(2);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("verdict.line") != nullptr; }));
  REQUIRE(viewer.shell.click("verdict.line"));
  CHECK(viewer.app.layout().is_seen("source"));
  CHECK(viewer.tab().selected_source == "kernel.py:3");
  REQUIRE(viewer.shell.click("verdict.missing"));
  CHECK(viewer.app.layout().is_seen("quality"));
}

TEST_CASE("verdict: it can be closed and comes back from the View menu, and nothing moves when the answer comes") {
  OpenViewer viewer;
  REQUIRE(viewer.shell.find("verdict.close") != nullptr);
  const float before = viewer.shell.find("verdict.close")->y0;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("verdict.line") != nullptr; }));
  CHECK(viewer.shell.find("verdict.close")->y0 == before);
  REQUIRE(viewer.shell.click("verdict.close"));
  viewer.shell.frame(2);
  CHECK(viewer.shell.find("verdict.line") == nullptr);
  CHECK_FALSE(viewer.app.commands().find("verdict")->checked());
  viewer.run("verdict");
  CHECK(viewer.wait_for([&] { return viewer.shell.find("verdict.line") != nullptr; }));
}

TEST_CASE("a profile of figures alone greets with them, and without an empty timeline") {
  const TemporaryFolder folder;
  const std::string path = folder.file("summary.json");
  write_file(path, R"({"n_0123456789abcdef0123456789abcdef01234567":{"total_time":0.0045,"mfu_estimated_percent":0.31,
    "tensor_engine_active_time_percent":0.5,"dma_active_time_percent":0.25}})");
  Viewer viewer;
  viewer.open(save_small_session(folder.path()));
  viewer.run("panel_statistics");
  viewer.shell.frame(2);
  viewer.open(path);
  viewer.shell.frame(2);
  CHECK(viewer.app.layout().is_seen("metrics"));
  CHECK(viewer.shell.shows("mfu_estimated_percent"));
  CHECK(viewer.shell.find("timeline.filter") == nullptr);
  viewer.open(save_small_session(folder.path()));
  viewer.shell.frame(2);
  CHECK(viewer.app.layout().is_seen("statistics"));  // what the user works with comes back with the work
}

TEST_CASE("verdict: status bar, verdict and the list of recent sessions show the session's own figures") {
  OpenViewer viewer;
  TaskControl control;
  WorkerPool pool(1);
  const QueryContext query{*viewer.tab().store, viewer.tab().snapshot, pool, control};
  const auto metrics = analysis::session_metrics(query);
  REQUIRE(metrics.ok());
  const auto written = [&](std::string_view term) {
    return format_duration(analysis::metric_value(*metrics, term).value_or(0) * 1e9);
  };
  const auto events =
      static_cast<std::uint64_t>(analysis::metric_value(*metrics, analysis::terms::kEvents).value_or(0));
  CHECK(viewer.shell.shows(format_count(events) + " events"));
  CHECK(viewer.wait_for([&] {
    return viewer.shell.shows("active " + written(analysis::terms::kActive) + " of " +
                              written(analysis::terms::kTotal));
  }));
  CHECK(viewer.wait_for([&] { return viewer.shell.shows(written(analysis::terms::kSpan) + " of work"); }));
  const auto& recent = viewer.app.workspace().recent().list();
  REQUIRE(recent.size() == 1);
  CHECK(recent.front().events == events);
  CHECK(format_duration(recent.front().work_ns) == written(analysis::terms::kWork));
  CHECK(recent.front().device == viewer.tab().device);
  viewer.app.layout().show("selection");
  EventFilter all;
  all.range = TimeRange{viewer.tab().snapshot->begin_ns, viewer.tab().snapshot->end_ns};
  viewer.tab().region = all;
  CHECK(viewer.wait_for([&] {
    const std::string shown = viewer.shell.visible_text();
    return shown.find("Active\n" + written(analysis::terms::kActive) + "\n") != std::string::npos &&
           shown.find("Span\n" + written(analysis::terms::kTotal) + "\n") != std::string::npos;
  }));
}
