// What repeats in a session as text for people and as JSON for programs.
#pragma once

#include <iosfwd>
#include <string>

#include "core/analysis/iterations/iterations.h"

namespace accelscope::app::output {

// "17 iterations, 1.204 ms each, every 1.310 ms": a loop in a line.
[[nodiscard]] std::string loop_text(const analysis::FoldedLoop& folded);

// rows: of the operations of each loop, those of most time; what is left out is said. note: of the whole list.
void write_iterations_text(std::ostream& out, const analysis::IterationList& list, const Snapshot& snapshot,
                           const std::string& note, std::size_t rows);
// All iterations and operations of each loop.
void write_iterations_json(std::ostream& out, const analysis::IterationList& list, const Snapshot& snapshot,
                           const std::string& note);

}  // namespace accelscope::app::output
