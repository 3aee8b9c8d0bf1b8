// All that is to be said of one finding, in the words of the warnings panel and of `accelscope advise`.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/advice/advice.h"
#include "core/analysis/dependencies/dependencies.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::app::content {

struct FindingField {
  const char* label;  // "Why"
  std::string text;
};

// Why it costs time, what to try, what the saving is, what it rests on, how the rule works.
[[nodiscard]] std::vector<FindingField> finding_fields(const Snapshot& snapshot, const analysis::Finding& finding);

// Whether what was captured tells of Python: its calls, its operators, a process or command of it. Else advice about it
// helps nobody.
[[nodiscard]] bool tells_of_python(const Snapshot& snapshot);

// "24 events", "1 gap": what it rests on.
[[nodiscard]] std::string counted_text(const analysis::Finding& finding);

// What is said where there is no finding.
[[nodiscard]] std::string nothing_found_text(const analysis::Advice& advice, bool filtered);

// The verdict of a session or of a range of it in one line of text, as summaries and reports print it.

// What bounds it, the largest cause, the worst line, what its data lack; and the finding that would save most, unless
// the cause is worth more. Of all events: the query has no mask. `dependencies` where they are known already.
[[nodiscard]] Result<std::string> verdict_text(const QueryContext& query, const TimeRange& range,
                                               const analysis::Dependencies* dependencies = nullptr);

}  // namespace accelscope::app::content
