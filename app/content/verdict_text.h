// The verdict of a session or of a range of it in one line of text, as summaries and reports print it.
#pragma once

#include <string>

#include "core/analysis/dependencies/dependencies.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::app {

// What bounds it, the largest cause, the worst line, what its data lack; and the finding that would save most, unless
// the cause is worth more. Of all events: the query has no mask. `dependencies` where they are known already.
[[nodiscard]] Result<std::string> verdict_text(const QueryContext& query, const TimeRange& range,
                                               const Dependencies* dependencies = nullptr);

}  // namespace accelscope::app
