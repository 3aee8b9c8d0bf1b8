// The tables of a Neuron profile that hold facts: metadata and the like from the session's facts "table.key", summary
// and summary_groups from the figures that the vendor stated.
#pragma once

#include "core/export/json_tables.h"

namespace accelscope::neuron {

[[nodiscard]] std::vector<FactTable> fact_tables(const Snapshot& snapshot);

}  // namespace accelscope::neuron
