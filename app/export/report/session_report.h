// What a report says of a session, of a range of it or of what a filter leaves: verdict, key figures, how the devices
// used their time, advice, the timeline, and the tables that have rows. The same figures, listings and advice as
// everywhere else; this only gathers them. A part that cannot be made is named with the reason.
#pragma once

#include "core/export/base/export_format.h"
#include "core/export/report/report.h"

namespace accelscope::app {

// Markdown has no room for a timeline.
[[nodiscard]] Result<Report> session_report(const ExportRequest& request, bool with_timeline);

}  // namespace accelscope::app
