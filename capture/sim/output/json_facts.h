// The tables of a Neuron Profile JSON file that say what was profiled and what came out, mostly of one row.
#pragma once

#include <string_view>
#include <vector>

#include "capture/sim/kernel/program.h"
#include "capture/sim/kernel/run_metrics.h"
#include "capture/sim/output/json_rows.h"

namespace accelscope::capture::sim {

[[nodiscard]] std::vector<std::string_view> json_fact_tables();
void write_json_facts(std::string_view table, const KernelProgram& program, const RunMetrics& metrics, JsonRows& rows);

}  // namespace accelscope::capture::sim
