// Where the data of two runs first differ, as text and as JSON.
#pragma once

#include <iosfwd>
#include <string>

#include "core/analysis/comparison/divergence.h"

namespace accelscope::app {

// "first at MATMUL on TensorMatrix, mlp.py:37, 12.5 µs: its input agrees, so it computes something else"
[[nodiscard]] std::string divergence_verdict(const Divergence& divergence);

// "MATMUL on TensorMatrix, mlp.py:37, at 12.5 µs: its input agrees, so it computes something else"
[[nodiscard]] std::string divergent_text(const DivergentPair& pair);
// "read 12ab, wrote 3f01 / 77aa; tensor x; its operands; handed on by ...": what is known of it beside that.
[[nodiscard]] std::string divergent_details(const DivergentPair& pair);

void write_divergence_text(std::ostream& out, const Divergence& divergence, std::size_t most_rows);  // 0: all
void write_divergence_json(std::ostream& out, const Divergence& divergence);

}  // namespace accelscope::app
