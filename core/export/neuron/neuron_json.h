// How Neuron Profile writes its JSON (`view --output-format json`), as tables: which table a schema's rows go to, which
// values it writes as texts or lists, and the one-row tables made of a session's facts and figures. What the vendor's
// file has and a session does not keep: its prose (terminology), which texts were empty or absent, numbers that were
// texts where the vendor's tool writes numbers, and rows that could not be read.
#pragma once

#include "core/export/json_tables.h"

namespace accelscope::neuron {

// True if the session's tables are those of a Neuron profile.
[[nodiscard]] bool is_neuron_session(const Snapshot& snapshot);

[[nodiscard]] JsonForms json_forms(const Snapshot& snapshot);

}  // namespace accelscope::neuron
