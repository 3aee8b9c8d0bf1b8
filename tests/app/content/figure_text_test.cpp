#include "app/content/figure_text.h"
#include "core/base/format.h"

#include <doctest/doctest.h>

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;

namespace {

analysis::SessionMetric metric(const char* name, const char* group, std::optional<double> ours,
                               std::optional<double> stated) {
  analysis::SessionMetric made;
  made.name = name;
  made.group = group;
  made.value = ours;
  made.vendor = stated;
  return made;
}

}  // namespace

TEST_CASE("figures read in the unit of their size") {
  CHECK(format_value(0.000393, "s") == "393 µs");
  CHECK(format_value(23.8, "%") == "23.8 %");
  CHECK(format_value(38'412, "") == "38,412");
  CHECK(format_value(0.103, "share") == "10.3 %");
  CHECK(format_value(4'387, "cycles") == "4,387 cycles");
  CHECK(format_exact(0.5, "s") == "0.5 s");
  CHECK(format_exact(34, "") == "34");
}

TEST_CASE("a row of figures marks what lies more than 1 % apart, and tells the margin") {
  std::vector<analysis::SessionMetric> metrics = {
      metric("a_time", "tensor_engine", 99, 100), metric("b_time", "data", 100, 100),
      metric("c_time", "data", 3, std::nullopt), metric("d_time", "data", 5, 0)};
  metrics[0].margin = 0.02;
  metrics[1].value = 99.5;
  metrics[1].margin = 0.01;
  const auto rows = figure_rows(metrics, "", FigureOrder::as_given, false);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].group == "tensor engine");
  CHECK(rows[0].difference == "-1.00 % (±2 %)");
  CHECK(rows[0].mark == FigureMark::close);
  CHECK(rows[1].mark == FigureMark::close);
  CHECK(rows[2].difference.empty());
  CHECK(rows[2].stated.empty());
  CHECK(rows[3].mark == FigureMark::flagged);
  metrics[0].value = 98;
  CHECK(figure_rows(metrics, "", FigureOrder::as_given, false)[0].mark == FigureMark::flagged);
  metrics[1].margin = 0.001;  // half a per cent: more than the figure may lack, but not worth a mark
  CHECK(figure_rows(metrics, "", FigureOrder::as_given, false)[1].mark == FigureMark::close);
  metrics[1].value = 100.96;
  CHECK(figure_rows(metrics, "", FigureOrder::as_given, false)[1].mark == FigureMark::close);
  metrics[1].value = 101.04;
  CHECK(figure_rows(metrics, "", FigureOrder::as_given, false)[1].mark == FigureMark::flagged);
}

TEST_CASE("figures have titles for people, and utilisation, time and bandwidth come first") {
  CHECK(figure_title("mfu_estimated_percent") == "Model FLOPs utilisation (MFU)");
  CHECK(figure_title("gpsimd_engine_active_time_percent") == "GpSimd engine active, share of time");
  CHECK(figure_title("hbm_read_bytes") == "HBM read");
  CHECK(figure_title("tt_launch_count") == "Tt launch count");
  std::vector<analysis::SessionMetric> metrics = {metric("event_count", "overall_stats", 4, 4),
                                                  metric("total_time", "overall_stats", 1, 1),
                                                  metric("mbu_estimated_percent", "data_movement", 0.2, 0.2),
                                                  metric("mfu_estimated_percent", "overall_stats", 0.1, 0.1)};
  const auto rows = figure_rows(metrics, "", FigureOrder::as_given, false);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].metric->name == "mfu_estimated_percent");
  CHECK(rows[1].metric->name == "total_time");
  CHECK(rows[2].metric->name == "mbu_estimated_percent");
  CHECK(rows[0].group == "key figures");
  CHECK(rows[3].group == "overall stats");
  CHECK(figure_rows(metrics, "bandwidth", FigureOrder::as_given, false).size() == 1);
}

TEST_CASE("rows of figures are narrowed by words and sorted by the size of the difference") {
  std::vector<analysis::SessionMetric> metrics = {metric("a_time", "tensor_engine", 90, 100),
                                                  metric("b_time", "data", 120, 100),
                                                  metric("c_count", "data", 7, std::nullopt)};
  CHECK(figure_rows(metrics, "tensor", FigureOrder::as_given, false).size() == 1);
  const auto sorted = figure_rows(metrics, "", FigureOrder::by_difference, true);
  REQUIRE(sorted.size() == 3);
  CHECK(sorted[0].metric->name == "b_time");
  CHECK(sorted[1].metric->name == "a_time");
  const auto by_name = figure_rows(metrics, "", FigureOrder::by_name, true);
  CHECK(by_name[0].metric->name == "c_count");
  metrics[0].device = "nc0";
  metrics[1].device = "nc1";
  const auto devices = figure_rows(metrics, "nc1", FigureOrder::as_given, false);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].group == "nc1 · data");
}
