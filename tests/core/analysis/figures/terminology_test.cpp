#include "core/analysis/figures/terminology.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace accelscope::analysis::neuron {

TEST_CASE("a metric finds its own explanation before that of its family, whatever the case of its letters") {
  REQUIRE(find_term("total_time") != nullptr);
  CHECK(find_term("total_time")->name == "total_time");
  REQUIRE(find_term("tensor_engine_active_time") != nullptr);
  CHECK(find_term("tensor_engine_active_time")->name == "<engine>_engine_active_time");
  CHECK(find_term("tensor_engine_active_time_percent")->name == "<engine>_engine_active_time_percent");
  CHECK(find_term("throttle_activity_0_avg_util_limit_nc1_percent")->name ==
        "throttle_<kind>_avg_util_limit_nc<core>_percent");
  CHECK(find_term("throttle_avg_util_limit_nc0_percent")->name == "throttle_avg_util_limit_nc<core>_percent");
  CHECK(find_term("qSyncSpillReload0")->name == "q<engine>spillreload<ring>");
  CHECK(find_term("qvectorpio*")->name == "q<engine>pio<ring>");
  CHECK(find_term("kernel_busy_time")->name == "<table>_busy_time");
  CHECK(find_term("_engine_active_time") == nullptr);  // a family's word is never empty
  CHECK(find_term("no_such_metric") == nullptr);
}

TEST_CASE("the group of a family's metric carries its word") {
  CHECK(metric_group("gpsimd_engine_instruction_count") == "gpsimd_engine");
  CHECK(metric_group("throttle_gpio_7_active_time_nc1_percent") == "throttling_nc1");
  CHECK(metric_group("throttle_active_nc0_time_ns") == "throttling_nc0");
  CHECK(metric_group("hbm_read_bytes") == "data_movement");
  CHECK(metric_group("unheard_of") == "overall_stats");
}

TEST_CASE("every term is explained in a sentence and there is one of each name") {
  std::set<std::string_view> names;
  for (const FigureTerm& term : figure_terms()) {
    CAPTURE(term.name);
    CHECK(names.insert(term.name).second);
    CHECK(term.text.size() > 10);
    CHECK(term.text.ends_with('.'));
    CHECK((term.how.empty() || term.how.ends_with('.')));
    CHECK(find_term(term.name) == &term);
  }
}

}  // namespace accelscope::analysis::neuron
