// The tables of a Neuron profile that hold facts: metadata and the like from the session's facts "table.key", summary
// and summary_groups from the figures that the vendor stated, terminology as an import kept it.
#pragma once

#include "core/export/json_tables.h"

namespace accelscope::neuron {

// Facts named so hold a row of one of the vendor's tables as JSON: "source.row.terminology".
inline constexpr const char* kKeptRowPrefix = "source.row.";

[[nodiscard]] std::vector<FactTable> fact_tables(const Snapshot& snapshot);

}  // namespace accelscope::neuron
