#include "core/analysis/comparison/comparison.h"

#include <doctest/doctest.h>

#include <random>

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

CaptureFigures one_capture(const std::string& path, const std::vector<std::string>& tags, double work_s,
                           std::vector<CostRow> rows, const std::string& kind = "kernel") {
  CaptureFigures out;
  out.label = {path, tags};
  ComparedMetric work;
  work.name = kWorkTime;
  work.unit = "s";
  work.better = Better::lower;
  work.value = work_s;
  out.metrics = {work};
  CapturedCosts costs;
  costs.kind = costs.title = kind;
  costs.is_line = kind == "line";
  costs.rows = std::move(rows);
  out.costs = {costs};
  return out;
}

Comparison compared(const std::vector<CaptureFigures>& captures, const std::string& by = "") {
  std::vector<CaptureLabel> labels;
  for (const CaptureFigures& each : captures) labels.push_back(each.label);
  const auto groups = group_captures(labels, by);
  REQUIRE(groups.ok());
  REQUIRE(groups->size() > 1);
  return compare_captures(captures, *groups);
}

const ComparedCost& row_of(const Comparison& comparison, std::string_view name) {
  for (const ComparedCost& row : comparison.costs.front().rows)
    if (row.name == name) return row;
  REQUIRE_MESSAGE(false, name);
  return comparison.costs.front().rows.front();
}

}  // namespace

TEST_CASE("comparison: names without their numbers") {
  CHECK(name_form("fusion.12") == "fusion");
  CHECK(name_form("fusion") == "fusion");
  CHECK(name_form("gemm_128x64_tn") == "gemm_#x#_tn");
  CHECK(name_form("k_0x1f3a9c04d") == "k");
  CHECK(name_form("triton_poi_fused_add_3") == "triton_poi_fused_add");
  CHECK(name_form("deadbeef_cafe") == "deadbeef_cafe");  // words, not numbers
  CHECK(name_form("8a3f00bc91.cubin") == "#.cubin");
  CHECK(name_form("42") == "#");
  CHECK(name_form("").empty());
  CHECK(name_form("a.1.2") == "a");
}

TEST_CASE("comparison: names that moved are matched, others that only look alike are not joined") {
  const auto rows = match_names({{"gemm", "fusion.12", "gemm_128", "gemm_64", "old"},
                                 {"gemm", "fusion.14", "gemm_128", "gemm_64", "new_7", "new_9"}},
                                name_form);
  REQUIRE(rows.size() == 7);
  CHECK(rows[0].name == "gemm");
  CHECK(rows[1].name == "fusion");
  CHECK(rows[1].kind == MatchKind::by_form);
  CHECK(rows[1].places == std::vector<std::vector<std::size_t>>{{1}, {1}});
  CHECK(rows[2].name == "gemm_128");
  CHECK(rows[2].kind == MatchKind::exact);
  CHECK(rows[4].name == "old");
  CHECK(rows[4].places[1].empty());
  CHECK(rows[5].name == "new_7");  // both of one capture: nothing matches them
  CHECK(rows[6].name == "new_9");
}

TEST_CASE("comparison: it is headed by what the maker publishes where every capture states it") {
  std::vector<CaptureFigures> captures = {one_capture("a", {}, 37.38e-6, {}), one_capture("b", {}, 18.91e-6, {})};
  CHECK(compared(captures).headline == kWorkTime);
  ComparedMetric stated = captures[0].metrics.front();
  stated.name = kStatedTime;
  stated.value = 54.27e-6;
  captures[0].metrics.push_back(stated);
  CHECK(compared(captures).headline == kWorkTime);  // the other one does not
  captures[1].metrics.push_back(stated);
  CHECK(compared(captures).headline == kStatedTime);
}

TEST_CASE("comparison: captures of equal tags are one sample, and each file by itself without tags") {
  const std::vector<CaptureLabel> tagged = {{"r/a1.accel", {"kernel=mlp", "config=a"}},
                                            {"r/b1.accel", {"config=b", "kernel=mlp"}},
                                            {"r/a2.accel", {"config=a", "kernel=mlp"}}};
  const auto groups = group_captures(tagged, "");
  REQUIRE(groups.ok());
  REQUIRE(groups->size() == 2);
  CHECK((*groups)[0].name == "config=a, kernel=mlp");
  CHECK((*groups)[0].captures == std::vector<std::size_t>{0, 2});
  const auto by = group_captures(tagged, "config");
  REQUIRE(by.ok());
  CHECK((*by)[1].name == "config=b");
  const auto missing = group_captures(tagged, "model");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.message().find("has no tag model") != std::string::npos);
  const std::vector<CaptureLabel> plain = {{"base/1.accel", {}}, {"base/2.accel", {}}, {"new/1.accel", {}}};
  CHECK(group_captures(plain, "")->size() == 3);
  const auto folders = group_captures(plain, "folder");
  REQUIRE(folders->size() == 2);
  CHECK((*folders)[0].name == "base");
  CHECK((*folders)[0].captures.size() == 2);
  // A tag with a comma is not two tags.
  CHECK(group_captures(std::vector<CaptureLabel>{{"1", {"a, b"}}, {"2", {"a", "b"}}, {"3", {"a, b"}}}, "")->size() ==
        2);
  // All alike by their tags: then they are set against each other.
  const std::vector<CaptureLabel> alike = {{"1.accel", {"x"}}, {"2.accel", {"x"}}};
  CHECK(group_captures(alike, "")->size() == 2);
}

