// How Neuron Profile writes its JSON (`view --output-format json`), as tables: which table a schema's rows go to, which
// values it writes as texts or lists, and the one-row tables made of a session's facts and figures. What the vendor's
// file has and a session does not keep: its prose (terminology), which texts were empty or absent, numbers that were
// texts where the vendor's tool writes numbers, and rows that could not be read.
#pragma once

#include "core/export/json_tables.h"

namespace accelscope::exporting::neuron {

// True if the session's tables are those of a Neuron profile.
[[nodiscard]] bool is_neuron_session(const Snapshot& snapshot);

[[nodiscard]] JsonForms json_forms(const Snapshot& snapshot);

// The tables of a Neuron profile that hold facts: metadata and the like from the session's facts "table.key", summary
// and summary_groups from the figures that the vendor stated, terminology as an import kept it.

// Facts named so hold a row of one of the vendor's tables as JSON: "source.row.terminology".
inline constexpr const char* kRetainedRowPrefix = "source.row.";

[[nodiscard]] std::vector<FactTable> fact_tables(const Snapshot& snapshot);

}  // namespace accelscope::exporting::neuron
