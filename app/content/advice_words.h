// All that is to be said of one finding, in the words of the warnings panel and of `accelscope advise`.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/advice/advice.h"

namespace accelscope::app {

struct FindingField {
  const char* label;  // "Why"
  std::string text;
};

// Why it costs time, what to try, what the saving is, what it rests on, how the rule works.
[[nodiscard]] std::vector<FindingField> finding_fields(const Snapshot& snapshot, const Finding& finding);

// Whether what was captured tells of Python: its calls, its operators, a process or command of it. Else advice about it
// helps nobody.
[[nodiscard]] bool tells_of_python(const Snapshot& snapshot);

// "24 events", "1 gap": what it rests on.
[[nodiscard]] std::string counted_text(const Finding& finding);

// What is said where there is no finding.
[[nodiscard]] std::string nothing_found_text(const Advice& advice, bool filtered);

}  // namespace accelscope::app