TEST_CASE("comparison: costs add up by row, with what stands on one side alone counted") {
  const Comparison comparison = compared(
      {one_capture("a", {}, 1, {{"gemm", "", 100, 2, 0}, {"fusion.1", "", 50, 1, 0}, {"old", "", 7, 1, 0}}),
       one_capture("b", {}, 1, {{"gemm", "", 150, 2, 0}, {"fusion.8", "", 20, 1, 0}, {"added", "", 9, 3, 0}})});
  const ComparedCosts& costs = comparison.costs.front();
  CHECK(costs.exact == 1);
  CHECK(costs.by_form == 1);
  CHECK(costs.unmatched == std::vector<std::size_t>{1, 1});
  CHECK(costs.unmatched_amount == std::vector<double>{7, 9});
  CHECK(costs.rows.front().name == "gemm");  // the largest difference first
  CHECK(*row_of(comparison, "gemm").amounts[0].ratio == doctest::Approx(1.5));
  CHECK(*row_of(comparison, "fusion").amounts[0].ratio == doctest::Approx(0.4));
  CHECK(row_of(comparison, "added").is_there == std::vector<char>{0, 1});
  CHECK(row_of(comparison, "added").counts == std::vector<double>{0, 3});
}

TEST_CASE("comparison: lines are matched by what stands in them, wherever that has moved") {
  const Comparison comparison = compared(
      {one_capture("a", {}, 1, {{"/x/mlp.py:10", "load(w1)", 100, 1, 0}, {"/x/mlp.py:11", "matmul(w1, 128)", 10, 1, 0}},
                   "line"),
       one_capture("b", {}, 1,
                   {{"/y/mlp.py:10", "import os", 1, 1, 0},
                    {"/y/mlp.py:14", "load(w1)", 30, 1, 0},
                    {"/y/mlp.py:15", "matmul(w1, 64)", 12, 1, 0}},
                   "line")});
  const ComparedCost& load = row_of(comparison, "/x/mlp.py:10");
  CHECK(load.moved_to == "/y/mlp.py:14");
  CHECK(load.match == MatchKind::exact);
  CHECK(*load.amounts[0].ratio == doctest::Approx(0.3));
  CHECK(row_of(comparison, "/x/mlp.py:11").match == MatchKind::by_form);
  CHECK(comparison.costs.front().unmatched == std::vector<std::size_t>{0, 1});
}

TEST_CASE("comparison: lines without sources are matched by their places and never without their numbers") {
  const Comparison comparison =
      compared({one_capture("a", {}, 1, {{"mlp.py:10", "", 100, 1, 0}, {"mlp.py:12", "", 5, 1, 0}}, "line"),
                one_capture("b", {}, 1, {{"mlp.py:10", "", 30, 1, 0}, {"mlp.py:13", "", 5, 1, 0}}, "line")});
  CHECK(comparison.costs.front().exact == 1);
  CHECK(comparison.costs.front().unmatched == std::vector<std::size_t>{1, 1});
}

namespace {

// Three captures a side of problems whose times lie far apart; the other kernel takes `ratio` of the base's time.
std::vector<CaptureFigures> kernels_by_config(double ratio) {
  std::vector<CaptureFigures> captures;
  for (const char* kernel : {"base", "fused"}) {
    double time = 20e-6;
    for (const char* config : {"b=1, s=128", "b=1, s=512", "b=8, s=512"}) {
      for (int i = 0; i < 3; ++i) {
        const double noise = 1 + 0.002 * (i - 1);
        const double work = time * noise * (std::string(kernel) == "base" ? 1 : ratio);
        captures.push_back(one_capture("x", {std::string("kernel=") + kernel, std::string("config=") + config}, work,
                                       {{"gemm", "", work * 1e9, 1, 0}}));
        ComparedMetric dma = captures.back().metrics.front();
        dma.name = "dma_active_time (nc4)";
        dma.value = work / 2;
        captures.back().metrics.push_back(dma);
      }
      time *= 10;
    }
  }
  return captures;
}

Comparison compared_in_pairs(const std::vector<CaptureFigures>& captures) {
  std::vector<CaptureLabel> labels;
  for (const CaptureFigures& each : captures) labels.push_back(each.label);
  const auto groups = group_captures(labels, "");
  REQUIRE(groups.ok());
  auto pairs = pair_captures(labels, *groups, "", "");
  REQUIRE(pairs.ok());
  return compare_captures(captures, *groups, std::move(*pairs), {.columns = {"dma_active_time"}});
}

}  // namespace

