// The events that pass a filter, as a file: by its suffix .json for the tables of the session under the vendor's field
// names, else CSV, one line per event.
#pragma once

#include <string>

#include "core/scan/event_mask.h"

namespace accelscope::app {

// What was written, in a sentence. The file appears under its name when it is complete.
[[nodiscard]] Result<std::string> write_filtered(const QueryContext& query, const EventFilter& filter,
                                                 const std::string& path);

}  // namespace accelscope::app
