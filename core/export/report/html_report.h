// A report as one page of HTML that needs nothing else: its style and script are in it, it asks no network for anything
// and forbids its own script to. Tables sort at a click on a head, the timeline is zoomed by the wheel or keys. Without
// a script all but the timeline can be read.
#pragma once

#include <string>

#include "core/export/report/report.h"

namespace accelscope {

[[nodiscard]] std::string html_report(const Report& report);

}  // namespace accelscope