TEST_CASE("comparison: kernel stands against kernel within each config, and a config's tag is taken whole") {
  const Comparison comparison = compared_in_pairs(kernels_by_config(0.5));
  REQUIRE(comparison.configurations.size() == 2);
  CHECK(comparison.configurations[0].name == "kernel=base");  // of the first file named
  CHECK(comparison.pairs.by == "config");
  CHECK(comparison.pairs.names == std::vector<std::string>{"b=1, s=128", "b=1, s=512", "b=8, s=512"});
  const PairedFigures& paired = comparison.paired;
  REQUIRE(paired.columns.size() == 2);
  CHECK(paired.columns[1].name == "dma_active_time");  // found whatever the device
  REQUIRE(paired.rows.size() == 8);                    // each kernel in each config, and in all of them
  const PairedFigures::Cell* base = paired.find(1, 0, 0);
  REQUIRE(base != nullptr);
  CHECK(base->value == doctest::Approx(200e-6));
  CHECK_FALSE(base->change);
  const PairedFigures::Cell* fused = paired.find(1, 1, 0);
  REQUIRE((fused != nullptr && fused->change));
  CHECK(*fused->change->ratio == doctest::Approx(0.5));
  CHECK(fused->change->reported == Reported::less);
  const PairedFigures::Cell* all = paired.find(3, 1, 1);
  REQUIRE((all != nullptr && all->change));
  CHECK(*all->change->ratio == doctest::Approx(0.5));
}

TEST_CASE("comparison: a regression of 9.3 % in every config is told, however far the configs lie apart") {
  const Comparison slower = compared_in_pairs(kernels_by_config(1.093));
  const Change& change = slower.find_metric(kWorkTime)->changes.front();
  CHECK(change.reported == Reported::more);
  CHECK(*change.ratio == doctest::Approx(1.093));
  CHECK(change.pair_count == 3);
  CHECK(change.interval->low > 1.08);
  CHECK(change.interval->high < 1.11);
  CHECK(row_of(slower, "gemm").amounts.front().reported == Reported::more);
  CHECK(compared_in_pairs(kernels_by_config(1)).find_metric(kWorkTime)->changes.front().reported == Reported::same);
  // What one side alone has is left out, and told of.
  std::vector<CaptureFigures> captures = kernels_by_config(1.093);
  captures.push_back(one_capture("x", {"kernel=fused", "config=b=64"}, 5, {{"gemm", "", 5e9, 1, 0}}));
  const Comparison uneven = compared_in_pairs(captures);
  CHECK(*uneven.find_metric(kWorkTime)->changes.front().ratio == doctest::Approx(1.093));
  CHECK(uneven.pairs.shared().size() == 3);
  CHECK(uneven.paired.find(3, 1, 0)->value == doctest::Approx(5));
}

TEST_CASE("comparison: kernels without a config in common are no pair, and one capture of each tells no noise") {
  const std::vector<CaptureLabel> apart = {{"a", {"kernel=x", "config=1"}}, {"b", {"kernel=y", "config=2"}}};
  const auto groups = group_captures(apart, "");
  REQUIRE(groups.ok());
  const auto pairs = pair_captures(apart, *groups, "", "");
  REQUIRE_FALSE(pairs.ok());
  CHECK(pairs.message().find("no config has captures of all") != std::string::npos);
  std::vector<CaptureFigures> single;
  for (const CaptureFigures& each : kernels_by_config(1.5))
    if (single.empty() || single.back().label.tags != each.label.tags) single.push_back(each);
  REQUIRE(single.size() == 6);
  CHECK(compared_in_pairs(single).find_metric(kWorkTime)->changes.front().reported == Reported::no_sample);
}

TEST_CASE("comparison: which way a figure is better") {
  CHECK(better_of("work_time") == Better::lower);
  CHECK(better_of("mfu_estimated_percent") == Better::higher);
  CHECK(better_of("hbm_read_bytes") == Better::lower);
  CHECK(better_of("model_flops") == Better::neither);
  Change rise;
  rise.reported = Reported::more;
  rise.ratio = 1.2;
  CHECK(is_worse(Better::lower, rise));
  CHECK(is_better(Better::higher, rise));
  CHECK_FALSE(is_better(Better::neither, rise));
  CHECK(worsening(Better::lower, rise) == doctest::Approx(0.2));
  CHECK(worsening(Better::higher, rise) == doctest::Approx(-0.2));
}
